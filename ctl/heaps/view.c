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
#include "heaps/head.h"
#include "heaps/view.h"

/**
 * struct place - sums over a tag's objects, or of objects on a tag's pages
 * @resident:	bytes of its objects on pages that are there
 * @home:	of them on its own
 * @swapped:	in swap
 * @on_pages:	bytes of any tag's objects on pages of this one
 * @pages:	its resident pages, by what they are for; TERM_WASTED: the allocator's
 * @variance:	of @resident, @home, and of objects of others on its pages
 */
struct place {
	double resident, home, swapped, on_pages;
	uint64_t pages[TERMS];
	struct {
		double resident, home, guests;
	} variance;
};

/**
 * struct join - objects and pages
 * @places:	by tag id; behind the last of them one for tags that are younger than what was read of the tags
 * @scale:	by tag id: counted bytes for each sampled one
 * @home:	by object: bytes on pages of its own tag
 * @pages:	HEAP_LOOK
 * @spans:	parts of mappings, and
 * @span:	the first of them that does not end before what is looked at
 * @next:	the first object that does not end before what is looked at
 * @view_tag:	the id of HEAP_VIEW_TAG, or one that no tag has
 * @absent:	bytes of the allocator's memory that are not resident
 * @unseen:	bytes that are resident in mappings too large to look at, by enum heap_term
 */
struct join {
	const struct heap_parts *parts;
	struct place *places;
	double *scale;
	uint64_t *home;
	uint32_t *pages;
	struct heap_spans spans;
	size_t span;
	size_t next;
	size_t view_tag;
	uint64_t absent;
	uint64_t unseen[TERMS];
};

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

/* ---- objects and pages ---- */

static void end_run(const struct join *join, const struct heap_object *object, size_t owner,
		    uint64_t bytes)
{
	double amount = (double)bytes * join->scale[object->tag];

	if (owner != object->tag)
		join->places[owner].variance.guests +=
			object->weight * (object->weight - 1) * amount * amount;
}

/* A part of an object, on one page; the owner of that is not asked about if it is not there. */
static void place_part(struct join *join, size_t i, uint64_t bytes, uint32_t page, size_t owner)
{
	struct heap_object *object = &join->parts->objects->objects[i];
	double amount = (double)bytes * object->weight * join->scale[object->tag];
	struct place *place = &join->places[object->tag];

	if (page & MTAG_OWNER_SWAP)
		place->swapped += amount;
	if (!(page & MTAG_OWNER_PRESENT))
		return;
	object->resident += bytes;
	place->resident += amount;
	join->places[owner].on_pages += amount;
	if (owner != object->tag)
		return;
	join->home[i] += bytes;
	place->home += amount;
}

/* A tag that was not there when the tags were read has the last place. */
static size_t owner_of(const struct join *join, uint32_t page)
{
	size_t owner = page & MTAG_OWNER_TAG, n = join->parts->objects->n_tags;

	return owner < n ? owner : n;
}

static void place_object(struct join *join, size_t i, uint64_t start, uint64_t end)
{
	const struct heap_object *object = &join->parts->objects->objects[i];
	uint64_t from = most(object->address, start), to = least(object->end, end), next, run = 0;
	size_t owner = object->tag;

	for (; from < to; from = next) {
		uint32_t page = join->pages[(from - start) / PAGE_BYTES];

		next = least(to, (from | (PAGE_BYTES - 1)) + 1);
		if (page & MTAG_OWNER_PRESENT && owner != owner_of(join, page)) {
			end_run(join, object, owner, run);
			owner = owner_of(join, page);
			run = 0;
		}
		run += page & MTAG_OWNER_PRESENT ? next - from : 0;
		place_part(join, i, next - from, page, owner);
	}
	end_run(join, object, owner, run);
}

static void place_objects(struct join *join, uint64_t start, uint64_t end)
{
	const struct heap_objects *objects = join->parts->objects;

	while (join->next < objects->n_objects && objects->objects[join->next].end <= start)
		join->next++;
	for (size_t i = join->next; i < objects->n_objects; i++) {
		if (objects->objects[i].address >= end)
			break;
		place_object(join, i, start, end);
	}
}

/* Of the page at @address, which is never before one that was asked for already. */
static enum heap_kind kind_at(struct join *join, const struct heap_map *map, uint64_t address)
{
	const struct heap_spans *spans = &join->spans;

