// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds and creates tags by parent and name. Known tags are kept in a table
 * that only fills: tags are never removed, and a forked child shares the tree.
 */
#include "internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "uapi/linux/mtag.h"

#define ENTRIES 2048 /* a power of two */
#define PROBES	16

/**
 * struct entry - a known tag
 * @state: FREE, then BUSY while its writer fills it, then READY for good
 * @parent: the tag above it
 * @id: the tag
 * @len: bytes of @name
 * @name: without a NUL
 *
 * A reader skips a BUSY entry: it may have interrupted the writer, or a fork
 * may have left the writer in another process.
 */
struct entry {
	_Atomic uint8_t state;
	uint8_t len;
	uint16_t pad;
	mtag_t parent;
	mtag_t id;
	char name[MTAG_NAME_MAX + 1];
};
enum { FREE, BUSY, READY };

static struct entry entries[ENTRIES];

static struct entry *entry_at(uint32_t hash, unsigned probe)
{
	return &entries[(hash + probe) & (ENTRIES - 1)];
}

/* FNV-1a. *@len is the length of the name, above MTAG_NAME_MAX if it is too long. */
static uint32_t hash_of(mtag_t parent, const char *name, size_t *len)
{
	uint32_t hash = 2166136261u ^ parent * 0x9e3779b1u;
	size_t n;

	for (n = 0; n <= MTAG_NAME_MAX && name[n]; n++)
		hash = (hash ^ (uint8_t)name[n]) * 16777619u;
	*len = n;
	return hash ^ hash >> 15;
}

static bool find_entry(uint32_t hash, mtag_t parent, const char *name, size_t len, mtag_t *id)
{
	struct entry *entry;
	unsigned probe;
	uint8_t state;

	for (probe = 0; probe < PROBES; probe++) {
		entry = entry_at(hash, probe);
		state = atomic_load_explicit(&entry->state, memory_order_acquire);
		if (state == FREE)
			return false;
		if (state == READY && entry->parent == parent && entry->len == len &&
		    !memcmp(entry->name, name, len)) {
			*id = entry->id;
			return true;
		}
	}
	return false;
}

/* Two threads may add the same tag; the first entry found is used. */
static void remember_tag(uint32_t hash, mtag_t parent, const char *name, size_t len, mtag_t id)
{
	struct entry *entry;
	unsigned probe;
	uint8_t free;

	for (probe = 0; probe < PROBES; probe++) {
		entry = entry_at(hash, probe);
		free = FREE;
		if (!atomic_compare_exchange_strong(&entry->state, &free, BUSY))
			continue;
		entry->parent = parent;
		entry->id = id;
		entry->len = (uint8_t)len;
		memcpy(entry->name, name, len);
		atomic_store_explicit(&entry->state, READY, memory_order_release);
		return;
	}
}

/* Returns 0 or -errno; errno is kept. */
static int child_tag(mtag_t parent, const char *name, mtag_t *id)
{
	struct mtag_ioc_child arg = {
		.size = sizeof(arg), .parent = parent, .name = (uintptr_t)name};
	uint32_t hash;
	size_t len;
	int err = mtag__attached();

	*id = parent;
	if (err)
		return err;
	if (!name)
		err = -EINVAL;
	if (!err) {
		hash = hash_of(parent, name, &len);
		if (find_entry(hash, parent, name, len, id))
			return 0;
		arg.name_len = (uint32_t)len;
		err = mtag__ioctl(MTAG_IOC_CHILD, &arg);
	}
	if (err) {
		mtag__failed();
		return err;
	}
	*id = arg.id;
	remember_tag(hash, parent, name, len, arg.id);
	return 0;
}

mtag_t mtag_child(mtag_t parent, const char *name)
{
	mtag_t id;
	int err = child_tag(parent, name, &id);

	if (err)
		errno = -err;
	return id;
}

/* The error is permanent. Tags are never removed, so a full tree stays full. */
static bool refused_for_good(int err)
{
	return err == -EINVAL || err == -ENAMETOOLONG || err == -ENOSPC;
}

struct mtag_frame mtag_scope_slow(struct mtag_site *site, const char *name)
{
	mtag_t parent = mtag_current(), id = parent;
	int err;

	/* Not registered: the tag of this thread can be neither read nor changed. */
	if (!mtag_thread_word)
		return mtag_scope_tag_slow(parent);
	err = child_tag(parent, name, &id);
	if (site && (!err || refused_for_good(err)))
		__atomic_store_n(&site->cell, (uint64_t)id << 32 | parent, __ATOMIC_RELAXED);
	return mtag_scope_tag_slow(id);
}

/* Also inline in mtag.h. */
struct mtag_frame mtag_scope_begin(struct mtag_site *site, const char *name)
{
	return mtag_scope_slow(site, name);
}
