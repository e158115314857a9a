// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of this kernel that mtag hooks, and their callers.
 */
#include <linux/module.h>
#include "../collapse.h"
#include "../event.h"
#include "../follow.h"
#include "../fork.h"
#include "../ksm.h"
#include "../life.h"
#include "../naming.h"
#include "../rmap.h"
#include "../swap.h"
#include "../table.h"
#include "../uffd.h"
#include "adapt.h"
#include "compat.h"
#include "direct.h"

#if MTAG_KERNEL_6_1
#define MTAG_FUNCTIONS "functions-6.1.h"
#elif MTAG_KERNEL_6_12
#define MTAG_FUNCTIONS "functions-6.12.h"
#elif MTAG_KERNEL_6_16
#define MTAG_FUNCTIONS "functions-6.16.h"
#elif MTAG_KERNEL_6_17
#define MTAG_FUNCTIONS "functions-6.17.h"
#elif MTAG_KERNEL_6_18
#define MTAG_FUNCTIONS "functions-6.18.h"
#elif MTAG_KERNEL_6_19
#define MTAG_FUNCTIONS "functions-6.19.h"
#elif MTAG_KERNEL_7_0
#define MTAG_FUNCTIONS "functions-7.0.h"
#elif MTAG_KERNEL_7_1
#define MTAG_FUNCTIONS "functions-7.1.h"
#elif MTAG_KERNEL_7_2
#define MTAG_FUNCTIONS "functions-7.2.h"
#else
#define MTAG_FUNCTIONS "functions-7.3.h"
#endif

#define HOOK(function, ...)	{ function, __VA_ARGS__ },
#define CALLER(function, ...)
#define PART(function, ...)
#define CALLED(function, ...)
static struct mtag_hook hooks[] = {
#include MTAG_FUNCTIONS
	{ }
};

#undef HOOK
#undef CALLED

#define HOOK(function, ...)
#define CALLED(function, ...)	{ function, __VA_ARGS__ },
static const struct mtag_called called[] = {
#include MTAG_FUNCTIONS
	{ }
};

#undef CALLED
#undef CALLER
#undef PART

#define CALLED(function, ...)
#define CALLER(function, ...)	{ function, __VA_ARGS__, false },
#define PART(function, ...)	{ function, __VA_ARGS__, true },
static const struct mtag_caller_name callers[] = {
#include MTAG_FUNCTIONS
	{ }
};

#undef HOOK
#undef CALLER
#undef PART

/* `modinfo mtag` shows these names: mtagctl doctor checks that a kernel has the functions. */
#define HOOK(function, ...)	function " "
#define CALLER(function, ...)
#define PART(function, ...)
static const char hook_names[] __used __section(".modinfo") __aligned(1) = "hooks="
#include MTAG_FUNCTIONS
;

#undef HOOK
#undef CALLER

#define HOOK(function, ...)
#define CALLER(function, ...)	function " "
static const char caller_names[] __used __section(".modinfo") __aligned(1) = "callers="
#include MTAG_FUNCTIONS
;

/* Context, return: as mtag_table_init(). */
int mtag_symbols_init(void)
{
	return mtag_table_init(hooks, called, callers) ?: mtag_leaving_init();
}

/* Context: no hook is installed. May sleep. */
void mtag_symbols_exit(void)
{
	mtag_leaving_exit();
}
