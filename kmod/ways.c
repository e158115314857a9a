// SPDX-License-Identifier: GPL-2.0
/*
 * The ways by which pages come and go, as taken by the process that is driven at load (drive.c):
 * each makes a system call and checks the counters.
 */
#include <linux/binfmts.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/static_call.h>
#include <linux/swap.h>
#include "account.h"
#include "collapse.h"
#include "compat/adapt.h"
#include "count.h"
#include "event.h"
#include "life.h"
#include "mtag.h"
#include "naming.h"
#include "resolve.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "swap.h"
#include "walk.h"
#include "ways.h"

#define PAGES		8UL
#define LEN		(PAGES * PAGE_SIZE)
#define ATTEMPTS	5

/* The way does not exist on this machine, or for this process. */
#define NOT_HERE	MTAG_WAY_MISSING

typedef long syscall_t(const struct pt_regs *regs);

static long no_syscall(const struct pt_regs *regs)
{
	return -EOPNOTSUPP;
}

DEFINE_STATIC_CALL(mtag_sys_munmap, no_syscall);
DEFINE_STATIC_CALL(mtag_sys_mremap, no_syscall);
DEFINE_STATIC_CALL(mtag_sys_brk, no_syscall);
DEFINE_STATIC_CALL(mtag_sys_madvise, no_syscall);
DEFINE_STATIC_CALL(mtag_sys_shmdt, no_syscall);

static int no_execve(const char *name, const char *const *argv, const char *const *envp)
{
	return -EOPNOTSUPP;
}

DEFINE_STATIC_CALL(mtag_kernel_execve, no_execve);

/**
 * mtag_ways_resolve() - find the functions that implement the system calls
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 * Return: 0; -ENOENT, after a message that names the function.
 */
int mtag_ways_resolve(void)
{
	return mtag_resolve_call(mtag_sys_munmap, "__x64_sys_munmap") ?:
	       mtag_resolve_call(mtag_sys_mremap, "__x64_sys_mremap") ?:
	       mtag_resolve_call(mtag_sys_brk, "__x64_sys_brk") ?:
	       mtag_resolve_call(mtag_sys_madvise, "__x64_sys_madvise") ?:
	       mtag_resolve_call(mtag_sys_shmdt, "__x64_sys_shmdt") ?:
	       mtag_resolve_call(mtag_kernel_execve, "kernel_execve");
}

/* The registers of a system call with these arguments. */
#define ARGS(a, b, c, d, e) \
	(&(struct pt_regs){ .di = (a), .si = (b), .dx = (c), .r10 = (d), .r8 = (e) })

static long call_madvise(unsigned long addr, unsigned long len, int advice)
{
	return static_call(mtag_sys_madvise)(ARGS(addr, len, advice, 0, 0));
}

static long call_munmap(unsigned long addr, unsigned long len)
{
	return static_call(mtag_sys_munmap)(ARGS(addr, len, 0, 0, 0));
}

static unsigned long map_pages(unsigned long len)
{
	return vm_mmap(NULL, 0, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
}

static int ways_touch(unsigned long addr, unsigned long len)
{
	return fault_in_writeable((char __user *)addr, len) ? -EFAULT : 0;
}

/* Maps @len bytes and touches each page. Return: the address, or an error. */
static unsigned long map_touched(unsigned long len)
{
	unsigned long addr = map_pages(len);

	if (IS_ERR_VALUE(addr))
		return addr;
	return ways_touch(addr, len) ? -EFAULT : addr;
}

/* Returns the pages of @kind counted in @s, over all tags. Context: any but interrupts. */
s64 mtag_ways_count(struct mtag_space *s, enum mtag_kind kind)
{
	struct mtag_accounts *acc;
	struct mtag_sum sum;
	unsigned int tag, nr_tags;
	s64 pages = 0;

	rcu_read_lock();
	acc = rcu_dereference(s->accounts);
	nr_tags = mtag_accounts_nr(acc);
	for (tag = 0; tag < nr_tags; tag++) {
		mtag_account_fold(acc, tag, &sum);
		pages += sum.nr[kind];
	}
	rcu_read_unlock();
	return pages;
}

static s64 pages(struct mtag_drive *d, enum mtag_kind kind)
{
	return mtag_ways_count(d->s, kind);
}

/* Checks the count of a kind; -EAGAIN if it is wrong. */
static int expect_count(struct mtag_drive *d, enum mtag_kind kind, s64 want)
{
	static const char *const kinds[] = { "anonymous", "file", "shmem", "swapped" };

	d->got = pages(d, kind);
	d->want = want;
	d->kind = kinds[kind];
	return d->got == want ? 0 : -EAGAIN;
}

/* ---- the ways ---- */

static int by_mmap(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_ANON);
	unsigned long addr = map_touched(LEN);

	return IS_ERR_VALUE(addr) ? NOT_HERE : expect_count(d, MTAG_ANON, before + PAGES);
}

