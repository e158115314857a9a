// SPDX-License-Identifier: GPL-2.0
/* A program that knows nothing of tags: 4 MiB, kept until somebody writes a line to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	size_t size = 4 << 20;
	char *memory = malloc(size);
	char line[8];

	if (!memory)
		return 1;
	memset(memory, 1, size);
	printf("%d\n", getpid());
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin) || memory[size - 1] != 1;
}
