/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family "mtag". Nothing else in mtagctl talks to it. */
#ifndef MTAGCTL_KERN_H
#define MTAGCTL_KERN_H

#include "model.h"

struct kern;

/* All return 0 or a negative errno. kern_open(): -ENOPROTOOPT when there is no such family. */
int kern_open(struct kern **kern);
void kern_close(struct kern *kern);
static inline void kern_closep(struct kern **kern)
{
	kern_close(*kern);
}

/*
 * What the two dumps of many processes return besides: processes came and went whenever it was
 * tried, so that some may be missing. Each that is there is right.
 */
#define KERN_INCOMPLETE 1

/* Tags of a process, or with pid 0 of all that the caller may see. The snapshot is finished. */
int kern_tags(struct kern *kern, pid_t pid, struct snap *snap);
/* All processes that the caller may see, without tags. The snapshot is finished. */
int kern_procs(struct kern *kern, struct snap *snap);
int kern_audit(struct kern *kern, pid_t pid, struct audit *audit);
int kern_track(struct kern *kern, pid_t pid, bool track);
int kern_info(struct kern *kern, struct info *info);

/* What the kernel said of the last failure, "" when it said nothing; printable. */
const char *kern_why(const struct kern *kern);

#endif
