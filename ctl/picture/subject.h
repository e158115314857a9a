/* SPDX-License-Identifier: GPL-2.0 */
/* What a picture is of, and the words that say so. */
#ifndef MTAGCTL_PICTURE_SUBJECT_H
#define MTAGCTL_PICTURE_SUBJECT_H

#include <stdio.h>

#include "format/snapshot.h"
#include "model.h"

struct timeline;

/**
 * struct subject - what a form may show
 * @snap:	processes and tags, of the last sample
 * @origin:	when and where it was taken
 * @timeline:	all samples; NULL for a form that takes no series
 */
struct subject {
	const struct snap *snap;
	const struct origin *origin;
	const struct timeline *timeline;
};

/* "2 processes, 5.0GiB resident, 1.5MiB in swap", and lost events, which no picture may hide. */
void subject_summary(FILE *out, const struct snap *snap);
/* "HOST, 2025-11-24 03:04:05 UTC"; without a host, the time. 0 or -ENOMEM. */
int subject_origin(FILE *out, const struct origin *origin);
/* "Resident memory by tag", what it is a picture of. */
const char *subject_title(const struct subject *subject);
/* A time in the local zone by a format of strftime(3). */
const char *subject_time(char buf[64], uint64_t time_ms, const char *format);

#endif
