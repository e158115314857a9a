// SPDX-License-Identifier: GPL-2.0
/*
 * Joins the objects of a heap with the pages that they are on. Where objects are sampled, sums over them are estimates:
 * each stands for as many as its weight says. Where bytes are counted, samples only say which part of them is where.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "heaps/view.h"

/* glibc's arenas but the first begin at such an address. */
#define GLIBC_ARENA (UINT64_C(64) << 20)

/**
 * struct place - sums over a tag's objects, or of objects on a tag's pages
 * @resident:	bytes of its objects on pages that are there
 * @swapped:	…in swap
 * @foreign:	…on pages of other tags
 * @on_pages:	bytes of any tag's objects on pages of this one
 * @pages:	resident pages of the allocator's memory that are this tag's
 */
struct place {
	double resident, swapped, foreign, on_pages;
	uint64_t pages;
};

struct join {
	const struct heap_parts *parts;
	struct place *places; /* by tag id */
	double *scale;	      /* likewise: counted bytes for each sampled one */
	uint32_t *pages;      /* HEAP_LOOK */
	size_t next;	      /* the first object that does not end before what is looked at */
};

void heap_view_clear(struct heap_view *view)
{
	free(view->tags);
	*view = (struct heap_view){0};
}

static uint64_t to_u64(double value)
{
	if (!(value > 0))
		return 0;
	return value < 9e18 ? (uint64_t)(value + 0.5) : UINT64_C(9000000000000000000);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- which mappings are the allocator's ---- */

/* What is larger is no heap: each of its pages would have to be asked for. */
#define HEAP_MOST (UINT64_C(4) << 40)

static bool may_be_heap(const struct heap_map *map)
{
	return (map->kind == HEAP_OTHER || map->kind == HEAP_SHARED) &&
	       map->end - map->start <= HEAP_MOST;
}

/* Those with an object in them, and what is shaped like an arena of glibc's. */
static void find_heap(const struct heap_parts *parts)
{
	const struct heap_objects *objects = parts->objects;
	bool glibc = !strcmp(objects->head.allocator, "glibc");

	for (size_t i = 0; i < objects->n_objects; i++) {
		struct heap_map *map = heap_maps_find(parts->maps, objects->objects[i].address);

		if (map && may_be_heap(map))
			map->kind = HEAP_MALLOC;
	}
	for (size_t i = 0; glibc && i < parts->maps->n; i++) {
		struct heap_map *map = &parts->maps->maps[i];

		if (map->kind == HEAP_OTHER && map->start % GLIBC_ARENA == 0 && map->rss)
			map->kind = HEAP_MALLOC;
	}
}

/* ---- objects and pages ---- */

/* A part of an object, on one page. */
static void place_part(struct join *join, struct heap_object *object, uint64_t bytes, uint32_t page)
{
	double amount = (double)bytes * object->weight * join->scale[object->tag];
	size_t owner = page & MTAG_OWNER_TAG;
	struct place *place = &join->places[object->tag];

	if (page & MTAG_OWNER_SWAP)
		place->swapped += amount;
	if (!(page & MTAG_OWNER_PRESENT))
		return;
	object->resident += bytes;
	place->resident += amount;
	if (owner != object->tag)
		place->foreign += amount;
	if (owner < join->parts->objects->n_tags)
		join->places[owner].on_pages += amount;
}

static void place_object(struct join *join, struct heap_object *object, uint64_t start,
			 uint64_t end)
{
	uint64_t from = most(object->address, start), to = least(object->end, end), next;

	for (; from < to; from = next) {
		next = least(to, (from | (HEAP_PAGE - 1)) + 1);
		place_part(join, object, next - from, join->pages[(from - start) / HEAP_PAGE]);
	}
}

static int join_part(struct join *join, uint64_t start, uint64_t end)
{
	const struct heap_parts *parts = join->parts;
	struct heap_objects *objects = parts->objects;
	int err = parts->pages.look(parts->pages.arg, start, end, join->pages);

	for (uint64_t i = 0; i < (end - start) / HEAP_PAGE && !err; i++) {
		size_t owner = join->pages[i] & MTAG_OWNER_TAG;

		if (join->pages[i] & MTAG_OWNER_PRESENT && owner < objects->n_tags)
			join->places[owner].pages++;
	}
	while (join->next < objects->n_objects && objects->objects[join->next].end <= start)
		join->next++;
	for (size_t i = join->next; i < objects->n_objects && !err; i++) {
		if (objects->objects[i].address >= end)
			break;
		place_object(join, &objects->objects[i], start, end);
	}
	return err;
}

static int join_map(struct join *join, const struct heap_map *map)
{
	uint64_t start = map->start, end;
	int err = 0;

	for (; start < map->end && !err; start = end) {
		end = least(map->end, start + HEAP_LOOK * HEAP_PAGE);
		err = join_part(join, start, end);
	}
	return err;
}

static int join_all(struct join *join)
{
	const struct heap_maps *maps = join->parts->maps;
	int err = 0;

	for (size_t i = 0; i < maps->n && !err; i++)
		if (maps->maps[i].kind == HEAP_MALLOC)
			err = join_map(join, &maps->maps[i]);
	return err;
}

/* ---- tags ---- */

/* The variance of what is resident: of the sum itself, or where the whole is counted of its part. */
static void resident_variance(const struct join *join, double *variance)
{
	const struct heap_objects *objects = join->parts->objects;
	bool exact = objects->head.mode == MTAG_HEAP_EXACT;

	for (size_t i = 0; i < objects->n_objects; i++) {
		const struct heap_object *object = &objects->objects[i];
		const struct heap_sum *sum = &objects->sums[object->tag];
		double bytes = (double)object->resident, scale = join->scale[object->tag];

		if (exact && sum->allocated > 0)
			bytes -= join->places[object->tag].resident / sum->allocated *
				 (double)(object->end - object->address);
		variance[object->tag] +=
			object->weight * (object->weight - 1) * bytes * bytes * scale * scale;
	}
}

/* Of a tag without samples nothing is known but that what is small is touched. */
static void place_unsampled(struct join *join, double *variance)
{
	const struct heap_objects *objects = join->parts->objects;

	for (size_t i = 0; i < objects->n_tags; i++) {
		const struct heap_sum *sum = &objects->sums[i];

		if (sum->sampled > 0 || !(sum->allocated > 0))
			continue;
		join->places[i].resident = sum->allocated;
		join->places[i].on_pages += sum->allocated;
		variance[i] = sum->allocated * (double)objects->head.period;
	}
}

static struct heap_tag make_tag(const struct tag *tag, const struct heap_sum *sum,
				const struct place *place, double variance)
{
	struct heap_tag made = {
		.tag = tag,
		.objects = to_u64(sum->objects),
		.asked = to_u64(sum->asked),
		.error = to_u64(sqrt(sum->variance)),
		.allocated = to_u64(sum->allocated),
		.resident_error = to_u64(sqrt(variance)),
		.pages = place->pages * HEAP_PAGE,
	};

	made.resident = least(to_u64(place->resident), made.allocated);
	made.swapped = least(to_u64(place->swapped), made.allocated - made.resident);
	made.untouched = made.allocated - made.resident - made.swapped;
	made.foreign = least(to_u64(place->foreign), made.resident);
	made.wasted = made.pages - least(to_u64(place->on_pages), made.pages);
	return made;
}

static int make_tags(struct heap_view *view, const struct join *join, const double *variance)
{
	const struct proc *proc = join->parts->proc;

	view->tags = calloc(proc->n_tags + 1, sizeof(*view->tags));
	if (!view->tags)
		return -ENOMEM;
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];
		struct heap_tag made;

		if (tag->id >= join->parts->objects->n_tags)
			continue;
		made = make_tag(tag, &join->parts->objects->sums[tag->id], &join->places[tag->id],
				variance[tag->id]);
		if (made.allocated || made.pages)
			view->tags[view->n++] = made;
	}
	return 0;
}

