// SPDX-License-Identifier: GPL-2.0
/* mtagctl shows which tag owns each resident page: the table of commands, of which one is run. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "option.h"

static int cmd_help(struct ctl *ctl, int argc, char **argv);

/* clang-format off */
static const struct command commands[] = {
	{ "show", "[--pss] [-f FORMAT] [-o FILE] [--from FILE] [PID...]",
	  "resident memory by process and tag",
	  "  -f, --format F    table, tree, json (as -j), dot (graphviz), folded (flame\n"
	  "                    graph), pprof, speedscope, openmetrics (Prometheus), svg\n"
	  "                    (icicle) or html (page with a treemap, and lines over time)\n"
	  "  -o, --output FILE write to FILE, replaced when complete (- is standard output)\n"
	  "  --by-pid          metrics of each process, not of all of a name and cgroup\n"
	  "  --from FILE       read a snapshot file (- is standard input), not the kernel\n"
	  "  --sample N        its Nth sample, not the last\n"
	  "  --pss             also USS (mapped by nobody else) and PSS (each page divided\n"
	  "                    by its mappings); walks the page tables. Table, tree and\n"
	  "                    json only\n"
	  "Without PID: every tracked process that you may see. With -s also virtual size,\n"
	  "bytes ever touched, and the calls that mapped memory with their bytes.\n", cmd_show, "Fjps" },
	{ "tree", "[--pss] [-f FORMAT] [-o FILE] [--from FILE] PID",
	  "the tags of a process as a tree, with and without their children",
	  "  -f, --format F    as in show\n"
	  "  -o, --output FILE write to FILE, replaced when complete (- is standard output)\n"
	  "  --from FILE       read a snapshot file (- is standard input), not the kernel\n"
	  "  --sample N        its Nth sample, not the last\n"
	  "  --pss             also USS and PSS of each tag itself, as with show\n"
	  "SELF is what the tag itself owns, TOTAL what it and all below it own; the\n"
	  "percentages are of the process's RSS. The largest come first. -s needs the\n"
	  "format table.\n", cmd_tree, "Fjps" },
	{ "watch", "[-f FORMAT] [--from FILE] PID [-d SEC] [-n N]", "the tags of a process, repeatedly, with changes",
	  "  -f, --format F    table or json (as -j)\n"
	  "  -d, --delay SEC   time between samples, fractions allowed (default 1)\n"
	  "  -n, --count N     end after N samples\n"
	  "  --from FILE       print the samples of a snapshot file (- is standard input)\n"
	  "On a terminal the table is redrawn until Ctrl-C. Elsewhere, without -n, it is\n"
	  "printed once; with -j one line per sample is printed until the process ends.\n"
	  "-s needs -j.\n",
	  cmd_watch, "fjps" },
	{ "top", "[-f FORMAT] [-d SEC] [-n N] [-s COLUMN] [-b BY] [--from FILE]",
	  "all processes and tags, live; h shows the keys",
	  "  -f, --format F    table or json (as -j)\n"
	  "  -d, --delay SEC   time between refreshes, fractions allowed (default 1)\n"
	  "  -n, --count N     end after N refreshes\n"
	  "  -s, --sort COLUMN pid, name, tag, rss, delta, asked, anon, file, shmem,\n"
	  "                    swap or peak\n"
	  "  -b, --by GROUPING process, tag or cgroup: what has a row of its own\n"
	  "  --from FILE       one table of a snapshot file (- is standard input)\n"
	  "  --sample N        its Nth sample, not the last\n"
	  "On a terminal, q ends it. Elsewhere it prints a table, with -n several. -j\n"
	  "prints a line per refresh: one, with -n several, on a terminal without end.\n"
	  "--statistics needs -j, and rows by process.\n", cmd_top, "fjpS" },
	{ "snapshot", "[--pss] [--stacks] [-i SEC] [-n N] [-o FILE] [PID...]", "save samples for --from",
	  "  -i, --interval SEC  time between samples, fractions allowed (default 1)\n"
	  "  -n, --count N       end after N samples (default 1; with -i, until Ctrl-C)\n"
	  "  -o, --output FILE   append to FILE (default -, which is standard output)\n"
	  "  -m, --max-size SIZE before FILE exceeds SIZE (as 64M), rename it to FILE.1\n"
	  "  -k, --keep N        keep N such files (default 4)\n"
	  "  --pss               with USS and PSS, as with show; walks the page tables\n"
	  "  --stacks            with the stacks of processes that have them, as stacks\n"
	  "                      shows them; likewise\n"
	  "With the heap of each process run with --heap, as heap shows it.\n",
	  cmd_snapshot, "L" },
	{ "diff", "[--stacks] [-n N] [-f FORMAT] A B | --since SEC FILE... | --growth FILE...",
	  "what changed between snapshots, by tag",
	  "  -f, --format F    table or json (as -j)\n"
	  "  --since SEC       the last sample of the files, the oldest file first, and the\n"
	  "                    one SEC seconds before: 86400 is a day\n"
	  "  -g, --growth      the tags that only grew over all samples of the files, the\n"
	  "                    oldest file first: suspects of a leak\n"
	  "  --stacks          by call stack beneath each tag: which code made it grow\n"
	  "  -n, --count N     the N largest (default 10 stacks in a table, else all)\n"
	  "Compares the last samples of A and B; processes of the same name are one. The\n"
	  "largest growth comes first. Growth is of anonymous and shared memory, resident\n"
	  "or swapped: what the kernel cannot drop. Of programs run with --heap it also\n"
	  "says what was asked of the allocator, and what is wasted; and with --growth,\n"
	  "WHAT made it grow: live objects (a leak), wasted pages, guests (objects of other\n"
	  "tags).\n",
	  cmd_diff, "fjp" },
	{ "merge", "--rules FILE [-o FILE] A...", "fold processes and tags of snapshots by rules",
	  "  -r, --rules FILE  a line each: comm s/REGEX/NAME/ or tag s/REGEX/NAME/\n"
	  "  -o, --output FILE write to FILE, replaced when complete (- is standard output)\n"
	  "Prints a snapshot file for --from. Processes whose name a comm rule matched are\n"
	  "one if they then have the same name; so are the tags of a process with the same\n"
	  "path.\n",
	  cmd_merge, "" },
	{ "run", "[-t TAG] [--by-thread[=name|tid] | --by-map] [--stacks[=1/N]] [--heap[=exact]] -- CMD...",
	  "run a command tracked from its start",
	  "  -t, --tag TAG     its default tag, a path such as db/cache\n"
	  "  --by-thread[=name|tid]  a tag for each name of its threads; with tid for each\n"
	  "                    thread: NAME-TID, as worker-4711\n"
	  "  --by-map          tag its memory by what is mapped: [heap], [stack], [anon],\n"
	  "                    file/libc.so.6, memfd/NAME, shm/NAME\n"
	  "  --stacks[=1/N]    keep the call stack of each first touch of a page, or of one\n"
	  "                    of N, for `mtagctl stacks`\n"
	  "  --heap[=exact]    sample what it allocates, for `mtagctl heap`; with exact\n"
	  "                    count every byte (glibc's allocator only)\n"
	  "The exit status is that of CMD; 126 when it cannot be executed, 127 when it is\n"
	  "not found.\n", cmd_run, "" },
	{ "track", "[--stacks[=1/N]] PID...", "start tracking running processes",
	  "  --stacks[=1/N]  keep the call stack of each first touch from now on, or of one\n"
	  "                  of N, for `mtagctl stacks`\n"
	  "Pages that they already own become untagged. Needs CAP_SYS_PTRACE over\n"
	  "them.\n", cmd_track, "" },
	{ "untrack", "PID...", "stop tracking processes",
	  "Their counters are discarded. Needs CAP_SYS_PTRACE over them.\n", cmd_untrack, "" },
	{ "stacks", "[-t TAG] [-n N] [--older SEC] [--combined] [-f FORMAT] [-o FILE] [--from FILE] [PID]",
	  "who touched the memory: bytes by call stack beneath each tag",
	  "  -t, --tag TAG     of this tag and those below it only\n"
	  "  -n, --count N     the N largest stacks of each process (default 10 in a table,\n"
	  "                    else all)\n"
	  "  --older SEC       count only pages first touched at least SEC seconds ago,\n"
	  "                    up to " TEXT_OF(OLDER_MOST) " (12 days)\n"
	  "  --combined        merge equal stacks across tags\n"
	  "  --no-symbols      addresses in files, no functions: quick\n"
	  "  --from FILE       read a snapshot file (- is standard input), not the kernel\n"
	  "  --sample N        its Nth sample, not the last\n"
	  "  -f, --format F    table, json, folded, pprof, speedscope, svg or html\n"
	  "  -o, --output FILE write to FILE, replaced when complete (- is standard output)\n"
	  "Of processes run or tracked with --stacks; without PID, all that you may see.\n"
	  "Anonymous memory and swap only. What is old and grows may be a leak. Of programs\n"
	  "run with --heap, too, UNFREED is what a stack allocated and nobody has freed.\n", cmd_stacks, "Fjp" },
	{ "heap", "[--account] [-f FORMAT] [-o FILE] [--from FILE] [PID...]",
	  "why RSS is not the heap: bytes alive, touched and wasted, by tag",
	  "  --account         what the RSS of each tag consists of, not columns\n"
	  "  -f, --format F    table, json or pprof\n"
	  "  -o, --output FILE write to FILE, replaced when complete (- is standard output)\n"
	  "  --from FILE       read a snapshot file (- is standard input), not the kernel\n"
	  "  --sample N        its Nth sample, not the last\n"
	  "Of processes run with --heap; without PID, all of them that you may see. Objects\n"
	  "that are alive: ASKED of the allocator, what it gave (ALLOC), of that UNTOUCHed\n"
	  "and RESIDent, and what is on FOREIGN pages, which another tag first touched.\n"
	  "WASTED: the tag's resident heap pages, less what is alive on them. ERROR is one\n"
	  "standard deviation of ASKED. The account below says what the RSS consists of.\n",
	  cmd_heap, "Fjp" },
	{ "limit", "[-f FORMAT] PID TAG BYTES [-t SEC]", "wait until a tag of a process reaches a size",
	  "  -f, --format F     table or json (as -j)\n"
	  "  -t, --timeout SEC  give up after that time\n"
	  "BYTES (or with a letter KiB, MiB or GiB: 64M) is compared with the RSS of TAG\n"
	  "itself. The exit status is 3 when TAG has reached it: the page fault that does\n"
	  "wakes mtagctl, nothing is polled. It is 0 if the process ends before, executes\n"
	  "another program or is untracked, or at the timeout.\n", cmd_limit, "fjpL" },
	{ "events", "[-f FORMAT] [-a] [-n N]", "what happens to tracked processes, as it happens",
	  "  -f, --format F    table or json (as -j)\n"
	  "  -a, --all         begin with the processes that are tracked already\n"
	  "  -n, --count N     end after N events\n"
	  "EVENT is track, untrack, exit, overflow (a tag was refused), or limit (a tag\n"
	  "reached one). After an overrun, where events came faster than they were read, it\n"
	  "says so and lists the processes that are tracked then. Needs CAP_SYS_ADMIN.\n",
	  cmd_events, "fjpL" },
	{ "audit", "[-f FORMAT] [PID...]", "walk page tables and compare them with the counters",
	  "  -f, --format F    table or json (as -j)\n"
	  "Without PID: every tracked process that you may see. KERNEL is the kernel's own\n"
	  "RSS, WALKED what the page tables hold, COUNTED the sum over the tags; DRIFT and\n"
	  "MOVING (charged to nobody while they migrate) are pages. The exit status is 3 if\n"
	  "any drift is found.\n",
	  cmd_audit, "fjpL" },
	{ "history", "[-f FORMAT] [-n N] [--oom] [PID|COMM...] | --clear",
	  "the processes that ended, and what their tags owned",
	  "  -f, --format F    table or json (as -j)\n"
	  "  -n, --count N     the last N of them\n"
	  "  --oom             those that the OOM killer killed\n"
	  "  --clear           forget all; needs CAP_SYS_ADMIN\n"
	  "The newest come first, each with its largest tags when it ended. HOW is the exit\n"
	  "status, the signal, or OOM. In the table, -s shows all tags, by kind of memory.\n", cmd_history, "fjpsL" },
	{ "doctor", "[-f FORMAT] [-m FILE] [--root DIR]", "is this kernel fit for mtag, and if not, why",
	  "  -f, --format F     table or json (as -j)\n"
	  "  -m, --module FILE  check this file instead of the installed module\n"
	  "  -r, --root DIR     look at /proc, /sys, /boot and /lib/modules below DIR\n"
	  "The exit status is 0 if mtag is usable, 4 without the module, 2 if something\n"
	  "fails. Some checks need root.\n", cmd_doctor, "fjp" },
	{ "help", "[COMMAND]", "show this help, or that of a command", "", cmd_help, "" },
	{ "complete", "[WORD...]", NULL,
	  "Prints what the last WORD of a command line, without \"mtagctl\", can become: for\n"
	  "the completions of shells.\n", cmd_complete, "" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

static const struct command *find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static void print_usage(FILE *out)
{
	const char *line;
	size_t at = 0;

	fputs("Usage: mtagctl [OPTION...] COMMAND [ARGUMENT...]\n\n", out);
	for (const struct command *c = commands; c->name; c++)
		if (c->summary)
			fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fputs("\nOptions, before or after the command; each command accepts those that apply:\n",
	      out);
	while ((line = option_common(NULL, &at)))
		fputs(line, out);
	fprintf(out,
		"%s\n"
		"Exit status: 0 ok, 1 usage, 2 the kernel refused, 3 drift found\n"
		"or a limit reached, 4 the mtag module is not loaded.\n"
		"`mtagctl help COMMAND` says more; so does mtagctl(8).\n",
		option_global);
}

static int cmd_help(struct ctl *ctl, int argc, char **argv)
{
	const struct command *command;
	int opt = option_none(ctl, argc, argv);

	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc - optind > 1) {
		fail_print("help takes at most one command");
		return CTL_USAGE;
	}
	if (argc == optind) {
		print_usage(stdout);
		return CTL_OK;
	}
	command = find_command(argv[optind]);
	if (!command) {
		fail_print("unknown command '%s'; `mtagctl help` lists the commands", argv[optind]);
		return CTL_USAGE;
	}
	option_help(command);
	return CTL_OK;
}

/* Runs the command at argv[0]. */
static int run_command(struct ctl *ctl, int argc, char **argv)
{
	if (!argc) {
		print_usage(stderr);
		return CTL_USAGE;
	}
	ctl->command = find_command(argv[0]);
	if (!ctl->command) {
		fail_print("unknown command '%s'; `mtagctl help` lists the commands", argv[0]);
		return CTL_USAGE;
	}
	if (!option_fits(ctl))
		return CTL_USAGE;
	optind = 0; /* getopt starts again */
	return ctl->command->run(ctl, argc, argv);
}

static int global_options(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"version", no_argument, NULL, 'V'}, OPTION_LONGS};
	int opt;

	while ((opt = option_next(ctl, argc, argv, "+:V" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'V')
			printf("mtagctl %s\n", MTAG_VERSION);
		else
			print_usage(stdout);
		return OPTION_HELP;
	}
	return opt;
}

/*
 * In place of a closed standard descriptor the next file would be opened, and have our messages written into it. What
 * takes the place can neither be read nor written, so that output is still an error. Programs that we execute do not
 * have it.
 */
static void fill_standard(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	static char name[] = "mtagctl";
	struct ctl ctl = {.commands = commands};
	int opt, status;

	fill_standard();
	/* While SIGCHLD is ignored, the id of a dead child may already be another process's. */
	ctl.child_ended = signal(SIGCHLD, SIG_DFL);
	/* A limit on the size of files is as a full disk: the write fails, and is reported. */
	ctl.over_limit = signal(SIGXFSZ, SIG_IGN);
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (argc < 1)
		return CTL_USAGE;
	argv[0] = name;
	opt = global_options(&ctl, argc, argv);
	status = opt == OPTION_DONE ? run_command(&ctl, argc - optind, argv + optind)
				    : option_status(opt);
	if (fflush(stdout) || ferror(stdout)) {
		fail_print("cannot write the output: %s", strerror(errno));
		status = status ? status : CTL_REFUSED;
	}
	return status;
}
