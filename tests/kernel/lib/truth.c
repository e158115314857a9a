// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel says about memory, in bytes: smaps, status and pagemap. mtag's answers are compared with it.
 */
#include "truth.h"
#include "files.h"

/* All that is read of smaps. */
struct sums {
	struct smaps s;
	uint64_t pss, private;
};

/* Sums over the mappings of a process that lie within [start, end). */
static struct sums sums_of(pid_t pid, const void *start, const void *end)
{
	static const struct {
		const char *name;
		size_t offset;
	} keys[] = {
		{"Size:", offsetof(struct sums, s.size)},
		{"Rss:", offsetof(struct sums, s.rss)},
		{"Anonymous:", offsetof(struct sums, s.anon)},
		{"Swap:", offsetof(struct sums, s.swap)},
		{"AnonHugePages:", offsetof(struct sums, s.huge)},
		{"ShmemPmdMapped:", offsetof(struct sums, s.huge)},
		{"Pss:", offsetof(struct sums, pss)},
		{"Private_Clean:", offsetof(struct sums, private)},
		{"Private_Dirty:", offsetof(struct sums, private)},
	};
	struct sums sum = {0};
	bool inside = false;
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	line = slurp(path);
	if (!line)
		bail("read %s", path);
	for (; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		/* sscanf() would scan to the end of the whole text for each line. */
		char *dash, *blank;
		uint64_t from = strtoull(line, &dash, 16), to;

		if (dash > line && *dash == '-') {
			to = strtoull(dash + 1, &blank, 16);
			if (*blank != ' ')
				bail("%s: a mapping's line is odd", path);
			inside = from >= (uintptr_t)start && to <= (uintptr_t)end;
			sum.s.vmas += inside;
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

struct smaps smaps_of(pid_t pid, const void *start, const void *end)
{
	return sums_of(pid, start, end).s;
}

struct smaps smaps(const void *start, size_t len)
{
	return smaps_of(getpid(), start, (const char *)start + len);
}

struct share share_of(pid_t pid, const void *start, size_t len)
{
	struct sums sum = sums_of(pid, start, (const char *)start + len);

	return (struct share){.uss = sum.private, .pss = sum.pss, .vmas = sum.s.vmas};
}

struct share rollup_of(pid_t pid)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	return (struct share){
		.uss = (field(text, "Private_Clean") + field(text, "Private_Dirty")) * KIB,
		.pss = field(text, "Pss") * KIB,
		.vmas = 1,
	};
}

void flush_rss(void)
{
	static char *page;

	if (!page)
		page = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0));
	*(volatile char *)page = 1;
	must(madvise(page, PG, MADV_DONTNEED));
}

uint64_t statm_rss(pid_t pid)
{
	unsigned long pages;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (sscanf(slurp(path), "%*u %lu", &pages) != 1)
		bail("read %s", path);
	return pages * PG;
}

uint64_t poisoned_bytes;

struct truth truth_of(pid_t pid)
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

uint64_t *pagemap(const void *start, size_t pages, uint64_t *word)
{
	int fd = must(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));

	if (pread(fd, word, pages * 8, (uintptr_t)start / PG * 8) != (ssize_t)pages * 8)
		bail("read pagemap");
	close(fd);
	return word;
}

uint64_t pfn_of(const void *address)
{
	uint64_t word;

	pagemap(address, 1, &word);
	return word & PAGEMAP_PRESENT ? word & PAGEMAP_PFN : 0;
}

static uint64_t kpageflags(uint64_t pfn)
{
	static int fd = -1;
	uint64_t flags = 0;

	if (fd < 0)
		fd = must(open("/proc/kpageflags", O_RDONLY | O_CLOEXEC));
	if (pread(fd, &flags, 8, pfn * 8) != 8)
		bail("read kpageflags");
	return flags;
}

uint64_t present(const void *start, size_t len)
{
	uint64_t word[256], sum = 0;

	for (size_t at = 0; at < len; at += sizeof(word) / 8 * PG) {
		size_t n = (len - at + PG - 1) / PG;

		n = n < COUNT(word) ? n : COUNT(word);
		pagemap((const char *)start + at, n, word);
		for (size_t i = 0; i < n; i++)
			if ((word[i] & PAGEMAP_PRESENT) &&
			    !(kpageflags(word[i] & PAGEMAP_PFN) & KPF_ZERO_PAGE))
				sum += PG;
	}
	return sum;
}