static int by_munmap(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_ANON);
	unsigned long addr = map_touched(LEN);

	if (IS_ERR_VALUE(addr) || call_munmap(addr, LEN))
		return NOT_HERE;
	return expect_count(d, MTAG_ANON, before);
}

/* Grows in place, into its own second half, unmapped before. */
static int by_mremap_grow(struct mtag_drive *d)
{
	unsigned long addr = map_pages(2 * LEN);

	if (IS_ERR_VALUE(addr) || call_munmap(addr + LEN, LEN))
		return NOT_HERE;
	return static_call(mtag_sys_mremap)(ARGS(addr, LEN, 2 * LEN, 0, 0)) == addr ? 0 : NOT_HERE;
}

static int by_mremap_move(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_ANON);
	unsigned long addr = map_touched(LEN), to = map_pages(LEN);

	if (IS_ERR_VALUE(addr) || IS_ERR_VALUE(to) ||
	    static_call(mtag_sys_mremap)(ARGS(addr, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED,
					      to)) != to)
		return NOT_HERE;
	return expect_count(d, MTAG_ANON, before + PAGES);
}

static int by_brk(struct mtag_drive *d)
{
	unsigned long end = PAGE_ALIGN(current->mm->brk) + LEN;

	return static_call(mtag_sys_brk)(ARGS(end, 0, 0, 0, 0)) == end ? 0 : NOT_HERE;
}

/* Nothing is attached there: the call fails, but only after the hook. */
static int by_shmdt(struct mtag_drive *d)
{
	static_call(mtag_sys_shmdt)(ARGS(PAGE_SIZE, 0, 0, 0, 0));
	return 0;
}

static int by_madvise_free(struct mtag_drive *d)
{
	unsigned long addr = map_touched(LEN);

	return IS_ERR_VALUE(addr) || call_madvise(addr, LEN, MADV_FREE) ? NOT_HERE : 0;
}

/* Reclaim skips pages that are in use. Return: pages some of which are in swap; or 0. */
static unsigned long page_out(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_SWAP);
	unsigned long addr;
	int i;

	if (!get_nr_swap_pages())
		return 0;
	addr = map_touched(LEN);
	for (i = 0; i < ATTEMPTS && !IS_ERR_VALUE(addr); i++) {
		/* Pages touched just now may still wait in a per-CPU LRU batch. */
		schedule_timeout_uninterruptible(1);
		if (call_madvise(addr, LEN, MADV_PAGEOUT))
			return 0;
		if (pages(d, MTAG_SWAP) > before)
			return addr;
	}
	return 0;
}

static int by_page_out(struct mtag_drive *d)
{
	s64 swap = pages(d, MTAG_SWAP), anon = pages(d, MTAG_ANON);
	unsigned long addr = page_out(d);

	if (!addr)
		return NOT_HERE;
	if (ways_touch(addr, LEN))
		return NOT_HERE;
	return expect_count(d, MTAG_SWAP, swap) ?: expect_count(d, MTAG_ANON, anon + PAGES);
}