	while (join->span < spans->n && spans->spans[join->span].end <= address)
		join->span++;
	return join->span < spans->n && spans->spans[join->span].start <= address
		       ? spans->spans[join->span].kind
		       : map->kind;
}

/* What a resident page at @address is for, of memory of a kind. */
static enum heap_term term_of(const struct join *join, enum heap_kind kind, uint64_t address,
			      uint32_t page)
{
	static const enum heap_term terms[HEAP_KINDS] = {
		[HEAP_OTHER] = TERM_OTHER, [HEAP_MALLOC] = TERM_WASTED, [HEAP_STACK] = TERM_STACKS,
		[HEAP_FILE] = TERM_FILES,  [HEAP_SHARED] = TERM_SHARED,
	};
	uint64_t in_area = address - join->parts->area;

	if (kind == HEAP_FILE)
		return page & MTAG_OWNER_FILE ? TERM_FILES : TERM_DATA;
	/* A mapping may have been merged with it. */
	if (in_area < join->parts->area_bytes)
		return TERM_VIEW;
	/* The library has some in its own data, too. */
	if (kind == HEAP_OTHER && owner_of(join, page) == join->view_tag)
		return TERM_VIEW;
	return terms[kind];
}

static int join_part(struct join *join, const struct heap_map *map, uint64_t start, uint64_t end)
{
	const struct heap_parts *parts = join->parts;
	int err = parts->pages.look(parts->pages.arg, start, end, join->pages);

	for (uint64_t at = start; at < end && !err; at += PAGE_BYTES) {
		uint32_t page = join->pages[(at - start) / PAGE_BYTES];
		enum heap_term term = term_of(join, kind_at(join, map, at), at, page);

		if (page & MTAG_OWNER_PRESENT)
			join->places[owner_of(join, page)].pages[term]++;
		else if (term == TERM_WASTED)
			join->absent += PAGE_BYTES;
	}
	if (!err && map->kind == HEAP_MALLOC)
		place_objects(join, start, end);
	return err;
}

/* A map that is too large is known as smaps has it: to the process, not to its tags. */
static void join_unseen(struct join *join, const struct heap_map *map)
{
	uint64_t anon = map->kind == HEAP_FILE ? least(map->anon, map->rss) : 0;

	if (map->kind == HEAP_MALLOC && map->rss < map->end - map->start)
		join->absent += map->end - map->start - map->rss;
	join->unseen[TERM_DATA] += anon;
	join->unseen[term_of(join, map->kind, map->start, MTAG_OWNER_FILE)] += map->rss - anon;
}

static int join_map(struct join *join, const struct heap_map *map)
{
	uint64_t start = map->start, end;
	int err = 0;

	for (; start < map->end && !err; start = end) {
		end = least(map->end, start + HEAP_LOOK * PAGE_BYTES);
		err = join_part(join, map, start, end);
	}
	return err;
}

static int join_all(struct join *join)
{
	const struct heap_maps *maps = join->parts->maps;
	int err = 0;

	for (size_t i = 0; i < maps->n && !err; i++) {
		const struct heap_map *map = &maps->maps[i];

		if (map->unseen)
			join_unseen(join, map);
		else if (map->rss || map->kind == HEAP_MALLOC)
			err = join_map(join, map);
	}
	return err;
}

/* ---- tags ---- */

/*
 * What @bytes of an object add to the variance of a sum over its tag; where the whole is counted, to that of a part of
 * it, of which so much is in @part.
 */
static double variance_of(const struct join *join, const struct heap_object *object, uint64_t bytes,
			  double part)
{
	const struct heap_objects *objects = join->parts->objects;
	const struct heap_sum *sum = &objects->sums[object->tag];
	double off = (double)bytes, scale = join->scale[object->tag];

	if (objects->head.mode == MTAG_HEAP_EXACT && sum->allocated > 0)
		off -= part / sum->allocated * (double)(object->end - object->address);
	return object->weight * (object->weight - 1) * off * off * scale * scale;
}

static void set_variances(const struct join *join)
{
	const struct heap_objects *objects = join->parts->objects;

	for (size_t i = 0; i < objects->n_objects; i++) {
		const struct heap_object *object = &objects->objects[i];
		struct place *place = &join->places[object->tag];

		place->variance.resident +=
			variance_of(join, object, object->resident, place->resident);
		place->variance.home += variance_of(join, object, join->home[i], place->home);
	}
}

