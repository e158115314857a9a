// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that comes while the module is loaded, beyond what its table of owners has room for: a longer array of
 * sections takes the place of the one that hooks may be reading, and some of them read it in no RCU read side. So what
 * the old one held stays where it was; freed memory is overwritten here (init_on_free).
 */
/* vm: stock=1 because="kernels of our own look for no plugged-in memory: they do without ACPI" group=machine mem=1G cpus=4 dimm=512M append=preempt=full,init_on_free=1 timeout=300 */
#include "lib/test.h"
#include "lib/kcore.h"

#define BLOCKS	"/sys/devices/system/memory"
#define SECTION (128 * MIB)
#define COMES	2
#define N	512
#define KSM	"/sys/kernel/mm/ksm/"

static int block_set(int block, const char *state)
{
	char path[96];

	snprintf(path, sizeof(path), BLOCKS "/memory%d/state", block);
	return spew(path, "%s", state);
}

static uint64_t block_bytes(void)
{
	return strtoull(slurp(BLOCKS "/block_size_bytes") ?: "0", NULL, 16);
}

/* The lowest of the blocks that are offline; -1: there is none. */
static int first_offline(void)
{
	char path[96], *state;

	for (int block = 0; block < 1024; block++) {
		snprintf(path, sizeof(path), BLOCKS "/memory%d/state", block);
		state = slurp(path);
		if (state && !strncmp(state, "offline", 7))
			return block;
	}
	return -1;
}

/* ---- pages that move meanwhile ---- */
static mtag_t moves, swaps, merges;
static atomic_bool stop;
static atomic_int turns;
static char *moved, *swapped, *merged;

/* The hooks of migration, of reading from swap and of merging are in no RCU read side. */
static void *mover(void *arg)
{
	while (!atomic_load(&stop)) {
		compact_memory();
		madvise(swapped, N * PG, MADV_PAGEOUT);
		read_all(MTAG_UNTAGGED, swapped, N * PG);
		touch(merges, merged, N / 2 * PG);
		for (size_t i = 0; i < N / 2; i++)
			memcpy(merged + i * PG, merged + (N - 1) * PG, PG);
		atomic_fetch_add(&turns, 1);
	}
	return arg;
}

static void fill(void)
{
	moved = area(N * PG);
	swapped = area(N * PG);
	merged = area(N * PG);
	for (size_t i = 0; i < N; i++)
		touch(i % 2 ? MTAG_UNTAGGED : moves, moved + i * PG, PG);
	touch(swaps, swapped, N * PG);
	touch(merges, merged, N * PG);
	must(madvise(merged, N * PG, MADV_MERGEABLE));
	spew(KSM "sleep_millisecs", "10");
	spew(KSM "pages_to_scan", "1000");
	spew(KSM "run", "1");
}

/* The array of sections, as it is now. */
static uint64_t array_read(uint64_t *words, size_t *length)
{
	uint64_t start = kernel_word(symbol("sections_start", true));
	uint64_t array = kernel_word(symbol("mtag_sections", true)) + start * 8;

	*length = kernel_word(symbol("mtag_sections_end", true)) - start;
	if (*length > N || !kernel_read(array, words, *length * 8))
		bail("cannot read the array of sections");
	return array;
}

static void grows(int first)
{
	static uint64_t before[N], old[N], after[N];
	size_t length, longer;
	uint64_t array = array_read(before, &length), now_at;

	if (!until(atomic_load(&turns) >= 2, 60))
		bail("pages do not move");
	for (int i = 0; i < COMES; i++)
		ok(!block_set(first + i, "online"), "memory comes (%d)", i + 1);
	if (!until(atomic_load(&turns) >= 4, 60))
		bail("pages do not move any more");
	now_at = array_read(after, &longer);
	ok(now_at != array && longer >= 2 * length,
	   "an array of %zu sections takes the place of one of %zu", longer, length);
	ok(!memcmp(before, after, length * 8), "it begins with the same");
	ok(kernel_read(array, old, length * 8) && !memcmp(before, old, length * 8),
	   "who reads the old one still finds there what it held");
}

int main(void)
{
	pthread_t thread;
	uint64_t drift;
	int first;

	need_root();
	if (access(BLOCKS, F_OK))
		skip_all("this kernel knows no memory that comes later");
	if (block_bytes() != SECTION)
		bail("blocks are of %" PRIu64 " bytes", block_bytes());
	if (!swap_zram())
		bail("no swap");
	first = first_offline();
	if (first < 0)
		bail("no memory is offline");
	drift = health("drift");
	begin();
	moves = tag("moves");
	swaps = tag("swaps");
	merges = tag("merges");
	fill();
	must0(pthread_create(&thread, NULL, mover, NULL));
	grows(first);
	atomic_store(&stop, true);
	must0(pthread_join(thread, NULL));
	spew(KSM "run", "0");
	is(anon_of(moves), N / 2 * PG, "a tag has its pages wherever they are now");
	is(anon_of(swaps) + swap_of(swaps), N * PG, "what was in swap is its tag's");
	is(anon_of(merges) + anon_of(MTAG_ID_KSM), N * PG, "what was merged is there");
	exact("exact");
	clean(getpid(), "audit agrees");
	no_drift(drift);
	return done();
}
