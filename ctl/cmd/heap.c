// SPDX-License-Identifier: GPL-2.0
/* mtagctl heap: what of each tag's heap is alive, touched, resident and wasted, and what the RSS consists of. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "fail.h"
#include "format/pprof.h"
#include "heaps/json.h"
#include "heaps/load.h"
#include "heaps/sites.h"
#include "heaps/table.h"
#include "kern.h"
#include "option.h"
#include "output.h"
#include "stacks/graph.h"
#include "stacks/resolve.h"
#include "utf8.h"

struct request {
	const char *form; /* its name */
	const char *output;
	const pid_t *pids;
	size_t n; /* 0: all that have a heap view */
};

/* What was read. @loaded has room for all of @snap; those without a heap view have none. */
struct heaps {
	struct snap snap;
	struct heap_loaded *loaded;
	size_t n;
};

static void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static void heaps_clear(struct heaps *heaps)
{
	for (size_t i = 0; heaps->loaded && i < heaps->snap.n_procs; i++)
		heap_unload(&heaps->loaded[i]);
	free(heaps->loaded);
	snap_clear(&heaps->snap);
}

/* ---- the command line ---- */

static bool take_format(struct ctl *ctl, struct request *request)
{
	_cleanup_(freep) char *text = NULL;

	if (strcmp(optarg, "table") != 0 && strcmp(optarg, "json") != 0 &&
	    strcmp(optarg, "pprof") != 0) {
		text = utf8_clean(optarg, false);
		fail_print("heap: unknown format '%s' (table, json or pprof)", text ? text : "?");
		return false;
	}
	request->form = optarg;
	/* Of -f and -j, the last one counts. */
	ctl->json = !strcmp(optarg, "json");
	return true;
}

static int read_options(struct ctl *ctl, int argc, char **argv, struct request *request)
{
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":o:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'o')
			request->output = optarg;
		else if (!take_format(ctl, request))
			return OPTION_BAD;
	}
	if (opt != OPTION_DONE)
		return opt;
	if (ctl->json || !request->form)
		request->form = ctl->json ? "json" : "table";
	if (!strcmp(request->form, "pprof") && !request->output && isatty(STDOUT_FILENO)) {
		fail_print("heap: this format is binary and not for a terminal; name a file: -o "
			   "FILE");
		return OPTION_BAD;
	}
	return opt;
}

/* ---- reading ---- */

static int fail_device(void)
{
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV) {
		fail_print("no %s: the mtag module is not loaded (modprobe mtag)", MTAG_DEVICE);
		return CTL_ABSENT;
	}
	fail_print("cannot open %s: %s", MTAG_DEVICE, strerror(errno));
	return CTL_REFUSED;
}

/* Why a process has no heap to show. */
static int fail_heap(const struct kern *kern, pid_t pid, int err)
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
	return fail_pid(kern, "read the heap of", pid, err);
}

/*
 * Reads which stacks have allocated what is alive, if they were taken: the view's proc gets them. Numbers of stacks are
 * told with the objects, so this comes behind these.
 */
static int load_sites(struct kern *kern, struct proc *proc, const struct heap_loaded *loaded)
{
	_cleanup_(traces_clear) struct traces traces = {0};
	int err;

	if (!heap_sites_known(&loaded->objects))
		return 0;
	err = kern_stacks(kern, proc->pid, 0, &traces);
	/* Without stacks there are tags. */
	if (err)
		return err == -ENOMEM ? err : 0;
	/* Only those of objects. */
	for (size_t i = 0; i < traces.n; i++)
		free(traces.traces[i].frames);
	traces.n = 0;
	if (heap_sites_add(&loaded->objects, 0, &traces) || !proc_stacks(proc))
		return -ENOMEM;
	return stacks_resolve(proc->stacks, &traces, true);
}

/* Of all processes, those without a heap view, or that end meanwhile, are left out. */
static int load_all(const struct request *request, struct kern *kern, int device,
		    struct heaps *heaps)
{
	int status = CTL_OK;

	heaps->loaded = calloc(heaps->snap.n_procs + 1, sizeof(*heaps->loaded));
	if (!heaps->loaded)
		return fail_memory();
	for (size_t i = 0; i < heaps->snap.n_procs; i++) {
		const struct proc *proc = &heaps->snap.procs[i];
		int err = heap_load(device, proc, &heaps->loaded[i]);

		if (!err && !strcmp(request->form, "pprof"))
			err = load_sites(kern, &heaps->snap.procs[i], &heaps->loaded[i]);
		if (!err)
			heaps->n++;
		else
			heap_unload(&heaps->loaded[i]);
		if (err && (request->n || (err != -ENODATA && err != -ESRCH)))
			status = fail_heap(kern, proc->pid, err);
	}
	if (!heaps->n && !status) {
		fail_print(
			"no process that you may see has a heap view; `mtagctl run --heap` gives a "
			"program one");
		status = CTL_REFUSED;
	}
	return status;
}

/* Has @snap take over the processes of @one. */
static int append(struct snap *snap, struct snap *one)
{
	struct proc *procs;

	if (!one->n_procs)
		return CTL_OK;
	procs = reallocarray(snap->procs, snap->n_procs + one->n_procs, sizeof(*procs));
	if (!procs)
		return fail_memory();
	snap->procs = procs;
	memcpy(procs + snap->n_procs, one->procs, one->n_procs * sizeof(*procs));
	snap->n_procs += one->n_procs;
	one->n_procs = 0;
	return CTL_OK;
}

