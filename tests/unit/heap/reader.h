/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the area of a process from outside, as mtagctl does, but finds it without the module: by the
 * first bytes of its mappings. What the library's own code says of its state is not asked.
 */
#ifndef TESTS_UNIT_HEAP_READER_H
#define TESTS_UNIT_HEAP_READER_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap/area.h"

struct reader {
	int mem;
	uint64_t at;
	struct mtag_heap_head head;
};

static inline bool reader_get(const struct reader *reader, uint64_t at, void *buf, size_t len)
{
	return pread(reader->mem, buf, len, (off_t)(reader->at + at)) == (ssize_t)len;
}

/* Reads the head again. */
static inline bool reader_head(struct reader *reader)
{
	return reader_get(reader, 0, &reader->head, sizeof(reader->head)) &&
	       mtag_heap_head_good(&reader->head, reader->head.area_bytes);
}

/* No allocation: the process may be the caller's own. */
static inline bool reader_open(struct reader *reader, int pid)
{
	char path[64], line[512];
	size_t n = 0;
	bool found = false;
	int maps;
	char c;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	reader->mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	while (!found && read(maps, &c, 1) == 1) {
		uint64_t magic = 0;

		if (c != '\n') {
			if (n < sizeof(line) - 1)
				line[n++] = c;
			continue;
		}
		line[n] = '\0';
		n = 0;
		if (!strstr(line, " rw-p 00000000 00:00 0"))
			continue;
		reader->at = strtoull(line, NULL, 16);
		found = reader_get(reader, 0, &magic, sizeof(magic)) && magic == MTAG_HEAP_MAGIC;
	}
	close(maps);
	return found && reader_head(reader);
}

static inline void reader_close(struct reader *reader)
{
	close(reader->mem);
}

/* The sum over all slots of what a tag has: in, and out. */
static inline struct mtag_heap_cell reader_cell(struct reader *reader, uint32_t tag)
{
	struct mtag_heap_cell sum = {}, cell;
	uint32_t slot;

	reader_head(reader);
	for (slot = 0; slot < reader->head.slots_used; slot++) {
		uint64_t index = (uint64_t)slot * reader->head.cell_tags + tag;

		if (!reader_get(reader, reader->head.cells_at + index * sizeof(cell), &cell,
				sizeof(cell)))
			continue;
		sum.asked_in += cell.asked_in;
		sum.allocated_in += cell.allocated_in;
		sum.objects_in += cell.objects_in;
		sum.asked_out += cell.asked_out;
		sum.allocated_out += cell.allocated_out;
		sum.objects_out += cell.objects_out;
	}
	return sum;
}

/**
 * struct alive - what samples say
 * @asked: an estimate of all bytes alive, and so on
 * @variance: of that of @asked
 * @n: samples
 * @bad: records whose check failed
 */
struct alive {
	double asked, allocated, objects, variance;
	unsigned n, bad;
};

static inline struct alive reader_alive(struct reader *reader, int tag)
{
	struct mtag_heap_sample sample;
	struct alive alive = {};
	uint32_t i;
	double w;

	reader_head(reader);
	for (i = 0; i < reader->head.samples_used; i++) {
		if (!reader_get(reader, reader->head.samples_at + i * sizeof(sample), &sample,
				sizeof(sample)) ||
		    !sample.address)
			continue;
		if (!mtag_heap_sample_good(&sample)) {
			alive.bad++;
			continue;
		}
		if (tag >= 0 && sample.tag != (uint32_t)tag)
			continue;
		w = (double)sample.weight / (double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT);
		alive.n++;
		alive.objects += w;
		alive.asked += w * (double)sample.asked;
		alive.allocated += w * (double)sample.allocated;
		alive.variance += w * (w - 1) * (double)sample.asked * (double)sample.asked;
	}
	return alive;
}

#endif
