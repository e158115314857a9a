// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A sample: all tags of this process, and their order. It is in memory of its own, which is there
 * before the module counts, so that the sample is still true while it is printed.
 */
#include "internal.h"
#include "sample.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "netlink.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define ROOM_FIRST 64
#define ROOM_MOST  (MTAG_ID_MAX + 1)
#define STEP	   4096

_Static_assert(sizeof("[hidden]") <= MTAG_NAME_MAX, "the module's own names fit");

uint64_t mtag__tag_rss(const struct mtag__tag *tag)
{
	return tag->c[MTAG_C_ANON] + tag->c[MTAG_C_FILE] + tag->c[MTAG_C_SHMEM];
}

void mtag__untagged(void *addr, size_t len)
{
	struct mtag_ioc_range arg = {
		.size = sizeof(arg),
		.flags = MTAG_RANGE_PRESENT,
		.addr = (uintptr_t)addr,
		.len = len,
		.tag = MTAG_ID_UNTAGGED,
	};
	bool gone;

	/* If it fails, they belong to the current tag: still counted once. */
	mtag__call_device(MTAG_IOC_RANGE, &arg, &gone);
}

/* ---- memory ---- */

static int area_map(struct mtag__sample *sample, size_t room)
{
	size_t bytes = MTAG__MESSAGE_BYTES + room * sizeof(*sample->tags), i;
	char *p;

	bytes = (bytes + STEP - 1) & ~(size_t)(STEP - 1);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	madvise(p, bytes, MADV_NOHUGEPAGE);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, bytes, "mtag");
	mtag__untagged(p, bytes);
	for (i = 0; i < bytes; i += STEP)
		*(volatile char *)(p + i) = 0;
	sample->area = p;
	sample->bytes = bytes;
	sample->tags = (struct mtag__tag *)(p + MTAG__MESSAGE_BYTES);
	sample->room = room;
	return 0;
}

void mtag__sample_free(struct mtag__sample *sample)
{
	munmap(sample->area, sample->bytes);
}

/* ---- messages ---- */

/* Copies a string, NUL-terminated or not, cut at @size. */
static void copy_text(char *to, size_t size, const struct mtag__attr *attr)
{
	size_t len = strnlen(attr->data, attr->len);

	if (len >= size)
		len = size - 1;
	memcpy(to, attr->data, len);
	to[len] = '\0';
}

/* Copies a number, or numbers, of the host's own order; what is missing stays 0. */
static void copy_numbers(void *to, size_t size, const struct mtag__attr *attr)
{
	memcpy(to, attr->data, attr->len < size ? attr->len : size);
}

static bool is_empty(const struct mtag__tag *tag)
{
	static const uint64_t nothing[MTAG_C_NR];

	return !memcmp(tag->c, nothing, sizeof(nothing));
}

static int take_tag(struct mtag__attrs attrs, struct mtag__sample *sample)
{
	struct mtag__tag tag = {.parent = -1, .first = -1, .next = -1};
	struct mtag__attr attr;

	while (mtag__attr_next(&attrs, &attr)) {
		if (attr.type == MTAG_A_TAG_ID)
			copy_numbers(&tag.id, sizeof(tag.id), &attr);
		else if (attr.type == MTAG_A_TAG_PARENT)
			copy_numbers(&tag.parent_id, sizeof(tag.parent_id), &attr);
		else if (attr.type == MTAG_A_TAG_NAME)
			copy_text(tag.name, sizeof(tag.name), &attr);
		else if (attr.type == MTAG_A_TAG_COUNTERS)
			copy_numbers(tag.c, sizeof(tag.c), &attr);
	}
	/* What has a larger id than its parent cannot be in a circle. */
	if (sample->n && sample->tags[sample->n - 1].id >= tag.id)
		return -EBADMSG;
	if (tag.id == MTAG_ID_KSM && is_empty(&tag))
		return 0;
	if (sample->n == sample->room)
		return -ENOBUFS;
	sample->tags[sample->n++] = tag;
	return 0;
}

