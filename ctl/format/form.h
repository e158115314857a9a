/* SPDX-License-Identifier: GPL-2.0 */
/* The forms in which processes and tags can be printed, by their names. */
#ifndef MTAGCTL_FORMAT_FORM_H
#define MTAGCTL_FORMAT_FORM_H

#include "format/fmt.h"
#include "model.h"

struct form;

/* Returns NULL for a name that is none. */
const struct form *form_find(const char *name);
/* The names, for a message. */
extern const char form_names[];
bool form_is_json(const struct form *form);
/* 0 or -ENOMEM. */
int form_print(const struct form *form, const struct fmt *fmt, const struct snap *snap);

#endif
