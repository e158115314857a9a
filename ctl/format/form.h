/* SPDX-License-Identifier: GPL-2.0 */
/* The forms in which processes and tags can be printed, by their names. */
#ifndef MTAGCTL_FORMAT_FORM_H
#define MTAGCTL_FORMAT_FORM_H

#include "format/fmt.h"
#include "picture/subject.h"

struct form;

/* Returns NULL for a name that is none. */
const struct form *form_find(const char *name);
/* The name of the @nth one, from 0, or NULL. */
const char *form_name(size_t nth);
/* The names, for a message. */
extern const char form_names[];
bool form_is_json(const struct form *form);
/* No text, and nothing for a terminal. */
bool form_is_binary(const struct form *form);
/* It has the lines of functions: a function that goes on from two of them has two frames. */
bool form_has_lines(const struct form *form);
/* It can sum processes, or not. */
bool form_sums_processes(const struct form *form);
/* Whether it prints USS and PSS where they are known. */
bool form_has_shares(const struct form *form);
/* Whether -s does something. */
bool form_has_statistics(const struct form *form);
/* It shows all samples of a file, not only one: the subject needs a timeline, which is ranked. */
bool form_takes_series(const struct form *form);
/* 0 or -ENOMEM. */
int form_print(const struct form *form, const struct fmt *fmt, const struct subject *subject);

#endif
