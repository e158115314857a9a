// SPDX-License-Identifier: GPL-2.0
/*
 * Counts calls that change the address space for the caller's current tag, and
 * gives it the ranges that they map; by mapping, gives these to tags of their own.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <asm/syscall.h>
#include "account.h"
#include "bymap.h"
#include "caller.h"
#include "compat/compat.h"
#include "event.h"
#include "file.h"
#include "hooked.h"
#include "later.h"
#include "leaf.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "text.h"
#include "thread.h"

/* The tag of a new mapping. */
static u32 mapping_tag(struct mtag_space *s, const struct file *file, vm_flags_t flags)
{
	if (READ_ONCE(s->naming) == MTAG_NAMING_MAP)
		return mtag_bymap_tag(s, file, flags & VM_SHARED);
	return mtag_thread_tag(s);
}

/* mmap_region(file, addr, len, …): mmap_lock is held for writing; the call may fail */
MTAG_HOOK_FUNC(mtag_event_mmap)
{
	struct file *file = (struct file *)mtag_arg0(fregs);
	struct mtag_space *s = mtag_space_current();
	struct vm_area_struct *old;

	if (!s)
		return;
	lockdep_assert_held_write(&current->mm->mmap_lock);
	mtag_migrate_shifted(s, NULL);
	s->mapping.addr = mtag_arg1(fregs);
	s->mapping.len = mtag_arg2(fregs);
	s->mapping.tag = mapping_tag(s, file, mtag_arg3(fregs));
	s->mapping.call = mtag_bymap_sysv(file) ? MTAG_SHMAT : MTAG_MMAP;
	old = find_vma(current->mm, s->mapping.addr);
	/* Old mappings there are unmapped first, by their own tags: see mtag_event_mapped(). */
	s->mapping.over = old && old->vm_start < s->mapping.addr + s->mapping.len;
	if (!s->mapping.over)
		mtag_range_map(s, s->mapping.addr, s->mapping.len, s->mapping.tag);
	mtag_space_put(s);
}

/*
 * Follows where executable memory is. Before 6.1.37 stacks grow with mmap_lock held for
 * reading, even two at once: that is not followed. Context: mmap_lock.
 */
static void follow_text(const struct vm_area_struct *vma)
{
	struct mtag_space *s;

	if (!READ_ONCE(mtag_leaf_kept) || !mtag_is_writer(vma->vm_mm, current))
		return;
	s = mtag_space_lookup(vma->vm_mm);
	if (!s)
		return;
	if (mtag_space_stacks(s))
		mtag_text_mapped(s, vma);
	mtag_space_put(s);
}

/*
 * The tag of the new mapping that replaces older ones. A driver may have inserted its pages
 * already, charged to the tag of the first of those: it stays that one's, and all of it, as a part
 * that is unmapped begins elsewhere.
 */
static u32 tag_over(struct mtag_space *s, const struct vm_area_struct *vma)
{
	unsigned long ignored;

	if (vma->vm_flags & VM_MIXEDMAP)
		return mtag_range_tag(s, s->mapping.addr, &ignored);
	return s->mapping.tag;
}

/* perf_event_mmap(vma): the end of a successful mmap_region(), and of some other functions */
MTAG_HOOK_FUNC(mtag_event_mapped)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)mtag_arg0(fregs);
	enum mtag_caller caller = mtag_caller_of(parent_ip);
	struct mtag_space *s;

	follow_text(vma);
	/* Also called for mappings of the kernel's own, and by mprotect(), which changes no tag. */
	if (caller != MTAG_BY_MMAP) {
		if (caller != MTAG_BY_MPROTECT)
			mtag_bymap_special(vma);
		return;
	}
	s = mtag_space_current();
	if (!s)
		return;
	if (s->mapping.len && vma->vm_mm == current->mm && s->mapping.addr >= vma->vm_start &&
	    s->mapping.addr + s->mapping.len <= vma->vm_end) {
		mtag_calls_count(s, s->mapping.tag, s->mapping.call, s->mapping.len);
		/* A driver may have inserted pages already. */
		if (mtag_file_unplaced(vma))
			mtag_range_map(s, s->mapping.addr, s->mapping.len, s->base_tag);
		else if (s->mapping.over)
			mtag_range_map(s, s->mapping.addr, s->mapping.len, tag_over(s, vma));
	}
	s->mapping.len = 0;
	mtag_space_put(s);
}

