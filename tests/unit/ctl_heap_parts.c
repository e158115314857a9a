// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/maps.c */
/* sources: ctl/heaps/parts.c */
/* mtagctl heap: which parts of anonymous memory are the allocator's, and which are stacks. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "heaps/parts.h"

#define MIB   (UINT64_C(1) << 20)
#define HEAP  (64 * MIB)
#define AT(n) ((n)*HEAP)

/* ---- glibc's heaps ---- */

/*
 * What stands at the beginning of pages; and pages that are not there, are in swap, or cannot be
 * read.
 */
static struct {
	uint64_t address;
	uint64_t words[4]; /* as struct heap_info begins */
} notes[16];
static size_t n_notes;
static uint64_t absent, swapped, refused;
static size_t looks;

static int look(void *arg, uint64_t start, uint64_t end, uint32_t *pages)
{
	(void)arg;
	looks++;
	*pages = start == absent ? 0 : start == swapped ? MTAG_OWNER_SWAP : MTAG_OWNER_PRESENT;
	return end == start + PAGE_BYTES ? 0 : -EINVAL;
}

static int read_at(void *arg, uint64_t address, void *to, size_t length)
{
	(void)arg;
	memset(to, 0x5a, length);
	for (size_t i = 0; i < n_notes; i++)
		if (notes[i].address == address)
			memcpy(to, notes[i].words, length);
	return address == refused ? -EPERM : 0;
}

static void note(uint64_t address, uint64_t arena, uint64_t previous, uint64_t size,
		 uint64_t writable)
{
	notes[n_notes].address = address;
	memcpy(notes[n_notes].words, (uint64_t[]){arena, previous, size, writable},
	       sizeof(notes[0].words));
	n_notes++;
}

static struct heap_objects objects;
static struct heap_object object[8];
static struct heap_maps maps;
static struct heap_spans spans;

static void clear(void)
{
	heap_maps_clear(&maps);
	heap_spans_clear(&spans);
	n_notes = objects.n_objects = 0;
	absent = swapped = refused = looks = 0;
}

static void map(uint64_t start, uint64_t end)
{
	char text[200];
	FILE *file;

	snprintf(text, sizeof(text),
		 "%" PRIx64 "-%" PRIx64 " rw-p 00000000 00:00 0 \nRss: 20480 kB\n", start, end);
	file = fmemopen(text, strlen(text), "r");
	if (heap_maps_parse(file, &maps))
		abort();
	fclose(file);
}

static int find(const char *allocator, bool readable)
{
	struct heap_parts parts = {.objects = &objects,
				   .maps = &maps,
				   .pages = {look, NULL},
				   .memory = {readable ? read_at : NULL, NULL}};

	snprintf(objects.head.allocator, sizeof(objects.head.allocator), "%s", allocator);
	objects.objects = object;
	return heap_parts_find(&parts, &spans);
}

static bool is_span(size_t i, uint64_t start, uint64_t end, enum heap_kind kind)
{
	return i < spans.n && spans.spans[i].start == start && spans.spans[i].end == end &&
	       spans.spans[i].kind == kind;
}

static void arenas(void)
{
	map(AT(1), AT(1) + 20 * MIB);
	note(AT(1), AT(1) + 48, 0, 20 * MIB, 20 * MIB);
	ok(!find("glibc", true) && spans.n == 1 && is_span(0, AT(1), AT(1) + 20 * MIB, HEAP_MALLOC),
	   "what begins with a note of glibc's is its heap");
	clear();
	map(AT(1) - MIB, AT(3) + 20 * MIB);
	note(AT(1), AT(1) + 32, 0, HEAP, HEAP);
	note(AT(3), AT(1) + 32, AT(1), 20 * MIB, 20 * MIB);
	ok(!find("glibc", true) && spans.n == 2 && is_span(0, AT(1), AT(2), HEAP_MALLOC) &&
		   is_span(1, AT(3), AT(3) + 20 * MIB, HEAP_MALLOC) &&
		   maps.maps[0].kind == HEAP_OTHER,
	   "heaps of an arena lie within a mapping, which is not theirs");
	clear();
	map(AT(1), AT(1) + 20 * MIB);
	note(AT(1), AT(1) + 48, 0, 20 * MIB, 20 * MIB);
	ok(!find("jemalloc", true) && !spans.n && !looks, "with another allocator there are none");
	clear();
}

/* As Java's heap with -Xmx256m, and Go's. */
static void aligned(void)
{
	map(AT(60), AT(60) + 254 * MIB);
	map(UINT64_C(0xc000000000), UINT64_C(0xc000000000) + HEAP);
	ok(!find("glibc", true) && !spans.n && maps.maps[0].kind == HEAP_OTHER &&
		   maps.maps[1].kind == HEAP_OTHER,
	   "what only begins where a heap might is none");
	clear();
	map(AT(1), AT(1) + HEAP);
	map(AT(4), AT(5) + PAGE_BYTES);
	ok(!find("glibc", false) && spans.n == 1 && is_span(0, AT(1), AT(2), HEAP_MALLOC),
	   "if that cannot be read, its size tells");
	clear();
	map(AT(1), AT(1) + MIB);
	map(AT(3), AT(3) + MIB);
	map(AT(5), AT(5) + MIB);
	absent = AT(1);
	swapped = AT(3);
	refused = AT(5);
	ok(!find("glibc", true) && spans.n == 2 && is_span(0, AT(3), AT(3) + MIB, HEAP_MALLOC) &&
		   is_span(1, AT(5), AT(5) + MIB, HEAP_MALLOC),
	   "so it does of what is in swap, and not where nothing was ever written");
	clear();
}

