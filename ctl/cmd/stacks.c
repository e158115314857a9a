// SPDX-License-Identifier: GPL-2.0
/* mtagctl stacks: the bytes that each call stack was the first to touch, beneath each tag. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "fail.h"
#include "format/form.h"
#include "kern.h"
#include "offline/source.h"
#include "option.h"
#include "output.h"
#include "parse.h"
#include "picture/palette.h"
#include "picture/timeline.h"
#include "stacks/graph.h"
#include "stacks/json.h"
#include "stacks/table.h"
#include "synopsis.h"
#include "utf8.h"

#define TABLE_MOST 10 /* stacks of a process in a table, unless -n says otherwise */

enum { OLDER = 1000, COMBINED, NO_SYMBOLS };

static const char forms[] = "table, json, folded, pprof, speedscope, svg or html";

struct request {
	struct choice choice;
	uint32_t older;
	const char *form; /* its name */
	const char *output;
	pid_t pid; /* 0: all */
};

/* What was read of a process; @stacks refers to the others. */
struct one {
	struct traces traces;
	struct stacks stacks;
};

/**
 * struct all - what was read of all processes
 * @snap:	their names and tags; those without stacks too
 * @ones:	@n of them, of processes with stacks
 */
struct all {
	struct snap snap;
	struct one *ones;
	size_t n;
};

static void all_clear(struct all *all)
{
	for (size_t i = 0; i < all->n; i++) {
		stacks_clear(&all->ones[i].stacks);
		traces_clear(&all->ones[i].traces);
	}
	free(all->ones);
	snap_clear(&all->snap);
}

/* ---- the command line ---- */

static bool is_form(const char *name)
{
	struct span choices = {forms, strlen(forms)}, word;

	while (synopsis_choice(&choices, &word))
		if (span_is(word, name))
			return true;
	return false;
}

static bool bad_value(const char *what, const char *value, const char *right)
{
	_cleanup_(freep) char *text = utf8_clean(value, false);

	fail_print("stacks: %s '%s' (%s)", what, text ? text : "?", right);
	return false;
}

static bool take_older(const char *value, uint32_t *older)
{
	unsigned long seconds;

	if (parse_count(value, &seconds) || seconds > UINT32_MAX)
		return bad_value("invalid age", value, "whole seconds, 1 to 4294967295");
	*older = (uint32_t)seconds;
	return true;
}

static bool take_tag(const char *value, const char **tag)
{
	if (parse_path(value) < 0 && strcmp(value, "[untagged]") != 0)
		return bad_value("malformed tag", value,
				 "components separated by '/', or [untagged]");
	*tag = value;
	return true;
}

static bool take_option(struct ctl *ctl, int opt, struct request *request)
{
	switch (opt) {
	case 't':
		return take_tag(optarg, &request->choice.tag);
	case 'n':
		return !parse_count(optarg, &request->choice.most) ||
		       bad_value("invalid count", optarg, "stacks of each process, at least 1");
	case OLDER:
		return take_older(optarg, &request->older);
	case COMBINED:
		request->choice.combined = true;
		return true;
	case NO_SYMBOLS:
		request->choice.symbols = false;
		return true;
	case 'o':
		request->output = optarg;
		return true;
	}
	if (!is_form(optarg))
		return bad_value("unknown format", optarg, forms);
	request->form = optarg;
	/* Of -f and -j, the last one counts. */
	ctl->json = !strcmp(optarg, "json");
	return true;
}

