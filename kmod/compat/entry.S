/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What hooked functions call directly where whoever is not tracked must pay next to nothing:
 * nothing is saved until it is known that somebody tracked may be concerned.
 *
 * At the entry of a function with up to six arguments rax, r10 and r11 are free. On the stack are
 * the address to go on at in the hooked function and, above it, the one that this returns to.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/frame.h>
#include <asm/percpu.h>
#include "offsets.h"

#ifdef MTAG_TASK_IN_PCPU_HOT
#define CURRENT_TASK	pcpu_hot + MTAG_TASK_IN_PCPU_HOT
#else
#define CURRENT_TASK	current_task
#endif

/* Goes on in C with what the hooked function was given, and in \parent the address that it returns to. */
.macro CALL_C function, parent
	FRAME_BEGIN
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	movq	MTAG_PARENT(%rsp), \parent
	call	\function
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	FRAME_END
	RET
.endm

	.text

/* free_swap_and_cache(entry) and its successors, which take a number too: has the current task a record? */
SYM_FUNC_START(mtag_entry_swap_free)
	ANNOTATE_NOENDBR	/* Nobody jumps here but by ftrace's direct call. */
	movq	PER_CPU_VAR(CURRENT_TASK), %rax
	movabsq	$MTAG_GOLDEN_RATIO, %r11
	imulq	%r11, %rax
	shrq	$(64 - MTAG_RECORD_BITS), %rax
	leaq	mtag_records(%rip), %r11
	cmpq	$0, (%r11,%rax,8)
	jne	1f
	RET
1:
#ifdef MTAG_SWAP_FREE_ONE
	CALL_C	mtag_swap_freed_one, %rsi
#else
	CALL_C	mtag_swap_freed, %rdx
#endif
SYM_FUNC_END(mtag_entry_swap_free)