static void wrong_notes(void)
{
	const struct {
		uint64_t arena, previous, size, writable;
		const char *what;
	} wrong[] = {
		{AT(1) + 48, AT(3), MIB, MIB, "a first heap that has one before it"},
		{AT(3) + 48, 0, MIB, MIB, "a second one without"},
		{AT(3) + 48, AT(1), MIB, MIB, "one before itself"},
		{AT(3) + 48, AT(3), MIB, MIB, "one of an arena that is none"},
		{AT(5) + 48, AT(3), MIB, MIB, "one after a heap of another arena"},
		{AT(1) + PAGE_BYTES, 0, MIB, MIB, "an arena elsewhere"},
		{AT(1) + 40, 0, MIB, MIB, "an arena that is not aligned"},
		{AT(1) + 16, 0, MIB, MIB, "one within the note"},
		{AT(1) + 48, 0, 2 * MIB, MIB, "more in use than there is"},
		{AT(1) + 48, 0, MIB, HEAP + PAGE_BYTES, "more than a heap has"},
		{AT(1) + 48, 0, MIB + 8, MIB + 8, "no whole pages"},
		{AT(1) + 48, 0, 0, MIB, "no bytes"},
		{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, "what is beyond all bounds"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		map(AT(1), AT(1) + MIB);
		note(AT(1), wrong[i].arena, wrong[i].previous, wrong[i].size, wrong[i].writable);
		note(AT(5), AT(5) + 48, 0, MIB, MIB);
		ok(!find("glibc", true) && !spans.n, wrong[i].what);
		clear();
	}
	map(AT(1), AT(1) + 40000 * HEAP);
	ok(!find("glibc", true) && looks <= 1 << 14, "there is an end to looking for heaps");
	clear();
}

/* ---- stacks ---- */

static void put(uint64_t address, uint64_t bytes)
{
	object[objects.n_objects++] =
		(struct heap_object){.address = address, .end = address + bytes};
}

static void stack_at(uint64_t pointer)
{
	if (heap_maps_add_stack(&maps, pointer))
		abort();
}

#define BASE (AT(100) + MIB)

static void stacks(void)
{
	map(BASE, BASE + 8 * MIB);
	map(BASE + 16 * MIB, BASE + 24 * MIB);
	stack_at(BASE + 8 * MIB - 1000);
	stack_at(BASE + 8 * MIB - 2000);
	stack_at(12345);
	ok(!find("glibc", true) && !spans.n && maps.maps[0].kind == HEAP_STACK &&
		   maps.maps[1].kind == HEAP_OTHER,
	   "a mapping with a stack pointer and no object is a stack");
	clear();
	map(BASE, BASE + 28 * MIB);
	put(BASE + 8 * MIB + 16, 20 * MIB - 16);
	stack_at(BASE + 8 * MIB - 1000);
	ok(!find("glibc", true) && maps.maps[0].kind == HEAP_MALLOC && spans.n == 1 &&
		   is_span(0, BASE, BASE + 8 * MIB, HEAP_STACK),
	   "a stack below a large object, in one mapping, ends where that begins");
	clear();
	map(BASE, BASE + 28 * MIB);
	put(BASE + 100, MIB);
	put(BASE + 8 * MIB + 16, 20 * MIB - 16);
	stack_at(BASE + 6 * MIB + 100);
	stack_at(BASE + 7 * MIB + 100);
	ok(!find("glibc", true) && spans.n == 1 &&
		   is_span(0, BASE + 6 * MIB, BASE + 8 * MIB, HEAP_STACK),
	   "with something else below, it begins with the page of its pointer");
	clear();
	map(BASE, BASE + 28 * MIB);
	put(BASE + 100, MIB);
	stack_at(BASE + MIB + 200);
	ok(!find("glibc", true) && spans.n == 1 &&
		   is_span(0, BASE + MIB + PAGE_BYTES, BASE + 28 * MIB, HEAP_STACK),
	   "or with the next one, as that of an object is the allocator's");
	clear();
	map(BASE, BASE + 28 * MIB);
	put(BASE + 5000, 100);
	stack_at(BASE + 4500);
	ok(!find("glibc", true) && spans.n == 1 && is_span(0, BASE, BASE + PAGE_BYTES, HEAP_STACK),
	   "that of an object above it, too");
	clear();
}

static void allocated_stacks(void)
{
	map(BASE, BASE + 28 * MIB);
	put(BASE + 100, 20 * MIB);
	stack_at(BASE + MIB);
	ok(!find("musl", true) && !spans.n && maps.maps[0].kind == HEAP_MALLOC,
	   "a stack that was allocated is an object");
	clear();
	map(AT(1) - MIB, AT(2));
	note(AT(1), AT(1) + 48, 0, HEAP, HEAP);
	stack_at(AT(1) - 100);
	stack_at(AT(1) + MIB);
	ok(!find("glibc", true) && spans.n == 2 && maps.maps[0].kind == HEAP_OTHER &&
		   is_span(0, AT(1) - MIB, AT(1), HEAP_STACK) &&
		   is_span(1, AT(1), AT(2), HEAP_MALLOC),
	   "so it is in a heap of glibc's, which ends a stack below it");
	clear();
	map(AT(1), AT(2) + MIB);
	note(AT(1), AT(1) + 48, 0, HEAP, HEAP);
	stack_at(AT(2) + 5000);
	ok(!find("glibc", true) && spans.n == 2 && is_span(0, AT(1), AT(2), HEAP_MALLOC) &&
		   is_span(1, AT(2) + PAGE_BYTES, AT(2) + MIB, HEAP_STACK),
	   "and is not the stack above it");
	clear();
}

int main(void)
{
	arenas();
	aligned();
	wrong_notes();
	stacks();
	allocated_stacks();
	return tap_end();
}
