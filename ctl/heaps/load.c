// SPDX-License-Identifier: GPL-2.0
/* Heap views from the module: the areas of processes, and whose their pages are. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctl.h"
#include "file.h"
#include "heaps/load.h"
#include "uapi/linux/mtag.h"

/* Three quarters of the greatest stack that exec(2) reckons with. */
#define ENVIRON_MOST (6UL << 20)

/* @area: where that of the process is */
struct reader {
	int device;
	pid_t pid;
	uint64_t area;
};

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

int heap_open(void)
{
	return open(MTAG_DEVICE, O_RDWR | O_CLOEXEC);
}

/* ---- the module's answers ---- */

/* Copies from an area; @call has what the module says of it. */
static int call_read(const struct reader *reader, struct mtag_ioc_heap_read *call)
{
	call->size = sizeof(*call);
	call->pid = (uint32_t)reader->pid;
	return ioctl(reader->device, MTAG_IOC_HEAP_READ, call) ? -errno : 0;
}

static int read_area(void *arg, uint64_t offset, void *to, size_t length)
{
	struct mtag_ioc_heap_read call = {
		.offset = offset, .length = length, .buffer = (uintptr_t)to};
	int err = call_read(arg, &call);

	/* It has become shorter. */
	return err || call.length == length ? err : -EBADMSG;
}

static int look(void *arg, uint64_t start, uint64_t end, uint32_t *pages)
{
	const struct reader *reader = arg;
	struct mtag_ioc_span span = {start, end};
	struct mtag_ioc_owners call = {
		.size = sizeof(call),
		.pid = (uint32_t)reader->pid,
		.nr_spans = 1,
		.spans = (uintptr_t)&span,
		.pages = (uintptr_t)pages,
		.room = (uint32_t)((end - start) / PAGE_BYTES),
	};

	return ioctl(reader->device, MTAG_IOC_OWNERS, &call) ? -errno : 0;
}

static int look_at_area(void *arg, uint64_t offset, size_t n, uint32_t *pages)
{
	const struct reader *reader = arg;
	uint64_t start = reader->area + offset;

	return look(arg, start, start + n * PAGE_BYTES, pages);
}