/* Of a tag without samples nothing is known but that what is small is touched. */
static void place_unsampled(struct join *join)
{
	const struct heap_objects *objects = join->parts->objects;

	for (size_t i = 0; i < objects->n_tags; i++) {
		const struct heap_sum *sum = &objects->sums[i];
		struct place *place = &join->places[i];

		if (sum->sampled > 0 || !(sum->allocated > 0))
			continue;
		place->resident = place->home = sum->allocated;
		place->on_pages += sum->allocated;
		place->variance.resident = place->variance.home =
			sum->allocated * (double)objects->head.period;
	}
}

/*
 * The objects that are fewest among the samples make the most of the variance. If chance has left one of them out, it is
 * missing from the estimate of that, too: so one more is taken to be there, of the greatest weight, as a Poisson
 * variable's variance is put at one more than was counted.
 */
static double objects_error(const struct heap_sum *sum)
{
	return sqrt(sum->objects_variance + sum->heaviest * fmax(sum->heaviest - 1, 0));
}

static struct heap_tag make_sums(const struct tag *tag, const struct heap_sum *sum)
{
	return (struct heap_tag){
		.id = tag->id,
		.objects = to_u64(sum->objects),
		.objects_error = to_u64(objects_error(sum)),
		.asked = to_u64(sum->asked),
		.error = to_u64(sqrt(sum->variance)),
		.allocated = to_u64(sum->allocated),
	};
}

/* Sizes of objects are estimates, numbers of pages are exact: an excess of objects is on no page. */
static void make_account(struct heap_account *account, const struct place *place)
{
	uint64_t pages = place->pages[TERM_WASTED] * PAGE_BYTES;
	uint64_t on_pages = least(to_u64(place->on_pages), pages);

	for (int i = 0; i < TERMS; i++)
		account->bytes[i] = place->pages[i] * PAGE_BYTES;
	account->bytes[TERM_LIVE] = least(to_u64(place->home), on_pages);
	account->bytes[TERM_GUESTS] = on_pages - account->bytes[TERM_LIVE];
	account->bytes[TERM_WASTED] = pages - on_pages;
	account->live_error = to_u64(sqrt(place->variance.home));
	account->guests_error = to_u64(sqrt(place->variance.guests));
}

static struct heap_tag make_tag(const struct tag *tag, const struct heap_sum *sum,
				const struct place *place)
{
	struct heap_tag made = make_sums(tag, sum);

	made.resident_error = to_u64(sqrt(place->variance.resident));
	made.resident = least(to_u64(place->resident), made.allocated);
	made.swapped = least(to_u64(place->swapped), made.allocated - made.resident);
	made.untouched = made.allocated - made.resident - made.swapped;
	made.foreign = least(to_u64(place->resident - place->home), made.resident);
	made.pages = place->pages[TERM_WASTED] * PAGE_BYTES;
	make_account(&made.account, place);
	made.wasted = made.account.bytes[TERM_WASTED];
	return made;
}

/* Those of the process that have anything; without @places, only sums. */
static int make_tags(struct heap_view *view, const struct proc *proc,
		     const struct heap_objects *objects, const struct place *places)
{
	view->tags = calloc(proc->n_tags + 1, sizeof(*view->tags));
	if (!view->tags)
		return -ENOMEM;
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		const struct heap_sum *sum;
		struct heap_tag made;

		if (tag->id >= objects->n_tags)
			continue;
		sum = &objects->sums[tag->id];
		made = places ? make_tag(tag, sum, &places[tag->id]) : make_sums(tag, sum);
		if (made.allocated || heap_rss(&made.account))
			view->tags[view->n++] = made;
	}
	return 0;
}

/* ---- the process ---- */

/* 1 sigma of what is allocated and not resident. */
static double absent_error(const struct join *join)
{
	const struct heap_objects *objects = join->parts->objects;
	double variance = 0;

	for (size_t i = 0; i < objects->n_objects; i++) {
		const struct heap_object *object = &objects->objects[i];
		const struct heap_sum *sum = &objects->sums[object->tag];

		variance +=
			variance_of(join, object, object->end - object->address - object->resident,
				    sum->allocated - join->places[object->tag].resident);
	}
	return sqrt(variance);
}

