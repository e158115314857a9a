// SPDX-License-Identifier: GPL-2.0
/*
 * rival NAME WORK,… EXPECT COMMAND: what another tool makes the same work cost that cost.c measures
 * for mtag.
 *
 * Measures the works, starts the shell command, waits until it only waits for events, measures
 * again and prints "WORK: NAME<tab>difference<tab>" for each. $PID in the command is this process.
 * At the end the command gets SIGINT; what it has said by then must match the extended regular
 * expression, or it has measured nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <string.h>
#include "clock.h"
/* Only some of the works are done here. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "pages.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SAID	 "/tmp/rival.said"
#define WORKS	 4

/* The tool's own programs are part of the price, so all that was executed counts; a mean. */
static double come_in_all(void)
{
	char *p = map(FORKED, HPAGE, MADV_NOHUGEPAGE);
	double start, cost;

	touch(p, FORKED, PG);
	must(madvise(p, FORKED, MADV_DONTNEED));
	start = busy();
	touch(p, FORKED, PG);
	cost = busy() - start;
	must(munmap(p, FORKED));
	return cost / (FORKED / PG);
}

static const struct work {
	const char *name, *prints;
	double (*run)(void);
} works[] = {
	{"come", "first touch, 4 KiB", small_come},
	{"come_in_all", "first touch, 4 KiB, with what the tool's programs do", come_in_all},
	{"go", "unmap, 4 KiB", small_go},
	{"malloc", "malloc and free", malloc_pair},
};

static int select_works(char *names, const struct work *selected[WORKS])
{
	int n = 0;

	for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
		for (size_t i = 0; i < COUNT(works) && n < WORKS; i++)
			if (!strcmp(works[i].name, name))
				selected[n++] = &works[i];
	return n;
}

static double measure(const struct work *work)
{
	double best = 1e12;

	for (int i = 0; i < 3; i++)
		best = min(best, work->run());
	return best;
}

static pid_t start(const char *command)
{
	char pid[16];
	pid_t tool;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	must(setenv("PID", pid, 1));
	tool = must(fork());
	if (!tool) {
		int fd = must(open(SAID, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));

		must(setpgid(0, 0));
		must(dup2(fd, 1));
		must(dup2(fd, 2));
		execl("/bin/bash", "bash", "-c", command, NULL);
		_exit(127);
	}
	return tool;
}

/* Do all processes of the group wait for events? Waiting for disk or kernel does not count. */
static bool group_waits(pid_t group)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false, waits = true;

	while (proc && (entry = readdir(proc))) {
		char path[300], state;
		int pgrp;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%*d (%*[^)]) %c %*d %d", &state, &pgrp) == 2 && pgrp == group) {
			found = true;
			waits = waits && state == 'S';
		}
		fclose(f);
	}
	if (proc)
		closedir(proc);
	return found && waits;
}

/* Most begin to listen once and for all; none listens for a second before that. */
static void until_ready(pid_t tool)
{
	for (int quiet = 0, tries = 0; quiet < 50; tries++) {
		if (waitpid(tool, NULL, WNOHANG) || tries > 30000) {
			fprintf(stderr, "rival: the tool has ended, or never waits\n");
			exit(1);
		}
		usleep(20000);
		quiet = group_waits(tool) ? quiet + 1 : 0;
	}
}

static bool said(const char *expect)
{
	static char text[1 << 16];
	FILE *f = fopen(SAID, "re");
	regex_t regex;
	bool match;

	if (!f || regcomp(&regex, expect, REG_EXTENDED | REG_NOSUB))
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	match = !regexec(&regex, text, 0, NULL, 0);
	if (!match)
		fprintf(stderr, "rival: the tool did not say '%s': %s\n", expect, text);
	return match;
}

int main(int argc, char **argv)
{
	const struct work *selected[WORKS];
	double before[WORKS];
	pid_t tool;
	int n;

	if (argc != 5 || !(n = select_works(argv[2], selected))) {
		fprintf(stderr, "usage: rival NAME WORK,… EXPECT COMMAND\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < n; i++)
		before[i] = measure(selected[i]);
	tool = start(argv[4]);
	until_ready(tool);
	for (int i = 0; i < n; i++)
		printf("%s: %s\t%+.1f\t\n", selected[i]->prints, argv[1],
		       measure(selected[i]) - before[i]);
	kill(-tool, SIGINT);
	must(waitpid(tool, NULL, 0));
	return !said(argv[3]);
}
