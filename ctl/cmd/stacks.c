// SPDX-License-Identifier: GPL-2.0
/* mtagctl stacks: the bytes that each call stack was the first to touch, beneath each tag. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/shape.h"
#include "fail.h"
#include "format/form.h"
#include "offline/source.h"
#include "option.h"
#include "parse.h"
#include "picture/palette.h"
#include "picture/timeline.h"
#include "stacks/graph.h"
#include "stacks/json.h"
#include "stacks/table.h"
#include "utf8.h"

#define TABLE_MOST 10 /* stacks of a process in a table, unless -n says otherwise */

/*
 * The module's ages wrap after 65,536 units of 16 s, of which the last 256 are those of pages that were touched during
 * the walk: no page looks older.
 */
_Static_assert(OLDER_MOST == (65535 - 256) * 16, "the age of the oldest pages");

enum { OLDER = SOURCE_PSS + 1, COMBINED, NO_SYMBOLS };

struct request {
	struct stack_choice choice;
	struct source source;
	struct shape shape;
	pid_t pid; /* 0: all */
};

/* ---- the command line ---- */

static bool bad_value(const char *what, const char *value, const char *right)
{
	_cleanup_(freep) char *text = utf8_clean(value, false);

	fail_print("stacks: %s '%s' (%s)", what, text ? text : "?", right);
	return false;
}

static bool take_older(const char *value, uint32_t *older)
{
	unsigned long seconds;

	if (parse_count(value, &seconds))
		return bad_value("invalid age", value, "whole seconds, 1 to " TEXT_OF(OLDER_MOST));
	if (seconds > OLDER_MOST)
		return bad_value(
			"invalid age", value,
			"the module tells ages up to 12 days: at most " TEXT_OF(OLDER_MOST));
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
		return option_count("stacks", optarg, "stacks of each process",
				    &request->choice.most);
	case OLDER:
		return take_older(optarg, &request->source.older);
	case COMBINED:
		request->choice.combined = true;
		return true;
	case NO_SYMBOLS:
		request->source.addresses = true;
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
		{"tag", required_argument, NULL, 't'},
		{"count", required_argument, NULL, 'n'},
		{"older", required_argument, NULL, OLDER},
		{"combined", no_argument, NULL, COMBINED},
		{"no-symbols", no_argument, NULL, NO_SYMBOLS},
		{"output", required_argument, NULL, 'o'},
		SOURCE_LONGS,
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":t:n:o:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(ctl, opt, request))
			return OPTION_BAD;
	if (opt != OPTION_DONE)
		return opt;
	if (request->source.from && (request->source.older || request->source.addresses)) {
		fail_print("stacks: --older and --no-symbols ask the kernel; a snapshot file has "
			   "what it has");
		return OPTION_BAD;
	}
	if (argc - optind > 1) {
		fail_print("stacks takes one process id, or none for all processes");
		return OPTION_BAD;
	}
	return shape_settle(ctl, &request->shape) ? opt : OPTION_BAD;
}

/* ---- reading ---- */

static bool has_tag(const struct snap *snap, const char *path)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		for (size_t j = 0; j < snap->procs[i].n_tags; j++)
			if (stacks_within(&snap->procs[i].tags[j], path))
				return true;
	return false;
}

static bool has_stacks(const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		if (snap->procs[i].stacks)
			return true;
	return false;
}

static int fail_tag(const struct request *request)
{
	const char *tag = request->choice.tag, *file = request->source.from;
	const char *from = file ? " --from " : "";

	file = file ? file : "";
	if (request->pid)
		fail_print("process %d has no tag '%s'; `mtagctl tree%s%s %d` shows its tags",
			   (int)request->pid, tag, from, file, (int)request->pid);
	else
		fail_print("no process has a tag '%s'; `mtagctl show%s%s` shows the tags", tag,
			   from, file);
	return CTL_REFUSED;
}

static int fail_none(const struct request *request)
{
	if (request->source.from)
		fail_print("the sample of %s has no stacks%s; `mtagctl snapshot --stacks` saves "
			   "them",
			   request->source.from, request->pid ? " of this process" : "");
	else if (request->pid)
		fail_print("no stacks are taken of process %d; `mtagctl track --stacks %d` begins",
			   (int)request->pid, (int)request->pid);
	else
		fail_print("no process that you may see has stacks; `mtagctl run --stacks` and "
			   "`mtagctl track --stacks` take them");
	return CTL_REFUSED;
}

