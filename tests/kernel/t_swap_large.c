// SPDX-License-Identifier: GPL-2.0
/* Rule 2 and I3 for large folios: out to swap as a whole, back as a whole or in parts. */
/* vm: group=plain timeout=900 since=6.12 not=rt because="no such folios" */
#include "lib/model.h"

#define MANY 8

static mtag_t a, b, d, w, third[3];
static size_t size, pages_each;
static char kb[64];

/* Folios of three tags in turn, one with several owners; all are still in memory. */
static struct model *folios(void)
{
	size_t len = MANY * size, half = pages_each / 2;
	struct model *m = NULL;

	for (int tries = 0; tries < 10; tries++) {
		model_end(0);
		m = model_of(0, area_prot(len, HPAGE, PROT_READ | PROT_WRITE), len);
		for (size_t i = 0; i < MANY; i++)
			touch_pages(m, third[i % 3], i * pages_each + i % pages_each, 1, 1);
		if (in_folios(m->p, len, size) == len)
			break;
		compact_memory();
	}
	must0(mtag_range(m->p + half * PG, PG, d, MTAG_RANGE_PRESENT));
	m->owner[half] = d;
	must0(mtag_range(m->p + size + PG, half * PG, b, MTAG_RANGE_PRESENT));
	for (size_t i = 0; i < half; i++)
		m->owner[pages_each + 1 + i] = b;
	touch(w, m->p, len);
	agree("%s: before", kb);
	return m;
}

static struct model *out(void)
{
	struct model *m = folios();
	uint64_t whole = folio_stat(size, "swpout") + folio_stat(size, "zswpout");

	if (!page_out(m->p, MANY * size))
		bail("MADV_PAGEOUT leaves %" PRIu64 " bytes", smaps(m->p, MANY * size).rss);
	diag("%s: %" PRIu64 " of %d folios went out whole", kb,
	     folio_stat(size, "swpout") + folio_stat(size, "zswpout") - whole, MANY);
	agree("%s: all out", kb);
	return m;
}

static void there_and_back(void)
{
	struct model *m = out();

	for (size_t i = 0; i < MANY / 2; i++)
		read_all(w, m->p + i * size + size / 2, PG);
	agree("%s: the middle of half of them read", kb);
	diag("%s: %zu bytes came back in folios as large", kb,
	     in_folios(m->p, m->pages * PG, size));
	touch_pages(m, w, 0, m->pages, 1);
	is(anon_of(w), 0, "%s: the tag that brought them back owns none", kb);
	agree("%s: all back by writing", kb);
	reclaim(m->p, MANY * size);
	read_all(w, m->p, MANY * size);
	agree("%s: out and in again", kb);
	must(munmap(m->p + size / 2, size));
	agree("%s: halves of two unmapped, when back", kb);
	model_end(0);
}

static void parts_lost(void)
{
	struct model *m = out();
	size_t half = pages_each / 2;

	must(munmap(m->p + half * PG, size));
	agree("%s: halves of two unmapped while out", kb);
	must(madvise(m->p + 2 * size + PG, PG, MADV_DONTNEED));
	agree("%s: a page discarded while out", kb);
	must(madvise(m->p + 3 * size + half * PG, half * PG, MADV_FREE));
	agree("%s: half of one given up by MADV_FREE while out", kb);
	touch_pages(m, w, 2 * pages_each, pages_each, 1);
	touch_pages(m, w, 3 * pages_each, pages_each, 1);
	agree("%s: what has holes is filled by its toucher", kb);
	read_all(w, m->p, half * PG);
	read_all(w, m->p + 4 * size, (MANY - 4) * size);
	agree("%s: the rest read back", kb);
	model_end(0);
	agree("%s: nothing is left", kb);
}

static void moved(void)
{
	struct model *m = out(), *to;
	size_t half = pages_each / 2;

	to = model_of(1, area_prot(MANY * size, HPAGE, PROT_READ | PROT_WRITE), MANY * size);
	move_pages_to(to, half, m, half, pages_each, 0, w);
	move_pages_to(to, 3 * pages_each + 1, m, 3 * pages_each, half, 0, w);
	move_pages_to(to, 5 * pages_each, m, 5 * pages_each, pages_each, MREMAP_DONTUNMAP, w);
	agree("%s: parts moved while out", kb);
	touch_pages(to, w, half, 1, 1);
	touch_pages(to, w, 3 * pages_each + 2, 1, 1);
	touch_pages(to, w, 5 * pages_each + 1, 1, 1);
	agree("%s: and one page of each brought back there", kb);
	model_end(0);
	agree("%s: the parts left behind unmapped", kb);
	read_all(w, to->p + half * PG, size);
	model_end(1);
	agree("%s: and the others", kb);
}