static void count_call(enum mtag_call call, u64 bytes)
{
	struct mtag_space *s = mtag_space_current();

	if (!s)
		return;
	mtag_calls_count(s, mtag_thread_tag(s), call, bytes);
	mtag_space_put(s);
}

/* mremap() of the current process has ended. */
static void mremap_ended(void)
{
	struct mtag_space *s = mtag_space_current();

	if (!s)
		return;
	mtag_migrate_shifted(s, current);
	mtag_space_put(s);
}

/**
 * struct counted_call - a system call that is counted when it returns, if it succeeded
 * @later:	work for the return of the call
 * @call:	call to count
 * @bytes:	number of bytes to count
 * @brk:	value that brk() returns on success; 0: any value except an error is success
 */
struct counted_call {
	struct mtag_later later;
	enum mtag_call call;
	u64 bytes;
	unsigned long brk;
};

static void call_returned(struct mtag_later *later, bool runs)
{
	struct counted_call *c = container_of(later, struct counted_call, later);
	struct pt_regs *regs = task_pt_regs(current);

	if (runs && (c->brk ? syscall_get_return_value(current, regs) == c->brk :
			      !syscall_get_error(current, regs)))
		count_call(c->call, c->bytes);
	if (runs && c->call == MTAG_MREMAP)
		mremap_ended();
	kfree(c);
}

/* Count the call when it returns, if it succeeded: it may fail in too many ways to foresee. */
static void count_later(enum mtag_call call, u64 bytes, unsigned long brk)
{
	struct mtag_space *s = mtag_space_current();
	struct counted_call *c = NULL;
	bool locks;

	if (!s)
		return;
	locks = mtag_lock_begin();
	if (locks)
		c = kmalloc(sizeof(*c), GFP_NOWAIT | __GFP_NOWARN);
	if (c) {
		*c = (struct counted_call){ .call = call, .bytes = bytes, .brk = brk };
		if (!mtag_later(current, &c->later, call_returned))
			kfree(c);
	} else {
		mtag_space_add_lost(s, 1);
	}
	if (locks)
		mtag_lock_end();
	mtag_space_put(s);
}

/* 32-bit calls use the low halves of registers; 64-bit programs may leave anything above. */
static void get_arguments(struct pt_regs *regs, unsigned long args[6])
{
	int i;

	syscall_get_arguments(current, regs, args);
	if (!in_ia32_syscall())
		return;
	for (i = 0; i < 6; i++)
		args[i] = (u32)args[i];
}

/* __x64_sys_munmap(regs), __ia32_sys_munmap(regs): address, length */
MTAG_HOOK_FUNC(mtag_event_munmap)
{
	unsigned long args[6];

	get_arguments((struct pt_regs *)mtag_arg0(fregs), args);
	count_later(MTAG_MUNMAP, PAGE_ALIGN(args[1]), 0);
}

/* __x64_sys_mremap(regs), __ia32_sys_mremap(regs): old address, old length, new length */
MTAG_HOOK_FUNC(mtag_event_mremap)
{
	unsigned long args[6];

	get_arguments((struct pt_regs *)mtag_arg0(fregs), args);
	count_later(MTAG_MREMAP, PAGE_ALIGN(args[2]), 0);
}

/**
 * mtag_event_grown() - mremap() is about to let a mapping grow in place
 * @addr:	current end of the mapping
 * @end:	new end of the mapping
 *
 * Nothing is mapped in between. If mremap() fails, the stored range does no harm.
 * Context: mmap_lock held for writing.
 */
void mtag_event_grown(unsigned long addr, unsigned long end)
{
	struct mtag_space *s = mtag_space_current();
	unsigned long ignored;

	if (!s)
		return;
	lockdep_assert_held_write(&current->mm->mmap_lock);
	mtag_range_map(s, addr, end - addr, mtag_range_tag(s, addr - 1, &ignored));
	s->mapping.len = 0;
	mtag_space_put(s);
}

