// SPDX-License-Identifier: LGPL-2.1-or-later
/* The area: what is asked for, making it, registering it with the module. */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "../internal.h"
#include "filter.h"
#include "uapi/linux/mtag.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define PERIOD	    (512 << 10)
#define PERIOD_MIN  (1 << 10)
#define PERIOD_MAX  (1 << 30)

#define SAMPLES_MIN (1 << 14)

/* Of limited memory, one part in so many. */
#define SHARE 16

struct mtag__view mtag__view;

uint32_t mtag__view_wanted(uint64_t *period)
{
	const char *mode = secure_getenv("MTAG_HEAP"), *number = secure_getenv("MTAG_HEAP_PERIOD");
	unsigned long long bytes = 0;
	char *end;

	*period = PERIOD;
	if (number && *number >= '0' && *number <= '9') {
		int saved = errno;

		bytes = strtoull(number, &end, 10);
		errno = saved;
		if (!*end)
			*period = bytes < PERIOD_MIN   ? PERIOD_MIN
				  : bytes > PERIOD_MAX ? PERIOD_MAX
						       : bytes;
	}
	if (mode && (!strcmp(mode, "off") || !strcmp(mode, "0")))
		return 0;
	return mode && !strcmp(mode, "exact") ? MTAG_HEAP_EXACT : MTAG_HEAP_SAMPLED;
}

uint64_t mtag__view_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- making it ---- */

static uint64_t cells_bytes(uint32_t slots)
{
	return (uint64_t)slots * MTAG_HEAP_TAGS * sizeof(struct mtag_heap_cell);
}

static uint64_t samples_bytes(uint32_t max)
{
	return max * sizeof(struct mtag_heap_sample);
}

static uint64_t area_bytes(uint32_t slots, uint32_t samples)
{
	uint64_t bytes = MTAG_HEAP_HEAD_SIZE + cells_bytes(slots) + samples_bytes(samples) +
			 MTAG__TABLE_INDEX_BYTES(samples);

	return (bytes + 0xffff) & ~UINT64_C(0xffff);
}

/* The cells of all slots but the first cannot be used yet: mlockall(2) would touch all of them. */
static void *map_parts(uint32_t slots, uint32_t samples)
{
	const uint64_t bytes = area_bytes(slots, samples),
		       first = MTAG_HEAP_HEAD_SIZE + cells_bytes(1),
		       last = MTAG_HEAP_HEAD_SIZE + cells_bytes(slots);
	char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Its pages are touched here and there: huge ones would be mostly empty. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	if (!mprotect(p, first, PROT_READ | PROT_WRITE) &&
	    !mprotect(p + last, bytes - last, PROT_READ | PROT_WRITE))
		return p;
	munmap(p, bytes);
	return NULL;
}

static bool shrink(uint32_t *slots, uint32_t *samples)
{
	if (*slots > 1)
		*slots = *slots >= 4 ? *slots / 4 : 1;
	else if (*samples > SAMPLES_MIN / 4)
		*samples /= 4;
	else
		return false;
	return true;
}

/* The part of a limit of the process that the area and the filter may have. */
static uint64_t share_of(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	getrlimit(resource, &limit);
	return limit.rlim_cur / SHARE;
}

/*
 * Less if the process is limited, since that memory is the program's to use: then threads share a slot, or samples may
 * be lost. Private memory that may be written counts as data, touched or not: nothing if even the smallest area takes
 * too much of that.
 */
static void *map_area(uint32_t *slots, uint32_t *samples)
{
	const uint64_t space = share_of(RLIMIT_AS), data = share_of(RLIMIT_DATA);
	const uint64_t most = space < data ? space : data;
	void *p = NULL;

	while (area_bytes(*slots, *samples) + sizeof(mtag__filter) > most && shrink(slots, samples))
		;
	if (area_bytes(*slots, *samples) + sizeof(mtag__filter) > data)
		return NULL;
	do
		p = map_parts(*slots, *samples);
	while (!p && shrink(slots, samples));
	return p;
}

bool mtag__view_open_slots(uint32_t first, uint32_t last)
{
	return !mprotect(mtag__view.cells + (uint64_t)first * MTAG_HEAP_TAGS,
			 cells_bytes(last - first + 1), PROT_READ | PROT_WRITE);
}