static int by_unmap_of_swap(struct mtag_drive *d)
{
	s64 swap = pages(d, MTAG_SWAP), anon = pages(d, MTAG_ANON);
	unsigned long addr = page_out(d);

	if (!addr || call_munmap(addr, LEN))
		return NOT_HERE;
	return expect_count(d, MTAG_SWAP, swap) ?: expect_count(d, MTAG_ANON, anon);
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE

/* Maps room for a huge page. Return: its address, or an error. */
static unsigned long map_huge(int advice)
{
	unsigned long addr = map_pages(2 * HPAGE_PMD_SIZE);

	if (IS_ERR_VALUE(addr))
		return addr;
	addr = ALIGN(addr, HPAGE_PMD_SIZE);
	return call_madvise(addr, HPAGE_PMD_SIZE, advice) ? -EINVAL : addr;
}

static int by_split(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_ANON);
	unsigned long addr = map_huge(MADV_HUGEPAGE);

	/* Touching one byte maps a huge page, unless none is available. */
	if (IS_ERR_VALUE(addr) || ways_touch(addr, 1) ||
	    pages(d, MTAG_ANON) != before + HPAGE_PMD_NR || call_munmap(addr, PAGE_SIZE))
		return NOT_HERE;
	return expect_count(d, MTAG_ANON, before + HPAGE_PMD_NR - 1);
}

static int by_collapse(struct mtag_drive *d)
{
	s64 before = pages(d, MTAG_ANON);
	unsigned long addr = map_huge(MADV_NOHUGEPAGE);

	if (IS_ERR_VALUE(addr) || ways_touch(addr, HPAGE_PMD_SIZE) ||
	    call_madvise(addr, HPAGE_PMD_SIZE, MADV_HUGEPAGE) ||
	    call_madvise(addr, HPAGE_PMD_SIZE, MADV_COLLAPSE))
		return NOT_HERE;
	return expect_count(d, MTAG_ANON, before + HPAGE_PMD_NR);
}

#else

static int by_split(struct mtag_drive *d)
{
	return NOT_HERE;
}

static int by_collapse(struct mtag_drive *d)
{
	return NOT_HERE;
}

#endif

/* Walks the page tables: the pages there are exactly the pages counted. */
static int by_audit(struct mtag_drive *d)
{
	struct mtag_audit audit;
	int ret;

	mmget(current->mm);
	ret = mtag_walk_audit(d->s, current->mm, &audit);
	mmput(current->mm);
	if (ret || !audit.drift)
		return ret;
	pr_err("self-test: %llu pages of drift\n", audit.drift);
	return -ENXIO;
}

static int by_exec(struct mtag_drive *d)
{
	const char *const argv[] = { d->exe, NULL }, *const envp[] = { NULL };
	struct mtag_space *s;

	if (!d->exe || static_call(mtag_kernel_execve)(d->exe, argv, envp))
		return NOT_HERE;
	s = mtag_space_mine();
	if (s) {
		mtag_space_put(s);
		return 0;
	}
	if (mtag_ways_limited(d))
		return NOT_HERE;
	pr_err("self-test: exec: the new program is not tracked\n");
	return -ENXIO;
}

/* ---- limits ---- */

/* How often the module has lost an event, or refused something at a limit. Context: any. */
u64 mtag_ways_losses(void)
{
	return atomic64_read(&mtag_stat.lost) + atomic64_read(&mtag_stat.overflow);
}

/* Has a limit or lack of memory kept the module from tracking anything since @d began? */
bool mtag_ways_limited(const struct mtag_drive *d)
{
	return mtag_ways_losses() != d->losses;
}

/* ---- the ways, in order, and the hooks that must see them ---- */

const struct mtag_way mtag_ways[] = {
	{ "mmap", by_mmap, { mtag_event_mmap, mtag_event_mapped } },
	{ "munmap", by_munmap, { mtag_event_munmap } },
	{ "mremap in place", by_mremap_grow, { mtag_event_mremap, mtag_mremap_grow } },
	{ "mremap to elsewhere", by_mremap_move, { mtag_event_mremap, mtag_mremap_move } },
	{ "brk", by_brk, { mtag_event_brk, mtag_event_brk_grow } },
	{ "shmdt", by_shmdt, { mtag_event_shmdt } },
	{ "MADV_FREE", by_madvise_free, { mtag_swap_lazyfree } },
	{ "paging out and in", by_page_out, { } },
	{ "unmapping swap", by_unmap_of_swap, { } },
	{ "splitting a huge page", by_split, { } },
	{ "collapsing into a huge page", by_collapse, { mtag_collapse_begin } },
	{ "audit", by_audit, { } },
	{ "exec", by_exec, { mtag_life_exec_begin, mtag_naming_rename, mtag_life_thread_end } },
	{ }
};
