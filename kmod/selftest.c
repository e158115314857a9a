// SPDX-License-Identifier: GPL-2.0
/*
 * At load, tracks the loader, has it touch and unmap a known number of pages,
 * and refuses to load if the counters disagree. A fork of the loader then does
 * what the loader had better not do itself (drive.c). Whether every hook is
 * patched in is checked at each installation of the hooks.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include "account.h"
#include "caller.h"
#include "compat/compat.h"
#include "count.h"
#include "drive.h"
#include "mtag.h"
#include "selftest.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "track.h"
#include "walk.h"
#include "ways.h"

#define PAGES		8
#define ATTEMPTS	5

/* Writes or reads a byte of each page. */
static int selftest_touch(unsigned long addr, bool write)
{
	char __user *start = (char __user *)addr;
	size_t missing;

	if (write)
		missing = fault_in_writeable(start, PAGES * PAGE_SIZE);
	else
		missing = fault_in_readable(start, PAGES * PAGE_SIZE);
	return missing ? -EFAULT : 0;
}

/* How many pages of this sort are counted. A file's are shared memory where it is on a tmpfs. */
static s64 counted(struct mtag_space *s, const struct file *file)
{
	return file ? mtag_ways_count(s, MTAG_FILE) + mtag_ways_count(s, MTAG_SHMEM)
		    : mtag_ways_count(s, MTAG_ANON);
}

/* Whether that is RSS differs between kernels. */
static bool is_dax(unsigned long addr)
{
	struct vm_area_struct *vma;
	bool dax;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, addr);
	dax = vma && vma_is_dax(vma);
	mmap_read_unlock(current->mm);
	return dax;
}

/*
 * Maps, touches and unmaps pages. Fills @up with the change of the counter after
 * touching them, and @down with what is left of it after unmapping them. Returns 1 if
 * nobody knows what these should be.
 */
static int touch_and_unmap(struct mtag_space *s, struct file *file, s64 *up, s64 *down)
{
	unsigned long len = PAGES * PAGE_SIZE, addr;
	s64 before = counted(s, file);
	int ret;

	addr = vm_mmap(file, 0, len, PROT_READ | (file ? 0 : PROT_WRITE), MAP_PRIVATE, 0);
	if (IS_ERR_VALUE(addr))
		return addr;
	ret = file && is_dax(addr) ? 1 : selftest_touch(addr, !file);
	*up = counted(s, file) - before;
	vm_munmap(addr, len);
	*down = counted(s, file) - before;
	return ret;
}

/* Retries: reclaim may interfere, but not every time. */
static int expect_counts(struct mtag_space *s, struct file *file, const char *hooks)
{
	s64 up, down;
	int i, ret;

	for (i = 0; i < ATTEMPTS; i++) {
		ret = touch_and_unmap(s, file, &up, &down);
		if (ret > 0) {
			pr_notice("self-test: the loader's file is mapped directly: not tried are %s\n",
				  hooks);
			return 0;
		}
		if (ret)
			return ret;
		/* Fault-around also maps the neighbours of a file's page. */
		if ((file ? up >= PAGES : up == PAGES) && !down)
			return 0;
	}
	pr_err("self-test: %d pages touched, %lld counted, %lld left: see %s\n", PAGES, up, down,
	       hooks);
	return -ENXIO;
}

static int prove_counting(struct mtag_space *s)
{
	struct file *exe = mtag_exe_file(current->mm);
	struct mtag_audit audit;
	int ret;

	ret = expect_counts(s, NULL, "the hooks on new anonymous pages and on removal");
	if (!ret && exe && i_size_read(file_inode(exe)) >= PAGES * PAGE_SIZE)
		ret = expect_counts(s, exe, "the hooks on pages of files and on removal");
	if (exe)
		fput(exe);
	if (!ret) {
		mmget(current->mm);
		ret = mtag_walk_audit(s, current->mm, &audit);
		mmput(current->mm);
	}
	if (!ret && audit.drift) {
		pr_err("self-test: %llu pages of drift\n", audit.drift);
		ret = -ENXIO;
	}
	return ret ?: mtag_drive_run();
}

/*
 * Nobody else is tracked yet, so every caller should be known. Counts stay exact all the same: an
 * unknown caller has its space counted anew.
 */
static void note_unknown_callers(void)
{
	s64 foreign = atomic64_read(&mtag_stat.foreign);

	if (foreign)
		pr_notice("self-test: %lld page events by unknown callers: counting is slower\n",
			  foreign);
}

/* Context: an init function of the module; its loader has an mm. */
int mtag_selftest(void)
{
	struct mtag_space *s;
	int ret;

	ret = mtag_track_start(current->mm);
	if (ret)
		return ret;
	s = mtag_space_mine();
	ret = s ? prove_counting(s) : -ENXIO;
	if (s)
		mtag_space_put(s);
	mtag_track_stop(current->mm);
	/* The totals start after the self-test. */
	atomic64_set(&mtag_stat.ended, 0);
	atomic64_set(&mtag_stat.lost, 0);
	atomic64_set(&mtag_stat.overflow, 0);
	note_unknown_callers();
	if (!ret && (!mtag_fault_ip || !mtag_zap_ip))
		pr_notice("the most common callers were not recognized: counting is slower\n");
	return ret;
}
