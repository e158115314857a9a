// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/parse.c ctl/fail.c ctl/utf8.c ctl/option.c ctl/synopsis.c ctl/model.c ctl/stacks/stack.c ctl/past.c */
/* sources: ctl/format/text.c */
/* mtagctl history: what completions offer of processes that a made-up kernel says have ended. */
#include <stdlib.h>
#include <string.h>

#include "ctl_tap.h"

#include "../../ctl/cmd/complete.c"

int kern_open(struct kern **kern)
{
	*kern = NULL;
	return 0;
}

void kern_close(struct kern *kern)
{
	(void)kern;
}

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

int kern_history(struct kern *kern, struct ledger *ledger)
{
	static const char *const comms[] = {"worker", "sh", "worker", "", "42", "a\tb", "sh"};

	(void)kern;
	ledger->n = ARRAY_SIZE(comms);
	ledger->pasts = calloc(ledger->n, sizeof(*ledger->pasts));
	for (size_t i = 0; i < ledger->n; i++) {
		ledger->pasts[i].pid = (pid_t)(100 + i);
		strcpy(ledger->pasts[i].comm, comms[i]);
	}
	return 0;
}

const char *form_name(size_t i)
{
	(void)i;
	return NULL;
}

bool probe_line(const char *path, char *line, size_t size)
{
	(void)path, (void)line, (void)size;
	return false;
}

int source_read(struct source *source, pid_t *pids, size_t n, struct snap *snap)
{
	(void)source, (void)pids, (void)n, (void)snap;
	return 0;
}

int cmd_track(struct ctl *ctl, int argc, char **argv)
{
	(void)ctl, (void)argc, (void)argv;
	return 0;
}

/* What stands behind the line that says of what kind it is: the words alone, with a blank behind each. */
static bool offers(const char *word, const char *want)
{
	static const struct command commands[] = {
		{.name = "history", .args = "[PID|COMM...] | --clear", .help = "", .takes = ""},
		{0}};
	const struct ctl ctl = {.commands = commands};
	struct completion c = {.ctl = &ctl};
	char name[] = "history", last[16], *words[] = {name, last}, *text, got[256] = "";
	size_t size;
	FILE *real = stdout;

	strcpy(last, word);
	stdout = open_memstream(&text, &size);
	complete(&c, 2, words);
	fclose(stdout);
	stdout = real;
	strtok(text, "\n");
	for (char *line = strtok(NULL, "\n"); line; line = strtok(NULL, "\n"))
		sprintf(strchr(got, '\0'), "%.*s ", (int)strcspn(line, "\t"), line);
	free(text);
	if (strcmp(got, want) != 0)
		printf("# it offers %s\n", got);
	return !strcmp(got, want);
}

int main(void)
{
	ok(offers("", "106 105 104 103 102 101 100 sh worker "),
	   "each process is offered, and each name once that can be typed and is no pid");
	ok(offers("w", "worker "), "or what begins like the word");
	ok(offers("10", "106 105 104 103 102 101 100 "), "of a pid, too");
	return tap_end();
}
