// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Taking samples. A thread meets one in so many bytes; then it takes the lock of the table. Signals
 * stay as they are: a handler that interrupts it meanwhile finds the thread busy and goes on without.
 * So does a thread that does not get the lock in time: it only loses the sample. An address that
 * is freed meanwhile waits for the next owner of the lock.
 */
#include "sampler.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../internal.h"
#include "chance.h"
#include "filter.h"
#include "floating.h"
#include "next.h"
#include "self.h"
#include "tag.h"
#include "view.h"

#define SPINS	100
#define YIELDS	1000
#define WAITING 1024 /* as many as a thread frees while the owner of the lock has no processor */

_Alignas(4096) struct mtag__filter mtag__filter;
uint32_t (*mtag__sampler_owner)(const void *p);
void (*mtag__sampler_tick)(uint64_t bytes);

/* The process whose thread has the lock, or 0. */
static _Atomic uint32_t lock;

/* It was not to be had the last time. */
static atomic_bool stuck;

/*
 * Addresses freed by threads that could not take the lock. Each is listed before the allocator gets
 * the memory back, so the table cannot yet hold a later object at that address. LIVES: realloc()
 * kept or moved the object, and its sample is lost.
 */
#define LIVES 1
static _Atomic uintptr_t waiting[WAITING];
static atomic_bool waits;

/* ---- entering and leaving ---- */

/* What of the program's is put back in the end. */
struct program {
	struct mtag__floating floating;
	int error;
};

/* Begins what must not be interrupted by the same. Returns false if it would. */
static bool enter_plainly(int *error)
{
	if (mtag__self.busy)
		return false;
	*error = errno;
	mtag__self.busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static void leave_plainly(int error)
{
	atomic_signal_fence(memory_order_seq_cst);
	mtag__self.busy = false;
	errno = error;
}

/* Likewise for what computes chances and weights. */
static bool enter(struct program *program)
{
	if (!enter_plainly(&program->error))
		return false;
	mtag__floating_begin(&program->floating);
	return true;
}

static void leave(const struct program *program)
{
	mtag__floating_end(&program->floating);
	leave_plainly(program->error);
}

/* A lock that is another process's was taken by a thread that fork() did not copy. */
static bool try_lock(uint32_t me)
{
	uint32_t holder = atomic_load_explicit(&lock, memory_order_relaxed);

	return (!holder || holder != me) &&
	       atomic_compare_exchange_strong_explicit(&lock, &holder, me, memory_order_acquire,
						       memory_order_relaxed);
}

/* The holder may never go on, such as a thread that a bare clone(2) did not copy: then not to wait each time. */
static bool lock_table(void)
{
	unsigned i, tries = atomic_load_explicit(&stuck, memory_order_relaxed) ? 1 : SPINS + YIELDS;
	uint32_t me = mtag__view.head->pid;

	for (i = 0; i < tries; i++) {
		if (try_lock(me)) {
			if (tries == 1)
				atomic_store_explicit(&stuck, false, memory_order_relaxed);
			return true;
		}
		if (i >= SPINS)
			sched_yield();
	}
	atomic_store_explicit(&stuck, true, memory_order_relaxed);
	return false;
}

static void unlock_table(void)
{
	atomic_store_explicit(&lock, 0, memory_order_release);
}

static void count_lost(void)
{
	__atomic_fetch_add(&mtag__view.head->samples_lost, 1, __ATOMIC_RELAXED);
}

/* By any thread at any time, that of a signal's handler too. */
static void let_wait(uintptr_t address)
{
	uintptr_t first = address / 16;
	unsigned i;

	for (i = 0; i < WAITING; i++) {
		_Atomic uintptr_t *place = &waiting[(first + i) % WAITING];
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong_explicit(place, &none, address,
							    memory_order_release,
							    memory_order_relaxed)) {
			atomic_store_explicit(&waits, true, memory_order_release);
			return;
		}
	}
	count_lost();
}

/* ---- threads ---- */

static uint64_t draw_distance(void)
{
	struct mtag__floating floating;
	uint64_t distance;

	mtag__floating_begin(&floating);
	distance = mtag__chance_distance(&mtag__self.random, mtag__view.period);
	mtag__floating_end(&floating);
	return distance;
}

bool mtag__sampler_due(void)
{
	uint64_t *countdown = &mtag__self.countdown;

	if (!mtag__view.mode) {
		/* Not to come here again soon. */
		*countdown = INT64_MAX;
		return false;
	}
	if (mtag__self_begin()) {
		/* So far it went below 0 by the bytes of this allocation alone. */
		*countdown += draw_distance();
		if (*countdown <= INT64_MAX)
			return false;
	}
	*countdown = draw_distance();
	return true;
}