/* ---- the account ---- */

/* Resident bytes of [@from, @to), which a mapping may have merged with others. */
static int resident_in(struct join *join, uint64_t from, uint64_t to, uint64_t *bytes)
{
	const struct heap_pages *pages = &join->parts->pages;
	uint64_t end;
	int err = 0;

	for (; from < to && !err; from = end) {
		end = least(to, from + HEAP_LOOK * HEAP_PAGE);
		err = pages->look(pages->arg, from, end, join->pages);
		for (uint64_t i = 0; i < (end - from) / HEAP_PAGE && !err; i++)
			*bytes += join->pages[i] & MTAG_OWNER_PRESENT ? HEAP_PAGE : 0;
	}
	return err;
}

/* What of @map is the view's own area. */
static int area_in(struct join *join, const struct heap_map *map, uint64_t *bytes)
{
	uint64_t start = join->parts->area, end = start + join->parts->area_bytes;
	int err = 0;

	*bytes = 0;
	if (map->kind == HEAP_FILE)
		return 0;
	if (map->start >= start && map->end <= end)
		*bytes = map->rss;
	else if (map->start < end && map->end > start)
		err = resident_in(join, most(map->start, start), least(map->end, end), bytes);
	*bytes = least(*bytes, map->rss);
	return err;
}

