/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to the generic netlink family "mtag", and their answers; listen.h receives its events. */
#ifndef MTAGCTL_KERN_H
#define MTAGCTL_KERN_H

#include "model.h"
#include "past.h"
#include "stacks/trace.h"

struct kern;

/* All return 0 or a negative errno: -ENOPROTOOPT if the family does not exist, or is going. */
int kern_open(struct kern **kern);
void kern_close(struct kern *kern);
static inline void kern_closep(struct kern **kern)
{
	kern_close(*kern);
}

/*
 * Also returned by dumps of several processes: processes came and went at every try, so some may be
 * missing. Those in the snapshot are right.
 */
#define KERN_INCOMPLETE 1

/* Reads the tags of a process, or with pid 0 of all that the caller may see. Finishes @snap. */
int kern_tags(struct kern *kern, pid_t pid, struct snap *snap);
/* Likewise with their shares, for which the kernel walks the page tables. */
int kern_shares(struct kern *kern, pid_t pid, struct snap *snap);
/* Reads all processes that the caller may see, without their tags. Finishes @snap. */
int kern_procs(struct kern *kern, struct snap *snap);
int kern_audit(struct kern *kern, pid_t pid, struct audit *audit);
int kern_track(struct kern *kern, pid_t pid, bool track);
/*
 * Has @eventfd signalled when the RSS of a tag reaches @bytes, and when that can no longer happen;
 * 0 ends this, or returns -ENOENT if it has ended.
 */
int kern_limit(struct kern *kern, pid_t pid, uint16_t tag, uint64_t bytes, int eventfd);
int kern_info(struct kern *kern, struct info *info);
/* Reads the processes that ended and that the caller may see. Finishes @ledger. */
int kern_history(struct kern *kern, struct ledger *ledger);
int kern_history_clear(struct kern *kern);

/*
 * Has the stacks of a tracked process, and of its future children, taken at one of @one_in first touches. The eventfd
 * @event is signalled when they map a file executable.
 */
int kern_stack_start(struct kern *kern, pid_t pid, uint32_t one_in, int event);
/*
 * Reads the stacks of a process, of pages first touched at least @older seconds ago, for which the kernel walks the
 * page tables; and those that it knows by number.
 */
int kern_stacks(struct kern *kern, pid_t pid, uint32_t older, struct traces *traces);

/* The kernel's reason for the last failure, printable; "" if it gave none. */
const char *kern_why(const struct kern *kern);

#endif