static void forked(void)
{
	struct model *m = out();

	in_child {
		agree("%s: a child of what is out", kb);
		read_all(w, m->p + size, PG);
		agree("%s: that reads a page", kb);
		touch_pages(m, w, 2 * pages_each, pages_each, 1);
		agree("%s: and writes to a folio's", kb);
		must(munmap(m->p + 3 * size + PG, PG));
		must(madvise(m->p + 4 * size, size / 2, MADV_DONTNEED));
		agree("%s: and gives parts up", kb);
		in_child {
			touch_pages(m, w, 0, 3 * pages_each, 1);
			agree("%s: a grandchild that writes", kb);
		}
		reclaim(m->p, 2 * size);
		agree("%s: and reclaims what it had read", kb);
	}
	agree("%s: the parent's are all out still", kb);
	touch_pages(m, w, 0, m->pages / 2, 2);
	agree("%s: the parent brings them back", kb);
	in_child {
		reclaim(m->p, MANY * size);
		agree("%s: a child that reclaims what it shares", kb);
		read_all(w, m->p, MANY * size);
		agree("%s: and reads it", kb);
	}
	agree("%s: the parent after that", kb);
	model_end(0);
}

static void from_outside(void)
{
	struct model *m = out();
	char *buffer = area(MANY * size);
	struct iovec ours = {buffer, MANY * size}, theirs = {m->p, MANY * size};
	struct gate *g = gate();
	pid_t pid;

	touch(0, buffer, MANY * size);
	pid = child();
	if (!pid) {
		open_gate(g, 1);
		pass_gate(g, 2);
		agree("%s: brought back by another process", kb);
		_exit(0);
	}
	pass_gate(g, 1);
	is(process_vm_readv(pid, &ours, 1, &theirs, 1, 0), MANY * size,
	   "%s: another process reads it", kb);
	open_gate(g, 2);
	reap(pid);
	must(munmap(g, PG));
	must(munmap(buffer, MANY * size));
	model_end(0);
}

static atomic_bool stop;

static void *reclaimer(void *arg)
{
	struct model *m = arg;

	while (!atomic_load(&stop))
		madvise(m->p, m->pages * PG, MADV_PAGEOUT);
	return NULL;
}

/* Folios that are still in the swap cache, mapped again whole or in part. */
static void to_and_fro(void)
{
	struct model *m = folios();
	pthread_t thread;

	atomic_store(&stop, false);
	if (pthread_create(&thread, NULL, reclaimer, m))
		bail("thread");
	for (int round = 0; round < 30; round++) {
		for (size_t i = round % 3; i < m->pages; i += 1 + round % 7) {
			if (round % 2)
				touch(w, m->p + i * PG, PG);
			else
				read_all(w, m->p + i * PG, PG);
		}
		if (round % 10 == 5)
			in_child
				touch(w, m->p, m->pages * PG);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	agree("%s: after reclaim and touches side by side", kb);
	model_end(0);
	agree("%s: nothing is left", kb);
}

static void off(void)
{
	out();
	is(swapoff_all(), 0, "%s: swapoff works", kb);
	agree("%s: after swapoff", kb);
	model_end(0);
	agree("%s: nothing is left", kb);
}

static void on(const char *device, bool (*ready)(void), const size_t *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* Without --long every second one, and huge pages. */
		if (i % 2 && i + 1 < n && !in_long_form())
			continue;
		size = sizes[i];
		pages_each = size / PG;
		snprintf(kb, sizeof(kb), "%zu KiB, %s", size / KIB, device);
		if (!ready()) {
			skip("%s: swap there is followed (cannot be set up)", kb);
			return;
		}
		use_folios(size);
		there_and_back();
		parts_lost();
		off();
		/* What takes longer is done for few sizes only, but for a long run. */
		if (i % 4 && !in_long_form())
			continue;
		if (!ready())
			bail("swap cannot be set up again");
		moved();
		forked();
		from_outside();
		to_and_fro();
		off();
	}
}

int main(void)
{
	static const size_t few[] = {32 * KIB, 512 * KIB};
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes));

	begin_test();
	if (!n)
		skip_all("this kernel's private memory has no folios of several sizes");
	swapoff_all();
	begin();
	third[0] = a = model_tag("a");
	third[1] = b = model_tag("b");
	third[2] = model_tag("c");
	d = model_tag("d");
	w = model_tag("worker");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	on("zram", swap_zram, sizes, n);
	on("swap file", swap_file, few, COUNT(few));
	/* With zswap enabled the kernel no longer brings folios back whole from zram. */
	if (spew("/sys/module/zswap/parameters/enabled", "1"))
		skip("large folios go through zswap (not in this kernel)");
	else
		on("zswap", swap_file, few, COUNT(few));
	spew("/sys/module/zswap/parameters/enabled", "0");
	folios_end();
	return end_test();
}