/* What the library has in its own data counts as the view's, too: its tag has that and the area. */
static void move_view(struct heap_account *account, const struct proc *proc)
{
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		uint64_t more;

		if (tag->parent >= 0 || strcmp(tag->name, HEAP_VIEW_TAG) != 0)
			continue;
		more = tag->c[MTAG_C_ANON] > account->view ? tag->c[MTAG_C_ANON] - account->view
							   : 0;
		more = least(more, account->other);
		account->view += more;
		account->other -= more;
	}
}

/* The allocator's memory: what is alive is an estimate, and the rest is defined so that the sum is exact. */
static void divide_heap(struct heap_view *view, uint64_t heap, double variance)
{
	struct heap_account *account = &view->account;
	uint64_t live = 0;

	for (size_t i = 0; i < view->n; i++)
		live += view->tags[i].resident;
	account->live = least(live, heap);
	account->free = view->knows_retained ? least(view->retained, heap - account->live) : 0;
	account->own = heap - account->live - account->free;
	account->error = to_u64(sqrt(variance));
}

static int make_account(struct heap_view *view, struct join *join, double variance)
{
	const struct heap_maps *maps = join->parts->maps;
	struct heap_account *account = &view->account;
	uint64_t by_kind[HEAP_KINDS] = {0}, area;

	for (size_t i = 0; i < maps->n; i++) {
		const struct heap_map *map = &maps->maps[i];
		uint64_t anon = least(map->anon, map->rss);
		int err = area_in(join, map, &area);

		if (err)
			return err;
		account->rss += map->rss;
		account->view += area;
		if (map->kind == HEAP_FILE)
			account->data += anon;
		by_kind[map->kind] += map->rss - (map->kind == HEAP_FILE ? anon : area);
	}
	account->stacks = by_kind[HEAP_STACK];
	account->files = by_kind[HEAP_FILE];
	account->shared = by_kind[HEAP_SHARED];
	account->other = by_kind[HEAP_OTHER];
	move_view(account, join->parts->proc);
	divide_heap(view, by_kind[HEAP_MALLOC], variance);
	return 0;
}

static void set_scale(const struct join *join)
{
	const struct heap_objects *objects = join->parts->objects;

	for (size_t i = 0; i < objects->n_tags; i++) {
		const struct heap_sum *sum = &objects->sums[i];

		join->scale[i] = sum->sampled > 0 ? sum->allocated / sum->sampled : 0;
	}
}

static int make(struct heap_view *view, struct join *join, double *variance)
{
	const struct heap_objects *objects = join->parts->objects;
	double all = 0;
	int err;

	set_scale(join);
	find_heap(join->parts);
	err = join_all(join);
	if (err)
		return err;
	resident_variance(join, variance);
	place_unsampled(join, variance);
	for (size_t i = 0; i < objects->n_tags; i++)
		all += variance[i];
	err = make_tags(view, join, variance);
	return err ? err : make_account(view, join, all);
}

int heap_view_make(struct heap_view *view, const struct heap_parts *parts)
{
	const struct heap_objects *objects = parts->objects;
	const struct mtag_heap_figures *figures = &objects->head.figures;
	_cleanup_(freep) struct place *places = calloc(objects->n_tags, sizeof(*places));
	_cleanup_(freep) double *scale = calloc(objects->n_tags, sizeof(*scale));
	_cleanup_(freep) double *variance = calloc(objects->n_tags, sizeof(*variance));
	_cleanup_(freep) uint32_t *pages = calloc(HEAP_LOOK, sizeof(*pages));
	struct join join = {parts, places, scale, pages, 0};

	if (!places || !scale || !variance || !pages)
		return -ENOMEM;
	view->proc = parts->proc;
	view->objects = objects;
	view->knows_retained = figures->time && figures->known & MTAG_HEAP_KNOWS_RETAINED;
	view->retained = view->knows_retained ? figures->retained : 0;
	return make(view, &join, variance);
}
