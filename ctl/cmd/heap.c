// SPDX-License-Identifier: GPL-2.0
/* mtagctl heap: what of each tag's heap is alive, touched, resident and wasted, and what the RSS consists of. */
#include <errno.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/shape.h"
#include "fail.h"
#include "format/pprof.h"
#include "heaps/json.h"
#include "heaps/load.h"
#include "heaps/table.h"
#include "offline/source.h"
#include "option.h"
#include "stacks/graph.h"

enum { ACCOUNT = SOURCE_PSS + 1 };

struct request {
	struct shape shape;
	struct source source;
	bool accounts;
	pid_t *pids;
	size_t n; /* 0: all that have a heap view */
};

/* ---- the command line ---- */

static bool take_option(struct ctl *ctl, int opt, struct request *request)
{
	switch (opt) {
	case ACCOUNT:
		request->accounts = true;
		return true;
	case SOURCE_FROM:
	case SOURCE_SAMPLE:
		return source_option(&request->source, opt, optarg);
	}
	return shape_option(ctl, &request->shape, opt, optarg);
}

static int read_options(struct ctl *ctl, int argc, char **argv, struct request *request)
{
	static const struct option longs[] = {
		{"account", no_argument, NULL, ACCOUNT},
		{"output", required_argument, NULL, 'o'},
		SOURCE_LONGS,
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":o:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(ctl, opt, request))
			return OPTION_BAD;
	if (opt == OPTION_DONE && !shape_settle(ctl, &request->shape))
		return OPTION_BAD;
	if (opt == OPTION_DONE && request->accounts && !shape_is(&request->shape, "table")) {
		fail_print("heap: --account is for the table; JSON always has it");
		return OPTION_BAD;
	}
	return opt;
}

/* ---- reading ---- */

/* Why a process has no heap to show. */
static int fail_heap(pid_t pid, int err)
{
	switch (-err) {
	case ENODATA:
		fail_print("process %d has no heap view: %s", (int)pid, heap_why_not(pid));
		return CTL_REFUSED;
	case ENOTTY:
		fail_print(
			"the loaded mtag module is older than this mtagctl: it has no heap view");
		return CTL_REFUSED;
	case EBADMSG:
		fail_print(
			"process %d has a heap view of another version than this mtagctl, or has "
			"damaged it",
			(int)pid);
		return CTL_REFUSED;
	case ENXIO:
		fail_print("process %d has unmapped its heap view", (int)pid);
		return CTL_REFUSED;
	case ENOMEM:
		return fail_memory();
	}
	return fail_pid(NULL, "read the heap of", pid, err);
}

static size_t count_heaps(const struct snap *snap)
{
	size_t n = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		n += snap->procs[i].heap != NULL;
	return n;
}

/* Of all processes, those without a heap view, or that end meanwhile, are left out. */
static int load_heaps(const struct request *request, struct snap *snap)
{
	int status = CTL_OK, device = heap_open();

	if (device < 0)
		return fail_device();
	for (size_t i = 0; i < snap->n_procs; i++) {
		int err = heap_load_into(device, &snap->procs[i], HEAP_PAGES);

		if (err && (request->n || (err != -ENODATA && err != -ESRCH)))
			status = fail_heap(snap->procs[i].pid, err);
	}
	close(device);
	return status;
}

/* Reports each named process that has no heap; if none was named, only that no process has one. */
static int report_missing(const struct request *request, const struct snap *snap)
{
	const char *from = request->source.from;
	int status = CTL_OK;

	for (size_t i = 0; from && request->n && i < snap->n_procs; i++) {
		if (snap->procs[i].heap)
			continue;
		fail_print("process %d has no heap in this sample of %s", (int)snap->procs[i].pid,
			   from);
		status = CTL_REFUSED;
	}
	if (status || count_heaps(snap))
		return status;
	if (from)
		fail_print("no process has a heap in this sample of %s; `mtagctl snapshot` saves "
			   "those of programs that `mtagctl run --heap` started",
			   from);
	else
		fail_print(
			"no process that you may see has a heap view; `mtagctl run --heap` gives a "
			"program one");
	return CTL_REFUSED;
}

static int read_heaps(struct request *request, struct snap *snap)
{
	int status = source_read(&request->source, request->pids, request->n, snap), err = CTL_OK;

	if (status && !snap->n_procs)
		return status;
	if (!request->source.from)
		err = load_heaps(request, snap);
	status = status ? status : err;
	return status ? status : report_missing(request, snap);
}

/* ---- printing ---- */

static void print_tables(const struct fmt *fmt, const struct snap *snap, bool accounts)
{
	size_t n = 0;

	for (size_t i = 0; i < snap->n_procs; i++) {
		if (!snap->procs[i].heap)
			continue;
		if (n++)
			fputc('\n', fmt->out);
		heap_table(fmt, &snap->procs[i], accounts);
	}
}

static int print_json(const struct fmt *fmt, const struct snap *snap)
{
	struct json_list list = {.fmt = fmt};

	for (size_t i = 0; i < snap->n_procs; i++)
		if (snap->procs[i].heap && heap_json(&list, &snap->procs[i]))
			return -ENOMEM;
	json_list_end(&list);
	return 0;
}

/* What is alive, as frames beneath the tags of a process. */
static int add_stacks(struct snap *profile, const struct proc *of)
{
	_cleanup_(stack_view_clear) struct stack_view stacks = {0};
	const struct stack_choice all = {0};
	int err = stack_view_make(&stacks, of, &all);

	return err ? err : graph_add_heap(profile, &stacks);
}

/* Likewise as tags: pprof prints those. */
static int add_tags(struct snap *profile, const struct proc *of)
{
	_cleanup_(snap_clear) struct snap one = {0};
	struct proc *proc = snap_add_proc(&one, of->pid, of->comm);

	for (size_t i = 0; proc && i < of->n_tags; i++) {
		const struct tag *from = &of->tags[i];
		const struct heap_tag *heap = heap_find(of->heap, from->id);
		struct tag *tag = proc_add_tag(proc, from->id, from->parent_id, from->name);

		if (!tag)
			return -ENOMEM;
		if (!heap)
			continue;
		tag->c[PPROF_INUSE_OBJECTS] = heap->objects;
		tag->c[PPROF_INUSE_SPACE] = heap->asked;
		tag->c[PPROF_INUSE_RESIDENT] = heap->resident;
	}
	return proc && !snap_finish(&one) && snap_move_proc(profile, proc) ? 0 : -ENOMEM;
}

static int print_profile(const struct fmt *fmt, const struct snap *snap)
{
	_cleanup_(snap_clear) struct snap profile = {.time_ms = snap->time_ms};

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		if (!proc->heap)
			continue;
		if (proc->stacks && proc->stacks->heap && !proc->stacks->resident)
			fail_print("the sample does not say what of the objects of each stack of "
				   "process %d is resident",
				   (int)proc->pid);
		if (proc->stacks && proc->stacks->heap ? add_stacks(&profile, proc)
						       : add_tags(&profile, proc))
			return -ENOMEM;
	}
	return pprof_print_heap(fmt, &profile);
}

struct answer {
	const struct request *request;
	const struct snap *snap;
};

static int print(const struct fmt *fmt, const void *what)
{
	const struct answer *answer = what;
	const struct shape *shape = &answer->request->shape;

	if (shape_is(shape, "json"))
		return print_json(fmt, answer->snap);
	if (shape_is(shape, "pprof"))
		return print_profile(fmt, answer->snap);
	print_tables(fmt, answer->snap, answer->request->accounts);
	return 0;
}

int cmd_heap(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	_cleanup_(snap_clear) struct snap snap = {0};
	struct request request = {.shape.forms = "table, json or pprof"};
	int status, err, opt = read_options(ctl, argc, argv, &request);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(argc - optind, argv + optind, &pids);
	if (status)
		return status;
	request.pids = pids;
	request.n = (size_t)(argc - optind);
	request.source.stacks = request.source.resident = shape_is(&request.shape, "pprof");
	status = read_heaps(&request, &snap);
	/* Nothing is known: a file stays as it was. */
	if (!count_heaps(&snap))
		return status ? status : CTL_REFUSED;
	err = shape_print(ctl, request.shape.output, print, &(struct answer){&request, &snap});
	return status ? status : err;
}
