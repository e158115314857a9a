// SPDX-License-Identifier: GPL-2.0
/* A heap view as JSON. */
#include <errno.h>

#include "ctl.h"
#include "heaps/json.h"

static struct json_object *new_object(const struct heap_view *view)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_add_u64(object, "pid", (uint64_t)view->proc->pid);
	json_add_string(object, "comm", view->proc->comm);
	return object;
}

static int add_tag(struct json_list *list, const struct heap_view *view, const struct heap_tag *tag)
{
	struct json_object *object = new_object(view);

	if (!object)
		return -ENOMEM;
	json_add_string(object, "tag", tag->tag->path);
	json_add_u64(object, "asked_bytes", tag->asked);
	json_add_u64(object, "allocated_bytes", tag->allocated);
	json_add_u64(object, "untouched_bytes", tag->untouched);
	json_add_u64(object, "resident_bytes", tag->resident);
	json_add_u64(object, "swapped_bytes", tag->swapped);
	json_add_u64(object, "foreign_bytes", tag->foreign);
	json_add_u64(object, "pages_bytes", tag->pages);
	json_add_u64(object, "wasted_bytes", tag->wasted);
	json_add_u64(object, "objects", tag->objects);
	json_add_u64(object, "error_bytes", tag->error);
	json_add_u64(object, "resident_error_bytes", tag->resident_error);
	return json_list_add(list, object);
}

static int add_process(struct json_list *list, const struct heap_view *view)
{
	const struct heap_account *account = &view->account;
	const struct mtag_heap_head *head = &view->objects->head;
	struct json_object *object = new_object(view);

	if (!object)
		return -ENOMEM;
	json_object_object_add(object, "tag", NULL);
	json_add_string(object, "mode", head->mode == MTAG_HEAP_EXACT ? "exact" : "sampled");
	json_add_u64(object, "period_bytes", head->period);
	json_add_string(object, "allocator", head->allocator);
	/* What the allocator does not tell is null. */
	if (view->knows_retained)
		json_add_u64(object, "retained_bytes", view->retained);
	else
		json_object_object_add(object, "retained_bytes", NULL);
	json_add_u64(object, "rss_bytes", account->rss);
	json_add_u64(object, "rss_live_bytes", account->live);
	json_add_u64(object, "rss_free_bytes", account->free);
	json_add_u64(object, "rss_own_bytes", account->own);
	json_add_u64(object, "rss_stacks_bytes", account->stacks);
	json_add_u64(object, "rss_files_bytes", account->files);
	json_add_u64(object, "rss_data_bytes", account->data);
	json_add_u64(object, "rss_shared_bytes", account->shared);
	json_add_u64(object, "rss_view_bytes", account->view);
	json_add_u64(object, "rss_other_bytes", account->other);
	json_add_u64(object, "rss_live_error_bytes", account->error);
	json_add_u64(object, "lost_samples", head->samples_lost);
	json_add_u64(object, "seen", head->seen);
	return json_list_add(list, object);
}

int heap_json(struct json_list *list, const struct heap_view *view)
{
	for (size_t i = 0; i < view->n; i++)
		if (add_tag(list, view, &view->tags[i]))
			return -ENOMEM;
	return add_process(list, view);
}
