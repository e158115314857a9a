// SPDX-License-Identifier: GPL-2.0
/*
 * What the module knows of a return address it writes down once. Where that is depends on the address, which KASLR
 * moves at each boot: the calls of this kernel are looked for in its text, and tried wherever it could lie.
 */
/* vm: */
#include "lib/test.h"
#include "lib/kcore.h"

/* As in kmod/caller.c: a table of words, each an address of which the top byte has made room for what it means. */
#define BITS	 9
#define PLACES	 (1 << BITS)
#define PROBES	 8
#define GOLDEN	 0x61c8864680b583eb
#define TOP_BYTE (0xffUL << 56)

/* Where KASLR puts the kernel. */
#define LOWEST	  0xffffffff80000000
#define SLIDES	  512
#define SLIDE	  HPAGE

#define CALLS_MAX 1024
#define STEPS	  16
#define N	  64

/* The hooked functions whose hooks ask who called. */
static const char *const asked[] = {
	"page_add_new_anon_rmap",  "page_add_anon_rmap",      "page_add_file_rmap",
	"page_remove_rmap",	   "folio_add_new_anon_rmap", "folio_add_anon_rmap_ptes",
	"folio_add_anon_rmap_pmd", "folio_add_file_rmap_pmd", "folio_add_file_rmap_ptes",
	"folio_add_file_rmap_pud", "folio_remove_rmap_ptes",  "folio_remove_rmap_pmd",
	"folio_remove_rmap_pud",   "free_swap_and_cache",     "free_swap_and_cache_nr",
	"swap_put_entries_direct", "perf_event_mmap",	      "vma_merge",
	"vma_merge_extend",
};

static uint64_t table, seen[PLACES];
static uint64_t calls[CALLS_MAX];
static size_t nr_calls;

static void call_add(uint64_t ip)
{
	for (size_t i = 0; i < nr_calls; i++)
		if (calls[i] == ip)
			return;
	if (nr_calls == CALLS_MAX)
		bail("more than %d calls", CALLS_MAX);
	calls[nr_calls++] = ip;
}

static bool is_asked(const uint64_t *target, size_t nr, uint64_t to)
{
	for (size_t i = 0; i < nr; i++)
		if (to == target[i])
			return true;
	return false;
}

/* All return addresses of calls of @target in the kernel's text. */
static void find_calls(const uint64_t *target, size_t nr)
{
	uint64_t start = symbol("_stext", false), end = symbol("_etext", false);
	size_t len = end - start;
	uint8_t *text = malloc(len);
	int32_t to;

	if (!text || !kernel_read(start, text, len))
		bail("cannot read the kernel's text");
	for (size_t at = 0; at + 5 <= len; at++) {
		if (text[at] != 0xe8)
			continue;
		memcpy(&to, text + at + 1, sizeof(to));
		if (is_asked(target, nr, start + at + 5 + to))
			call_add(start + at + 5);
	}
	free(text);
}

static void find_all_calls(void)
{
	uint64_t target[COUNT(asked)], at;
	size_t nr = 0;

	for (size_t i = 0; i < COUNT(asked); i++) {
		at = symbol(asked[i], false);
		if (at)
			target[nr++] = at;
	}
	find_calls(target, nr);
	ok(nr >= 6 && nr_calls >= 16, "the kernel calls %zu functions from %zu places", nr,
	   nr_calls);
}

static unsigned int home(uint64_t ip)
{
	return ip * GOLDEN >> (64 - BITS);
}

/* Whether all calls have a place if they come in this order. */
static bool all_placed(uint64_t shift, bool backwards)
{
	bool taken[PLACES] = {false};

	for (size_t i = 0; i < nr_calls; i++) {
		unsigned int at = home(calls[backwards ? nr_calls - 1 - i : i] + shift), probe;

		for (probe = 0; probe < PROBES && taken[at]; probe++)
			at = (at + 1) % PLACES;
		if (probe == PROBES)
			return false;
		taken[at] = true;
	}
	return true;
}

