/* SPDX-License-Identifier: GPL-2.0 */
/* Samples for the fuzzers: made of decisions, printed, and read with a message that names the line. */
#ifndef MTAG_FUZZ_SAMPLE_H
#define MTAG_FUZZ_SAMPLE_H

#include "ctl.h"
#include "format/snapshot.h"
#include "fuzz.h"
#include "kern.h"
#include "offline/read.h"

const char *kern_why(const struct kern *kern);
const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

/* A name as the kernel lets a tag have it: not empty, without a slash. */
static inline void sample_name(struct input *in, char *name, size_t size)
{
	in_name(in, name, size);
	if (!*name)
		strcpy(name, "_");
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '_';
}

static inline void sample_frame(struct input *in, struct stacks *stacks, struct stack *stack)
{
	char function[64], file[64], module[64], id[16] = "beef";
	struct frame like = {.line = in_below(in, 3), .inlined = in_u8(in) & 1};

	in_name(in, function, sizeof(function));
	in_name(in, file, sizeof(file));
	in_name(in, module, sizeof(module));
	like.function = in_rarely(in) ? NULL : function;
	like.file = in_rarely(in) ? file : NULL;
	like.build_id = in_rarely(in) ? id : NULL;
	if (!in_rarely(in)) {
		like.module = module;
		like.offset = in_number(in);
	}
	stack->frames[stack->n++] = stacks_frame(stacks, &like);
}

/* Beneath tags that are there. */
static inline void sample_stacks(struct input *in, struct proc *proc)
{
	struct stacks *stacks = proc_stacks(proc);

	stacks->one_in = in_rarely(in) ? (uint32_t)in_number(in) : 0;
	stacks->uncounted = in_rarely(in) ? in_number(in) : 0;
	for (unsigned int n = in_below(in, 5); n && proc->n_tags; n--) {
		struct stack *stack = stacks_add(stacks, 4);

		stack->tag = proc->tags[in_below(in, (unsigned int)proc->n_tags)].id;
		stack->kind = in_rarely(in) ? in_below(in, 4) : MTAG_STACK_TAKEN;
		stack->why = stack->kind ? 0 : in_below(in, 6);
		stack->anon = in_number(in);
		stack->swap = in_number(in);
		stack->knows_touched = in_rarely(in);
		stack->touched = stack->knows_touched ? in_number(in) : 0;
		for (unsigned int frames = in_below(in, 5); frames && !stack->kind; frames--)
			sample_frame(in, stacks, stack);
	}
}

static inline void sample_heap(struct input *in, struct proc *proc)
{
	struct heap_view *view = proc_heap(proc);

	*view = (struct heap_view){.tags = calloc(proc->n_tags + 1, sizeof(struct heap_tag)),
				   .exact = in_u8(in) & 1,
				   .instead = in_rarely(in),
				   .knows_retained = in_u8(in) & 1,
				   .period = in_number(in),
				   .lost = in_number(in)};
	in_name(in, view->allocator, 64);
	if (view->instead)
		in_name(in, view->reason, 128);
	if (view->knows_retained)
		view->retained = in_number(in);
	for (int term = 0; term < TERMS; term++)
		if (term != TERM_GUESTS && term != TERM_WASTED)
			view->account.bytes[term] = in_number(in);
	for (size_t i = 0; i < proc->n_tags; i++) {
		struct heap_tag *tag = &view->tags[view->n];

		if (!in_rarely(in))
			continue;
		*tag = (struct heap_tag){.id = proc->tags[i].id,
					 .objects = in_number(in),
					 .asked = in_number(in),
					 .error = in_number(in),
					 .resident = in_number(in),
					 .untouched = in_number(in),
					 .wasted = in_number(in)};
		tag->allocated = tag->resident + tag->untouched;
		tag->account.bytes[in_below(in, TERM_FREE)] = in_number(in);
		view->n++;
	}
}

static inline void sample_make(struct input *in, struct snap *snap)
{
	char name[200];

	for (unsigned int n = in_below(in, 4); n; n--) {
		struct proc *proc;

		in_name(in, name, 64);
		proc = snap_proc(snap, (pid_t)in_below(in, 5), name);
		proc->lost = in_number(in);
		in_name(in, name, sizeof(name));
		must(in_rarely(in) || !proc_set_cgroup(proc, name));
		for (unsigned int tags = in_below(in, 9); tags; tags--) {
			unsigned int id = in_below(in, in_rarely(in) ? 65536 : 24), parent;
			struct tag *tag;

			sample_name(in, name, 64);
			/* Nothing is below [ksm], which has no line while it is empty. */
			parent = in_below(in, id + 1);
			parent = parent == MTAG_ID_KSM ? MTAG_ID_UNTAGGED : parent;
			tag = proc_add_tag(proc, (uint16_t)id, (uint16_t)parent, id ? name : "");
			for (size_t i = 0; i < MTAG_C_NR; i++)
				tag->c[i] = in_number(in);
		}
	}
	must(!snap_finish(snap));
	for (size_t i = 0; i < snap->n_procs; i++)
		if (in_u8(in) & 1)
			sample_stacks(in, &snap->procs[i]);
	for (size_t i = 0; i < snap->n_procs; i++)
		if (in_u8(in) & 1)
			sample_heap(in, &snap->procs[i]);
}

static inline char *sample_print(const struct origin *origin, const struct snap *snap, size_t *size)
{
	struct snapshot_left left;
	char *text;
	FILE *out = open_memstream(&text, size);

	must(out && !snapshot_print(out, origin, snap, &left));
	fclose(out);
	must_be_harmless(text, *size, JSON);
	return text;
}

static inline struct reader *sample_start(const void *text, size_t size)
{
	struct reader *reader;
	FILE *file = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");

	must(file && !reader_start(&reader, file, "F"));
	return reader;
}

static inline enum reading sample_next(struct reader *reader, struct origin *origin,
				       struct snap *snap)
{
	FILE *real = stderr;
	enum reading found;
	char *error;
	size_t size;

	stderr = open_memstream(&error, &size);
	found = reader_next(reader, origin, snap);
	fclose(stderr);
	stderr = real;
	must_be_harmless(error, size, TEXT);
	for (size_t i = 0; i < snap->n_procs && found == READ_SAMPLE; i++)
		for (size_t j = 0; j < snap->procs[i].n_tags; j++) {
			const struct tag *tag = &snap->procs[i].tags[j];

			must(!*tag->name == !tag->id && !strchr(tag->name, '/'));
		}
	must(found == READ_FAILED ? !strncmp(error, "mtagctl: F: line ", 17) : !size);
	free(error);
	return found;
}

/* What was taken or made is the same when it is written and read. */
static inline void sample_round_trip(const struct origin *origin, const struct snap *snap)
{
	struct origin back;
	struct snap again = {0};
	size_t size, other;
	char *text = sample_print(origin, snap, &size), *copy;
	struct reader *reader = sample_start(text, size);

	must(sample_next(reader, &back, &again) == READ_SAMPLE);
	copy = sample_print(&back, &again, &other);
	must(size == other && !memcmp(text, copy, size));
	reader_close(reader);
	snap_clear(&again);
	free(copy);
	free(text);
}

#endif
