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

static FILE *open_map(pid_t pid, int root)
{
	struct stat st, process;
	char path[96];
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &process))
		return NULL;
	/* Its root directory we may not be allowed to look up any more. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/tmp/perf-%d.map", root, (int)own_pid(pid));
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
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	map->functions[map->n] = (struct perfmap_function){start, start + size, map->n, copy};
	map->n++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct perfmap_function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* ---- which line is the last at each address ---- */

/* Functions that have begun, as a heap: the one of the last line is the first. */
struct begun {
	const struct perfmap_function **functions;
	size_t n;
};

static void swap(struct begun *begun, size_t a, size_t b)
{
	const struct perfmap_function *function = begun->functions[a];

	begun->functions[a] = begun->functions[b];
	begun->functions[b] = function;
}

static void push(struct begun *begun, const struct perfmap_function *function)
{
	size_t at = begun->n++;

	begun->functions[at] = function;
	for (; at && begun->functions[(at - 1) / 2]->number < function->number; at = (at - 1) / 2)
		swap(begun, at, (at - 1) / 2);
}

static void pop(struct begun *begun)
{
	size_t at = 0, child;

	begun->functions[0] = begun->functions[--begun->n];
	while ((child = 2 * at + 1) < begun->n) {
		if (child + 1 < begun->n &&
		    begun->functions[child + 1]->number > begun->functions[child]->number)
			child++;
		if (begun->functions[child]->number < begun->functions[at]->number)
			break;
		swap(begun, at, child);
		at = child;
	}
}

/*
 * What was compiled last at an address is what is there: the addresses up, from one start or end to
 * the next.
 */
static void cut(struct perfmap *map, struct begun *begun)
{
	uint64_t address = 0, next;
	size_t at = 0;

	while (at < map->n || begun->n) {
		if (!begun->n)
			address = map->functions[at].start;
		while (at < map->n && map->functions[at].start == address)
			push(begun, &map->functions[at++]);
		while (begun->n && begun->functions[0]->end <= address)
			pop(begun);
		if (!begun->n)
			continue;
		next = begun->functions[0]->end;
		if (at < map->n && map->functions[at].start < next)
			next = map->functions[at].start;
		map->pieces[map->n_pieces++] =
			(struct perfmap_piece){address, next, begun->functions[0]->name};
		address = next;
	}
}

static int settle(struct perfmap *map)
{
	struct begun begun = {calloc(map->n, sizeof(*begun.functions)), 0};

	/* A piece ends where one of the functions begins or ends. */
	map->pieces = calloc(map->n, 2 * sizeof(*map->pieces));
	if (begun.functions && map->pieces) {
		qsort(map->functions, map->n, sizeof(*map->functions), by_start);
		cut(map, &begun);
	}
	free(begun.functions);
	return begun.functions && map->pieces ? 0 : -ENOMEM;
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
	return err || !map->n ? err : settle(map);
}

int perfmap_open(struct perfmap *map, pid_t pid, int root)
{
	_cleanup_(fclosep) FILE *in = open_map(pid, root);

	return in ? perfmap_read(map, in) : 0;
}

const char *perfmap_find(const struct perfmap *map, uint64_t address)
{
	size_t low = 0, high = map->n_pieces;

	/* The first one that starts above the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->pieces[middle].start > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low && address < map->pieces[low - 1].end ? map->pieces[low - 1].name : NULL;
}

void perfmap_clear(struct perfmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		free(map->functions[i].name);
	free(map->functions);
	free(map->pieces);
	*map = (struct perfmap){0};
}
