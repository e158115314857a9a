// SPDX-License-Identifier: GPL-2.0
/* Rule 2 between nodes of memory: pages and folios of every size, moved by policy and by request. */
/* vm: group=append mem=7G append=numa=fake=2,memmap=128M!1G,memmap=2G!4G timeout=400 */
#include "lib/model.h"
#include <linux/mempolicy.h>

static mtag_t a, b, d, w, third[3];
static size_t size, pages_each;
static char kb[32];

/* Moves a range to a node, under the worker. */
static bool bind(char *p, size_t len, int node, unsigned int flags)
{
	unsigned long mask = 1UL << node;
	mtag_t before = mtag_enter(w);
	bool good = !syscall(SYS_mbind, p, len, MPOL_BIND, &mask, 8 * sizeof(mask), flags);

	mtag_leave(before);
	return good;
}

/* Pages of a range that are on a node. */
static size_t on_node(char *p, size_t pages, int node)
{
	static void *address[PAGES_MAX];
	static int status[PAGES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < pages; i++)
		address[i] = p + i * PG;
	must(syscall(SYS_move_pages, 0, pages, address, NULL, status, 0));
	for (size_t i = 0; i < pages; i++)
		n += status[i] == node;
	return n;
}

static struct model *some(size_t len)
{
	struct model *m = model_of(0, area_prot(len, HPAGE, PROT_READ | PROT_WRITE), len);

	/* A kernel without huge pages knows no such advice. */
	if (size == PG)
		madvise(m->p, len, MADV_NOHUGEPAGE);
	else if (size == HPAGE)
		must(madvise(m->p, len, MADV_HUGEPAGE));
	for (size_t i = 0; i < len / size; i++)
		touch_pages(m, third[i % 3], i * pages_each, 1, 1);
	/* Migration puts the zero page in the place of what was never written to. */
	touch_pages(m, w, 0, m->pages, 1);
	return m;
}

static void whole(struct model *m)
{
	for (int node = 1; node >= 0; node--) {
		ok(bind(m->p, m->pages * PG, node, MPOL_MF_MOVE | MPOL_MF_STRICT),
		   "%s: mbind moves to node %d", kb, node);
		is(on_node(m->p, m->pages, node), m->pages, "%s: all of it", kb);
		agree("%s: on node %d", kb, node);
		is(anon_of(w), 0, "%s: none is the mover's", kb);
	}
}

static void parts(struct model *m)
{
	size_t half = pages_each / 2;

	must0(mtag_range(m->p + half * PG, size, d, MTAG_RANGE_PRESENT));
	for (size_t i = 0; i < pages_each; i++)
		m->owner[half + i] = d;
	bind(m->p + half * PG, size, 1, MPOL_MF_MOVE);
	agree("%s: parts of two on the other node", kb);
	bind(m->p, m->pages * PG, 1, MPOL_MF_MOVE);
	agree("%s: the rest, too", kb);
	must(madvise(m->p + 2 * size, half ? half * PG : PG, MADV_DONTNEED));
	bind(m->p, m->pages * PG, 0, MPOL_MF_MOVE);
	agree("%s: back, with a hole", kb);
}

static void shared(struct model *m)
{
	struct gate *g = gate();
	unsigned long from = 1, to = 2;
	pid_t pid = child();

	if (!pid) {
		open_gate(g, 1);
		pass_gate(g, 2);
		agree("%s: a child whose pages were moved for its parent", kb);
		touch_pages(m, w, 0, m->pages / 4, 3);
		agree("%s: and that copies of them", kb);
		open_gate(g, 3);
		pass_gate(g, 4);
		agree("%s: and that was moved itself", kb);
		_exit(0);
	}
	pass_gate(g, 1);
	ok(bind(m->p, m->pages * PG, 1, MPOL_MF_MOVE_ALL), "%s: mbind of what a child shares", kb);
	agree("%s: moved, though shared", kb);
	open_gate(g, 2);
	pass_gate(g, 3);
	/* The child has its parent's policy; to node 0 only by request. */
	ok(syscall(SYS_migrate_pages, pid, 8 * sizeof(from), &to, &from) >= 0,
	   "%s: migrate_pages of the child", kb);
	open_gate(g, 4);
	reap(pid);
	must(munmap(g, PG));
	agree("%s: the parent after that", kb);
}

static void of_size(size_t bytes)
{
	struct model *m;

	size = bytes;
	pages_each = size / PG;
	snprintf(kb, sizeof(kb), "%zu KiB", size / KIB);
	use_folios(size == PG ? 0 : size);
	m = some(size < MIB ? 2 * MIB : 4 * size);
	whole(m);
	parts(m);
	shared(m);
	model_end(0);
	agree("%s: nothing is left", kb);
}

static void shared_memory(void)
{
	mtag_t before = mtag_enter(a);
	char *p = must(mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0));

	mtag_leave(before);
	touch(w, p, 2 * MIB);
	ok(bind(p, 2 * MIB, 1, MPOL_MF_MOVE), "shared memory is moved");
	is(shmem_of(a), 2 * MIB, "shared memory is its mapper's on any node");
	is(on_node(p, 2 * MIB / PG, 1), 2 * MIB / PG, "all of it");
	exact("shared memory: exact");
	must(munmap(p, 2 * MIB));
	is(shmem_of(a), 0, "shared memory: nothing is left");
}

static atomic_bool stop;

static void *mover(void *arg)
{
	struct model *m = arg;

	for (int i = 0; !atomic_load(&stop); i++)
		bind(m->p, m->pages * PG, i % 2, MPOL_MF_MOVE);
	return NULL;
}

static void while_busy(void)
{
	struct model *m = some(2 * MIB);
	pthread_t thread;

	for (size_t i = 0; i < m->pages; i++)
		m->owner[i] = third[i / pages_each % 3];
	if (pthread_create(&thread, NULL, mover, m))
		bail("thread");
	for (int round = 0; round < 10; round++) {
		for (size_t i = round % 2; i < m->pages; i += 3)
			touch(m->owner[i], m->p + i * PG, PG);
		if (round % 3 == 1)
			in_child
				touch(w, m->p, m->pages / 3 * PG);
		must(madvise(m->p + (size_t)round * size, size, MADV_DONTNEED));
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	agree("%s: moved while it was touched, forked and discarded", kb);
	model_end(0);
	agree("%s: nothing is left of it", kb);
}

int main(void)
{
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes));

	begin_test();
	if (access("/sys/devices/system/node/node1", F_OK))
		skip_all("one node only");
	swapoff_all();
	begin();
	third[0] = a = model_tag("a");
	third[1] = b = model_tag("b");
	third[2] = model_tag("c");
	d = model_tag("d");
	w = model_tag("worker");
	spew("/proc/sys/kernel/numa_balancing", "0");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	of_size(PG);
	for (size_t i = 0; i < n; i++)
		of_size(sizes[i]);
	if (!n && !spew(THP "enabled", "always"))
		of_size(HPAGE);
	size = n ? 64 * KIB : PG;
	pages_each = size / PG;
	use_folios(n ? size : 0);
	while_busy();
	folios_end();
	shared_memory();
	return end_test();
}