/*
 * By how much mremap() of the current task lets the mapping grow whose @len bytes at @from it
 * moves. The new mapping does not tell, as it may be merged with the one after it.
 */
static unsigned long mremap_growth(unsigned long from, unsigned long len)
{
	unsigned long args[6];

	get_arguments(task_pt_regs(current), args);
	/*
	 * The addresses differ in an exec; of a 64-bit one the processor may ignore the top. The
	 * lengths differ where several mappings are moved.
	 */
	if ((args[0] ^ from) << 7 || PAGE_ALIGN(args[1]) != len || PAGE_ALIGN(args[2]) < len)
		return 0;
	return PAGE_ALIGN(args[2]) - len;
}

/**
 * mtag_event_moved() - mremap(), or exec with its stack, is about to move page tables
 * @new_vma:	mapping that they move to
 * @from:	address, page-aligned
 * @to:		address in @new_vma, page-aligned
 * @len:	bytes
 *
 * Context: mmap_lock held for writing.
 */
void mtag_event_moved(struct vm_area_struct *new_vma, unsigned long from, unsigned long to,
		      unsigned long len)
{
	struct mtag_space *s = mtag_space_lookup(new_vma->vm_mm);
	unsigned long ignored;

	lockdep_assert_held_write(&new_vma->vm_mm->mmap_lock);
	if (!s)
		return;
	mtag_range_move(s, from, to, len);
	if (mtag_space_stacks(s))
		mtag_text_mapped(s, new_vma);
	mtag_migrate_shift(s, from, to, len);
	/* The part that the mapping grows by gets the tag of its old end. */
	mtag_range_map(s, to + len, mremap_growth(from, len),
		       mtag_range_tag(s, from + max(len, 1UL) - 1, &ignored));
	s->mapping.len = 0;
	mtag_space_put(s);
}

/* __x64_sys_brk(regs), __ia32_sys_brk(regs): a query is not counted */
MTAG_HOOK_FUNC(mtag_event_brk)
{
	struct pt_regs *regs = (struct pt_regs *)mtag_arg0(fregs);
	unsigned long args[6], old;

	if (!current->mm)
		return;
	get_arguments(regs, args);
	old = READ_ONCE(current->mm->brk);
	if (args[0] < current->mm->start_brk || args[0] == old)
		return;
	count_later(MTAG_BRK, abs((long)(PAGE_ALIGN(args[0]) - PAGE_ALIGN(old))), args[0]);
}

/* do_brk_flags(mas, vma, addr, len, flags); mmap_lock held for writing */
MTAG_HOOK_FUNC(mtag_event_brk_grow)
{
	struct mtag_space *s = mtag_space_current();
	u32 tag;

	if (!s)
		return;
	lockdep_assert_held_write(&current->mm->mmap_lock);
	tag = READ_ONCE(s->naming) == MTAG_NAMING_MAP ? mtag_bymap_brk(s, mtag_arg2(fregs)) :
							mtag_thread_tag(s);
	mtag_range_map(s, mtag_arg2(fregs), mtag_arg3(fregs), tag);
	s->mapping.len = 0;
	mtag_space_put(s);
}

/* ksys_shmdt(shmaddr) */
MTAG_HOOK_FUNC(mtag_event_shmdt)
{
	struct vm_area_struct *vma;
	u64 bytes = 0;
	bool locks;

	if (!current->mm)
		return;
	locks = mtag_lock_begin();
	if (locks && mmap_read_trylock(current->mm)) {
		vma = find_vma(current->mm, mtag_arg0(fregs));
		if (vma && vma->vm_start == mtag_arg0(fregs) && mtag_bymap_sysv(vma->vm_file))
			bytes = vma->vm_end - vma->vm_start;
		mmap_read_unlock(current->mm);
	}
	if (locks)
		mtag_lock_end();
	count_later(MTAG_SHMDT, bytes, 0);
}
