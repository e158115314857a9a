// SPDX-License-Identifier: GPL-2.0
/*
 * A file for speedscope: a profile for each process, a sample for each tag, which weighs the resident
 * bytes of that tag itself. Each component of its path is a frame, and so is each function beneath it.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/json.h"
#include "format/speedscope.h"
#include "format/strings.h"

static char *copy(const char *name)
{
	return strdup(name);
}

static int add_sample(struct json_object *samples, struct strings *frames, const struct proc *proc,
		      const struct tag *tag)
{
	_cleanup_(freep) size_t *stack = NULL;
	struct json_object *sample = json_append(samples, json_object_new_array());
	ssize_t n = chain_number(frames, proc, tag, copy, &stack);

	for (ssize_t i = 0; i < n; i++)
		json_append(sample, json_object_new_uint64(stack[i]));
	return n < 0 ? -ENOMEM : 0;
}

static int add_profile(struct json_object *profiles, struct strings *frames,
		       const struct proc *proc)
{
	struct json_object *profile = json_add_object(profiles), *samples, *weights;
	_cleanup_(freep) char *name = NULL;

	if (asprintf(&name, "%s-%d", proc->comm, (int)proc->pid) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	json_add_string(profile, "type", "sampled");
	json_add_string(profile, "name", name);
	json_add_string(profile, "unit", "bytes");
	json_add_u64(profile, "startValue", 0);
	json_add_u64(profile, "endValue", proc->rss);
	samples = json_add(profile, "samples", json_object_new_array());
	weights = json_add(profile, "weights", json_object_new_array());
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];

		if (!tag_rss(tag))
			continue;
		if (add_sample(samples, frames, proc, tag))
			return -ENOMEM;
		json_append(weights, json_object_new_uint64(tag_rss(tag)));
	}
	return 0;
}

int speedscope_print(const struct fmt *fmt, const struct snap *snap)
{
	_cleanup_(json_putp) struct json_object *file = json_object_new_object();
	_cleanup_(strings_clear) struct strings frames = {0};
	struct json_object *shared, *list, *profiles;

	if (!file)
		return -ENOMEM;
	json_add_string(file, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_add_string(file, "exporter", "mtagctl@" MTAG_VERSION);
	json_add_string(file, "name",
			snap_has_frames(snap) ? "resident memory by tag and stack"
					      : "resident memory by tag");
	shared = json_add(file, "shared", json_object_new_object());
	list = json_add(shared, "frames", json_object_new_array());
	profiles = json_add(file, "profiles", json_object_new_array());
	for (size_t i = 0; i < snap->n_procs; i++)
		if (add_profile(profiles, &frames, &snap->procs[i]))
			return -ENOMEM;
	for (size_t i = 0; i < frames.n; i++)
		json_add_string(json_add_object(list), "name", frames.texts[i]);
	return json_print(fmt, file);
}
