// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The threads' words. Each registered thread has a slot of a cache line in a
 * page of ours, which the kernel pins and reads at a fault. Slots are found by
 * bitmaps of 64, one for each page; pages are never unmapped.
 *
 * A destructor of thread-specific data frees a thread's slot. If it did not run,
 * slots_reclaim() finds the slots of dead threads. A forked child has its own
 * copy of the pages; its pthread_atfork() handler frees the slots of the parent's
 * other threads there. A child of a bare clone(2) leaks these.
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/linux/mtag.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define SLOTS_PER_PAGE 64
#define PAGES	       1024

/**
 * struct slot - where one thread keeps its current tag
 * @word: the tag: written by the thread, read by the kernel
 * @owner: owner_of() the thread; 0 while the slot is free, being taken or freed
 */
struct slot {
	uint32_t word;
	uint32_t pad;
	_Atomic uint64_t owner;
	uint8_t line[48];
};
_Static_assert(sizeof(struct slot) == 64, "a slot is a cache line");

static struct slot *_Atomic pages[PAGES];
static _Atomic uint64_t used[PAGES];
static _Atomic uint32_t sequence;

static pthread_key_t exit_key;
static bool have_exit_key;

MTAG_TLS uint32_t *mtag_thread_word;

/**
 * struct self - what a thread knows of itself
 * @fallback: its word while it is not registered
 * @holdoff: 0: never needed the fallback; else 1 + the slow calls that do not yet try to register
 * @exit_rounds: of the destructors of its keys
 * @slot: its slot while it is registered
 */
static MTAG_TLS struct {
	uint32_t fallback;
	uint32_t holdoff;
	uint32_t exit_rounds;
	struct slot *slot;
} self;

#define HOLDOFF 1000

/* libmtag-heap's, if it is loaded: the thread's word is there from now on; NULL: nowhere. */
__attribute__((weak)) void mtag_heap_word(const uint32_t *word);

static void tell_heap(const uint32_t *word)
{
	if (mtag_heap_word)
		mtag_heap_word(word);
}

/* ---- slots ---- */

/* Linux pids and tids have 22 bits; the other bits tell successive owners of a slot apart. */
static uint64_t owner_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 42 | (uint64_t)tid << 20 |
	       (atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed) & 0xfffff);
}

static uint64_t owner_self(void)
{
	return owner_of((uint32_t)syscall(SYS_getpid), (uint32_t)syscall(SYS_gettid));
}

static bool owner_is_dead(uint64_t owner)
{
	uint32_t pid = owner >> 42, tid = owner >> 20 & 0x3fffff;

	/* Not one of another process: a child of clone(2) cannot tell which slots it uses. */
	return pid == (uint32_t)syscall(SYS_getpid) && syscall(SYS_tgkill, pid, tid, 0) < 0 &&
	       errno == ESRCH;
}

/* Takes a slot of a page, or NULL. */
static struct slot *slot_take(unsigned page)
{
	uint64_t bits = atomic_load(&used[page]);
	unsigned n;

	while (~bits) {
		n = (unsigned)__builtin_ctzll(~bits);
		if (atomic_compare_exchange_weak(&used[page], &bits, bits | UINT64_C(1) << n))
			return atomic_load(&pages[page]) + n;
	}
	return NULL;
}

/* Takes a slot of any page. If none is free, *@mapped is the number of pages. */
static struct slot *slot_find(unsigned *mapped)
{
	struct slot *slot;
	unsigned page;

	for (page = 0; page < PAGES && atomic_load(&pages[page]); page++) {
		slot = slot_take(page);
		if (slot)
			return slot;
	}
	*mapped = page;
	return NULL;
}

static void slot_free_bit(unsigned page, unsigned n)
{
	atomic_fetch_and(&used[page], ~(UINT64_C(1) << n));
}

static void slot_free(struct slot *slot)
{
	struct slot *base;
	unsigned page;

	atomic_store(&slot->owner, 0);
	for (page = 0; page < PAGES; page++) {
		base = atomic_load(&pages[page]);
		if (slot >= base && slot < base + SLOTS_PER_PAGE) {
			slot_free_bit(page, (unsigned)(slot - base));
			return;
		}
	}
}

static bool page_map(unsigned page)
{
	const size_t size = SLOTS_PER_PAGE * sizeof(struct slot);
	struct slot *none = NULL;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	madvise(p, size, MADV_NOHUGEPAGE);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, size, "mtag");
	/* Another thread may have been faster: use its page. */
	if (!atomic_compare_exchange_strong(&pages[page], &none, p))
		munmap(p, size);
	return true;
}

/* Frees the slots of threads that died without freeing them. */
static void slots_reclaim(unsigned mapped)
{
	struct slot *slot;
	uint64_t owner;
	unsigned i;

	for (i = 0; i < mapped * SLOTS_PER_PAGE; i++) {
		slot = atomic_load(&pages[i / SLOTS_PER_PAGE]) + i % SLOTS_PER_PAGE;
		owner = atomic_load(&slot->owner);
		if (owner && owner_is_dead(owner) &&
		    atomic_compare_exchange_strong(&slot->owner, &owner, 0))
			slot_free_bit(i / SLOTS_PER_PAGE, i % SLOTS_PER_PAGE);
	}
}

static struct slot *slot_get(void)
{
	unsigned mapped;
	struct slot *slot = slot_find(&mapped);

	if (!slot) {
		slots_reclaim(mapped);
		slot = slot_find(&mapped);
	}
	while (!slot && mapped < PAGES && page_map(mapped))
		slot = slot_find(&mapped);
	if (slot)
		atomic_store(&slot->owner, owner_self());
	return slot;
}

/* ---- registration ---- */

