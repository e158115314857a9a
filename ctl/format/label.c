// SPDX-License-Identifier: GPL-2.0
/* How every table and every JSON object names a process and its tags. */
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "utf8.h"

bool label_is_reserved(const char *path)
{
	static const char *const labels[] = {LABEL_UNTAGGED, "[ksm]", "[hidden]", "[other]"};

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (!strcmp(path, labels[i]))
			return true;
	return false;
}

const char *label_of(const struct tag *tag)
{
	return tag->id == MTAG_ID_UNTAGGED ? LABEL_UNTAGGED : tag->path;
}

void label_proc(const struct fmt *fmt, const struct proc *proc, const char *eol)
{
	_cleanup_(freep) char *comm = utf8_clean(proc->comm, fmt->utf8);

	fprintf(fmt->out, "process %d (%s)%s", (int)proc->pid, comm ? comm : "?", eol);
}

unsigned int label_width(const struct fmt *fmt, const struct proc *proc, unsigned int others)
{
	unsigned int width = LABEL_LEAST, most = fmt->width > others ? fmt->width - others : 0;

	for (size_t i = 0; i < proc->n_tags; i++) {
		_cleanup_(freep) char *clean = utf8_clean(label_of(&proc->tags[i]), fmt->utf8);
		unsigned int w = clean ? utf8_width(clean) : 0;

		if (w > width && tag_is_shown(&proc->tags[i]))
			width = w;
	}
	return most < LABEL_LEAST ? LABEL_LEAST : width < most ? width : most;
}

void label_json(struct json_object *object, const struct proc *proc, const struct tag *tag)
{
	json_add_u64(object, "pid", (uint64_t)proc->pid);
	json_add_string(object, "comm", proc->comm);
	json_add_u64(object, "id", tag->id);
	json_add_string(object, "tag", tag->path);
}
