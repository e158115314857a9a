// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The parts of libmtag-heap that stand for themselves: chances and weights, the table of samples, and
 * what a reader checks. The whole of it interposes malloc(), as the sanitizers do: tests/unit/heap.sh
 * tests that, without them.
 *
 * sources: lib/heap/chance.c lib/heap/table.c
 */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/heap/chance.h"
#include "../../lib/heap/table.h"
#include "lib_tap.h"

#define ONE ((double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT))

/* ---- chances ---- */

static void test_weights(void)
{
	static const uint64_t periods[] = {1024, 4096, 524288, 1 << 30};
	uint64_t drawn, weight;
	unsigned i;

	for (i = 0; i < 4; i++) {
		for (drawn = 1; drawn < UINT64_C(1) << 40; drawn += 1 + drawn / 7) {
			double p = -expm1(-(double)drawn / (double)periods[i]);

			weight = mtag__chance_weight(drawn, periods[i]);
			CHECK(weight >= UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT);
			CHECK(fabs((double)weight / ONE * p - 1) < 1e-9);
		}
		CHECK(mtag__chance_weight(UINT64_MAX, periods[i]) == UINT64_C(1) << 32);
	}
}

/* Distances are exponential: so many are shorter than each multiple of the mean. */
static void test_distances(void)
{
	enum { N = 200000, PERIOD = 10000 };
	unsigned shorter[5] = {0}, i, j;
	uint64_t state = 12345;
	double sum = 0;

	for (i = 0; i < N; i++) {
		uint64_t distance = mtag__chance_distance(&state, PERIOD);

		sum += (double)distance + 0.5;
		for (j = 0; j < 5; j++)
			shorter[j] += distance < PERIOD * (j + 1) / 2;
	}
	CHECK(fabs(sum / N / PERIOD - 1) < 5 / sqrt(N));
	for (j = 0; j < 5; j++) {
		double p = -expm1(-(double)(j + 1) / 2);

		CHECK(fabs(shorter[j] - N * p) < 5 * sqrt(N * p * (1 - p)));
	}
}

static void test_rounding(void)
{
	uint64_t state = 99, weight = (uint64_t)(1.3 * ONE), n = 0, i;

	for (i = 0; i < 100000; i++)
		n += mtag__chance_times(&state, 1, weight);
	CHECK(fabs((double)n - 130000) < 5 * sqrt(100000 * 0.21));
	n = 0;
	for (i = 0; i < 100000; i++)
		n += mtag__chance_stays(&state, 3 << 20, 4 << 20) != 0;
	CHECK(fabs((double)n - 75000) < 5 * sqrt(100000 * 0.1875));
	CHECK(mtag__chance_stays(&state, weight, weight) && mtag__chance_stays(&state, weight, 1));
}

/* ---- the table ---- */

static struct mtag__table table;
static uint32_t used;