/* Of all processes, those without stacks are left out. */
static int read_all(struct request *request, struct snap *snap)
{
	int status = source_read(&request->source, &request->pid, request->pid ? 1 : 0, snap);

	if (status && !snap->n_procs)
		return status;
	if (request->choice.tag && !has_tag(snap, request->choice.tag)) {
		snap_clear(snap);
		return fail_tag(request);
	}
	if (!status && !has_stacks(snap))
		return fail_none(request);
	return status;
}

/* ---- printing ---- */

/* One process, @nth of those that are printed, from 0. */
typedef int (*print_view)(void *to, const struct stack_view *view, size_t nth);

static int for_each_view(const struct request *request, const struct snap *snap, print_view print,
			 void *to)
{
	size_t nth = 0;
	int err = 0;

	for (size_t i = 0; i < snap->n_procs && !err; i++) {
		_cleanup_(stack_view_clear) struct stack_view view = {0};

		if (!snap->procs[i].stacks)
			continue;
		err = stack_view_make(&view, &snap->procs[i], &request->choice);
		err = err ? err : print(to, &view, nth++);
	}
	return err;
}

static int view_into_table(void *to, const struct stack_view *view, size_t nth)
{
	const struct fmt *fmt = to;

	if (nth)
		fputc('\n', fmt->out);
	return stacks_table(fmt, view);
}

static int view_into_list(void *to, const struct stack_view *view, size_t nth)
{
	(void)nth;
	return stacks_json(to, view);
}

static int view_into_graph(void *to, const struct stack_view *view, size_t nth)
{
	(void)nth;
	return graph_add(to, view, false);
}

static int view_into_lines(void *to, const struct stack_view *view, size_t nth)
{
	(void)nth;
	return graph_add(to, view, true);
}

static int print_json(const struct fmt *fmt, const struct request *request, const struct snap *snap)
{
	struct json_list list = {.fmt = fmt};
	int err = for_each_view(request, snap, view_into_list, &list);

	if (!err)
		json_list_end(&list);
	return err;
}

/* The forms of show, with stacks as tags beneath tags. */
static int print_form(const struct form *form, const struct fmt *fmt, const struct request *request,
		      const struct snap *snap)
{
	const struct origin *origin = &request->source.origin;
	_cleanup_(snap_clear) struct snap graph = {.time_ms = origin->time_ms};
	_cleanup_(timeline_clear) struct timeline timeline = {0};
	const struct subject subject = {&graph, origin, &timeline};

	if (for_each_view(request, snap, form_has_lines(form) ? view_into_lines : view_into_graph,
			  &graph))
		return -ENOMEM;
	if (form_takes_series(form) &&
	    (timeline_add(&timeline, origin->time_ms, &graph) || timeline_rank(&timeline, HUES)))
		return -ENOMEM;
	return form_print(form, fmt, &subject);
}

struct answer {
	const struct request *request;
	const struct snap *snap;
};

static int print(const struct fmt *fmt, const void *what)
{
	const struct answer *answer = what;
	const struct shape *shape = &answer->request->shape;

	if (shape_is(shape, "table"))
		return for_each_view(answer->request, answer->snap, view_into_table, (void *)fmt);
	if (shape_is(shape, "json"))
		return print_json(fmt, answer->request, answer->snap);
	return print_form(form_find(shape->form), fmt, answer->request, answer->snap);
}

int cmd_stacks(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	_cleanup_(snap_clear) struct snap snap = {0};
	struct request request = {
		.source.stacks = true,
		.shape.forms = "table, json, folded, pprof, speedscope, svg or html",
	};
	int status, err, opt = read_options(ctl, argc, argv, &request);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(argc - optind, argv + optind, &pids);
	if (status)
		return status;
	request.pid = argc > optind ? pids[0] : 0;
	if (!request.choice.most && shape_is(&request.shape, "table"))
		request.choice.most = TABLE_MOST;
	status = read_all(&request, &snap);
	/* Nothing is known: a file stays as it was. */
	if (status && !has_stacks(&snap))
		return status;
	err = shape_print(ctl, request.shape.output, print, &(struct answer){&request, &snap});
	return status ? status : err;
}
