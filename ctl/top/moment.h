/* SPDX-License-Identifier: GPL-2.0 */
/* What top knows of one time: all processes with their tags, and perhaps their control groups. */
#ifndef MTAGCTL_TOP_MOMENT_H
#define MTAGCTL_TOP_MOMENT_H

#include "kern.h"
#include "model.h"

/**
 * struct moment - the processes of one time
 * @snap:	processes and tags, with the sums of their heaps where they have a heap view
 * @grouped:	their control groups are known, as far as they can be
 * @ns:		when, by the monotonic clock
 * @ms:		when, since 1970
 */
struct moment {
	struct snap snap;
	bool grouped;
	uint64_t ns;
	uint64_t ms;
};

/*
 * One dump of all that the caller may see. Returns what kern_tags() returns, or -ENOPROTOOPT when
 * the module is gone. If it was loaded again, *@kern is another one.
 */
int moment_take(struct moment *moment, struct kern **kern);
/*
 * Looks up the control groups, unless it is done. Processes that ended meanwhile have none. 0 or
 * -ENOMEM.
 */
int moment_cgroups(struct moment *moment);
void moment_clear(struct moment *moment);

#endif
