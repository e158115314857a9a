/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way from direct.c, which leaves the registers of arguments alone, to functions of C, which do
 * not. The stack is as at the entry of the hooked function, except for the address at which that
 * goes on.
 */
#include <linux/linkage.h>
#include "call.inc"

	.text

SYM_START(mtag_rest_new, SYM_L_GLOBAL, SYM_A_ALIGN)
	movq	8(%rsp), %r8
	cmpq	%r8, mtag_copy_ip(%rip)
	je	1f
	CALL_C	mtag_rmap_new_other
1:	CALL_C	mtag_rmap_copy
SYM_FUNC_END(mtag_rest_new)

SYM_START(mtag_rest_new_full, SYM_L_GLOBAL, SYM_A_ALIGN)
	CALL_C	mtag_rmap_new_full
SYM_FUNC_END(mtag_rest_new_full)

SYM_START(mtag_rest_gone, SYM_L_GLOBAL, SYM_A_ALIGN)
	movq	8(%rsp), %r8
	cmpq	%r8, mtag_copied_ip(%rip)
	je	1f
	CALL_C	mtag_rmap_gone_other
1:	CALL_C	mtag_rmap_copied
SYM_FUNC_END(mtag_rest_gone)

SYM_START(mtag_rest_file, SYM_L_GLOBAL, SYM_A_ALIGN)
	movq	8(%rsp), %r8
	CALL_C	mtag_rmap_file_other
SYM_FUNC_END(mtag_rest_file)

SYM_START(mtag_rest_file_full, SYM_L_GLOBAL, SYM_A_ALIGN)
	CALL_C	mtag_rmap_file_full
SYM_FUNC_END(mtag_rest_file_full)

SYM_START(mtag_rest_gone_full, SYM_L_GLOBAL, SYM_A_ALIGN)
	CALL_C	mtag_rmap_gone_full
SYM_FUNC_END(mtag_rest_gone_full)