static int read_options(struct ctl *ctl, int argc, char **argv, struct request *request)
{
	static const struct option longs[] = {
		{"tag", required_argument, NULL, 't'},
		{"count", required_argument, NULL, 'n'},
		{"older", required_argument, NULL, OLDER},
		{"combined", no_argument, NULL, COMBINED},
		{"no-symbols", no_argument, NULL, NO_SYMBOLS},
		{"output", required_argument, NULL, 'o'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":t:n:o:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(ctl, opt, request))
			return OPTION_BAD;
	if (opt != OPTION_DONE)
		return opt;
	if (ctl->json || !request->form)
		request->form = ctl->json ? "json" : "table";
	if (argc - optind > 1) {
		fail_print("stacks takes one process id, or none for all processes");
		return OPTION_BAD;
	}
	if (form_is_binary(form_find(request->form)) && !request->output && isatty(STDOUT_FILENO)) {
		fail_print("stacks: this format is binary and not for a terminal; name a file: -o "
			   "FILE");
		return OPTION_BAD;
	}
	return opt;
}

/* ---- reading ---- */

static int fail_stacks(struct kern *kern, pid_t pid, int err)
{
	if (err == -EOPNOTSUPP)
		fail_print("the loaded mtag module is older than this mtagctl: it knows no stacks");
	else if (err == -ENODATA)
		fail_print("no stacks are taken of process %d; `mtagctl track --stacks %d` begins",
			   (int)pid, (int)pid);
	else
		return fail_pid(kern, "read the stacks of", pid, err);
	return CTL_REFUSED;
}

/* Reads a process. Of all processes, those without stacks, or that end meanwhile, are left out. */
static int read_one(struct kern *kern, const struct request *request, const struct proc *proc,
		    struct all *all)
{
	struct one *one = &all->ones[all->n];
	int err = kern_stacks(kern, proc->pid, request->older, &one->traces);

	if (err == -EINTR) {
		fail_print("process %d changes too fast to read its stacks", (int)proc->pid);
		err = 0; /* what came is right */
	}
	if (!err && !stacks_make(&one->stacks, proc, &one->traces, &request->choice)) {
		all->n++;
		return CTL_OK;
	}
	stacks_clear(&one->stacks);
	traces_clear(&one->traces);
	if (!err)
		return fail_memory();
	if (!request->pid && (err == -ENODATA || err == -ESRCH || err == -ENOENT))
		return CTL_OK;
	return fail_stacks(kern, proc->pid, err);
}

static bool has_tag(const struct snap *snap, const char *path)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		for (size_t j = 0; j < snap->procs[i].n_tags; j++)
			if (stacks_within(&snap->procs[i].tags[j], path))
				return true;
	return false;
}

static int read_tags(struct kern *kern, const struct request *request, struct snap *snap)
{
	const char *tag = request->choice.tag;
	int err = kern_tags(kern, request->pid, snap);

	if (err < 0)
		return request->pid ? fail_pid(kern, "read", request->pid, err)
				    : fail_all(kern, "read the tags", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	if (!tag || has_tag(snap, tag))
		return CTL_OK;
	if (request->pid)
		fail_print("process %d has no tag '%s'; `mtagctl tree %d` shows its tags",
			   (int)request->pid, tag, (int)request->pid);
	else
		fail_print("no process has a tag '%s'; `mtagctl show` shows the tags", tag);
	return CTL_REFUSED;
}

static int read_all(const struct request *request, struct all *all)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	int status = kern_open(&kern), err;

	if (status)
		return fail_open(status);
	status = read_tags(kern, request, &all->snap);
	if (status)
		return status;
	all->ones = calloc(all->snap.n_procs + 1, sizeof(*all->ones));
	if (!all->ones)
		return fail_memory();
	for (size_t i = 0; i < all->snap.n_procs; i++) {
		err = read_one(kern, request, &all->snap.procs[i], all);
		status = err ? err : status;
	}
	if (!status && !all->n)
		fail_print("no process that you may see has stacks; `mtagctl run --stacks` and "
			   "`mtagctl track --stacks` take them");
	return status;
}

/* ---- printing ---- */

static int print_table(const struct fmt *fmt, const struct all *all)
{
	for (size_t i = 0; i < all->n; i++) {
		if (i)
			fputc('\n', fmt->out);
		if (stacks_table(fmt, &all->ones[i].stacks))
			return -ENOMEM;
	}
	return 0;
}

static int print_json(const struct fmt *fmt, const struct all *all)
{
	struct json_list list = {.fmt = fmt};

	for (size_t i = 0; i < all->n; i++)
		if (stacks_json(&list, &all->ones[i].stacks))
			return -ENOMEM;
	json_list_end(&list);
	return 0;
}

/* The forms of show, with stacks as tags beneath tags. */
static int print_form(const struct form *form, const struct fmt *fmt, const struct all *all)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(timeline_clear) struct timeline timeline = {0};
	struct origin origin;
	const struct subject subject = {&snap, &origin, &timeline};

	source_origin(&origin);
	snap.time_ms = origin.time_ms;
	for (size_t i = 0; i < all->n; i++)
		if (graph_add(&snap, &all->ones[i].stacks))
			return -ENOMEM;
	if (form_takes_series(form) &&
	    (timeline_add(&timeline, origin.time_ms, &snap) || timeline_rank(&timeline, HUES)))
		return -ENOMEM;
	return form_print(form, fmt, &subject);
}

static int print(const struct ctl *ctl, const struct request *request, const struct all *all)
{
	struct outfile output;
	struct fmt fmt;
	int err = output_open(&output, request->output);

	if (err)
		return err;
	fmt_init(&fmt, ctl);
	fmt_redirect(&fmt, output.file);
	if (!strcmp(request->form, "table"))
		err = print_table(&fmt, all);
	else if (ctl->json)
		err = print_json(&fmt, all);
	else
		err = print_form(form_find(request->form), &fmt, all);
	return output_close(&output, err ? fail_memory() : CTL_OK);
}

int cmd_stacks(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	_cleanup_(all_clear) struct all all = {0};
	struct request request = {.choice.symbols = true};
	int status, err, opt = read_options(ctl, argc, argv, &request);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(argc - optind, argv + optind, &pids);
	if (status)
		return status;
	request.pid = argc > optind ? pids[0] : 0;
	if (!request.choice.most && !strcmp(request.form, "table"))
		request.choice.most = TABLE_MOST;
	status = read_all(&request, &all);
	/* Nothing is known: a file stays as it was. */
	if (status && !all.n)
		return status;
	err = print(ctl, &request, &all);
	return status ? status : err;
}
