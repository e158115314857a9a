// SPDX-License-Identifier: GPL-2.0
/* What snapshot writes: samples that offline/read.c can turn into the model again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "format/heap.h"
#include "format/label.h"
#include "format/show.h"
#include "format/snapshot.h"
#include "format/stack.h"

/**
 * struct printer - a sample that is being printed
 * @stacks:	lines of stacks so far, which have @stack_bytes
 */
struct printer {
	struct fmt fmt;
	uint64_t stacks, stack_bytes;
	struct snapshot_left *left;
};

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

/* A line, in memory. */
static int stack_line(const struct proc *proc, const struct stack *stack, char **text,
		      size_t *length)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();
	struct fmt fmt = {.out = open_memstream(text, length)};
	int err = object && fmt.out ? 0 : -ENOMEM;

	if (!err) {
		json_add_u64(object, "pid", (uint64_t)proc->pid);
		json_add_u64(object, "id", stack->tag);
		stack_add_json(object, proc->stacks, stack, STACK_COMPACT);
		err = json_print(&fmt, object);
	}
	if (fmt.out && fclose(fmt.out))
		err = -ENOMEM;
	return err;
}

static int print_stack(struct printer *printer, const struct proc *proc, const struct stack *stack)
{
	_cleanup_(freep) char *text = NULL;
	size_t length = 0;
	int err = stack_line(proc, stack, &text, &length);

	if (err)
		return err;
	if (length > SNAPSHOT_STACK_LINE_MOST ||
	    length > SNAPSHOT_STACKS_MOST - printer->stack_bytes) {
		printer->left->stacks++;
		return 0;
	}
	printer->stack_bytes += length;
	printer->stacks++;
	return fwrite(text, 1, length, printer->fmt.out) == length ? 0 : -ENOMEM;
}

static int print_stacks(struct printer *printer, const struct proc *proc)
{
	int err = 0;

	for (size_t i = 0; proc->stacks && i < proc->stacks->n && !err; i++)
		if (has_line(proc, &proc->stacks->stacks[i]))
			err = print_stack(printer, proc, &proc->stacks->stacks[i]);
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

/* ---- what there is room for ---- */

struct need {
	size_t proc;
	uint64_t tags, names;
};

static int by_names(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	if (x->names != y->names)
		return x->names > y->names ? -1 : 1;
	return (x->tags < y->tags) - (x->tags > y->tags);
}

/* Of each process whether it is left out, which the caller frees. */
static bool *leave_out(const struct snap *snap, struct snapshot_left *left)
{
	_cleanup_(freep) struct need *needs = calloc(snap->n_procs + 1, sizeof(*needs));
	bool *out = calloc(snap->n_procs + 1, sizeof(*out));
	uint64_t tags = 0, names = 0;

	if (!needs || !out) {
		free(out);
		return NULL;
	}
	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		needs[i].proc = i;
		for (size_t j = 0; j < proc->n_tags; j++) {
			needs[i].tags += tag_is_shown(&proc->tags[j]);
			needs[i].names += strlen(proc->tags[j].path);
		}
		tags += needs[i].tags;
		names += needs[i].names;
	}
	qsort(needs, snap->n_procs, sizeof(*needs), by_names);
	for (const struct need *need = needs;
	     tags > SNAPSHOT_TAGS_MOST || names > SNAPSHOT_NAMES_MOST; need++) {
		out[need->proc] = true;
		tags -= need->tags;
		names -= need->names;
		left->procs++;
	}
	return out;
}

int snapshot_print(FILE *out, const struct origin *origin, const struct snap *snap,
		   struct snapshot_left *left)
{
	struct printer printer = {.fmt.out = out, .left = left};
	_cleanup_(freep) bool *without = NULL;
	uint64_t lines = 0;
	int err;

	*left = (struct snapshot_left){0};
	without = leave_out(snap, left);
	if (!without)
		return -ENOMEM;
	err = print_header(&printer.fmt, origin, snap);
	for (size_t i = 0; i < snap->n_procs && !err; i++) {
		if (without[i])
			continue;
		err = print_tags(&printer.fmt, &snap->procs[i], &lines);
		err = err ? err : print_stacks(&printer, &snap->procs[i]);
	}
	return err ? err : print_end(&printer.fmt, lines, printer.stacks);
}
