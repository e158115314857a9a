// SPDX-License-Identifier: GPL-2.0
/* For the fuzzer of the ioctls: the area of a heap view, and owners by address. */
#include "fuzz_heap.h"
#include "fuzz_args.h"

static uint64_t area_at, area_len; /* as registered; length 0: none */

/* Of which stack the module tells the number is t_heap_numbers' matter. */
static void try_ask(void)
{
	union any arg = {0};
	struct errors e = {0};
	uint32_t flags = below(&rng, 2) ? MTAG_HEAP_ASK : MTAG_HEAP_ASK | MTAG_HEAP_STACK;
	int error;

	arg.heap.flags = flags;
	arg.heap.stack = zero(&e);
	if (one_in(&rng, 8)) {
		arg.heap.address = odd_number(&rng);
		fault(&e, arg.heap.address, EINVAL);
	}
	error = try_call(10, &arg, &e);
	expect(among(&e, error), "HEAP, asked: %s", strerror(-error));
	if (!error)
		expect(!arg.heap.stack || flags & MTAG_HEAP_STACK, "HEAP: stack %u, not asked for",
		       arg.heap.stack);
}

void try_heap(void)
{
	union any arg = {0};
	struct errors e = {0};
	uint64_t at = (uintptr_t)ground + below(&rng, PAGES) * PG,
		 len = (1 + below(&rng, PAGES)) * PG;
	int error;

	if (one_in(&rng, 4)) {
		try_ask();
		return;
	}
	if (one_in(&rng, 4))
		at = one_in(&rng, 2) ? 0 : odd_number(&rng);
	if (one_in(&rng, 4))
		len = one_in(&rng, 2) ? 0 : odd_number(&rng);
	arg.heap.flags = zero(&e);
	arg.heap.stack = zero(&e);
	arg.heap.address = at;
	arg.heap.length = len;
	fault(&e, at % PG || len % PG || !at != !len || len > MTAG_HEAP_MAX, EINVAL);
	/* 5 levels of page tables have more than 47 bits. */
	fault(&e, at > (1ULL << 56) || (at + len > 1ULL << 56), EINVAL);
	error = try_call(10, &arg, &e);
	if (error == -EINVAL && !e.nr && at + len > 0x7ffffffff000)
		return;
	expect(among(&e, error), "HEAP %#" PRIx64 " + %#" PRIx64 ": %s", at, len, strerror(-error));
	if (error)
		return;
	area_at = at;
	area_len = len;
}

void try_heap_read(void)
{
	static char to[4 * PG];
	union any arg = {0};
	struct errors e = {0};
	uint64_t offset = below(&rng, 2) ? odd_number(&rng) : below(&rng, area_len + PG),
		 length = one_in(&rng, 4) ? odd_number(&rng) : below(&rng, sizeof(to));
	int error;

	arg.heap_read.flags = zero(&e);
	arg.heap_read.pad = zero(&e);
	arg.heap_read.offset = offset;
	arg.heap_read.length = length;
	arg.heap_read.buffer = (uintptr_t)to;
	if (length > sizeof(to) || one_in(&rng, 32)) {
		arg.heap_read.buffer = (uintptr_t)readonly;
		fault(&e, area_len && offset < area_len && length, EFAULT);
	}
	fault(&e, !area_len, ENODATA);
	fault(&e, offset > area_len, EINVAL);
	error = try_call(11, &arg, &e);
	/* The ground may have become shared memory, or be none. */
	expect(among(&e, error) || error == -ENXIO, "HEAP_READ at %#" PRIx64 ": %s", offset,
	       strerror(-error));
	if (!error)
		expect(arg.heap_read.length <= length &&
			       offset + arg.heap_read.length <= area_len &&
			       arg.heap_read.address == area_at && arg.heap_read.total == area_len,
		       "HEAP_READ at %#" PRIx64 " copies %#llx", offset,
		       (unsigned long long)arg.heap_read.length);
}

void try_owners(void)
{
	static uint32_t row[2 * PAGES + 1];
	struct mtag_ioc_span spans[8];
	union any arg = {0};
	struct errors e = {0};
	uint32_t nr = 1 + below(&rng, COUNT(spans)), room = below(&rng, 2 * PAGES + 1);
	int error;

	for (uint32_t i = 0; i < nr; i++) {
		spans[i].start = (uintptr_t)ground + below(&rng, PAGES) * PG;
		spans[i].end = spans[i].start + (1 + below(&rng, PAGES)) * PG;
	}
	if (one_in(&rng, 8)) {
		__u64 *number = below(&rng, 2) ? &spans[0].start : &spans[0].end;

		*number = odd_number(&rng);
		fault(&e,
		      room && (spans[0].start % PG || spans[0].end % PG ||
			       spans[0].start >= spans[0].end || spans[0].end > 1ULL << 56),
		      EINVAL);
	}
	arg.owners.flags = zero(&e);
	arg.owners.pad = zero(&e);
	arg.owners.nr_spans = nr;
	arg.owners.spans = (uintptr_t)spans;
	arg.owners.pages = (uintptr_t)row;
	arg.owners.room = room;
	row[room] = 0x55555555;
	error = try_call(12, &arg, &e);
	if (error == -EINVAL && !e.nr && spans[0].end > 0x7ffffffff000)
		return;
	expect(among(&e, error), "OWNERS of %#llx to %#llx: %s", (unsigned long long)spans[0].start,
	       (unsigned long long)spans[0].end, strerror(-error));
	expect(row[room] == 0x55555555, "OWNERS write behind their room");
	if (!error)
		expect(arg.owners.filled == room || arg.owners.span == nr,
		       "OWNERS fill %u of %u and stop at span %u of %u", arg.owners.filled, room,
		       arg.owners.span, nr);
}