/* ---- samples ---- */

/* What was done under a tag, estimated by this sample. */
static void count_cell(const struct mtag_heap_sample *sample, bool out)
{
	struct mtag_heap_cell *cell = &mtag__view.cells[sample->tag];
	uint64_t *random = &mtag__self.random, weight = sample->weight;

	if (mtag__view.mode != MTAG_HEAP_SAMPLED)
		return;
	__atomic_fetch_add(out ? &cell->asked_out : &cell->asked_in,
			   mtag__chance_times(random, sample->asked, weight), __ATOMIC_RELAXED);
	__atomic_fetch_add(out ? &cell->allocated_out : &cell->allocated_in,
			   mtag__chance_times(random, sample->allocated, weight), __ATOMIC_RELAXED);
	__atomic_fetch_add(out ? &cell->objects_out : &cell->objects_in,
			   mtag__chance_times(random, 1, weight), __ATOMIC_RELAXED);
}

/* Caller has entered and the lock. */
static bool take_one(uintptr_t address, struct mtag_heap_sample *sample)
{
	if (!mtag__table_take(&mtag__view.table, address, sample))
		return false;
	mtag__filter_count((void *)address, -1);
	return true;
}

/* Likewise. */
static void take_waiting(void)
{
	struct mtag_heap_sample sample;
	unsigned i;

	if (!atomic_load_explicit(&waits, memory_order_relaxed))
		return;
	/* Whoever sets it again from here on is found next time. */
	atomic_exchange_explicit(&waits, false, memory_order_acquire);
	for (i = 0; i < WAITING; i++) {
		uintptr_t address = 0;

		if (atomic_load_explicit(&waiting[i], memory_order_relaxed))
			address = atomic_exchange_explicit(&waiting[i], 0, memory_order_acquire);
		if (!address || !take_one(address & ~(uintptr_t)LIVES, &sample))
			continue;
		count_cell(&sample, true);
		DTRACE_PROBE1(otel_memory, free, sample.address);
		if (address & LIVES)
			count_lost();
	}
}

/*
 * Caller has entered. Only what is in the table will be counted out, and told to be freed. A sample of the same address
 * was freed in a way that has not come by, and is counted out now.
 */
static void store_sample(struct mtag_heap_sample *sample)
{
	struct mtag_heap_sample old;
	bool stored = false;

	if (lock_table()) {
		take_waiting();
		stored = mtag__table_add(&mtag__view.table, sample, &old);
		if (stored && !old.address)
			mtag__filter_count((void *)(uintptr_t)sample->address, 1);
		unlock_table();
	}
	if (!stored) {
		count_lost();
		return;
	}
	if (old.address) {
		count_cell(&old, true);
		DTRACE_PROBE1(otel_memory, free, old.address);
	}
	count_cell(sample, false);
	DTRACE_PROBE3(otel_memory, alloc, sample->address, sample->asked,
		      mtag__chance_times(&mtag__self.random, sample->asked, sample->weight));
}

/* Caller has entered. An allocator that does not tell has given what it was asked for. */
static void fill_sample(struct mtag_heap_sample *sample, void *p, size_t asked, size_t drawn)
{
	size_t usable = mtag__next.usable(p);

	sample->address = (uintptr_t)p;
	sample->asked = asked;
	sample->allocated = usable < asked ? asked : usable;
	sample->weight = mtag__chance_weight(drawn, mtag__view.period);
}

/* Caller has entered. @left: bytes that stay of the object. */
static void tick(const struct mtag_heap_sample *sample, uint64_t left)
{
	if (mtag__sampler_tick)
		mtag__sampler_tick(mtag__chance_times(&mtag__self.random,
						      sample->asked > left ? sample->asked - left
									   : left - sample->asked,
						      sample->weight));
}

void mtag__sampler_add(void *p, size_t asked, size_t drawn)
{
	struct mtag_heap_sample sample = {0};
	struct program program;

	if (!enter(&program)) {
		count_lost();
		return;
	}
	fill_sample(&sample, p, asked, drawn);
	sample.time = mtag__view_now();
	sample.tag = mtag__tag_ask(sample.time, &sample.stack);
	if (mtag__sampler_owner)
		sample.tag = mtag__sampler_owner(p);
	__atomic_fetch_add(&mtag__view.head->seen, 1, __ATOMIC_RELAXED);
	store_sample(&sample);
	tick(&sample, 0);
	leave(&program);
}

