/* SPDX-License-Identifier: GPL-2.0 */
/* The mappings of a process, and what is resident in each, as /proc/PID/smaps has them. */
#ifndef MTAGCTL_HEAPS_MAPS_H
#define MTAGCTL_HEAPS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum heap_kind {
	HEAP_OTHER,  /* anonymous memory without a name that tells */
	HEAP_MALLOC, /* the allocator's */
	HEAP_STACK,
	HEAP_FILE,
	HEAP_SHARED, /* tmpfs, memfd, SysV and shared anonymous memory, by their names */
	HEAP_KINDS
};

/**
 * struct heap_map - a mapping
 * @end:	exclusive
 * @rss:	bytes resident
 * @anon:	of them anonymous: in a file's mapping, copies of its pages
 * @kind:	what it is for
 * @unseen:	too large for its pages to be asked for one by one; see heap_maps_limit()
 */
struct heap_map {
	uint64_t start;
	uint64_t end;
	uint64_t rss;
	uint64_t anon;
	enum heap_kind kind;
	bool unseen;
};

/**
 * struct heap_maps - those of a process; initially all 0
 * @maps:	ascending
 * @stacks:	stack pointers of its threads, as far as they are known
 */
struct heap_maps {
	struct heap_map *maps;
	size_t n;
	size_t room;
	uint64_t *stacks;
	size_t n_stacks;
	size_t stacks_room;
};

/* Both return 0 or a negative errno. Lines that are not understood are skipped. */
int heap_maps_parse(FILE *smaps, struct heap_maps *maps);
/* Has stack pointers, too, where the caller may ask for them. */
int heap_maps_read(pid_t pid, struct heap_maps *maps);
/* 0 or -ENOMEM. */
int heap_maps_add_stack(struct heap_maps *maps, uint64_t pointer);
void heap_maps_clear(struct heap_maps *maps);
/*
 * Marks as unseen what is beyond @most bytes in all, so that a process cannot keep its reader busy by the size of its
 * mappings. The allocator's come first.
 */
void heap_maps_limit(struct heap_maps *maps, uint64_t most);
/*
 * For that: enough for a process that uses a 64th of what it has mapped, and for each to begin
 * with.
 */
uint64_t heap_maps_budget(const struct heap_maps *maps);
/* The mapping that has @address, or NULL. */
struct heap_map *heap_maps_find(const struct heap_maps *maps, uint64_t address);

#endif
