/* SPDX-License-Identifier: GPL-2.0 */
/* How every table and every JSON object names a process and its tags. */
#ifndef MTAGCTL_FORMAT_LABEL_H
#define MTAGCTL_FORMAT_LABEL_H

#include "format/json.h"
#include "model.h"

#define LABEL_UNTAGGED "[untagged]"

/* What a table says of pages that are no tag's: a tag of that path would look like them. */
bool label_is_reserved(const char *path);

/* The name of a tag in a table. */
const char *label_of(const struct tag *tag);
#define LABEL_LEAST 12
/*
 * The width of the longest label, limited to what @others columns leave of the line; at least
 * LABEL_LEAST.
 */
unsigned int label_width(const struct fmt *fmt, const struct proc *proc, unsigned int others);
/* Prints the line before the tags of a process. */
void label_proc(const struct fmt *fmt, const struct proc *proc, const char *eol);
/* Adds the keys that begin every object of show, tree and watch. */
void label_json(struct json_object *object, const struct proc *proc, const struct tag *tag);

#endif