bool mtag__sampler_take(void *p, bool lives, struct mtag_heap_sample *sample)
{
	uintptr_t late = (uintptr_t)p | (lives ? LIVES : 0);
	bool found = false;
	struct program program;

	if (!__atomic_load_n(mtag__filter_fine(p), __ATOMIC_RELAXED))
		return false;
	if (!enter(&program)) {
		let_wait(late);
		return false;
	}
	/* Or its first allocation would be a sample for certain, and weigh as if by chance. */
	if (mtag__self_begin())
		mtag__self.countdown = mtag__chance_distance(&mtag__self.random, mtag__view.period);
	if (lock_table()) {
		take_waiting();
		found = take_one((uintptr_t)p, sample);
		unlock_table();
	} else {
		let_wait(late);
	}
	if (found) {
		count_cell(sample, true);
		DTRACE_PROBE1(otel_memory, free, p);
	}
	leave(&program);
	return found;
}

/*
 * Bytes that were there already, by rounding up, are not drawn when they are used: they are not in the chance of an
 * object, and must not be in its weight. Returns false if it ceases to be a sample.
 */
static bool weigh_moved(const struct mtag_heap_sample *sample, struct mtag_heap_sample *moved,
			size_t more)
{
	if (more)
		moved->weight = mtag__chance_grown(sample->weight, moved->weight,
						   mtag__chance_weight(more, mtag__view.period));
	else if (moved->weight <= sample->weight)
		moved->weight = sample->weight;
	else
		return mtag__chance_stays(&mtag__self.random, sample->weight, moved->weight);
	return true;
}

void mtag__sampler_moved(struct mtag_heap_sample *sample, void *p, size_t asked, size_t drawn,
			 size_t more)
{
	struct mtag_heap_sample moved = *sample;
	struct program program;

	if (!enter(&program)) {
		count_lost();
		return;
	}
	fill_sample(&moved, p, asked, drawn);
	if (weigh_moved(sample, &moved, more))
		store_sample(&moved);
	tick(sample, asked);
	leave(&program);
}

void mtag__sampler_freed(const struct mtag_heap_sample *sample)
{
	struct program program;

	if (!enter(&program))
		return;
	tick(sample, 0);
	leave(&program);
}

void mtag__sampler_put_back(struct mtag_heap_sample *sample)
{
	struct program program;

	if (!enter(&program)) {
		count_lost();
		return;
	}
	store_sample(sample);
	leave(&program);
}

/* ---- fork ---- */

/* What is at 255 stays there: it may be an early object's. To look does not touch what is empty. */
static void clear_filter(uint8_t *cells, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cells[i] && cells[i] != UINT8_MAX)
			cells[i] = 0;
}

/*
 * Caller has entered, and is the only thread. Another one had the lock when the process was copied,
 * which may have been in the midst of a change: what it was about is lost.
 */
static void mend_table(void)
{
	struct mtag__table *table = &mtag__view.table;
	uint32_t i;

	mtag__table_mend(table);
	clear_filter(mtag__filter.pages, MTAG__FILTER_PAGES);
	clear_filter(mtag__filter.fine, MTAG__FILTER_FINE);
	for (i = 0; i < *table->used; i++)
		if (table->records[i].address)
			mtag__filter_count((void *)(uintptr_t)table->records[i].address, 1);
	count_lost();
	unlock_table();
}

/*
 * Threads may fork at the same time. Meanwhile the program's own functions of pthread_atfork(3) run; and a signal
 * handler, which may fork, too: that is within the first fork, which has the lock and gives it back.
 */
static MTAG_TLS int fork_errno;
static MTAG_TLS bool fork_entered, fork_locked;
static MTAG_TLS unsigned forks;

void mtag__sampler_fork(void)
{
	if (forks++)
		return;
	fork_entered = enter_plainly(&fork_errno);
	fork_locked = fork_entered && lock_table();
}

void mtag__sampler_forked(bool child)
{
	if (forks == 1 && fork_locked)
		unlock_table();
	else if (forks == 1 && child && fork_entered)
		mend_table();
	if (child) {
		mtag__view.head->pid = (uint32_t)syscall(SYS_getpid);
		/* Or children that do the same would take samples of the same objects. */
		if (mtag__self_seed())
			mtag__self.countdown = draw_distance();
	}
	if (forks == 1 && fork_entered)
		leave_plainly(fork_errno);
	forks--;
}