static void placed_everywhere(void)
{
	uint64_t text = symbol("_text", false);
	int without = 0;

	for (int i = 0; i < SLIDES; i++) {
		uint64_t shift = LOWEST + i * SLIDE - text;

		without += !all_placed(shift, false) || !all_placed(shift, true);
	}
	is(without, 0, "wherever the kernel lies all %zu calls have a place in the table",
	   nr_calls);
}

static void read_table(uint64_t words[PLACES])
{
	if (!kernel_read(table, words, PLACES * sizeof(*words)))
		bail("cannot read the table of callers");
}

/* Is what was learned where the test would look for it? What calls by a jump adds to the calls. */
static void learned_as_expected(void)
{
	int learned = 0, lost = 0;

	read_table(seen);
	for (unsigned int i = 0; i < PLACES; i++) {
		uint64_t ip = seen[i] >> 8 | TOP_BYTE;

		if (!seen[i])
			continue;
		learned++;
		lost += (i - home(ip)) % PLACES >= PROBES;
		call_add(ip);
	}
	ok(learned >= 8, "%d callers are known", learned);
	is(lost, 0, "each within %d places from its own", PROBES);
}

/* ---- ways in which pages come and go ---- */
static char *anon, *file;
static int fd;

static void touch_anon(void)
{
	touch(0, anon, N * PG);
}

static void discard(void)
{
	must(madvise(anon, N * PG, MADV_DONTNEED));
}

static void copies(void)
{
	touch_anon();
	in_child {
		touch(0, anon, N * PG);
	}
}

static void reads_file(void)
{
	read_all(0, file, N * PG);
}

static void writes_file(void)
{
	touch(0, file, N * PG);
}

static void drops_file(void)
{
	must(madvise(file, N * PG, MADV_DONTNEED));
}

static void moves(void)
{
	char *to = area(N * PG);

	touch_anon();
	to = must(mremap(anon, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	must(munmap(to, N * PG));
	anon = area(N * PG);
}

static void swaps(void)
{
	touch_anon();
	reclaim(anon, N * PG);
	read_all(0, anon, N * PG);
	reclaim(anon, N * PG);
	discard();
}

static void huge(void)
{
	char *p;

	if (!has_huge_pages())
		return;
	p = huge_area(2 * HPAGE);
	touch(0, p, 2 * HPAGE);
	must(madvise(p + HPAGE / 2, PG, MADV_DONTNEED));
	must(munmap(p, 2 * HPAGE));
}

static void migrates(void)
{
	touch_anon();
	compact_memory();
}

static void (*const steps[])(void) = {
	touch_anon, discard, copies, reads_file, writes_file, drops_file,
	moves,	    swaps,   huge,   migrates,	 discard,
};

/* One round of all; how many words were written, and how many of them another had been in. */
static int round_of_all(int *replaced)
{
	uint64_t is_now[PLACES];
	int written = 0;

	for (size_t step = 0; step < COUNT(steps); step++) {
		steps[step]();
		read_table(is_now);
		for (int i = 0; i < PLACES; i++) {
			written += is_now[i] != seen[i];
			*replaced += is_now[i] != seen[i] && seen[i];
		}
		memcpy(seen, is_now, sizeof(seen));
	}
	return written;
}

static void nothing_is_written(void)
{
	int replaced = 0, written = -1, rounds = 0;

	anon = area(N * PG);
	fd = must(open("/bin/bash", O_RDONLY | O_CLOEXEC));
	file = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
	while (rounds < 5 && written) {
		written = round_of_all(&replaced);
		diag("round %d: %d words were written", ++rounds, written);
	}
	is(written, 0, "once each caller is known no event writes the table");
	is(replaced, 0, "and none has taken the place of another");
}

int main(void)
{
	uint64_t drift;

	need_root();
	table = symbol("seen", true);
	if (!table)
		bail("no table of callers");
	if (access("/proc/kcore", R_OK))
		skip_all("no /proc/kcore");
	if (!swap_zram())
		diag("no zram: nothing goes to swap");
	drift = health("drift");
	begin();
	nothing_is_written();
	find_all_calls();
	learned_as_expected();
	placed_everywhere();
	exact("exact");
	no_drift(drift);
	return done();
}
