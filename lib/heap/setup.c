// SPDX-License-Identifier: LGPL-2.1-or-later
/* The beginning, which is the first allocation, and the end; and what fork(2) needs. */
#include "setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "exact.h"
#include "figures.h"
#include "filter.h"
#include "next.h"
#include "sampler.h"
#include "slot.h"
#include "view.h"

static enum { UNTRIED, UNDER_WAY, DONE } state;
static bool loaded, spilled;

/* An early object passes the filter, in any mode, and then is known by its address. */
static void let_early_pass(void)
{
	size_t size, at;
	const char *early = mtag__early_begin(&size);

	for (at = 0; at < size; at += 4096)
		mtag__filter.pages[(uint32_t)(uintptr_t)(early + at) >> 12] = UINT8_MAX;
}

static void begin(void)
{
	const char *reason = "", *allocator;
	uint32_t wanted, mode;
	uint64_t period;

	wanted = mtag__view_wanted(&period);
	if (!wanted)
		return;
	mtag__figures_find(mtag__next_kind(&allocator));
	mode = wanted;
	if (mode == MTAG_HEAP_EXACT) {
		reason = spilled ? "too much was allocated before the program began"
				 : mtag__exact_refuse();
		if (reason)
			mode = MTAG_HEAP_SAMPLED;
		else
			reason = "";
	}
	if (!mtag__view_make(wanted, mode, period, reason, allocator))
		return;
	if (mtag__next_bypassed())
		mtag__view.head->flags |= MTAG_HEAP_BYPASSED;
	mtag__sampler_tick = mtag__figures_tick;
	if (mode == MTAG_HEAP_EXACT) {
		mtag__sampler_owner = mtag__exact_owner;
		mtag__exact_begin();
	}
	mtag__view_register(&mtag__filter, sizeof(mtag__filter));
}

/* The linker makes these of the section's name. */
extern const struct mtag__operator __start_mtag_operators[] MTAG__HIDDEN;
extern const struct mtag__operator __stop_mtag_operators[] MTAG__HIDDEN;

/* jemalloc's operators for aligned objects call aligned_alloc(), which is ours. */
static bool comes_back(const char *name)
{
	return !strncmp(name, "_Zn", 3) && strstr(name, "St11align_val_t") &&
	       mtag__next_own("mallctl");
}

/* In any mode: no operator asks the dynamic linker later. */
static void find_operators(void)
{
	const struct mtag__operator *found;

	for (found = __start_mtag_operators; found < __stop_mtag_operators; found++) {
		*found->next = dlsym(RTLD_NEXT, found->name);
		if (!*found->next)
			*found->entry = found->without;
		else if (mtag__view.mode == MTAG_HEAP_SAMPLED && mtag__next_own(found->name) &&
			 !comes_back(found->name))
			*found->entry = found->counting;
		else
			*found->entry = *found->next;
	}
}

bool mtag__set_up(void)
{
	int saved = errno;

	if (state != UNTRIED)
		return state == DONE;
	/* The C library is not ready. */
	if (!environ && !loaded)
		return false;
	state = UNDER_WAY;
	let_early_pass();
	mtag__next_find();
	begin();
	find_operators();
	/* What was not found is no error that the program should see. */
	dlerror();
	state = DONE;
	errno = saved;
	return true;
}

void *mtag__before_set_up(size_t alignment, size_t size)
{
	void *p = mtag__early_alloc(alignment, size);

	/* The dynamic linker does not need as much. */
	if (!p) {
		spilled = true;
		p = alignment ? mtag__next.memalign(alignment, size) : mtag__next.malloc(size);
	}
	return p;
}

/* ---- the life of the process ---- */

static void before_fork(void)
{
	if (mtag__view.mode)
		mtag__sampler_fork();
}

static void after_fork_in_parent(void)
{
	if (mtag__view.mode)
		mtag__sampler_forked(false);
}

static void after_fork_in_child(void)
{
	if (!mtag__view.mode)
		return;
	mtag__slot_forked();
	mtag__figures_forked();
	mtag__sampler_forked(true);
}

__attribute__((constructor)) static void load(void)
{
	loaded = true;
	mtag__set_up();
	if (!mtag__view.mode)
		return;
	if (mtag__view.mode == MTAG_HEAP_EXACT)
		mtag__slot_set_up();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) static void unload(void)
{
	mtag__slot_tear_down();
}
