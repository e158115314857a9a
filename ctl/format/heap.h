/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of heaps in JSON: of tags and of processes, and in snapshots, from where they are read back. */
#ifndef MTAGCTL_FORMAT_HEAP_H
#define MTAGCTL_FORMAT_HEAP_H

#include "format/json.h"
#include "heaps/heap.h"

/* Adds the keys of a tag. */
void heap_add_tag(struct json_object *object, const struct heap_tag *tag);
/* Those that watch and top have. @view may be NULL, and have nothing of the tag. */
void heap_add_sums(struct json_object *object, const struct heap_view *view, uint16_t id);
/* Adds the keys of a process. */
void heap_add_process(struct json_object *object, const struct heap_view *view);

/* Adds those of a tag to a line of a snapshot; @first of the process, also those of the process. */
void heap_add_line(struct json_object *object, const struct heap_view *view, uint16_t id,
		   bool first);
/* The first line of a process says that it has a heap. */
bool heap_is_in_line(struct json_object *object);
/* Reads what heap_add_line() adds. Returns NULL, or what is wrong. Ids are then in any order. */
const char *heap_read_line(struct json_object *object, struct heap_view *view, uint16_t id,
			   bool first);

#endif
