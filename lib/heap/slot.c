// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whose cells are whose. A thread that ends leaves its counts in the cells, and the next one goes
 * on with them: only sums over all slots mean something.
 */
#include "slot.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "self.h"
#include "view.h"

/* By slot: the thread that has it; 0: none. Slot 0 is everybody's. */
static uint32_t owners[MTAG_HEAP_SLOTS];

static pthread_key_t key;
static bool have_key;

static bool claim(uint32_t slot, uint32_t before)
{
	uint32_t me = (uint32_t)syscall(SYS_gettid);

	if (!__atomic_compare_exchange_n(&owners[slot], &before, me, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	mtag__self.slot = slot;
	return true;
}

/*
 * The first thread in a slot prepares it, and those below that others have claimed and not prepared yet: the head tells
 * readers that all up to there may be read.
 */
static bool prepare(uint32_t slot)
{
	uint32_t *used = &mtag__view.head->slots_used,
		 now = __atomic_load_n(used, __ATOMIC_ACQUIRE);

	if (slot >= now && !mtag__view_open_slots(now, slot))
		return false;
	while (now <= slot && !__atomic_compare_exchange_n(used, &now, slot + 1, false,
							   __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return true;
}

/* Did it end without giving it back? */
static bool is_dead(uint32_t thread)
{
	return syscall(SYS_tgkill, (long)syscall(SYS_getpid), (long)thread, 0L) < 0 &&
	       errno == ESRCH;
}

static bool take_free(void)
{
	uint32_t slot, slots = mtag__view.head->slots;

	for (slot = 1; slot < slots; slot++)
		if (!__atomic_load_n(&owners[slot], __ATOMIC_RELAXED) && claim(slot, 0))
			return true;
	for (slot = 1; slot < slots; slot++) {
		uint32_t owner = __atomic_load_n(&owners[slot], __ATOMIC_RELAXED);

		if (owner && is_dead(owner) && claim(slot, owner))
			return true;
	}
	return false;
}

bool mtag__slot_take(void)
{
	int saved = errno;

	if (mtag__self.ended || mtag__self.slot)
		return false;
	/*
	 * A child of vfork() is no thread of the process whose memory it has: a slot with its number would look like one
	 * that was left, and all others' do so to it.
	 */
	if ((uint32_t)syscall(SYS_getpid) != mtag__view.head->pid) {
		errno = saved;
		return false;
	}
	if (!take_free() || !prepare(mtag__self.slot)) {
		/* Not to search at each allocation. */
		mtag__self.ended = true;
		errno = saved;
		return false;
	}
	if (have_key)
		pthread_setspecific(key, &mtag__self);
	mtag__self.cells = mtag__view.cells + (uint64_t)mtag__self.slot * MTAG_HEAP_TAGS;
	errno = saved;
	return true;
}

/* What this thread frees from here on is counted in slot 0. */
static void on_thread_exit(void *self)
{
	uint32_t slot = mtag__self.slot;

	(void)self;
	mtag__self.ended = true;
	mtag__self.cells = NULL;
	mtag__self.slot = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot)
		__atomic_store_n(&owners[slot], 0, __ATOMIC_RELEASE);
}

void mtag__slot_set_up(void)
{
	if (pthread_key_create(&key, on_thread_exit))
		return;
	/* glibc allocates in pthread_setspecific() for all but its first keys. */
	have_key = key < 32;
	if (!have_key)
		pthread_key_delete(key);
}

void mtag__slot_tear_down(void)
{
	if (have_key)
		pthread_key_delete(key);
	have_key = false;
}

void mtag__slot_forked(void)
{
	uint32_t slot;

	for (slot = 1; slot < MTAG_HEAP_SLOTS; slot++)
		owners[slot] = 0;
	if (mtag__self.slot)
		owners[mtag__self.slot] = (uint32_t)syscall(SYS_gettid);
}
