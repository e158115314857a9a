// SPDX-License-Identifier: GPL-2.0
/*
 * For the fuzzer of the ioctls: the word that a thread keeps its tag in, in pages of all kinds that are then unmapped,
 * moved, copied or reclaimed; and the check that pages go to the tag in the word.
 */
#include "fuzz_words.h"

#define SLOTS 8

enum slot { GOOD, PRIVATE_FILE, READONLY, NONE, SHARED, HUGETLB, HOLE };

static struct {
	enum slot kind;
	char *page;
} slots[SLOTS];
static volatile uint32_t *word; /* where the thread keeps its tag, while that reaches the frame */
static uint32_t in_frame;	/* what the kernel reads there */
static bool has_word;

static void fill_slot(int i)
{
	char *p = slots[i].page;
	int fd, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, prot = PROT_READ | PROT_WRITE;

	if (word && (char *)word >= p && (char *)word < p + PG)
		word = NULL;
	slots[i].kind = one_in(&rng, 2) ? GOOD : below(&rng, HOLE + 1);
	switch (slots[i].kind) {
	case PRIVATE_FILE:
		fd = must(memfd_create("slot", MFD_CLOEXEC));
		must(ftruncate(fd, PG));
		must(mmap(p, PG, prot, MAP_PRIVATE | MAP_FIXED, fd, 0));
		close(fd);
		return;
	case SHARED:
		must(mmap(p, PG, prot, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		return;
	case HUGETLB:
		/* A stand-in: the guest may have no hugetlb pages. */
		must(mmap(p, PG, PROT_NONE, flags, -1, 0));
		return;
	case HOLE:
		must(munmap(p, PG));
		return;
	default:
		must(mmap(p, PG, prot, flags, -1, 0));
		*(volatile char *)p = 1;
		if (slots[i].kind != GOOD)
			must(mprotect(p, PG, slots[i].kind == NONE ? PROT_NONE : PROT_READ));
	}
}

void try_thread(void)
{
	union any arg = {0};
	struct errors e = {0};
	int i = below(&rng, SLOTS), error;
	uint64_t offset = below(&rng, PG / 4) * 4;
	enum slot kind = slots[i].kind;

	arg.thread.word = (uintptr_t)slots[i].page + offset;
	arg.thread.flags = zero(&e);
	arg.thread.pad = zero(&e);
	if (one_in(&rng, 16)) {
		arg.thread.word += 1 + below(&rng, 3);
		fault(&e, true, EINVAL);
	} else if (one_in(&rng, 16)) {
		arg.thread.word = 0;
	} else if (one_in(&rng, 16)) {
		arg.thread.word = (odd_number(&rng) | 1ULL << 63) & ~3ULL;
		fault(&e, true, EFAULT);
	}
	if (arg.thread.word && !e.nr) {
		fault(&e, kind == SHARED, EINVAL);
		fault(&e, kind == READONLY || kind == NONE || kind == HUGETLB || kind == HOLE,
		      EFAULT);
	}
	error = try_call(1, &arg, &e);
	expect(among(&e, error), "THREAD in a page of kind %d: %s", kind, strerror(-error));
	if (error)
		return;
	has_word = arg.thread.word;
	word = has_word ? (uint32_t *)(uintptr_t)arg.thread.word : NULL;
	if (!has_word)
		return;
	in_frame = *word;
	expect(in_frame == arg.thread.tag, "THREAD: %u in the word, %u in the argument", in_frame,
	       arg.thread.tag);
}

void mangle_slot(void)
{
	int i = below(&rng, SLOTS);
	char *p = slots[i].page, *to;
	bool mine = word && (char *)word >= p && (char *)word < p + PG;

	switch (below(&rng, 6)) {
	case 0:
		if (slots[i].kind != GOOD)
			return;
		must(madvise(p, PG, MADV_DONTNEED));
		*(volatile char *)p = 1;
		if (mine)
			word = NULL;
		return;
	case 1: /* Moved, frame and all. */
		if (slots[i].kind != GOOD)
			return;
		to = area(PG);
		must(mremap(p, PG, PG, MREMAP_MAYMOVE | MREMAP_FIXED, to));
		must(mmap(p, PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		slots[i].page = to;
		if (mine)
			word = (uint32_t *)(to + ((char *)word - p));
		return;
	case 2:
		in_child {
			if (mine)
				*word = odd_number(&rng);
			memset(ground, 1, PG);
		}
		return;
	case 3:
		if (slots[i].kind == GOOD)
			madvise(p, PG, one_in(&rng, 2) ? MADV_PAGEOUT : MADV_COLD);
		return;
	default:
		fill_slot(i);
	}
}

void try_touch(void)
{
	static char *fresh;
	struct usage before, after;
	int n = 1 + below(&rng, 8);
	unsigned tag;

	if (!fresh)
		fresh = area(8 * PG);
	if (word && !one_in(&rng, 4))
		*word = in_frame = one_in(&rng, 2) ? odd_number(&rng) : below(&rng, nr_nodes);
	tag = has_word ? in_frame : default_tag;
	if (tag >= nr_nodes || tag == MTAG_ID_KSM)
		tag = MTAG_UNTAGGED;
	must(madvise(fresh, 8 * PG, MADV_DONTNEED));
	before = usage(tag);
	for (int i = 0; i < n; i++)
		((volatile char *)fresh)[i * PG] = 1;
	after = usage(tag);
	expect(after.c[MTAG_C_ANON] - before.c[MTAG_C_ANON] == n * PG,
	       "%d pages under %#x: %" PRId64 " bytes in tag %u", n,
	       has_word ? in_frame : default_tag,
	       (int64_t)(after.c[MTAG_C_ANON] - before.c[MTAG_C_ANON]), tag);
}

void words_begin(void)
{
	for (int i = 0; i < SLOTS; i++) {
		slots[i].page = area(PG);
		fill_slot(i);
	}
}
