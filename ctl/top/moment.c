// SPDX-License-Identifier: GPL-2.0
/* Takes what top knows of one time: tags from the module, control groups from /proc. */
#include <errno.h>

#include "cgroup.h"
#include "clock.h"
#include "heaps/load.h"
#include "top/moment.h"

/* Every load of the module gives its family another number. */
static int open_again(struct kern **kern)
{
	struct kern *fresh;
	int err = kern_open(&fresh);

	if (!err) {
		kern_close(*kern);
		*kern = fresh;
	}
	return err;
}

int moment_take(struct moment *moment, struct kern **kern)
{
	int err;

	moment_clear(moment);
	moment->ns = clock_ns(CLOCK_MONOTONIC);
	moment->ms = clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC;
	err = kern_tags(*kern, 0, &moment->snap);
	if (err < 0 && (err == -ENOPROTOOPT || open_again(kern) == -ENOPROTOOPT))
		return -ENOPROTOOPT;
	if (err < 0)
		err = kern_tags(*kern, 0, &moment->snap);
	/* No pages are looked at: that would be dear, each second. */
	return err >= 0 && heap_load_all(&moment->snap, HEAP_SUMS) ? -ENOMEM : err;
}

int moment_cgroups(struct moment *moment)
{
	if (moment->grouped)
		return 0;
	moment->grouped = true;
	return cgroup_read(&moment->snap);
}

void moment_clear(struct moment *moment)
{
	snap_clear(&moment->snap);
	*moment = (struct moment){0};
}
