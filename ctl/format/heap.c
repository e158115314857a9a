// SPDX-License-Identifier: GPL-2.0
/* The keys of heaps in JSON: of tags and of processes, and in snapshots, from where they are read back. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/heap.h"

#define PREFIX "heap_" /* of a process's keys in the line of its first tag */

/* The keys, and their order, are part of the contract. @at: of a uint64_t. */
struct field {
	const char *key;
	size_t at;
};

#define TAG(member)  offsetof(struct heap_tag, member)
#define VIEW(member) offsetof(struct heap_view, member)
#define RSS_KEYS(in)                                                                               \
	{"rss_stacks_bytes", in(account.bytes[TERM_STACKS])},                                      \
		{"rss_files_bytes", in(account.bytes[TERM_FILES])},                                \
		{"rss_data_bytes", in(account.bytes[TERM_DATA])},                                  \
		{"rss_shared_bytes", in(account.bytes[TERM_SHARED])},                              \
		{"rss_view_bytes", in(account.bytes[TERM_VIEW])},                                  \
		{"rss_other_bytes", in(account.bytes[TERM_OTHER])},                                \
	{                                                                                          \
		"rss_live_error_bytes", in(account.live_error)                                     \
	}

static const struct field tag_fields[] = {
	{"asked_bytes", TAG(asked)},
	{"allocated_bytes", TAG(allocated)},
	{"untouched_bytes", TAG(untouched)},
	{"resident_bytes", TAG(resident)},
	{"swapped_bytes", TAG(swapped)},
	{"foreign_bytes", TAG(foreign)},
	{"pages_bytes", TAG(pages)},
	{"wasted_bytes", TAG(wasted)},
	{"objects", TAG(objects)},
	{"error_bytes", TAG(error)},
	{"resident_error_bytes", TAG(resident_error)},
	{"rss_live_bytes", TAG(account.bytes[TERM_LIVE])},
	{"rss_guest_bytes", TAG(account.bytes[TERM_GUESTS])},
	{"rss_wasted_bytes", TAG(account.bytes[TERM_WASTED])},
	RSS_KEYS(TAG),
	{"rss_guest_error_bytes", TAG(account.guests_error)},
	{"objects_error", TAG(objects_error)},
};

static const struct field rss_fields[] = {
	{"rss_live_bytes", VIEW(account.bytes[TERM_LIVE])},
	{"rss_free_bytes", VIEW(account.bytes[TERM_FREE])},
	{"rss_own_bytes", VIEW(account.bytes[TERM_OWN])},
	RSS_KEYS(VIEW),
	{"lost_samples", VIEW(lost)},
	{"damaged_objects", VIEW(damaged)},
	{"seen", VIEW(seen)},
	{"rss_free_least_bytes", VIEW(account.free_least)},
};

static const uint64_t *in(const void *from, const struct field *field)
{
	return (const uint64_t *)(const void *)((const char *)from + field->at);
}

static void add(struct json_object *object, const char *prefix, const char *key, uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, key);
	json_add_u64(object, name, value);
}

static void add_fields(struct json_object *object, const char *prefix, const void *from,
		       const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(object, prefix, fields[i].key, *in(from, &fields[i]));
}

void heap_add_tag(struct json_object *object, const struct heap_tag *tag)
{
	add_fields(object, "", tag, tag_fields, ARRAY_SIZE(tag_fields));
	json_add_u64(object, "rss_bytes", heap_rss(&tag->account));
}

void heap_add_sums(struct json_object *object, const struct heap_view *view, uint16_t id)
{
	static const struct heap_tag nothing;
	const struct heap_tag *tag = heap_find(view, id);

	if (!view)
		return;
	tag = tag ? tag : &nothing;
	json_add_u64(object, "asked_bytes", tag->asked);
	json_add_u64(object, "objects", tag->objects);
	if (!view->sums_only)
		json_add_u64(object, "wasted_bytes", tag->wasted);
}

static const char *mode_of(const struct heap_view *view)
{
	return view->exact ? "exact" : "sampled";
}

void heap_add_process(struct json_object *object, const struct heap_view *view)
{
	json_add_string(object, "mode", mode_of(view));
	/* Counting that nobody asked for, or that is done, needs none. */
	if (view->instead)
		json_add_string(object, "reason", view->reason);
	else
		json_object_object_add(object, "reason", NULL);
	json_add_u64(object, "period_bytes", view->period);
	json_add_string(object, "allocator", view->allocator);
	/* What the allocator does not tell is null. */
	if (view->knows_retained) {
		json_add_u64(object, "retained_bytes", view->retained);
		json_add_u64(object, "retained_age_seconds", view->age);
	} else {
		json_object_object_add(object, "retained_bytes", NULL);
		json_object_object_add(object, "retained_age_seconds", NULL);
	}
	json_add_u64(object, "rss_bytes", heap_rss(&view->account));
	add_fields(object, "", view, rss_fields, ARRAY_SIZE(rss_fields));
	json_object_object_add(object, "own_allocator", json_object_new_boolean(view->bypassed));
}

