// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/parse.c ctl/fail.c ctl/utf8.c ctl/option.c */
/* mtagctl run: in which state the program starts, against a device that accepts everything. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "kern.h"

static void (*found)(int);
static const char *executed;

static int fake_exec(const char *file)
{
	executed = file;
	found = signal(SIGXFSZ, SIG_IGN);
	return -1;
}

#define execvp(file, argv) fake_exec(file)
#define open(path, flags)  dup(2)
#define ioctl(fd, ...)	   ((void)(fd), 0)
#include "../../ctl/cmd/run.c"

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

int follow(pid_t pid, int event)
{
	(void)pid, (void)event;
	return 0;
}

void load_before_run(const char *program)
{
	(void)program;
}

int heap_preload(const char *program, bool exact)
{
	(void)program, (void)exact;
	return 0;
}

static struct command command = {.name = "run", .args = "", .help = "", .takes = ""};
static struct ctl ctl = {.command = &command};

/* What is executed of this command line, or NULL. */
static const char *runs(const char *line)
{
	static char words[100];
	char *argv[10];
	int argc = 0;

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	optind = 0;
	executed = NULL;
	cmd_run(&ctl, argc, argv);
	return executed;
}

static bool is(const char *program, const char *name)
{
	return program && !strcmp(program, name);
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	ctl.over_limit = SIG_DFL;
	ok(is(runs("run true"), "true") && found == SIG_DFL,
	   "a limit on files kills a program as if mtagctl were not there");
	ctl.over_limit = SIG_IGN;
	ok(is(runs("run true"), "true") && found == SIG_IGN, "or does not, where it was ignored");
	ok(!runs("run --heap exact -- true") && !runs("run --by-thread tid -- true") &&
		   !runs("run --stacks 1/4 -- true"),
	   "the value of an option without its = is no program");
	ok(is(runs("run --heap -- exact -- true"), "exact") && is(runs("run name -- x"), "name") &&
		   is(runs("run --heap exact true"), "exact") &&
		   is(runs("run --heap tid -- x"), "tid"),
	   "but a program may have such a name");
	return tap_end();
}
