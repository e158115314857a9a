// SPDX-License-Identifier: GPL-2.0
/* The mappings of a process, and what is resident in each, as /proc/PID/smaps has them. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "heaps/maps.h"

#define ADDRESS_MAX (UINT64_C(1) << 57) /* above are only mappings of the kernel's */

/*
 * What is looked at page by page: so many bytes, and so many times of what is resident, but no
 * more.
 */
#define BUDGET_LEAST  (UINT64_C(256) << 30)
#define BUDGET_SPARSE 64
#define BUDGET_MOST   (UINT64_C(4) << 40)

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

void heap_maps_clear(struct heap_maps *maps)
{
	free(maps->maps);
	free(maps->stacks);
	*maps = (struct heap_maps){0};
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* What a mapping is for, by its name. [heap] is the program's break, which few but allocators move. */
static enum heap_kind kind_of(const char *name)
{
	static const char *const shared[] = {"/memfd:", "/SYSV", "/dev/zero (deleted)", "/dev/shm/",
					     "[anon_shmem:"};

	if (!*name)
		return HEAP_OTHER;
	if (!strcmp(name, "[heap]") || begins(name, "[anon: glibc: malloc"))
		return HEAP_MALLOC;
	if (begins(name, "[stack") || begins(name, "[anon: glibc: pthread stack"))
		return HEAP_STACK;
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (begins(name, shared[i]))
			return HEAP_SHARED;
	return *name == '/' ? HEAP_FILE : HEAP_OTHER;
}

/* "START-END PERMS OFFSET DEVICE INODE  NAME" begins a mapping, whether it can be one or not. */
static bool begins_map(const char *line, struct heap_map *map)
{
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &map->start, &map->end,
		   &name) < 2)
		return false;
	map->kind = name ? kind_of(line + name) : HEAP_KINDS;
	return true;
}

static bool can_be(const struct heap_map *map, const struct heap_maps *maps)
{
	return map->kind != HEAP_KINDS && map->start < map->end && map->end <= ADDRESS_MAX &&
	       (map->start | map->end) % PAGE_BYTES == 0 &&
	       (!maps->n || maps->maps[maps->n - 1].end <= map->start);
}

/* "Rss:   123 kB" */
static bool take_size(const char *line, const char *key, uint64_t *bytes)
{
	uint64_t kib;

	if (!begins(line, key))
		return false;
	if (sscanf(line + strlen(key), " %" SCNu64, &kib) == 1 && kib < UINT64_MAX >> 10)
		*bytes = kib << 10;
	return true;
}

static struct heap_map *add_map(struct heap_maps *maps, const struct heap_map *map)
{
	struct heap_map *more = array_grow(maps->maps, maps->n, &maps->room, sizeof(*maps->maps));

	if (!more)
		return NULL;
	maps->maps = more;
	maps->maps[maps->n] = *map;
	return &maps->maps[maps->n++];
}

int heap_maps_parse(FILE *smaps, struct heap_maps *maps)
{
	_cleanup_(freep) char *line = NULL;
	/* What the lines are about: none while it is a mapping that is not taken. */
	struct heap_map *current = NULL;
	size_t size = 0;

	while (getline(&line, &size, smaps) > 0) {
		struct heap_map map = {0};

		line[strcspn(line, "\n")] = '\0';
		if (begins_map(line, &map)) {
			current = NULL;
			if (!can_be(&map, maps))
				continue;
			current = add_map(maps, &map);
			if (!current)
				return -ENOMEM;
		} else if (current && !take_size(line, "Rss:", &current->rss)) {
			take_size(line, "Anonymous:", &current->anon);
		}
	}
	return ferror(smaps) ? -EIO : 0;
}

uint64_t heap_maps_budget(const struct heap_maps *maps)
{
	uint64_t budget = BUDGET_LEAST;

	for (size_t i = 0; i < maps->n && budget < BUDGET_MOST; i++) {
		uint64_t rss = maps->maps[i].rss;

		budget += rss < BUDGET_MOST / BUDGET_SPARSE ? BUDGET_SPARSE * rss : BUDGET_MOST;
	}
	return budget < BUDGET_MOST ? budget : BUDGET_MOST;
}

void heap_maps_limit(struct heap_maps *maps, uint64_t most)
{
	uint64_t left = most;

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < maps->n; i++) {
			struct heap_map *map = &maps->maps[i];
			uint64_t bytes = map->end - map->start;

			if ((map->kind != HEAP_MALLOC) != others || (others && !map->rss))
				continue;
			map->unseen = bytes > left;
			left -= map->unseen ? 0 : bytes;
		}
}

struct heap_map *heap_maps_find(const struct heap_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (maps->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->n && maps->maps[low].start <= address ? &maps->maps[low] : NULL;
}

/* Where a thread's stack pointer is, 0 if that is not told: it runs, or the caller may not know. */
static uint64_t stack_pointer(pid_t pid, const char *thread)
{
	_cleanup_(fclosep) FILE *file = NULL;
	char path[300], line[256];
	char *last, *before;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/syscall", (int)pid, thread);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	/* The last two words are SP and PC. */
	last = strrchr(line, ' ');
	if (!last)
		return 0;
	*last = '\0';
	before = strrchr(line, ' ');
	return before ? strtoull(before, NULL, 16) : 0;
}

int heap_maps_add_stack(struct heap_maps *maps, uint64_t pointer)
{
	uint64_t *more =
		array_grow(maps->stacks, maps->n_stacks, &maps->stacks_room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	maps->stacks = more;
	maps->stacks[maps->n_stacks++] = pointer;
	return 0;
}

static int find_stacks(pid_t pid, struct heap_maps *maps)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		uint64_t pointer = *entry->d_name == '.' ? 0 : stack_pointer(pid, entry->d_name);

		if (pointer)
			err = heap_maps_add_stack(maps, pointer);
	}
	return err;
}

int heap_maps_read(pid_t pid, struct heap_maps *maps)
{
	_cleanup_(fclosep) FILE *smaps = NULL;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	smaps = fopen(path, "re");
	err = smaps ? heap_maps_parse(smaps, maps) : -errno;
	return err ? err : find_stacks(pid, maps);
}
