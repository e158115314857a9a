// SPDX-License-Identifier: GPL-2.0
/* The model from the kernel or from a snapshot file, whichever the command line says. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "ctl.h"
#include "fail.h"
#include "heaps/load.h"
#include "heaps/sites.h"
#include "kern.h"
#include "offline/source.h"
#include "parse.h"
#include "probe.h"
#include "stacks/resolve.h"

bool source_option(struct source *source, int opt, const char *value)
{
	int err = opt == SOURCE_SAMPLE ? parse_count(value, &source->sample) : 0;

	if (opt == SOURCE_FROM)
		source->from = value;
	if (opt == SOURCE_PSS)
		source->shares = true;
	if (err)
		fail_print(err == -ERANGE ? "sample '%s' is too large (at most %lu)"
					  : "invalid sample '%s' (a number from 1, counted from "
					    "the file's beginning)",
			   value, ULONG_MAX);
	return !err;
}

/* Reads one process, or all, as the options say. */
static int read_tags(const struct source *source, struct kern *kern, pid_t pid, struct snap *snap)
{
	return source->shares ? kern_shares(kern, pid, snap) : kern_tags(kern, pid, snap);
}

/* A module that does not know the request says only that. */
static bool too_old(const struct source *source, int err)
{
	if (!source->shares || err != -EOPNOTSUPP)
		return false;
	fail_print("the mtag module is older than this mtagctl and cannot tell USS and PSS; "
		   "leave --pss out, or load the new module");
	return true;
}