/* As many as there can be if all of the machine's memory were sampled, and all of it once more. */
static uint32_t samples_of_machine(uint64_t period)
{
	uint32_t samples = SAMPLES_MIN;
	struct sysinfo info;
	uint64_t bytes;

	if (sysinfo(&info))
		return MTAG_HEAP_SAMPLES;
	bytes = 2 * (uint64_t)info.totalram * info.mem_unit;
	while (samples < MTAG_HEAP_SAMPLES && samples * period < bytes)
		samples *= 2;
	return samples;
}

static void fill_text(char *field, size_t size, const char *text)
{
	size_t len = strnlen(text, size - 1);

	memcpy(field, text, len);
}

static void fill_head(struct mtag_heap_head *head, uint32_t slots, uint32_t samples)
{
	head->version = MTAG_HEAP_VERSION;
	head->head_bytes = sizeof(*head);
	head->area_bytes = area_bytes(slots, samples);
	head->begun = mtag__view_now();
	head->clock = CLOCK_MONOTONIC;
	head->pid = (uint32_t)syscall(SYS_getpid);
	head->cells_at = MTAG_HEAP_HEAD_SIZE;
	head->cell_bytes = sizeof(struct mtag_heap_cell);
	head->cell_tags = MTAG_HEAP_TAGS;
	head->slots = slots;
	head->slots_used = 1;
	head->samples_at = head->cells_at + cells_bytes(slots);
	head->sample_bytes = sizeof(struct mtag_heap_sample);
	head->samples_max = samples;
}

bool mtag__view_make(uint32_t wanted, uint32_t mode, uint64_t period, const char *reason,
		     const char *allocator)
{
	uint32_t slots = mode == MTAG_HEAP_EXACT ? 256 : 1, samples = samples_of_machine(period);
	struct mtag_heap_head *head = map_area(&slots, &samples);
	char *base = (char *)head;

	if (!head)
		return false;
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, head, area_bytes(slots, samples), "mtag heap view");
	fill_head(head, slots, samples);
	head->mode = mode;
	head->wanted = wanted;
	head->period = period;
	fill_text(head->reason, sizeof(head->reason), reason);
	fill_text(head->allocator, sizeof(head->allocator), allocator);
	__atomic_store_n(&head->magic, MTAG_HEAP_MAGIC, __ATOMIC_RELEASE);
	mtag__view.table.records = (void *)(base + head->samples_at);
	mtag__view.table.used = &head->samples_used;
	mtag__view.table.max = samples;
	mtag__view.table.indices = (void *)(base + head->samples_at + samples_bytes(samples));
	mtag__view.cells = (void *)(base + head->cells_at);
	mtag__view.period = period;
	mtag__view.head = head;
	mtag__view.mode = mode;
	return true;
}

/* ---- the module ---- */

static void give_to(uint32_t tag, void *p, uint64_t bytes)
{
	struct mtag_ioc_range arg = {
		.size = sizeof(arg),
		.flags = MTAG_RANGE_PRESENT,
		.addr = (uintptr_t)p,
		.len = bytes,
		.tag = tag,
	};
	bool gone;

	mtag__call_device(MTAG_IOC_RANGE, &arg, &gone);
}

void mtag__view_register(void *filter, uint64_t bytes)
{
	static const char name[] = "[heap view]";
	struct mtag_ioc_attach attach = {.size = sizeof(attach)};
	struct mtag_ioc_child child = {
		.size = sizeof(child),
		.name = (uintptr_t)name,
		.name_len = sizeof(name) - 1,
	};
	struct mtag_ioc_heap heap = {
		.size = sizeof(heap),
		.address = (uintptr_t)mtag__view.head,
		.length = mtag__view.head->area_bytes,
	};
	bool gone;

	if (mtag__call_device(MTAG_IOC_ATTACH, &attach, &gone))
		return;
	if (!mtag__call_device(MTAG_IOC_CHILD, &child, &gone)) {
		give_to(child.id, mtag__view.head, mtag__view.head->area_bytes);
		give_to(child.id, filter, bytes);
	}
	mtag__call_device(MTAG_IOC_HEAP, &heap, &gone);
}
