// SPDX-License-Identifier: GPL-2.0
/*
 * busy RUNS COMMAND…: runs a command so often, and prints the instructions that the machine
 * executed for it, the kernel's and all other programs' included: the least and the most of all
 * runs, separated by a tab. What the command prints goes to standard error.
 */
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>
#include "busy.h"
#include "clock.h"

static double run(char **command)
{
	double start = busy();
	int status;
	pid_t pid = must(fork());

	if (!pid) {
		/* Where its parts lie decides how many page tables it needs. */
		personality(ADDR_NO_RANDOMIZE);
		must(dup2(2, 1));
		execvp(*command, command);
		perror(*command);
		_exit(127);
	}
	must(waitpid(pid, &status, 0));
	if (status) {
		fprintf(stderr, "busy: %s: status %#x\n", *command, status);
		exit(1);
	}
	return busy() - start;
}

int main(int argc, char **argv)
{
	double least = 1e18, most = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: busy RUNS COMMAND…\n");
		return 2;
	}
	for (int i = atoi(argv[1]); i > 0; i--) {
		double cost = run(argv + 2);

		least = min(least, cost);
		most = cost > most ? cost : most;
	}
	printf("%.0f\t%.0f\n", least, most);
	return 0;
}
