// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/objects.c */
/*
 * mtagctl heap: areas that a hostile or damaged process may have.
 */
#include <errno.h>

#include "ctl.h"
#include "ctl_heap.h"
#include "ctl_tap.h"

static struct heap_objects objects;

static bool refused(void)
{
	int err = heap_objects_read(&source, 4, &objects);

	heap_objects_clear(&objects);
	return err == -EBADMSG;
}

static void heads(void)
{
	unsigned int taken = 0;

	begin(MTAG_HEAP_SAMPLED);
	area.head.magic++;
	ok(refused(), "another magic number is refused");
	begin(MTAG_HEAP_SAMPLED);
	area.head.version++;
	ok(refused(), "so is another version");
	begin(MTAG_HEAP_SAMPLED);
	area.head.samples_used = area.head.samples_max = UINT32_MAX;
	ok(refused(), "more samples than there may be");
	begin(MTAG_HEAP_SAMPLED);
	area.head.slots = area.head.slots_used = UINT32_MAX;
	ok(refused(), "more slots");
	begin(MTAG_HEAP_SAMPLED);
	area.head.samples_at = UINT64_MAX - 7;
	ok(refused(), "samples outside the area");
	source.length = 100;
	begin(MTAG_HEAP_SAMPLED);
	ok(refused(), "an area shorter than its head");
	source.length = LENGTH;
	for (size_t i = 0; i < sizeof(area.head); i++) {
		begin(MTAG_HEAP_EXACT);
		((unsigned char *)&area.head)[i] ^= 0xff;
		taken += !heap_objects_read(&source, 4, &objects);
		heap_objects_clear(&objects);
	}
	ok(taken > 100 && taken < sizeof(area.head),
	   "with any byte of the head wrong nothing breaks");
	begin(MTAG_HEAP_SAMPLED);
	area.error = -EFAULT;
	ok(heap_objects_read(&source, 4, &objects) == -EFAULT, "an error of reading is passed on");
	heap_objects_clear(&objects);
}

static void samples(void)
{
	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE, 100, ONE, A);
	area.torn = 2;
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 1 && !objects.skipped &&
		   objects.objects[0].asked == 100,
	   "a sample that is being written is read again");
	heap_objects_clear(&objects);
	area.torn = 100;
	ok(!heap_objects_read(&source, 4, &objects) && !objects.n_objects && objects.skipped == 1,
	   "and left out if it stays torn");
	heap_objects_clear(&objects);
	begin(MTAG_HEAP_SAMPLED);
	sample(0, BASE + 50, 100, ONE, A);
	sample(1, BASE, 100, ONE, A);
	sample(2, UINT64_MAX - 10, UINT64_MAX, UINT64_MAX, 60000);
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 2 &&
		   objects.skipped == 1,
	   "of two that overlap one is taken");
	ok(objects.objects[1].tag == 0 && objects.objects[1].end == UINT64_MAX,
	   "a tag that there is not is none, and an object ends with the addresses");
	heap_objects_clear(&objects);
}

static void later(int i, uint64_t address, uint64_t bytes, uint32_t sequence)
{
	sample(i, address, bytes, ONE, A);
	area.samples[i].sequence = sequence;
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

/* A large object was freed unseen, others lie in its place, one of which was freed unseen before. */
static void stale(void)
{
	begin(MTAG_HEAP_SAMPLED);
	later(0, BASE, 1000, UINT32_MAX);
	later(1, BASE + 100, 100, UINT32_MAX - 1);
	later(2, BASE + 200, 100, 0);
	later(3, BASE + 300, 100, 1);
	later(4, BASE + 1000, 100, UINT32_MAX - 2);
	ok(!heap_objects_read(&source, 4, &objects) && objects.n_objects == 3 &&
		   objects.skipped == 2 && objects.objects[0].address == BASE + 200 &&
		   objects.objects[1].address == BASE + 300 &&
		   objects.objects[2].address == BASE + 1000,
	   "of those that overlap the later ones are taken");
	heap_objects_clear(&objects);
}

int main(void)
{
	heads();
	samples();
	stale();
	return tap_end();
}
