/* SPDX-License-Identifier: GPL-2.0 */
/* A kernel that answers and refuses as the input says, in place of ctl/kern.c and of what starts processes. */
#ifndef MTAG_FUZZ_KERNEL_H
#define MTAG_FUZZ_KERNEL_H

#include <errno.h>

#include "cgroup.h"
#include "ctl.h"
#include "fuzz.h"
#include "kern.h"
#include "stacks/follow.h"
#include "stacks/load.h"

struct kern {
	char why[256];
};

static struct input kernel;
static unsigned int requests;

/* 0, or how it refuses; after a while it always does, so that nothing goes on for ever. */
static int refuse(struct kern *kern)
{
	static const int errors[] = {ESRCH, ENOENT, EPERM, EACCES, ENOMEM, EAGAIN, EIO, EBUSY};
	unsigned int pick = in_below(&kernel, 40);

	if (pick >= sizeof(errors) / sizeof(*errors) && ++requests < 12)
		return 0;
	if (kern)
		snprintf(kern->why, sizeof(kern->why), "%s",
			 in_rarely(&kernel) ? "no such process" : "for reasons");
	return -errors[pick % (sizeof(errors) / sizeof(*errors))];
}

static void invent(struct snap *snap, pid_t pid)
{
	char name[256];
	struct proc *proc;

	in_name(&kernel, name, sizeof(name));
	proc = snap_proc(snap, pid, name);
	proc->lost = in_number(&kernel);
	for (unsigned int n = in_below(&kernel, 9); n; n--) {
		unsigned int id = in_below(&kernel, in_rarely(&kernel) ? 65536 : 24);
		struct tag *tag;

		in_name(&kernel, name, sizeof(name));
		tag = proc_add_tag(proc, (uint16_t)id, (uint16_t)in_below(&kernel, id + 1), name);
		for (size_t i = 0; i < MTAG_C_NR; i++)
			tag->c[i] = in_number(&kernel);
	}
}

int kern_open(struct kern **kern)
{
	if (in_rarely(&kernel)) {
		*kern = NULL;
		return in_rarely(&kernel) ? -ENOPROTOOPT : -EPERM;
	}
	*kern = calloc(1, sizeof(**kern));
	return 0;
}

void kern_close(struct kern *kern)
{
	free(kern);
}

const char *kern_why(const struct kern *kern)
{
	return kern ? kern->why : "";
}

int kern_tags(struct kern *kern, pid_t pid, struct snap *snap)
{
	int err = refuse(kern);

	snap_clear(snap);
	if (err)
		return err;
	for (unsigned int n = pid ? 1 : in_below(&kernel, 4); n; n--)
		invent(snap, pid ? pid : 1 + (pid_t)in_below(&kernel, 4));
	err = snap_finish(snap);
	return !err && !pid && in_rarely(&kernel) ? KERN_INCOMPLETE : err;
}

int kern_procs(struct kern *kern, struct snap *snap)
{
	return kern_tags(kern, 0, snap);
}

int kern_shares(struct kern *kern, pid_t pid, struct snap *snap)
{
	int err = kern_tags(kern, pid, snap), again;

	for (size_t i = 0; i < snap->n_procs; i++)
		for (size_t j = 0; j < snap->procs[i].n_tags; j++) {
			struct tag *tag = &snap->procs[i].tags[j];

			tag->shares = true;
			for (size_t k = 0; k < MTAG_S_NR; k++)
				tag->s[k] = in_number(&kernel);
		}
	again = snap_finish(snap);
	return err ? err : again;
}

int kern_info(struct kern *kern, struct info *info)
{
	*info = (struct info){.procs = (uint32_t)in_number(&kernel)};
	return refuse(kern);
}

/* Ledgers with something in them are for tests/fuzz/decode.c. */
int kern_history(struct kern *kern, struct ledger *ledger)
{
	*ledger = (struct ledger){0};
	return refuse(kern);
}

int kern_history_clear(struct kern *kern)
{
	return refuse(kern);
}

int kern_audit(struct kern *kern, pid_t pid, struct audit *audit)
{
	*audit = (struct audit){.pid = pid,
				.kernel_rss = in_number(&kernel),
				.walked = in_number(&kernel),
				.drift = in_rarely(&kernel) ? in_number(&kernel) : 0,
				.lost = in_number(&kernel)};
	in_name(&kernel, audit->comm, sizeof(audit->comm));
	return refuse(kern);
}

int kern_track(struct kern *kern, pid_t pid, bool track)
{
	must(pid > 0);
	(void)track;
	return refuse(kern);
}

int kern_stack_start(struct kern *kern, pid_t pid, uint32_t one_in, int event)
{
	must(pid > 0 && one_in && event >= 0);
	return refuse(kern);
}

/* What hands in unwind tables: no process is left behind here. */
void load_before_run(const char *name)
{
	must(name);
}

void load_tracked(pid_t pid)
{
	must(pid > 0);
}

int follow(pid_t pid, int event)
{
	must(pid > 0 && event >= 0);
	return in_rarely(&kernel) ? -EAGAIN : 0;
}

static int invent_stack(struct traces *traces)
{
	struct mtag_stack_frame frames[8];
	size_t n = in_below(&kernel, 8);
	struct trace *trace;

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct mtag_stack_frame){in_below(&kernel, 4), in_below(&kernel, 4),
						      in_below(&kernel, 2)};
	if (in_rarely(&kernel)) {
		trace = traces_add_named(traces, frames, n);
		must(trace);
		trace->number = in_below(&kernel, 8);
		return 0;
	}
	trace = traces_add(traces, frames, n);
	if (!trace)
		return -ENOMEM;
	trace->tag = (uint16_t)in_below(&kernel, 24);
	trace->kind = in_rarely(&kernel) ? in_below(&kernel, 6) : MTAG_STACK_TAKEN;
	trace->why = in_rarely(&kernel) ? in_below(&kernel, 7) : MTAG_STACK_COMPLETE;
	trace->anon = in_number(&kernel);
	trace->swap = in_number(&kernel);
	trace->touched = in_number(&kernel);
	trace->knows_touched = in_u8(&kernel) & 1;
	return 0;
}

/* Of files that are not there; what is in files is for tests/unit/ctl_symbols.c. */
int kern_stacks(struct kern *kern, pid_t pid, uint32_t older, struct traces *traces)
{
	int err = refuse(kern);
	char name[256];

	(void)older;
	must(pid > 0);
	if (err)
		return in_rarely(&kernel) ? -ENODATA : err;
	for (unsigned int i = 0; i < 3; i++) {
		in_name(&kernel, name, sizeof(name));
		name[0] = name[0] == '/' ? '.' : name[0];
		if (!traces_add_image(traces, i, name))
			return -ENOMEM;
	}
	traces->one_in = in_rarely(&kernel) ? (uint32_t)in_number(&kernel) : 1;
	traces->uncounted = in_rarely(&kernel) ? in_number(&kernel) : 0;
	for (unsigned int n = in_below(&kernel, 9); n && !err; n--)
		err = invent_stack(traces);
	return err;
}

int cgroup_read(struct snap *snap)
{
	char path[256] = "/";

	for (size_t i = 0; i < snap->n_procs; i++) {
		in_name(&kernel, path + 1, sizeof(path) - 1);
		must(in_rarely(&kernel) || !proc_set_cgroup(&snap->procs[i], path));
	}
	return 0;
}

#endif
