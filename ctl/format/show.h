/* SPDX-License-Identifier: GPL-2.0 */
/* What show prints: processes and the counters of each of their tags. */
#ifndef MTAGCTL_FORMAT_SHOW_H
#define MTAGCTL_FORMAT_SHOW_H

#include "format/json.h"
#include "model.h"

void show_text(const struct fmt *fmt, const struct snap *snap);
/* 0 or -ENOMEM. */
int show_json(const struct fmt *fmt, const struct snap *snap);

/* Adds the counters of a tag to an object, as show prints them. */
void show_add_counters(struct json_object *object, const struct tag *tag, bool stats);
/*
 * Reads them back. Returns NULL, or the key whose value is missing or wrong. Only the memory's keys
 * have to be there; the others are 0 then. The shares are both there, or both unknown.
 */
const char *show_read_counters(struct json_object *object, struct tag *tag);
/*
 * Adds the process's lost, overflow and repairs; reads back those that are there. Reading returns the
 * key of one that is no number, or NULL.
 */
void show_add_health(struct json_object *object, const struct proc *proc);
const char *show_read_health(struct json_object *object, struct proc *proc);

#endif
