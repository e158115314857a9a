// SPDX-License-Identifier: GPL-2.0
/* mtagctl show: the tags of some processes, or of all. */
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/form.h"
#include "offline/source.h"
#include "option.h"
#include "output.h"

struct show {
	struct source source;
	const char *output;
	const struct form *form;
};

static bool take_option(struct ctl *ctl, int opt, struct show *show)
{
	if (opt == 'o')
		show->output = optarg;
	if (opt != 'f')
		return source_option(&show->source, opt, optarg);
	show->form = form_find(optarg);
	if (!show->form) {
		fail_print("show: unknown format '%s' (%s)", optarg, form_names);
		return false;
	}
	/* Of -f and -j, the last one counts. */
	ctl->json = form_is_json(show->form);
	return true;
}

static int show_options(struct ctl *ctl, int argc, char **argv, struct show *show)
{
	static const struct option longs[] = {
		{"format", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		SOURCE_LONGS,
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":f:o:" OPTION_SHORTS, longs)) >= 0)
		if (!take_option(ctl, opt, show))
			return OPTION_BAD;
	if (ctl->json || !show->form)
		show->form = form_find(ctl->json ? "json" : "table");
	return opt;
}

/* What could not be read was reported; what could be is printed nevertheless. */
static int print(const struct ctl *ctl, const struct show *show, const struct snap *snap)
{
	struct outfile output;
	struct fmt fmt;
	int status = output_open(&output, show->output);

	if (status)
		return status;
	fmt_init(&fmt, ctl);
	fmt_redirect(&fmt, output.file);
	if (form_print(show->form, &fmt, snap))
		status = fail_memory();
	return output_close(&output, status);
}

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(freep) pid_t *pids = NULL;
	struct show show = {0};
	int err, status, opt = show_options(ctl, argc, argv, &show);

	if (opt != OPTION_DONE)
		return option_status(opt);
	argc -= optind;
	status = option_pids(argc, argv + optind, &pids);
	if (status)
		return status;
	status = source_read(&show.source, pids, (size_t)argc, &snap);
	/* Nothing is known: a file stays as it was. */
	if (!show.source.read)
		return status;
	if (!status && !ctl->json && !snap.n_procs)
		fail_print(show.source.from ? "the sample has no process"
					    : "no tracked process is visible to you");
	err = print(ctl, &show, &snap);
	return status ? status : err;
}