static void make_table(uint32_t max)
{
	size_t records = max * sizeof(struct mtag_heap_sample);
	char *p = mmap(NULL, records + MTAG__TABLE_INDEX_BYTES(max), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	used = 0;
	table = (struct mtag__table){
		.records = (void *)p, .used = &used, .max = max, .indices = (void *)(p + records)};
}

static struct mtag_heap_sample sample_at(uint64_t address)
{
	return (struct mtag_heap_sample){
		.address = address,
		.asked = address % 1000,
		.allocated = 1000,
		.weight = UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT,
		.tag = (uint32_t)(address >> 4 & 0xff),
	};
}

static bool add(uint64_t address, bool *replaced)
{
	struct mtag_heap_sample sample = sample_at(address), old;
	bool added = mtag__table_add(&table, &sample, &old);

	*replaced = old.address != 0;
	CHECK(!*replaced || (old.address == address && mtag_heap_sample_good(&old)));
	return added;
}

static bool take(uint64_t address)
{
	struct mtag_heap_sample sample, right = sample_at(address);

	if (!mtag__table_take(&table, address, &sample))
		return false;
	CHECK(mtag_heap_sample_good(&sample) && sample.asked == right.asked &&
	      sample.tag == right.tag);
	return true;
}

/* All records that are not free are good, and as many as there should be. */
static void check_records(unsigned alive)
{
	uint32_t i;

	for (i = 0; i < used; i++) {
		if (!table.records[i].address)
			continue;
		CHECK(mtag_heap_sample_good(&table.records[i]));
		alive--;
	}
	CHECK(!alive && table.alive <= used);
}

/* Against a plain array of what should be there. */
static void test_table(void)
{
	enum { ADDRESSES = 6000, STEPS = 300000 };
	static bool there[ADDRESSES];
	uint64_t state = 4711;
	unsigned i, n, alive = 0;
	bool replaced;

	make_table(8192);
	CHECK(!take(16));
	for (i = 0; i < STEPS; i++) {
		n = mtag__chance_next(&state) % ADDRESSES;
		if (mtag__chance_next(&state) % 2) {
			CHECK(add(16 * (n + 1), &replaced) && replaced == there[n]);
			alive += !there[n];
			there[n] = true;
		} else {
			CHECK(take(16 * (n + 1)) == there[n]);
			alive -= there[n];
			there[n] = false;
		}
		CHECK(table.alive == alive);
		if (i % 50000 == 0)
			check_records(alive);
	}
	/* Records are used again. */
	CHECK(used <= ADDRESSES);
	for (n = 0; n < ADDRESSES; n++)
		CHECK(take(16 * (n + 1)) == there[n]);
	check_records(0);
}

static void test_full(void)
{
	unsigned i, round;
	bool replaced;

	make_table(4096);
	for (round = 0; round < 3; round++) {
		for (i = 1; i <= 4096; i++)
			CHECK(add(4096ull * i, &replaced) && !replaced);
		CHECK(!add(16, &replaced) && !take(16));
		CHECK(add(4096, &replaced) && replaced);
		check_records(4096);
		for (i = 1; i <= 4096; i++)
			CHECK(take(4096ull * i));
	}
	CHECK(used == 4096);
}

/* Who replaces a sample is told all of it. */
static void test_replaced(void)
{
	struct mtag_heap_sample first = sample_at(4096), second = first, old;

	first.tag = 3;
	second.tag = 4;
	second.asked = first.asked + 1;
	make_table(4096);
	CHECK(mtag__table_add(&table, &first, &old) && !old.address);
	CHECK(mtag__table_add(&table, &second, &old) && table.alive == 1);
	CHECK(old.address == 4096 && old.tag == 3 && old.asked == first.asked);
	CHECK(mtag__table_take(&table, 4096, &old) && old.tag == 4 && old.asked == second.asked);
	CHECK(mtag__table_add(&table, &first, &old) && !old.address);
}

/* ---- readers ---- */

/* Half of one record and half of another: found out, wherever they meet. */
static void test_torn(void)
{
	struct mtag_heap_sample first, second, torn;
	bool replaced;
	size_t at;

	make_table(4096);
	add(4096, &replaced);
	first = table.records[0];
	CHECK(take(4096) && add(8208, &replaced));
	second = table.records[0];
	CHECK(mtag_heap_sample_good(&first) && mtag_heap_sample_good(&second));
	for (at = 4; at < sizeof(torn); at += 4) {
		torn = first;
		memcpy(&torn, &second, at);
		CHECK(!mtag_heap_sample_good(&torn));
	}
	/* The same object again is not the same record. */
	CHECK(take(8208) && add(4096, &replaced));
	CHECK(memcmp(&first, &table.records[0], sizeof(first)));
	memset(&torn, 0, sizeof(torn));
	CHECK(!mtag_heap_sample_good(&torn));
}

static void test_head(void)
{
	const uint64_t cells = UINT64_C(65536) * 64;
	const struct mtag_heap_head good = {
		.magic = MTAG_HEAP_MAGIC,
		.version = MTAG_HEAP_VERSION,
		.head_bytes = sizeof(good),
		.area_bytes = 4096 + cells + 64000,
		.mode = MTAG_HEAP_SAMPLED,
		.period = 1024,
		.cells_at = 4096,
		.cell_bytes = 64,
		.cell_tags = 65536,
		.slots = 1,
		.slots_used = 1,
		.samples_at = 4096 + cells,
		.sample_bytes = 64,
		.samples_max = 1000,
	};
	struct mtag_heap_head head = good;
	unsigned i;

	CHECK(mtag_heap_head_good(&head, head.area_bytes));
	CHECK(!mtag_heap_head_good(&head, head.area_bytes + 1));
	/* Any field of the layout that is wrong in its highest bits. */
	for (i = 0; i < offsetof(struct mtag_heap_head, samples_used); i += 4) {
		head = good;
		((uint32_t *)&head)[i / 4] ^= 0xfff00000;
		switch (i) {
		case offsetof(struct mtag_heap_head, wanted):
		case offsetof(struct mtag_heap_head, period):
		case offsetof(struct mtag_heap_head, period) + 4:
		case offsetof(struct mtag_heap_head, begun):
		case offsetof(struct mtag_heap_head, begun) + 4:
		case offsetof(struct mtag_heap_head, clock):
		case offsetof(struct mtag_heap_head, pid):
			CHECK(mtag_heap_head_good(&head, good.area_bytes));
			break;
		default:
			CHECK(!mtag_heap_head_good(&head, good.area_bytes));
		}
	}
	head = good;
	head.samples_used = 1001;
	CHECK(!mtag_heap_head_good(&head, good.area_bytes));
	head = good;
	head.period = 0;
	CHECK(!mtag_heap_head_good(&head, good.area_bytes));
}

static const struct tap_test tests[] = {
	{"weights are one in the chance of being sampled", test_weights},
	{"distances between samples are exponential", test_distances},
	{"rounding and thinning are right on average", test_rounding},
	{"the table has what was added and not taken", test_table},
	{"a full table takes no more, and goes on", test_full},
	{"a sample that is replaced is handed back", test_replaced},
	{"a torn copy of a sample is found out", test_torn},
	{"a head that is wrong is found out", test_head},
};

TAP_MAIN(tests)
