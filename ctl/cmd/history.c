// SPDX-License-Identifier: GPL-2.0
/* mtagctl history: the processes that ended, and what each of their tags owned. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/history.h"
#include "kern.h"
#include "option.h"
#include "parse.h"

#define COMM_MOST 15 /* bytes that the kernel keeps of a name */

/* Which of the processes to show. */
struct choice {
	unsigned long count; /* 0: all */
	bool oom;
	bool clear;
	char **words; /* pids and names; any of them */
	int n_words;
};

static int history_options(struct ctl *ctl, int argc, char **argv, struct choice *choice)
{
	static const struct option longs[] = {
		{"count", required_argument, NULL, 'n'},
		{"oom", no_argument, NULL, 'O'},
		{"clear", no_argument, NULL, 'C'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":n:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'O') {
			choice->oom = true;
		} else if (opt == 'C') {
			choice->clear = true;
		} else if (!option_count("history", optarg, "processes", &choice->count)) {
			return OPTION_BAD;
		}
	}
	choice->words = argv + optind;
	choice->n_words = argc - optind;
	if (opt == OPTION_DONE && choice->clear &&
	    (choice->oom || choice->count || choice->n_words || ctl->json || ctl->stats)) {
		fail_print("history: --clear forgets all processes; it takes nothing else");
		return OPTION_BAD;
	}
	if (opt == OPTION_DONE && ctl->stats && ctl->json) {
		fail_print("history: -s is for the format table; json has all tags anyway");
		return OPTION_BAD;
	}
	return opt;
}

static bool is_chosen(const struct choice *choice, const struct past *past)
{
	if (choice->oom && !past->oom)
		return false;
	for (int i = 0; i < choice->n_words; i++) {
		const char *word = choice->words[i];
		pid_t pid;

		if (!parse_pid(word, &pid) ? pid == past->pid
					   : !strncmp(word, past->comm, COMM_MOST))
			return true;
	}
	return !choice->n_words;
}

/* Returns how many are chosen, and fills @chosen with them, the newest first. */
static size_t choose(const struct choice *choice, const struct ledger *ledger,
		     const struct past **chosen)
{
	size_t n = 0;

	for (size_t i = ledger->n; i-- > 0 && (!choice->count || n < choice->count);)
		if (is_chosen(choice, &ledger->pasts[i]))
			chosen[n++] = &ledger->pasts[i];
	return n;
}

/* What the table cannot show. */
static void remark(struct kern *kern, size_t n)
{
	struct info info;

	if (!n)
		fputs("no such process in the history\n", stdout);
	if (kern_info(kern, &info))
		return;
	if (info.history_dropped)
		printf("%llu older processes forgotten (history_kb)\n",
		       (unsigned long long)info.history_dropped);
	if (info.history_lost)
		printf("%llu processes not recorded for lack of memory\n",
		       (unsigned long long)info.history_lost);
}

static int show(struct ctl *ctl, const struct choice *choice, struct kern *kern)
{
	_cleanup_(ledger_clear) struct ledger ledger = {0};
	_cleanup_(freep) const struct past **chosen = NULL;
	struct fmt fmt;
	size_t n;
	int err = kern_history(kern, &ledger);

	if (err)
		return fail_all(kern, "read the history", err);
	chosen = calloc(ledger.n + 1, sizeof(*chosen));
	if (!chosen)
		return fail_memory();
	n = choose(choice, &ledger, chosen);
	fmt_init(&fmt, ctl);
	if (ctl->json)
		return history_json(&fmt, chosen, n) ? fail_memory() : CTL_OK;
	history_text(&fmt, chosen, n);
	remark(kern, n);
	return CTL_OK;
}

int cmd_history(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	struct choice choice = {0};
	int err, opt = history_options(ctl, argc, argv, &choice);

	if (opt != OPTION_DONE)
		return option_status(opt);
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	if (!choice.clear)
		return show(ctl, &choice, kern);
	err = kern_history_clear(kern);
	return err ? fail_all(kern, "clear the history", err) : CTL_OK;
}