/*
 * The allocator's memory: what is alive is an estimate, and the rest is defined so that the sum is
 * exact. How much of the allocator's free memory is resident is unknown: at most all of it, at
 * least what exceeds the bytes that are absent and not allocated.
 */
static void divide_heap(struct heap_view *view, const struct join *join, uint64_t heap)
{
	uint64_t *bytes = view->account.bytes, live = 0;
	double allocated = 0;

	for (size_t i = 0; i < view->n; i++) {
		live += view->tags[i].resident;
		allocated += (double)(view->tags[i].swapped + view->tags[i].untouched);
	}
	bytes[TERM_LIVE] = least(live, heap);
	bytes[TERM_FREE] =
		view->knows_retained ? least(view->retained, heap - bytes[TERM_LIVE]) : 0;
	bytes[TERM_OWN] = heap - bytes[TERM_LIVE] - bytes[TERM_FREE];
	view->account.free_least = least(to_u64((double)view->retained - (double)join->absent +
						allocated - 2 * absent_error(join)),
					 bytes[TERM_FREE]);
}

static void sum_account(struct heap_view *view, const struct join *join)
{
	struct heap_account *account = &view->account;
	double variance = 0;
	uint64_t heap;

	for (size_t i = 0; i <= join->parts->objects->n_tags; i++) {
		variance += join->places[i].variance.resident;
		for (int term = 0; term < TERMS; term++)
			account->bytes[term] += join->places[i].pages[term] * PAGE_BYTES;
	}
	for (int term = 0; term < TERMS; term++)
		account->bytes[term] += join->unseen[term];
	heap = account->bytes[TERM_WASTED];
	account->bytes[TERM_WASTED] = 0;
	divide_heap(view, join, heap);
	account->live_error = to_u64(sqrt(variance));
}

static void set_scale(const struct join *join)
{
	const struct heap_objects *objects = join->parts->objects;

	for (size_t i = 0; i < objects->n_tags; i++) {
		const struct heap_sum *sum = &objects->sums[i];

		join->scale[i] = sum->sampled > 0 ? sum->allocated / sum->sampled : 0;
	}
}

static size_t find_view_tag(const struct proc *proc)
{
	for (size_t i = 0; i < proc->n_tags; i++)
		if (proc->tags[i].parent < 0 && !strcmp(proc->tags[i].name, HEAP_VIEW_TAG))
			return proc->tags[i].id;
	return SIZE_MAX;
}

static int make(struct heap_view *view, struct join *join)
{
	const struct heap_parts *parts = join->parts;
	int err;

	set_scale(join);
	err = heap_parts_find(parts, &join->spans);
	if (err)
		return err;
	heap_maps_limit(parts->maps, heap_maps_budget(parts->maps));
	err = join_all(join);
	if (err)
		return err;
	set_variances(join);
	place_unsampled(join);
	err = make_tags(view, parts->proc, parts->objects, join->places);
	if (!err)
		sum_account(view, join);
	return err;
}

int heap_view_make(struct heap_view *view, const struct heap_parts *parts)
{
	const struct heap_objects *objects = parts->objects;
	_cleanup_(freep) struct place *places = calloc(objects->n_tags + 1, sizeof(*places));
	_cleanup_(freep) double *scale = calloc(objects->n_tags, sizeof(*scale));
	_cleanup_(freep) uint64_t *home = calloc(objects->n_objects + 1, sizeof(*home));
	_cleanup_(freep) uint32_t *pages = calloc(HEAP_LOOK, sizeof(*pages));
	struct join join = {.parts = parts,
			    .places = places,
			    .scale = scale,
			    .home = home,
			    .pages = pages,
			    .view_tag = find_view_tag(parts->proc)};
	int err;

	if (!places || !scale || !home || !pages)
		return -ENOMEM;
	heap_head_take(view, objects);
	err = make(view, &join);
	heap_spans_clear(&join.spans);
	return err;
}

int heap_view_sum(struct heap_view *view, const struct proc *proc,
		  const struct heap_objects *objects)
{
	view->sums_only = true;
	view->exact = objects->head.mode == MTAG_HEAP_EXACT;
	return make_tags(view, proc, objects, NULL);
}
