/* SPDX-License-Identifier: GPL-2.0 */
/* What watch prints: the tags of a process, and how they changed since the last sample. */
#ifndef MTAGCTL_FORMAT_WATCH_H
#define MTAGCTL_FORMAT_WATCH_H

#include "format/fmt.h"
#include "format/spark.h"
#include "model.h"

/**
 * struct sample - what watch prints
 * @now:	the process
 * @before:	the process at the previous sample, or NULL
 * @time_ms:	of @now, since 1970
 * @number:	from 1
 * @history:	up to @now, or NULL: without bars
 */
struct sample {
	const struct proc *now;
	const struct proc *before;
	uint64_t time_ms;
	unsigned long number;
	const struct sparks *history;
};

/* Both return 0 or -ENOMEM. @rows limits the lines, 0 for no limit; @eol ends each line. */
int watch_text(const struct fmt *fmt, const struct sample *sample, unsigned int rows,
	       const char *eol);
int watch_json(const struct fmt *fmt, const struct sample *sample);

#endif