/* ---- snapshots ---- */

static void add_process_line(struct json_object *object, const struct heap_view *view)
{
	json_add_string(object, PREFIX "mode", mode_of(view));
	add(object, PREFIX, "period_bytes", view->period);
	json_add_string(object, PREFIX "allocator", view->allocator);
	if (view->instead)
		json_add_string(object, PREFIX "reason", view->reason);
	if (view->knows_retained) {
		add(object, PREFIX, "retained_bytes", view->retained);
		add(object, PREFIX, "retained_age_seconds", view->age);
	}
	add(object, PREFIX, "rss_bytes", heap_rss(&view->account));
	add_fields(object, PREFIX, view, rss_fields, ARRAY_SIZE(rss_fields));
	if (view->bypassed)
		json_object_object_add(object, PREFIX "own_allocator", json_object_new_boolean(1));
}

void heap_add_line(struct json_object *object, const struct heap_view *view, uint16_t id,
		   bool first)
{
	const struct heap_tag *tag = heap_find(view, id);

	if (!view || view->sums_only)
		return;
	if (first)
		add_process_line(object, view);
	if (tag)
		add_fields(object, "", tag, tag_fields, ARRAY_SIZE(tag_fields));
}

bool heap_is_in_line(struct json_object *object)
{
	return json_object_object_get_ex(object, PREFIX "mode", NULL);
}

/* A number that is missing is 0. */
static bool read_number(struct json_object *object, const char *prefix, const char *key,
			uint64_t *value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, key);
	return !json_object_object_get_ex(object, name, NULL) || json_get_u64(object, name, value);
}

static bool read_fields(struct json_object *object, const char *prefix, void *to,
			const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!read_number(object, prefix, fields[i].key, (uint64_t *)in(to, &fields[i])))
			return false;
	return true;
}

/* What is missing is "". */
static bool read_text(struct json_object *object, const char *key, char *buf, size_t size)
{
	const char *text = json_get_text(object, key);

	if (!text)
		return !json_object_object_get_ex(object, key, NULL);
	return snprintf(buf, size, "%s", text) < (int)size;
}

static const char *read_process(struct json_object *object, struct heap_view *view)
{
	const char *mode = json_get_text(object, PREFIX "mode");
	struct json_object *own;
	uint64_t rss = 0;

	view->exact = mode && !strcmp(mode, "exact");
	if (!view->exact && (!mode || strcmp(mode, "sampled") != 0))
		return "\"heap_mode\" is sampled or exact";
	view->instead = json_object_object_get_ex(object, PREFIX "reason", NULL);
	view->knows_retained = json_object_object_get_ex(object, PREFIX "retained_bytes", NULL);
	own = json_object_object_get(object, PREFIX "own_allocator");
	view->bypassed = json_object_get_boolean(own);
	if (!read_text(object, PREFIX "allocator", view->allocator, sizeof(view->allocator)) ||
	    !read_text(object, PREFIX "reason", view->reason, sizeof(view->reason)))
		return "\"heap_allocator\" and \"heap_reason\" are strings of at most 191 and 383 "
		       "bytes";
	if (!read_number(object, PREFIX, "period_bytes", &view->period) ||
	    !read_number(object, PREFIX, "retained_bytes", &view->retained) ||
	    !read_number(object, PREFIX, "retained_age_seconds", &view->age) ||
	    !read_number(object, PREFIX, "rss_bytes", &rss) ||
	    !read_fields(object, PREFIX, view, rss_fields, ARRAY_SIZE(rss_fields)))
		return "a \"heap_\" key of bytes, seconds or counts is a whole number";
	return rss == heap_rss(&view->account)
		       ? NULL
		       : "\"heap_rss_bytes\" is the sum of the other keys \"heap_rss_…_bytes\" but "
			 "the error and what is free at least";
}

static const char *read_tag(struct json_object *object, struct heap_view *view, uint16_t id)
{
	struct heap_tag *tag = array_grow(view->tags, view->n, &view->room, sizeof(*tag));

	if (!tag)
		return "out of memory";
	view->tags = tag;
	tag += view->n;
	*tag = (struct heap_tag){.id = id};
	if (!read_fields(object, "", tag, tag_fields, ARRAY_SIZE(tag_fields)))
		return "the keys of a tag's heap, \"asked_bytes\" and so on, are whole numbers";
	if (tag->allocated != tag->untouched + tag->resident + tag->swapped)
		return "\"allocated_bytes\" is the sum of untouched_bytes, resident_bytes and "
		       "swapped_bytes";
	view->n++;
	return NULL;
}

const char *heap_read_line(struct json_object *object, struct heap_view *view, uint16_t id,
			   bool first)
{
	const char *bad = first ? read_process(object, view) : NULL;

	if (bad || !json_object_object_get_ex(object, "asked_bytes", NULL))
		return bad;
	return read_tag(object, view, id);
}
