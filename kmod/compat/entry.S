/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that hooked functions call directly. An untracked process must pay next to nothing: no
 * register is saved unless a tracked task or mm may be concerned.
 *
 * At the entry of a function with up to four arguments rax and r8 to r11 are free; a fifth is in
 * r8. The stack holds the address at which the hooked function goes on and, above it, that
 * function's return address.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/percpu.h>
#include "call.inc"
#include "offsets.h"

#ifdef MTAG_TASK_IN_PCPU_HOT
#define CURRENT_TASK	pcpu_hot + MTAG_TASK_IN_PCPU_HOT
#else
#define CURRENT_TASK	current_task
#endif

#ifdef MTAG_RMAP_OF_FOLIOS
#define PTES_VMA	%rcx
#else
#define PTES_VMA	%rsi
#endif

/* The bucket of the mm of \vma, in rax. The hash is that of mtag_space_bucket(). */
.macro BUCKET vma
	imull	$MTAG_GOLDEN_RATIO_32, MTAG_VMA_MM(\vma), %eax
	shrl	$(32 - MTAG_HASH_BITS), %eax
.endm

/*
 * An rmap function with four arguments at most is called for \vma: goes on after this, with its
 * caller in r8 and the first space of the bucket in r9, if the mm may be tracked.
 */
.macro UNLESS_UNTRACKED vma
	ANNOTATE_NOENDBR	/* Reached only by ftrace's direct call. */
	BUCKET	\vma
	movq	mtag_space_hash(,%rax,8), %r9
	testq	%r9, %r9
	jne	1f
	RET
1:	movq	8(%rsp), %r8
.endm

	.text

SYM_START(mtag_entry_new_anon, SYM_L_GLOBAL, SYM_A_ALIGN)
	UNLESS_UNTRACKED %rsi
	jmp	mtag_direct_new_anon
SYM_FUNC_END(mtag_entry_new_anon)

/* The first argument is a page or a folio. What a tail page says here is no more than a guess. */
SYM_START(mtag_entry_remove, SYM_L_GLOBAL, SYM_A_ALIGN)
	UNLESS_UNTRACKED PTES_VMA
	testb	$MTAG_MAPPING_ANON, MTAG_PAGE_MAPPING(%rdi)
	jne	mtag_direct_remove
	jmp	mtag_direct_drop
SYM_FUNC_END(mtag_entry_remove)

SYM_START(mtag_entry_add_file, SYM_L_GLOBAL, SYM_A_ALIGN)
	UNLESS_UNTRACKED PTES_VMA
	jmp	mtag_direct_add_file
SYM_FUNC_END(mtag_entry_add_file)

/* Goes on at 1 if the current task may have a record. Writes rax and r11. */
.macro UNLESS_UNRECORDED
	movq	PER_CPU_VAR(CURRENT_TASK), %rax
	movabsq	$MTAG_GOLDEN_RATIO_64, %r11
	imulq	%r11, %rax
	shrq	$(64 - MTAG_RECORD_BITS), %rax
	cmpq	$0, mtag_records(,%rax,8)
	jne	1f
	RET
.endm

/* free_swap_and_cache(entry) or its successors (entry, nr) */
SYM_START(mtag_entry_swap_free, SYM_L_GLOBAL, SYM_A_ALIGN)
	ANNOTATE_NOENDBR	/* As above. */
	UNLESS_UNRECORDED
1:
#ifdef MTAG_SWAP_FREE_ONE
	movq	8(%rsp), %rsi
	CALL_C	mtag_swap_freed_one
#else
	movq	8(%rsp), %rdx
	CALL_C	mtag_swap_freed
#endif
SYM_FUNC_END(mtag_entry_swap_free)

/* unmap_page_range(tlb, vma, addr, end, details) or its successor */
SYM_START(mtag_entry_zap, SYM_L_GLOBAL, SYM_A_ALIGN)
	ANNOTATE_NOENDBR	/* As above. */
	BUCKET	%rsi
	cmpq	$0, mtag_space_hash(,%rax,8)
	jne	1f
	UNLESS_UNRECORDED
1:	CALL_C	mtag_swap_zap_args %r8
SYM_FUNC_END(mtag_entry_zap)