static int read_tags(const struct request *request, struct kern *kern, struct snap *snap)
{
	int status = CTL_OK;

	for (size_t i = 0; i < request->n || !i; i++) {
		_cleanup_(snap_clear) struct snap one = {0};
		pid_t pid = request->n ? request->pids[i] : 0;
		int err = kern_tags(kern, pid, &one);

		if (err < 0)
			status = pid ? fail_pid(kern, "read", pid, err)
				     : fail_all(kern, "read the tags", err);
		else if (append(snap, &one))
			return CTL_REFUSED;
		if (err == KERN_INCOMPLETE)
			fail_incomplete();
		if (!request->n)
			break;
	}
	return status;
}

static int read_heaps(const struct request *request, struct heaps *heaps)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(closep) int device = -1;
	int err = kern_open(&kern), status, loads;

	if (err)
		return fail_open(err);
	device = heap_open();
	if (device < 0)
		return fail_device();
	status = read_tags(request, kern, &heaps->snap);
	if (status && !heaps->snap.n_procs)
		return status;
	loads = load_all(request, kern, device, heaps);
	return status ? status : loads;
}

/* ---- printing ---- */

/* The next process with a heap view, NULL behind the last. */
static const struct heap_view *next_view(const struct heaps *heaps, size_t *at)
{
	while (*at < heaps->snap.n_procs) {
		const struct heap_view *view = &heaps->loaded[(*at)++].view;

		if (view->proc)
			return view;
	}
	return NULL;
}

static void print_tables(const struct fmt *fmt, const struct heaps *heaps)
{
	const struct heap_view *view;
	size_t at = 0, n = 0;

	while ((view = next_view(heaps, &at))) {
		if (n++)
			fputc('\n', fmt->out);
		heap_table(fmt, view);
	}
}

static int print_json(const struct fmt *fmt, const struct heaps *heaps)
{
	struct json_list list = {.fmt = fmt};
	const struct heap_view *view;
	size_t at = 0;

	while ((view = next_view(heaps, &at)))
		if (heap_json(&list, view))
			return -ENOMEM;
	json_list_end(&list);
	return 0;
}

/* What is alive, as frames beneath the tags of a process. */
static int add_stacks(struct snap *snap, const struct heap_view *view)
{
	_cleanup_(stack_view_clear) struct stack_view stacks = {0};
	const struct stack_choice all = {0};
	int err = stack_view_make(&stacks, view->proc, &all);

	return err ? err : graph_add_heap(snap, &stacks);
}

/* Likewise as tags: pprof prints those. */
static int add_tags(struct snap *snap, const struct heap_view *view)
{
	_cleanup_(snap_clear) struct snap one = {0};
	struct proc *proc = snap_add_proc(&one, view->proc->pid, view->proc->comm);

	for (size_t i = 0; proc && i < view->proc->n_tags; i++) {
		const struct tag *from = &view->proc->tags[i];
		struct tag *tag = proc_add_tag(proc, from->id, from->parent_id, from->name);

		if (!tag)
			return -ENOMEM;
		for (size_t j = 0; j < view->n; j++) {
			if (view->tags[j].tag != from)
				continue;
			tag->c[PPROF_INUSE_OBJECTS] = view->tags[j].objects;
			tag->c[PPROF_INUSE_SPACE] = view->tags[j].asked;
			tag->c[PPROF_INUSE_RESIDENT] = view->tags[j].resident;
		}
	}
	return proc && !snap_finish(&one) && !append(snap, &one) ? 0 : -ENOMEM;
}

static int print_profile(const struct fmt *fmt, const struct heaps *heaps)
{
	_cleanup_(snap_clear) struct snap snap = {.time_ms = (uint64_t)time(NULL) * 1000};
	const struct heap_view *view;
	size_t at = 0;

	while ((view = next_view(heaps, &at)))
		if (view->proc->stacks ? add_stacks(&snap, view) : add_tags(&snap, view))
			return -ENOMEM;
	return pprof_print_heap(fmt, &snap);
}

static int print(const struct ctl *ctl, const struct request *request, const struct heaps *heaps)
{
	struct outfile output;
	struct fmt fmt;
	int err = output_open(&output, request->output);

	if (err)
		return err;
	fmt_init(&fmt, ctl);
	fmt_redirect(&fmt, output.file);
	if (!strcmp(request->form, "table"))
		print_tables(&fmt, heaps);
	else if (ctl->json)
		err = print_json(&fmt, heaps);
	else
		err = print_profile(&fmt, heaps);
	return output_close(&output, err ? fail_memory() : CTL_OK);
}

int cmd_heap(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	_cleanup_(heaps_clear) struct heaps heaps = {0};
	struct request request = {0};
	int status, err, opt = read_options(ctl, argc, argv, &request);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(argc - optind, argv + optind, &pids);
	if (status)
		return status;
	request.pids = pids;
	request.n = (size_t)(argc - optind);
	status = read_heaps(&request, &heaps);
	/* Nothing is known: a file stays as it was. */
	if (!heaps.n)
		return status ? status : CTL_REFUSED;
	err = print(ctl, &request, &heaps);
	return status ? status : err;
}