static int tell_kernel(uint32_t *word)
{
	struct mtag_ioc_thread arg = {.size = sizeof(arg), .word = (uintptr_t)word};

	return mtag__ioctl(MTAG_IOC_THREAD, &arg);
}

/* Caller has all signals blocked. */
static void register_thread(void)
{
	struct slot *slot = slot_get();

	if (!slot || tell_kernel(&slot->word)) {
		if (slot)
			slot_free(slot);
		self.holdoff = HOLDOFF + 1;
		mtag__failed();
		return;
	}
	if (have_exit_key)
		pthread_setspecific(exit_key, slot);
	self.slot = slot;
	mtag_thread_word = &slot->word;
	tell_heap(&slot->word);
}

static void unregister_thread(struct slot *slot)
{
	/*
	 * The slot must not go to another thread while the kernel reads it for this
	 * one. If it still does, slots_reclaim() frees the slot after this thread.
	 */
	if (tell_kernel(NULL) && mtag_active())
		return;
	mtag_thread_word = NULL;
	self.slot = NULL;
	tell_heap(NULL);
	slot_free(slot);
}

/* Runs @what with signals blocked: a handler sees the thread either registered or not. */
#define WITHOUT_SIGNALS(what)                                                                      \
	do {                                                                                       \
		sigset_t all_, before_;                                                            \
		sigfillset(&all_);                                                                 \
		pthread_sigmask(SIG_BLOCK, &all_, &before_);                                       \
		what;                                                                              \
		pthread_sigmask(SIG_SETMASK, &before_, NULL);                                      \
	} while (0)

/*
 * Destructors of the program's keys may leave scopes: theirs come first. The C library calls
 * destructors in so many rounds as long as one sets its key anew.
 */
static void on_thread_exit(void *slot)
{
	if (++self.exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(exit_key, slot))
		return;
	WITHOUT_SIGNALS(unregister_thread(slot));
}

/*
 * The word to use: the registered one, or the fallback. Keeps errno.
 *
 * The kernel puts the tag that it has for the thread into a new word. That comes too late for a
 * thread that has entered a tag by the fallback and will leave it again: within such a tag it is
 * not registered.
 */
static uint32_t *word_of_thread(void)
{
	int saved = errno;

	if (!mtag_thread_word && !mtag__attached()) {
		if (self.holdoff > 1)
			self.holdoff--;
		else if (!self.fallback)
			WITHOUT_SIGNALS(if (!mtag_thread_word) register_thread());
	}
	errno = saved;
	if (mtag_thread_word)
		return mtag_thread_word;
	if (!self.holdoff)
		self.holdoff = 1;
	return &self.fallback;
}

/* Likewise, to leave a tag. If it is 0 it may be the fallback's, and does not show there. */
static uint32_t *word_to_leave(void)
{
	if (mtag_thread_word || !self.holdoff)
		return word_of_thread();
	return &self.fallback;
}

/* ---- fork, loading and unloading of the library ---- */

static void after_fork_in_child(void)
{
	struct slot *mine = self.slot, *base;
	uint64_t keep;
	unsigned page;

	for (page = 0; page < PAGES; page++) {
		base = atomic_load(&pages[page]);
		if (!base)
			break;
		keep = 0;
		if (mine >= base && mine < base + SLOTS_PER_PAGE)
			keep = UINT64_C(1) << (mine - base);
		atomic_store(&used[page], keep);
	}
	if (mine)
		atomic_store(&mine->owner, owner_self());
}

__attribute__((constructor)) static void set_up(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
	if (pthread_key_create(&exit_key, on_thread_exit))
		return;
	have_exit_key = true;
#ifdef __GLIBC__
	/* glibc allocates in pthread_setspecific() for all but its first keys. */
	if (exit_key >= 32) {
		have_exit_key = false;
		pthread_key_delete(exit_key);
	}
#endif
}

/* libmtag.so is never unloaded, but a library that has all this within may be: its code goes. */
__attribute__((destructor)) static void tear_down(void)
{
	if (have_exit_key)
		pthread_key_delete(exit_key);
	have_exit_key = false;
}

/* ---- entering and leaving ---- */

static void word_set(uint32_t *word, mtag_t tag)
{
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(word, tag, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
}

struct mtag_frame mtag_scope_tag_slow(mtag_t tag)
{
	struct mtag_frame frame = {.word = word_of_thread()};

	frame.previous = __atomic_load_n(frame.word, __ATOMIC_RELAXED);
	word_set(frame.word, tag);
	return frame;
}

mtag_t mtag_enter_slow(mtag_t tag)
{
	return mtag_scope_tag_slow(tag).previous;
}

void mtag_leave_slow(mtag_t previous)
{
	word_set(word_to_leave(), previous);
}

mtag_t mtag_current_slow(void)
{
	return __atomic_load_n(word_of_thread(), __ATOMIC_RELAXED);
}

/* Also inline in mtag.h. */

mtag_t mtag_enter(mtag_t tag)
{
	uint32_t *word = mtag_thread_word;
	mtag_t previous;

	if (!word)
		return mtag_enter_slow(tag);
	previous = __atomic_load_n(word, __ATOMIC_RELAXED);
	word_set(word, tag);
	return previous;
}

void mtag_leave(mtag_t previous)
{
	uint32_t *word = mtag_thread_word;

	if (word)
		word_set(word, previous);
	else
		mtag_leave_slow(previous);
}

mtag_t mtag_current(void)
{
	uint32_t *word = mtag_thread_word;

	return word ? __atomic_load_n(word, __ATOMIC_RELAXED) : mtag_current_slow();
}

struct mtag_frame mtag_scope_tag(mtag_t tag)
{
	return mtag_scope_tag_slow(tag);
}

void mtag_scope_end(struct mtag_frame *frame)
{
	word_set(frame->word, frame->previous);
}
