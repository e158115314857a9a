// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/format/text.c ctl/format/json.c ctl/format/label.c ctl/format/heap.c */
/* sources: ctl/heaps/objects.c ctl/heaps/maps.c ctl/heaps/parts.c ctl/heaps/head.c ctl/heaps/view.c */
/* sources: ctl/heaps/json.c ctl/heaps/table.c */
/* sources: ctl/stacks/trace.c ctl/heaps/sites.c */
/*
 * The heap view of a process that has anything in it, changes while it is read, and fails now and then: what is made of it
 * adds up, and is harmless to print.
 */
#include <errno.h>

#include "ctl.h"
#include "fuzz.h"
#include "heaps/json.h"
#include "heaps/sites.h"
#include "heaps/table.h"
#include "heaps/view.h"

#define SAMPLES	   64
#define MAPS	   12
#define AREA_BYTES (UINT64_C(1) << 27)
#define BASE	   UINT64_C(0x7f0000000000)

/* An area: its head and samples; cells, and all else, are noise. */
struct area {
	struct mtag_heap_head head;
	struct mtag_heap_sample samples[SAMPLES];
	uint64_t length;
	struct input *in; /* decides what goes wrong */
};

static uint64_t hash(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

static int area_read(void *arg, uint64_t offset, void *to, size_t length)
{
	struct area *area = arg;
	unsigned char *out = to;
	const unsigned char *samples = (const unsigned char *)area->samples;

	must(offset <= area->length && length <= area->length - offset);
	for (size_t i = 0; i < length; i++) {
		uint64_t at = offset + i, in_samples = at - area->head.samples_at;

		if (at < sizeof(area->head))
			out[i] = ((const unsigned char *)&area->head)[at];
		else if (at >= area->head.samples_at && in_samples < sizeof(area->samples))
			out[i] = samples[in_samples];
		else
			out[i] = hash(at >> 9) & 7 ? 0 : (unsigned char)hash(at);
	}
	/* It changes while it is read. */
	if (length && in_rarely(area->in))
		out[in_below(area->in, (unsigned int)length)] ^= 1U << in_below(area->in, 8);
	return in_u8(area->in) == 0xff ? -EFAULT : 0;
}

static int look(void *arg, uint64_t start, uint64_t end, uint32_t *pages)
{
	struct area *area = arg;

	must(start < end && end - start <= HEAP_LOOK * PAGE_BYTES);
	for (uint64_t at = start; at < end; at += PAGE_BYTES) {
		uint64_t x = hash(at);

		/* Tags that the process does not have, too, and flags that nobody knows. */
		*pages++ = (uint32_t)(x & 0x1f0000) | (uint32_t)(x >> 60);
	}
	return in_u8(area->in) == 0xff ? -ESRCH : 0;
}

/* ---- what is read ---- */

static void make_head(struct input *in, struct area *area)
{
	area->head = (struct mtag_heap_head){
		.magic = MTAG_HEAP_MAGIC,
		.version = MTAG_HEAP_VERSION,
		.head_bytes = sizeof(area->head),
		.area_bytes = AREA_BYTES,
		.mode = 1 + in_below(in, 2),
		.wanted = 1 + in_below(in, 2),
		.period = in_number(in) | 1,
		.cells_at = MTAG_HEAP_HEAD_SIZE,
		.cell_bytes = sizeof(struct mtag_heap_cell),
		.cell_tags = MTAG_HEAP_TAGS,
		.slots = 4,
		.slots_used = in_below(in, 5),
		.samples_at = MTAG_HEAP_HEAD_SIZE + 4 * 65536 * 64,
		.sample_bytes = sizeof(struct mtag_heap_sample),
		.samples_max = SAMPLES,
		.samples_used = in_below(in, SAMPLES + 1),
		.samples_lost = in_rarely(in),
		.seen = in_u8(in),
		.figures = {.time = in_u8(in), .retained = in_number(in), .known = in_u8(in)},
	};
	if (in_u8(in) & 1)
		strcpy(area->head.allocator, "glibc");
	else
		in_name(in, area->head.allocator, sizeof(area->head.allocator));
	in_name(in, area->head.reason, sizeof(area->head.reason));
	area->head.figures.check = mtag_heap_check(&area->head.figures);
	area->length = AREA_BYTES;
	/* One thing that is wrong. */
	if (in_rarely(in))
		((uint64_t *)&area->head)[in_below(in, sizeof(area->head) / 8)] = in_number(in);
}

static void make_samples(struct input *in, struct area *area)
{
	for (int i = 0; i < SAMPLES; i++) {
		struct mtag_heap_sample *sample = &area->samples[i];
		uint64_t more = in_below(in, 64);

		*sample = (struct mtag_heap_sample){
			.address = BASE + in_below(in, 1 << 20) * UINT64_C(16),
			.asked = in_rarely(in) ? in_number(in) : in_below(in, 1 << 20),
			.weight = (UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT) + (in_number(in) >> 2),
			.tag = in_below(in, 8),
			.stack = in_below(in, 8),
		};
		if (in_rarely(in))
			sample->address = in_number(in);
		sample->allocated =
			sample->asked < UINT64_MAX - more ? sample->asked + more : sample->asked;
		sample->check = mtag_heap_check(sample) ^ in_rarely(in);
	}
}

static void make_maps(struct input *in, struct heap_maps *maps)
{
	static const char *const names[] = {"",		 "[heap]",   "[stack]",
					    "/lib/x.so", "/memfd:x", "[anon:x]"};
	_cleanup_(freep) char *text = NULL;
	uint64_t at = BASE;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (unsigned int n = in_below(in, MAPS); n; n--) {
		uint64_t start = at + in_below(in, 4) * PAGE_BYTES;
		uint64_t bytes = (1 + in_below(in, 1 << 11)) * PAGE_BYTES, rss = in_below(in, 9000);

		at = start + bytes;
		fprintf(file, "%lx-%lx rw-p 0 00:00 0 %s\nRss: %lu kB\nAnonymous: %lu kB\n", start,
			at, names[in_below(in, ARRAY_SIZE(names))], rss * 4,
			(uint64_t)in_below(in, 9000) * 4);
	}
	fclose(file);
	file = fmemopen(text, size ? size : 1, "r");
	must(!heap_maps_parse(file, maps));
	fclose(file);
}

static void make_proc(struct input *in, struct snap *snap)
{
	struct proc *proc = snap_proc(snap, 1, "x");
	char name[64];

	must(proc && proc_add_tag(proc, 0, 0, ""));
	for (uint16_t i = 2; i < 7; i++) {
		struct tag *tag;

		in_name(in, name, sizeof(name));
		tag = proc_add_tag(proc, i, 0, i == 2 ? HEAP_VIEW_TAG : name);
		must(tag);
		tag->c[MTAG_C_ANON] = in_number(in) >> 16;
	}
	must(!snap_finish(snap));
}

/* ---- what must be so ---- */

/* Each resident page is some term of a tag's, but for those of tags that the process does not have. */
static void check_view(const struct heap_view *view, const struct heap_maps *maps)
{
	uint64_t rss = 0, tags = 0;

	for (size_t i = 0; i < view->n; i++) {
		const struct heap_tag *tag = &view->tags[i];

		must(!i || view->tags[i - 1].id < tag->id);
		must(tag->resident + tag->swapped + tag->untouched == tag->allocated);
		must(tag->foreign <= tag->resident && tag->wasted <= tag->pages);
		must(tag->account.bytes[TERM_LIVE] + tag->account.bytes[TERM_GUESTS] +
			     tag->account.bytes[TERM_WASTED] ==
		     tag->pages);
		tags += heap_rss(&tag->account);
	}
	for (size_t i = 0; i < maps->n; i++) {
		const struct heap_map *map = &maps->maps[i];

		if (!map->rss && map->kind != HEAP_MALLOC)
			continue;
		for (uint64_t at = map->start; at < map->end; at += PAGE_BYTES)
			rss += hash(at) & MTAG_OWNER_PRESENT ? PAGE_BYTES : 0;
	}
	must(heap_rss(&view->account) == rss && tags <= rss);
}

/* By stacks, of which the kernel has told some. */
static void check_sites(struct input *in, const struct heap_objects *objects)
{
	const struct mtag_stack_frame frames[] = {{1, 1, 0}, {2, 2, 0}, {3, 1, 0}};
	_cleanup_(traces_clear) struct traces traces = {0};

	traces_add_image(&traces, 1, "/bin/x");
	traces_add_image(&traces, 2, "/lib/libmtag-heap.so");
	for (unsigned int n = in_below(in, 4); n; n--)
		traces_add_named(&traces, frames, in_below(in, 4))->number = in_below(in, 8);
	must(!heap_sites_add(objects, in_rarely(in), &traces));
	for (size_t i = 0; i < traces.n; i++) {
		must(traces.traces[i].tag < objects->n_tags);
		stack_heap_whole(traces.traces[i].heap.asked);
		stack_heap_error(&traces.traces[i].heap);
	}
}

static void check_output(const struct proc *proc)
{
	struct fmt fmt = {.utf8 = true, .width = 80};
	struct json_list list = {.fmt = &fmt};
	char *text;
	size_t size;

	fmt.out = open_memstream(&text, &size);
	must(!heap_json(&list, proc));
	json_list_end(&list);
	fclose(fmt.out);
	must_be_json(text, size);
	free(text);
	for (int accounts = 0; accounts < 2; accounts++) {
		fmt.out = open_memstream(&text, &size);
		heap_table(&fmt, proc, accounts);
		fclose(fmt.out);
		must_be_harmless(text, size, TEXT);
		free(text);
	}
}

static void check(struct area *area)
{
	struct heap_source source = {.read = area_read, .arg = area, .length = area->length};
	struct heap_objects objects = {0}, sums = {0};
	struct heap_maps maps = {0};
	struct snap snap = {0};
	struct heap_parts parts = {.objects = &objects,
				   .maps = &maps,
				   .pages = {look, area},
				   .area = BASE + 64 * PAGE_BYTES,
				   .area_bytes = 64 * PAGE_BYTES};
	struct heap_view few = {0};

	make_proc(area->in, &snap);
	make_maps(area->in, &maps);
	parts.proc = &snap.procs[0];
	if (!heap_objects_read(&source, 7, &objects)) {
		for (size_t i = 1; i < objects.n_objects; i++)
			must(objects.objects[i].address >= objects.objects[i - 1].end);
		if (!heap_view_make(proc_heap(&snap.procs[0]), &parts)) {
			check_view(snap.procs[0].heap, &maps);
			check_output(&snap.procs[0]);
		}
		check_sites(area->in, &objects);
	}
	if (!heap_objects_read_sums(&source, 7, &sums))
		must(!heap_view_sum(&few, parts.proc, &sums) && few.sums_only);
	heap_view_clear(&few);
	heap_objects_clear(&sums);
	heap_maps_clear(&maps);
	heap_objects_clear(&objects);
	snap_clear(&snap);
}

/* Any text as smaps. */
static void check_maps(const uint8_t *data, size_t size)
{
	FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
	struct heap_maps maps = {0};

	must(file && !heap_maps_parse(file, &maps));
	for (size_t i = 0; i < maps.n; i++) {
		must(maps.maps[i].start < maps.maps[i].end);
		must(!i || maps.maps[i - 1].end <= maps.maps[i].start);
		must(heap_maps_find(&maps, maps.maps[i].start) == &maps.maps[i]);
	}
	heap_maps_clear(&maps);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct area area = {.in = &in, .length = AREA_BYTES};
	size_t head = size < sizeof(area.head) ? size : sizeof(area.head);

	if (fuzz_built) {
		make_head(&in, &area);
		make_samples(&in, &area);
		check(&area);
		return 0;
	}
	if (size)
		check_maps(data, size);
	memcpy(&area.head, data, head);
	if (size > head)
		memcpy(area.samples, data + head,
		       size - head < sizeof(area.samples) ? size - head : sizeof(area.samples));
	check(&area);
	return 0;
}

/* A head and samples; or smaps. */
static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	static const char smaps[] = "7f00-8f00 rw-p 00000000 00:00 0    [heap]\n";
	struct area area = {.in = in};

	must(size > sizeof(area.head) + sizeof(area.samples));
	if (in_u8(in) & 1)
		return (size_t)snprintf((char *)buf, size, "%x%sRss: %u kB\n", in_u8(in), smaps + 1,
					in_u8(in));
	make_head(in, &area);
	make_samples(in, &area);
	memcpy(buf, &area.head, sizeof(area.head));
	memcpy(buf + sizeof(area.head), area.samples, sizeof(area.samples));
	return sizeof(area.head) + sizeof(area.samples);
}

FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