static int read_all(const struct source *source, struct kern *kern, struct snap *snap)
{
	int err = read_tags(source, kern, 0, snap);

	if (too_old(source, err))
		return CTL_REFUSED;
	if (err < 0)
		return fail_all(kern, "read the tags", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	return CTL_OK;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int read_some(const struct source *source, struct kern *kern, const pid_t *pids, size_t n,
		     struct snap *snap)
{
	int status = CTL_OK;

	for (size_t i = 0; i < n; i++) {
		_cleanup_(snap_clear) struct snap one = {0};
		int err;

		if (i && pids[i] == pids[i - 1])
			continue;
		err = read_tags(source, kern, pids[i], &one);
		if (too_old(source, err))
			return CTL_REFUSED;
		if (err) {
			status = fail_pid(kern, "read", pids[i], err);
			continue;
		}
		if (!snap_move_proc(snap, &one.procs[0]))
			return fail_memory();
	}
	return status;
}

/* What is wanted of each sample of a file. */
struct pick {
	const pid_t *pids; /* ascending */
	size_t n;	   /* 0: all */
	bool *found;	   /* for each, in any sample */
	const struct taker *taker;
};

/* Of all processes of a sample, those that are wanted. */
static int pick_some(const struct pick *pick, struct snap *snap)
{
	_cleanup_(snap_clear) struct snap all = *snap;

	*snap = (struct snap){.time_ms = all.time_ms};
	for (size_t i = 0, at = 0; i < pick->n; i++) {
		if (i && pick->pids[i] == pick->pids[i - 1])
			continue;
		while (at < all.n_procs && all.procs[at].pid < pick->pids[i])
			at++;
		if (at == all.n_procs || all.procs[at].pid != pick->pids[i])
			continue;
		pick->found[i] = true;
		if (!snap_move_proc(snap, &all.procs[at]))
			return fail_memory();
	}
	return CTL_OK;
}

static int take_sample(void *arg, const struct origin *origin, struct snap *snap)
{
	const struct pick *pick = arg;
	int status;

	snap->time_ms = origin->time_ms;
	status = pick->n ? pick_some(pick, snap) : CTL_OK;
	if (!status && pick->taker)
		status = pick->taker->take(pick->taker->arg, origin, snap);
	return status;
}

static int report_missing(const struct source *source, const struct pick *pick)
{
	int status = CTL_OK;

	for (size_t i = 0; i < pick->n; i++) {
		if (pick->found[i] || (i && pick->pids[i] == pick->pids[i - 1]))
			continue;
		fail_print(pick->taker && !source->sample ? "no process %d in any sample of %s"
							  : "no process %d in this sample of %s",
			   (int)pick->pids[i], source->from);
		status = CTL_REFUSED;
	}
	return status;
}

/* Whoever asks for USS and PSS of a file is told if it has none. */
static int check_shares(const struct source *source, const struct snap *snap)
{
	for (size_t i = 0; source->shares && i < snap->n_procs; i++)
		if (!snap->procs[i].shares) {
			fail_print("this sample of %s has no USS and PSS of process %d; "
				   "`mtagctl snapshot --pss` records them",
				   source->from, (int)snap->procs[i].pid);
			return CTL_REFUSED;
		}
	return CTL_OK;
}

static int read_file(struct source *source, const pid_t *pids, size_t n, const struct taker *taker,
		     struct snap *snap)
{
	_cleanup_(freep) bool *found = calloc(n + 1, sizeof(*found));
	struct pick pick = {pids, n, found, taker};
	const struct taker picker = {take_sample, &pick};
	int status;

	if (!found)
		return fail_memory();
	/* Of a file of which only a sample is wanted, the others are not looked at. */
	status = read_samples(source->from, source->sample, taker ? &picker : NULL, &source->origin,
			      snap);
	if (!status && !taker)
		status = take_sample(&pick, &source->origin, snap);
	if (!status)
		status = check_shares(source, snap);
	if (status)
		return status;
	source->read = true;
	return report_missing(source, &pick);
}

/* When and where a sample is taken that is taken now. */
static void set_origin(struct origin *origin)
{
	struct utsname uts = {0};
	struct timespec now;

	uname(&uts);
	clock_gettime(CLOCK_REALTIME, &now);
	*origin = (struct origin){.time_ms = (uint64_t)now.tv_sec * 1000 +
					     (uint64_t)now.tv_nsec / 1000000};
	snprintf(origin->host, sizeof(origin->host), "%s", uts.nodename);
	snprintf(origin->kernel, sizeof(origin->kernel), "%s", uts.release);
	probe_line("/proc/sys/kernel/random/boot_id", origin->boot_id, sizeof(origin->boot_id));
}

/* ---- one process after the other ---- */

/* When a process began, in ticks since the boot; 0 if it has ended. */
static uint64_t began_at(pid_t pid)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t ticks = 0;
	char path[32], *rest;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = probe_read(path);
	/*
	 * Its name may have anything in it, blanks and parentheses, too. The third field is behind
	 * it; this is the 22nd.
	 */
	rest = text ? strrchr(text, ')') : NULL;
	if (!rest || sscanf(rest + 1,
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %*s %" SCNu64,
			    &ticks) != 1)
		return 0;
	return ticks;
}

/* For each process, in order. NULL without memory. Caller frees them. */
static uint64_t *all_began_at(const struct snap *snap)
{
	uint64_t *began = calloc(snap->n_procs + 1, sizeof(*began));

	for (size_t i = 0; began && i < snap->n_procs; i++)
		began[i] = began_at(snap->procs[i].pid);
	return began;
}

/* Has the id passed on to another process since that one began? */
static bool is_another(pid_t pid, uint64_t began)
{
	uint64_t now = began_at(pid);

	return now && now != began;
}

/* Then cgroup and heap may be that one's. */
static void drop_others(struct snap *snap, const uint64_t *began)
{
	for (size_t i = 0; i < snap->n_procs; i++) {
		struct proc *proc = &snap->procs[i];

		if (!is_another(proc->pid, began[i]))
			continue;
		free(proc->cgroup);
		proc->cgroup = NULL;
		if (proc->heap)
			heap_view_clear(proc->heap);
		free(proc->heap);
		proc->heap = NULL;
	}
}

/* ---- stacks ---- */

/* Of a process without stacks, or that has ended meanwhile, there are none. */
static int read_stacks(const struct source *source, struct kern *kern, int device,
		       struct proc *proc, uint64_t began)
{
	_cleanup_(traces_clear) struct traces traces = {0};
	const struct trace_owner owner = trace_owner_of(proc->pid);
	_cleanup_(heap_unload) struct heap_loaded loaded = {0};
	bool heap = device >= 0 &&
		    !(source->resident ? heap_load(device, proc, &loaded)
				       : heap_load_objects(device, proc, &loaded.objects));
	int err = kern_stacks(kern, proc->pid, source->older, &traces);

	if (err == -ENODATA || err == -ESRCH || err == -ENOENT || is_another(proc->pid, began))
		return CTL_OK;
	if (err == -EOPNOTSUPP) {
		fail_print("the loaded mtag module is older than this mtagctl: it knows no stacks");
		return CTL_REFUSED;
	}
	if (err == -EINTR) {
		fail_print("process %d changes too fast to read its stacks", (int)proc->pid);
		err = 0; /* what came is right */
	}
	if (err)
		return fail_pid(kern, "read the stacks of", proc->pid, err);
	if (heap && heap_sites_add(&loaded.objects, source->older, &traces))
		return fail_memory();
	traces.owner = owner;
	traces.resident = heap && source->resident;
	if (!proc_stacks(proc) || stacks_resolve(proc->stacks, &traces, !source->addresses))
		return fail_memory();
	return CTL_OK;
}

static int read_all_stacks(const struct source *source, struct kern *kern, struct snap *snap,
			   const uint64_t *began)
{
	/* Without the device there are stacks, but no heap views. */
	int status = CTL_OK, device = source->stacks ? heap_open() : -1;

	for (size_t i = 0; source->stacks && i < snap->n_procs; i++) {
		int err = read_stacks(source, kern, device, &snap->procs[i], began[i]);

		status = err ? err : status;
	}
	if (device >= 0)
		close(device);
	return status;
}

/*
 * What the tags do not say: cgroups and heaps at once, as the next process with an id is another
 * one, then stacks, whose functions take minutes to look up.
 */
static int read_more(struct source *source, struct kern *kern, struct snap *snap)
{
	_cleanup_(freep) uint64_t *began = all_began_at(snap);

	if (!began || cgroup_read(snap))
		return fail_memory();
	/* What ends meanwhile, or may not be read, has tags without a heap. */
	if (source->heaps && heap_load_all(snap, HEAP_PAGES))
		return fail_memory();
	drop_others(snap, began);
	return read_all_stacks(source, kern, snap, began);
}

static int read_kernel(struct source *source, const pid_t *pids, size_t n, struct snap *snap)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	int status, err = kern_open(&kern);

	if (err)
		return fail_open(err);
	source->read = true;
	set_origin(&source->origin);
	status = n ? read_some(source, kern, pids, n, snap) : read_all(source, kern, snap);
	snap->time_ms = source->origin.time_ms;
	err = read_more(source, kern, snap);
	return status ? status : err;
}

int source_read_series(struct source *source, pid_t *pids, size_t n, const struct taker *taker,
		       struct snap *snap)
{
	int status, err;

	if (source->sample && !source->from) {
		fail_print("--sample chooses a sample of a file; --from names the file");
		return CTL_USAGE;
	}
	if (n)
		qsort(pids, n, sizeof(*pids), by_pid);
	if (source->from)
		return read_file(source, pids, n, taker, snap);
	status = read_kernel(source, pids, n, snap);
	err = source->read && taker ? taker->take(taker->arg, &source->origin, snap) : CTL_OK;
	return status ? status : err;
}

int source_read(struct source *source, pid_t *pids, size_t n, struct snap *snap)
{
	return source_read_series(source, pids, n, NULL, snap);
}
