// SPDX-License-Identifier: GPL-2.0
/* What snapshot writes: samples that offline/read.c can turn into the model again. */
#include <errno.h>

#include "ctl.h"
#include "format/heap.h"
#include "format/label.h"
#include "format/show.h"
#include "format/snapshot.h"
#include "format/stack.h"

/* Beneath a tag that has a line: it may be younger than what was read of the tags. */
static bool has_line(const struct proc *proc, const struct stack *stack)
{
	const struct tag *tag = proc_find_tag(proc, stack->tag);

	return tag && tag_is_shown(tag);
}

static bool has_stacks(const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct stacks *stacks = snap->procs[i].stacks;

		for (size_t j = 0; stacks && j < stacks->n; j++)
			if (has_line(&snap->procs[i], &stacks->stacks[j]))
				return true;
	}
	return false;
}

static int print_header(const struct fmt *fmt, const struct origin *origin, const struct snap *snap)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "mtag_snapshot",
		     has_stacks(snap) ? SNAPSHOT_STACKS : SNAPSHOT_VERSION);
	json_add_u64(object, "time_ms", origin->time_ms);
	json_add_string(object, "host", origin->host);
	json_add_string(object, "boot_id", origin->boot_id);
	json_add_string(object, "kernel", origin->kernel);
	json_add_string(object, "mtagctl", MTAG_VERSION);
	return json_print(fmt, object);
}

static int print_tag(const struct fmt *fmt, const struct proc *proc, const struct tag *tag,
		     bool first)
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
	heap_add_line(object, proc->heap, tag->id, first);
	return json_print(fmt, object);
}

static int print_tags(const struct fmt *fmt, const struct proc *proc, uint64_t *lines)
{
	bool first = true;
	int err = 0;

	for (size_t j = 0; j < proc->n_tags && !err; j++) {
		const struct tag *tag = &proc->tags[proc->order[j]];

		if (!tag_is_shown(tag))
			continue;
		err = print_tag(fmt, proc, tag, first);
		first = false;
		++*lines;
	}
	return err;
}

static int print_stack(const struct fmt *fmt, const struct proc *proc, const struct stack *stack)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "pid", (uint64_t)proc->pid);
	json_add_u64(object, "id", stack->tag);
	stack_add_json(object, proc->stacks, stack);
	return json_print(fmt, object);
}

static int print_stacks(const struct fmt *fmt, const struct proc *proc, uint64_t *lines)
{
	int err = 0;

	for (size_t i = 0; proc->stacks && i < proc->stacks->n && !err; i++) {
		const struct stack *stack = &proc->stacks->stacks[i];

		if (!has_line(proc, stack))
			continue;
		err = print_stack(fmt, proc, stack);
		++*lines;
	}
	return err;
}

static int print_end(const struct fmt *fmt, uint64_t lines, uint64_t stacks)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "end", lines);
	if (stacks)
		json_add_u64(object, "stacks", stacks);
	return json_print(fmt, object);
}

int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap)
{
	struct fmt fmt = {.out = out};
	uint64_t lines = 0, stacks = 0;
	int err = print_header(&fmt, origin, snap);

	for (size_t i = 0; i < snap->n_procs && !err; i++) {
		err = print_tags(&fmt, &snap->procs[i], &lines);
		err = err ? err : print_stacks(&fmt, &snap->procs[i], &stacks);
	}
	return err ? err : print_end(&fmt, lines, stacks);
}
