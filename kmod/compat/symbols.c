// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of this kernel that mtag hooks, and their callers.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include "../hook.h"
#include "compat.h"

#define HOOK(function, ...)	{ function, __VA_ARGS__ },
#define CALLER(function, ...)
struct mtag_hook mtag_hooks[] = {
#include "functions.h"
	{ }
};

#undef HOOK
#undef CALLER

#define HOOK(function, ...)
#define CALLER(function, ...)	{ function, __VA_ARGS__ },
struct mtag_caller_name mtag_callers[] = {
#include "functions.h"
	{ }
};

#undef HOOK
#undef CALLER

/* `modinfo mtag` names them: mtagctl doctor looks whether a kernel has them. */
#define HOOK(function, ...)	function " "
#define CALLER(function, ...)
static const char hook_names[] __used __section(".modinfo") __aligned(1) = "hooks="
#include "functions.h"
;

#undef HOOK
#undef CALLER

#define HOOK(function, ...)
#define CALLER(function, ...)	function " "
static const char caller_names[] __used __section(".modinfo") __aligned(1) = "callers="
#include "functions.h"
;

/*
 * Each task keeps up to 64 faults' worth of changes to itself; the sum is
 * exact once no fault is under way.
 */
long mtag_compat_rss(struct mm_struct *mm, int member)
{
	long pages = atomic_long_read(&mm->rss_stat.count[member]);
	struct task_struct *p, *t;

	rcu_read_lock();
	for_each_process_thread(p, t) {
		if (READ_ONCE(t->mm) == mm)
			pages += READ_ONCE(t->rss_stat.count[member]);
	}
	rcu_read_unlock();
	return pages;
}
