/* SPDX-License-Identifier: GPL-2.0 */
/* What calls.c says by a breakpoint: in RAX, with RDI and RSI. */
#ifndef UNIT_UNWIND_CALLS_H
#define UNIT_UNWIND_CALLS_H

enum say {
	SAY_READY = 100, /* all files are mapped */
	SAY_BEGIN,	 /* from here on, look at each instruction */
	SAY_END,	 /* no longer */
	SAY_BACKTRACE, /* the stack is: RSI return addresses at RDI, but for the innermost frame */
	SAY_JIT,       /* there is code at RDI */
	SAY_BARE,      /* it called */
};

#endif
