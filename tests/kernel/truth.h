/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel says of pages, which mtag's answers are compared with: smaps, status, pagemap; bytes. */
#ifndef MTAG_TESTS_TRUTH_H
#define MTAG_TESTS_TRUTH_H

#include "tap.h"

struct smaps {
	uint64_t size, rss, anon, swap, huge, vmas;
};

/* Sums over the mappings of a process that lie wholly within [start, end). */
UNUSED static struct smaps smaps_of(pid_t pid, const void *start, const void *end)
{
	static const struct {
		const char *name;
		size_t offset;
	} keys[] = {
		{"Size:", offsetof(struct smaps, size)},
		{"Rss:", offsetof(struct smaps, rss)},
		{"Anonymous:", offsetof(struct smaps, anon)},
		{"Swap:", offsetof(struct smaps, swap)},
		{"AnonHugePages:", offsetof(struct smaps, huge)},
		{"ShmemPmdMapped:", offsetof(struct smaps, huge)},
	};
	struct smaps sum = {0};
	bool inside = false;
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	line = slurp(path);
	if (!line)
		bail("read %s", path);
	for (; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		/* sscanf() would look for the end of all the text, line after line. */
		char *dash, *blank;
		uint64_t from = strtoull(line, &dash, 16), to;

		if (dash > line && *dash == '-') {
			to = strtoull(dash + 1, &blank, 16);
			if (*blank != ' ')
				bail("%s: a mapping's line is odd", path);
			inside = from >= (uintptr_t)start && to <= (uintptr_t)end;
			sum.vmas += inside;
			continue;
		}
		for (size_t i = 0; inside && i < COUNT(keys); i++) {
			size_t n = strlen(keys[i].name);

			if (!strncmp(line, keys[i].name, n))
				*(uint64_t *)((char *)&sum + keys[i].offset) +=
					strtoull(line + n, NULL, 10) * KIB;
		}
	}
	return sum;
}

UNUSED static struct smaps smaps(const void *start, size_t len)
{
	return smaps_of(getpid(), start, (const char *)start + len);
}

struct truth {
	uint64_t rss, anon, virt, swap;
};

/*
 * 6.1 keeps up to 64 faults' worth of counts in the task (SPLIT_RSS_COUNTING), swap entries among
 * them, so VmSwap lags. Zapping a present page gives the calling thread's share back.
 */
UNUSED static void flush_rss(void)
{
	static char *page;

	if (!page)
		page = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0));
	*(volatile char *)page = 1;
	must(madvise(page, PG, MADV_DONTNEED));
}

/* Bytes of the calling process that smaps calls resident, though no page is mapped: see t_hwpoison. */
static uint64_t poisoned_bytes;

/*
 * Not by smaps_rollup: that of 6.1 leaves a mapping out each time that it finds somebody waiting for
 * mmap_lock, as khugepaged does.
 */
UNUSED static struct truth truth_of(pid_t pid)
{
	struct truth t = {0};
	struct smaps all;
	char path[64], *text;

	if (pid == getpid())
		flush_rss();
	all = smaps_of(pid, NULL, (void *)UINTPTR_MAX);
	t.rss = all.rss;
	t.anon = all.anon;
	if (pid == getpid()) {
		t.rss -= poisoned_bytes;
		t.anon -= poisoned_bytes;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	t.virt = field(text, "VmSize") * KIB;
	t.swap = field(text, "VmSwap") * KIB;
	return t;
}

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAP	(1ULL << 62)
#define PAGEMAP_PFN	((1ULL << 55) - 1)
#define KPF_ZERO_PAGE	(1ULL << 24)

/* The pagemap words of a range of the calling process. */
UNUSED static uint64_t *pagemap(const void *start, size_t pages, uint64_t *word)
{
	int fd = must(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));

	if (pread(fd, word, pages * 8, (uintptr_t)start / PG * 8) != (ssize_t)pages * 8)
		bail("read pagemap");
	close(fd);
	return word;
}

UNUSED static uint64_t pfn_of(const void *address)
{
	uint64_t word;

	pagemap(address, 1, &word);
	return word & PAGEMAP_PRESENT ? word & PAGEMAP_PFN : 0;
}

UNUSED static uint64_t kpageflags(uint64_t pfn)
{
	uint64_t flags = 0;
	int fd = must(open("/proc/kpageflags", O_RDONLY | O_CLOEXEC));

	if (pread(fd, &flags, 8, pfn * 8) != 8)
		bail("read kpageflags");
	close(fd);
	return flags;
}

/* Bytes of a range that are resident by pagemap, the zero page apart: a truth besides smaps. */
UNUSED static uint64_t present(const void *start, size_t len)
{
	uint64_t word, sum = 0;

	for (size_t at = 0; at < len; at += PG) {
		pagemap((const char *)start + at, 1, &word);
		if ((word & PAGEMAP_PRESENT) && !(kpageflags(word & PAGEMAP_PFN) & KPF_ZERO_PAGE))
			sum += PG;
	}
	return sum;
}

#endif
