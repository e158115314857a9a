/* SPDX-License-Identifier: GPL-2.0 */
/* The heap views that fuzzed commands read; tests/fuzz/heap.c is about what they are made of. */
#ifndef MTAG_TESTS_FUZZ_HEAPS_H
#define MTAG_TESTS_FUZZ_HEAPS_H

#include <errno.h>
#include <unistd.h>

#include "heaps/load.h"
#include "heaps/preload.h"
#include "kernel.h"

int heap_open(void)
{
	if (!in_rarely(&kernel))
		return dup(STDERR_FILENO);
	errno = in_u8(&kernel) & 1 ? ENOENT : EACCES;
	return -1;
}

/* Objects of any tags and stacks. */
static int make_objects(const struct proc *proc, struct heap_objects *objects)
{
	objects->head = (struct mtag_heap_head){.mode = 1 + in_below(&kernel, 2),
						.wanted = 1 + in_below(&kernel, 2),
						.seen = in_u8(&kernel),
						.period = in_number(&kernel)};
	in_name(&kernel, objects->head.allocator, sizeof(objects->head.allocator));
	in_name(&kernel, objects->head.reason, sizeof(objects->head.reason));
	objects->n_tags = proc->n_tags + 1;
	objects->n_objects = in_below(&kernel, 6);
	objects->sums = calloc(objects->n_tags, sizeof(*objects->sums));
	objects->objects = calloc(6, sizeof(*objects->objects));
	must(objects->sums && objects->objects);
	for (size_t i = 0; i < objects->n_tags; i++)
		objects->sums[i] = (struct heap_sum){.asked = (double)in_number(&kernel),
						     .allocated = (double)in_number(&kernel),
						     .objects = (double)in_number(&kernel),
						     .sampled = (double)in_number(&kernel)};
	for (size_t i = 0; i < objects->n_objects; i++)
		objects->objects[i] = (struct heap_object){
			.asked = in_number(&kernel),
			.weight = 1 + (double)in_number(&kernel),
			.tag = in_below(&kernel, (unsigned int)objects->n_tags),
			.stack = in_below(&kernel, 8),
			.time = in_number(&kernel),
			.resident = in_number(&kernel)};
	return 0;
}

int heap_load_objects(int device, const struct proc *proc, struct heap_objects *objects)
{
	must(device >= 0);
	return in_rarely(&kernel) ? make_objects(proc, objects) : -ENODATA;
}

int heap_load(int device, const struct proc *proc, struct heap_loaded *loaded)
{
	return heap_load_objects(device, proc, &loaded->objects);
}

void heap_unload(struct heap_loaded *loaded)
{
	heap_objects_clear(&loaded->objects);
}

int heap_load_into(int device, struct proc *proc, enum heap_depth depth)
{
	static const int errors[] = {ENODATA, ENOTTY, EBADMSG, ENXIO, ENOMEM, EACCES, ESRCH};
	struct heap_view *view;

	must(device >= 0);
	if (in_u8(&kernel) > 200)
		return -errors[in_below(&kernel, ARRAY_SIZE(errors))];
	view = proc_heap(proc);
	*view = (struct heap_view){.tags = calloc(proc->n_tags + 1, sizeof(struct heap_tag)),
				   .n = proc->n_tags,
				   .sums_only = depth == HEAP_SUMS,
				   .exact = in_u8(&kernel) & 1,
				   .instead = in_u8(&kernel) & 1,
				   .seen = in_u8(&kernel),
				   .period = in_number(&kernel)};
	in_name(&kernel, view->allocator, 64);
	in_name(&kernel, view->reason, 128);
	for (size_t i = 0; i < proc->n_tags; i++)
		view->tags[i] = (struct heap_tag){.id = proc->tags[i].id,
						  .objects = in_number(&kernel),
						  .asked = in_number(&kernel),
						  .error = in_number(&kernel)};
	return 0;
}

int heap_load_all(struct snap *snap, enum heap_depth depth)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		if (in_rarely(&kernel))
			heap_load_into(0, &snap->procs[i], depth);
	return in_u8(&kernel) == 0xff ? -ENOMEM : 0;
}

const char *heap_why_not(pid_t pid)
{
	must(pid > 0);
	return "of something";
}

int heap_preload(const char *command, bool exact)
{
	(void)exact;
	must(command);
	return in_rarely(&kernel) ? CTL_REFUSED : CTL_OK;
}

#endif
