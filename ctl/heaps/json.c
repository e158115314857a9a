// SPDX-License-Identifier: GPL-2.0
/* The heap of a process as JSON. */
#include <errno.h>

#include "ctl.h"
#include "format/heap.h"
#include "heaps/json.h"

static struct json_object *new_object(const struct proc *proc)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_add_u64(object, "pid", (uint64_t)proc->pid);
	json_add_string(object, "comm", proc->comm);
	return object;
}

static int add_tag(struct json_list *list, const struct proc *proc, const struct tag *tag)
{
	const struct heap_tag *heap = heap_find(proc->heap, tag->id);
	struct json_object *object;

	if (!heap)
		return 0;
	object = new_object(proc);
	if (!object)
		return -ENOMEM;
	json_add_string(object, "tag", tag->path);
	heap_add_tag(object, heap);
	return json_list_add(list, object);
}

static int add_process(struct json_list *list, const struct proc *proc)
{
	struct json_object *object = new_object(proc);

	if (!object)
		return -ENOMEM;
	json_object_object_add(object, "tag", NULL);
	heap_add_process(object, proc->heap);
	return json_list_add(list, object);
}

int heap_json(struct json_list *list, const struct proc *proc)
{
	for (size_t i = 0; i < proc->n_tags; i++)
		if (add_tag(list, proc, &proc->tags[proc->order[i]]))
			return -ENOMEM;
	return add_process(list, proc);
}
