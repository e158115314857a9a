// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that a just-in-time compiler has made. /tmp is everybody's: a file of another user would have us
 * believe anything, and is not read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "stacks/perfmap.h"

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* The process's id in its own namespace: the last one of the line NSpid. */
static pid_t own_pid(pid_t pid)
{
	_cleanup_(fclosep) FILE *in = NULL;
	_cleanup_(freep) char *line = NULL;
	char path[64];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "re");
	while (in && getline(&line, &room, in) > 0) {
		char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			return (pid_t)strtol(last, NULL, 10);
	}
	return pid;
}

static FILE *open_map(pid_t pid)
{
	struct stat st, process;
	char path[96];
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &process))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)pid, (int)own_pid(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	in = fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != process.st_uid)
		     ? NULL
		     : fdopen(fd, "r");
	if (!in)
		close(fd);
	return in;
}

static int add(struct perfmap *map, uint64_t start, uint64_t size, const char *name)
{
	char *copy = strdup(name);

	if (map->n == map->room) {
		size_t room = map->room ? map->room * 2 : 256;
		struct perfmap_function *more =
			reallocarray(map->functions, room, sizeof(*map->functions));

		if (!more) {
			free(copy);
			return -ENOMEM;
		}
		map->functions = more;
		map->room = room;
	}
	if (!copy)
		return -ENOMEM;
	map->functions[map->n] = (struct perfmap_function){start, size, map->n, copy};
	map->n++;
	return 0;
}

/* What was compiled last at an address is what is there. */
static int by_start(const void *a, const void *b)
{
	const struct perfmap_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->number < y->number) - (x->number > y->number);
}

int perfmap_read(struct perfmap *map, FILE *in)
{
	_cleanup_(freep) char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, in) > 0) {
		uint64_t start, size;
		char *end, *name;

		start = strtoull(line, &end, 16);
		if (end == line || *end != ' ')
			continue;
		size = strtoull(end, &name, 16);
		if (name == end || *name != ' ' || !size)
			continue;
		name += strspn(name, " ");
		name[strcspn(name, "\n")] = '\0';
		if (*name)
			err = add(map, start, size, name);
	}
	if (map->n)
		qsort(map->functions, map->n, sizeof(*map->functions), by_start);
	return err;
}

int perfmap_open(struct perfmap *map, pid_t pid)
{
	_cleanup_(fclosep) FILE *in = open_map(pid);

	return in ? perfmap_read(map, in) : 0;
}

const char *perfmap_find(const struct perfmap *map, uint64_t address)
{
	size_t low = 0, high = map->n;

	/* The first one that starts above the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->functions[middle].start > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return NULL;
	low--;
	while (low && map->functions[low - 1].start == map->functions[low].start)
		low--;
	return address - map->functions[low].start < map->functions[low].size
		       ? map->functions[low].name
		       : NULL;
}

void perfmap_clear(struct perfmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		free(map->functions[i].name);
	free(map->functions);
	*map = (struct perfmap){0};
}
