// SPDX-License-Identifier: GPL-2.0
/* Owners of pages by address, and the area of a heap view, as /dev/mtag tells them. */
#include "owners.h"
#include "told.h"

int owners_of_spans(pid_t pid, const struct mtag_ioc_span *spans, uint32_t nr, uint32_t *row,
		    uint32_t room)
{
	struct mtag_ioc_owners o = {
		.size = sizeof(o), .pid = pid, .nr_spans = nr, .spans = (uintptr_t)spans};
	int error;

	while (o.span < nr) {
		o.room = room;
		o.pages = (uintptr_t)row;
		error = mtag_ioctl(MTAG_IOC_OWNERS, &o);
		if (error)
			return error;
		if (!o.filled || o.filled > room)
			bail("%u of %u pages filled", o.filled, room);
		row += o.filled;
	}
	return 0;
}

int owners_of(pid_t pid, const void *start, size_t pages, uint32_t *row)
{
	struct mtag_ioc_span span = {(uintptr_t)start, (uintptr_t)start + pages * PG};

	return owners_of_spans(pid, &span, 1, row, pages);
}

int heap_set(const void *address, size_t length)
{
	struct mtag_ioc_heap h = {
		.size = sizeof(h), .address = (uintptr_t)address, .length = length};

	return mtag_ioctl(MTAG_IOC_HEAP, &h);
}

int64_t heap_read(pid_t pid, uint64_t offset, void *to, size_t length)
{
	struct mtag_ioc_heap_read r = {.size = sizeof(r),
				       .pid = pid,
				       .offset = offset,
				       .length = length,
				       .buffer = (uintptr_t)to};
	int error = mtag_ioctl(MTAG_IOC_HEAP_READ, &r);

	return error ? error : (int64_t)r.length;
}