static int take_message(struct mtag__attrs attrs, void *arg)
{
	struct mtag__sample *sample = arg;
	struct mtag__attr attr;
	int err = 0;

	while (!err && mtag__attr_next(&attrs, &attr)) {
		if (attr.type == MTAG_A_PROC_PID)
			copy_numbers(&sample->pid, sizeof(sample->pid), &attr);
		else if (attr.type == MTAG_A_PROC_COMM)
			copy_text(sample->comm, sizeof(sample->comm), &attr);
		else if (attr.type == MTAG_A_PROC_LOST)
			copy_numbers(&sample->lost, sizeof(sample->lost), &attr);
		else if (attr.type == MTAG_A_PROC_OVERFLOW)
			copy_numbers(&sample->overflow, sizeof(sample->overflow), &attr);
		else if (attr.type == MTAG_A_PROC_REPAIRS)
			copy_numbers(&sample->repairs, sizeof(sample->repairs), &attr);
		else if (attr.type == MTAG_A_TAG)
			err = take_tag((struct mtag__attrs){attr.data, attr.len}, sample);
	}
	return err;
}

/* ---- order ---- */

static int find_tag(const struct mtag__sample *sample, uint16_t id)
{
	size_t low = 0, high = sample->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (sample->tags[mid].id == id)
			return (int)mid;
		if (sample->tags[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static int *head_of(struct mtag__sample *sample, int parent)
{
	return parent < 0 ? &sample->first : &sample->tags[parent].first;
}

/* Links the tags, each after its parent, and sums up. */
static void link_tags(struct mtag__sample *sample)
{
	struct mtag__tag *tag;
	size_t i;
	int *head;

	sample->first = -1;
	for (i = 0; i < sample->n; i++) {
		tag = &sample->tags[i];
		tag->total_rss = mtag__tag_rss(tag);
		sample->rss += tag->total_rss;
		tag->depth = tag->id != MTAG_ID_UNTAGGED;
		if (tag->parent_id == MTAG_ID_UNTAGGED || tag->parent_id >= tag->id)
			continue;
		tag->parent = find_tag(sample, tag->parent_id);
		if (tag->parent >= 0 && sample->tags[tag->parent].depth < MTAG_DEPTH_MAX)
			tag->depth = sample->tags[tag->parent].depth + 1;
		else
			tag->parent = -1;
	}
	for (i = sample->n; i-- > 0;) {
		tag = &sample->tags[i];
		head = head_of(sample, tag->parent);
		tag->next = *head;
		*head = (int)i;
		if (tag->parent >= 0)
			sample->tags[tag->parent].total_rss += tag->total_rss;
	}
}

int mtag__sample_next(const struct mtag__sample *sample, int at)
{
	if (at < 0)
		return sample->first;
	if (sample->tags[at].first >= 0)
		return sample->tags[at].first;
	while (at >= 0 && sample->tags[at].next < 0)
		at = sample->tags[at].parent;
	return at < 0 ? -1 : sample->tags[at].next;
}

/* Merges two sorted lists, not both empty; of equals, the first list's comes first. */
static int merge(struct mtag__tag *tags, int a, int b)
{
	int head = -1, *end = &head, *from;

	while (a >= 0 && b >= 0) {
		from = tags[b].total_rss > tags[a].total_rss ? &b : &a;
		*end = *from;
		end = &tags[*from].next;
		*from = *end;
	}
	*end = a >= 0 ? a : b;
	return head;
}

/* Sorts the list that begins at @head by merging: level n of @lists has 2^n tags or none. */
static int sort_list(struct mtag__tag *tags, int head)
{
	int lists[17], one, sorted = -1;
	unsigned n;

	for (n = 0; n < 17; n++)
		lists[n] = -1;
	while (head >= 0) {
		one = head;
		head = tags[one].next;
		tags[one].next = -1;
		for (n = 0; lists[n] >= 0; n++) {
			one = merge(tags, lists[n], one);
			lists[n] = -1;
		}
		lists[n] = one;
	}
	for (n = 0; n < 17; n++)
		if (lists[n] >= 0)
			sorted = merge(tags, lists[n], sorted);
	return sorted;
}

void mtag__sample_by_size(struct mtag__sample *sample)
{
	size_t i;

	sample->first = sort_list(sample->tags, sample->first);
	for (i = 0; i < sample->n; i++)
		sample->tags[i].first = sort_list(sample->tags, sample->tags[i].first);
}

int mtag__sample_take(struct mtag__sample *sample)
{
	int saved = errno, err = -ENOBUFS;
	size_t room;

	for (room = ROOM_FIRST; err == -ENOBUFS;
	     room = room * 8 < ROOM_MOST ? room * 8 : ROOM_MOST) {
		*sample = (struct mtag__sample){0};
		err = area_map(sample, room);
		if (err)
			break;
		err = mtag__dump_tags(sample->area, take_message, sample);
		if (err)
			mtag__sample_free(sample);
		if (room == ROOM_MOST)
			break;
	}
	if (!err)
		link_tags(sample);
	errno = saved;
	return err;
}
