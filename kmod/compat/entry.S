/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that hooked functions call directly, where an untracked task must pay next to nothing:
 * no register is saved unless a tracked task may be concerned.
 *
 * At the entry of a function with up to six arguments rax, r10 and r11 are free. The stack holds
 * the address at which the hooked function goes on and, above it, that function's return address.
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

/* Calls C with the hooked function's arguments, and with its return address in \parent. */
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

/* free_swap_and_cache(entry) or its successors (entry, nr): may the current task have a record? */
SYM_FUNC_START(mtag_entry_swap_free)
	ANNOTATE_NOENDBR	/* Reached only by ftrace's direct call. */
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