static int read_memory(void *arg, uint64_t address, void *to, size_t length)
{
	const struct reader *reader = arg;
	struct iovec here = {to, length}, there = {(void *)(uintptr_t)address, length};
	ssize_t n = process_vm_readv(reader->pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == length ? 0 : -EFAULT;
}

/* ---- a process ---- */

void heap_unload(struct heap_loaded *loaded)
{
	heap_view_clear(&loaded->view);
	heap_maps_clear(&loaded->maps);
	heap_objects_clear(&loaded->objects);
}

/* One more than the largest id. */
static size_t count_ids(const struct proc *proc)
{
	return proc->n_tags ? (size_t)proc->tags[proc->n_tags - 1].id + 1 : 1;
}

/* Where the area is, and how large. */
static int find_area(struct reader *reader, struct heap_parts *parts)
{
	struct mtag_ioc_heap_read where = {0};
	int err = call_read(reader, &where);

	parts->area = reader->area = where.address;
	parts->area_bytes = where.total;
	return err;
}

static int load_objects(struct reader *reader, const struct proc *proc, struct heap_parts *parts,
			struct heap_objects *objects)
{
	int err = find_area(reader, parts);
	struct heap_source source = {read_area, look_at_area, reader, parts->area_bytes};

	return err ? err : heap_objects_read(&source, count_ids(proc), objects);
}

int heap_load_objects(int device, const struct proc *proc, struct heap_objects *objects)
{
	struct reader reader = {.device = device, .pid = proc->pid};
	struct heap_parts parts = {0};

	return load_objects(&reader, proc, &parts, objects);
}

int heap_load(int device, const struct proc *proc, struct heap_loaded *loaded)
{
	struct reader reader = {.device = device, .pid = proc->pid};
	struct heap_parts parts = {
		.proc = proc,
		.objects = &loaded->objects,
		.maps = &loaded->maps,
		.pages = {look, &reader},
		.memory = {read_memory, &reader},
	};
	int err = load_objects(&reader, proc, &parts, &loaded->objects);

	if (!err)
		err = heap_maps_read(proc->pid, &loaded->maps);
	return err ? err : heap_view_make(&loaded->view, &parts);
}

static int load_sums(int device, const struct proc *proc, struct heap_loaded *loaded)
{
	struct reader reader = {.device = device, .pid = proc->pid};
	struct heap_parts parts = {0};
	int err = find_area(&reader, &parts);
	struct heap_source source = {read_area, look_at_area, &reader, parts.area_bytes};

	if (!err)
		err = heap_objects_read_sums(&source, count_ids(proc), &loaded->objects);
	return err ? err : heap_view_sum(&loaded->view, proc, &loaded->objects);
}

int heap_load_into(int device, struct proc *proc, enum heap_depth depth)
{
	_cleanup_(heap_unload) struct heap_loaded loaded = {0};
	int err = depth == HEAP_SUMS ? load_sums(device, proc, &loaded)
				     : heap_load(device, proc, &loaded);

	if (err)
		return err;
	if (!proc_heap(proc))
		return -ENOMEM;
	*proc->heap = loaded.view;
	loaded.view = (struct heap_view){0};
	return 0;
}

/* Looks at its tags alone: false if it surely has no heap view. */
static bool may_have_heap(const struct proc *proc)
{
	for (size_t i = 0; i < proc->n_tags; i++)
		if (proc->tags[i].parent < 0 && !strcmp(proc->tags[i].name, HEAP_VIEW_TAG))
			return true;
	return false;
}

int heap_load_all(struct snap *snap, enum heap_depth depth)
{
	int device = -1, err = 0;

	for (size_t i = 0; i < snap->n_procs && err != -ENOMEM; i++) {
		if (!may_have_heap(&snap->procs[i]))
			continue;
		if (device < 0)
			device = heap_open();
		if (device < 0)
			return 0;
		err = heap_load_into(device, &snap->procs[i], depth);
	}
	if (device >= 0)
		close(device);
	return err == -ENOMEM ? err : 0;
}

/* ---- processes without a view ---- */

bool heap_is_static(const char *path)
{
	_cleanup_(fclosep) FILE *file = NULL;
	int fd = file_open_regular(path);
	Elf64_Ehdr head;
	Elf64_Phdr part;

	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	if (!file || fread(&head, sizeof(head), 1, file) != 1 ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(part) || fseek(file, (long)head.e_phoff, SEEK_SET))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (fread(&part, sizeof(part), 1, file) != 1 || part.p_type == PT_INTERP)
			return false;
	}
	return head.e_phnum > 0;
}

/*
 * Was the library to be preloaded? The environment of the program's start: words with a NUL after each. A process may
 * name any of its memory as that, terabytes of it: what exec(2) lets it begin with is looked at.
 */
static bool wanted_view(pid_t pid)
{
	static const char key[] = "LD_PRELOAD=";
	_cleanup_(fclosep) FILE *file = NULL;
	_cleanup_(freep) char *text = malloc(ENVIRON_MOST + 1);
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = text ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	n = fread(text, 1, ENVIRON_MOST, file);
	text[n] = '\0';
	for (const char *word = text; word < text + n; word += strlen(word) + 1)
		if (!strncmp(word, key, strlen(key)))
			return strstr(word, "libmtag-heap.so");
	return false;
}

const char *heap_why_not(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (heap_is_static(path))
		return "its program is linked statically, so that no library can come between it "
		       "and its allocator; ask that for a profile of its own";
	if (wanted_view(pid))
		return "libmtag-heap.so was to be preloaded, but has not begun: the program runs "
		       "with more privileges than its caller had, is for another kind of processor, "
		       "or MTAG_HEAP is 'off'";
	return "it was not started by `mtagctl run --heap`";
}
