/* SPDX-License-Identifier: GPL-2.0 */
/* The printed form of each command's model: text for people, JSON for programs. */
#ifndef MTAGCTL_FORMAT_H
#define MTAGCTL_FORMAT_H

#include "format/json.h"
#include "format/text.h"
#include "model.h"

/* The JSON functions return 0 or -ENOMEM. */
void show_text(const struct fmt *fmt, const struct snap *snap);
int show_json(const struct fmt *fmt, const struct snap *snap);

int tree_text(const struct fmt *fmt, const struct proc *proc);
int tree_json(const struct fmt *fmt, const struct proc *proc);

/**
 * struct sample - what watch prints
 * @now:	the process
 * @before:	the same at the last sample, or NULL
 * @time_ms:	of @now, since 1970
 * @number:	from 1
 */
struct sample {
	const struct proc *now;
	const struct proc *before;
	uint64_t time_ms;
	unsigned long number;
};

/* @rows: lines to fill at most, 0 for no limit; @eol ends each. */
int watch_text(const struct fmt *fmt, const struct sample *sample, unsigned int rows,
	       const char *eol);
int watch_json(const struct fmt *fmt, const struct sample *sample);

void audit_text(const struct fmt *fmt, const struct audit *audits, size_t n);
int audit_json(const struct fmt *fmt, const struct audit *audits, size_t n);

enum check_status { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct check {
	const char *name;
	enum check_status status;
	char detail[256];
	const char *advice; /* what to do, or NULL */
};

void doctor_text(const struct fmt *fmt, const struct check *checks, size_t n);
int doctor_json(const struct fmt *fmt, const struct check *checks, size_t n);

/* Shared: the name that text shows, and what each line of it begins with. */
const char *tag_label(const struct tag *tag);
void proc_header(const struct fmt *fmt, const struct proc *proc, const char *eol);
/* Columns for the longest of the labels, within what @others columns leave of the line. */
unsigned int label_width(const struct fmt *fmt, const struct proc *proc, unsigned int others);
/* The keys that begin every object of show, tree and watch, and the counters of show. */
void json_add_tag(struct json_object *object, const struct proc *proc, const struct tag *tag);
void json_add_counters(struct json_object *object, const struct tag *tag, bool stats);

#endif
