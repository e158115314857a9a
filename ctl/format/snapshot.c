// SPDX-License-Identifier: GPL-2.0
/* What snapshot writes: samples that offline/read.c can turn into the model again. */
#include <errno.h>

#include "ctl.h"
#include "format/label.h"
#include "format/show.h"
#include "format/snapshot.h"

static int print_header(const struct fmt *fmt, const struct origin *origin)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "mtag_snapshot", SNAPSHOT_VERSION);
	json_add_u64(object, "time_ms", origin->time_ms);
	json_add_string(object, "host", origin->host);
	json_add_string(object, "boot_id", origin->boot_id);
	json_add_string(object, "kernel", origin->kernel);
	json_add_string(object, "mtagctl", MTAG_VERSION);
	return json_print(fmt, object);
}

static int print_tag(const struct fmt *fmt, const struct proc *proc, const struct tag *tag)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	label_json(object, proc, tag);
	json_add_u64(object, "parent_id",
		     tag->parent >= 0 ? proc->tags[tag->parent].id : MTAG_ID_UNTAGGED);
	if (proc->cgroup)
		json_add_string(object, "cgroup", proc->cgroup);
	show_add_counters(object, tag, true);
	show_add_health(object, proc);
	return json_print(fmt, object);
}

static int print_end(const struct fmt *fmt, uint64_t lines)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "end", lines);
	return json_print(fmt, object);
}

int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap)
{
	struct fmt fmt = {.out = out};
	uint64_t lines = 0;
	int err = print_header(&fmt, origin);

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		for (size_t j = 0; j < proc->n_tags && !err; j++) {
			const struct tag *tag = &proc->tags[proc->order[j]];

			if (!tag_is_shown(tag))
				continue;
			err = print_tag(&fmt, proc, tag);
			lines++;
		}
	}
	return err ? err : print_end(&fmt, lines);
}
