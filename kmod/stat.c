// SPDX-License-Identifier: GPL-2.0
/*
 * The state that all files share: totals, parameters, and the workqueue.
 */
#include <linux/module.h>
#include "mtag.h"
#include "stat.h"

struct mtag_stat mtag_stat;
struct workqueue_struct *mtag_wq;

unsigned int mtag_max_tags = 4096;
module_param_named(max_tags, mtag_max_tags, uint, 0644);
MODULE_PARM_DESC(max_tags, "tags in one tree, at most 65533 (4096)");

unsigned int mtag_max_processes = 32768;
module_param_named(max_processes, mtag_max_processes, uint, 0644);
MODULE_PARM_DESC(max_processes, "tracked processes (32768)");

unsigned int mtag_max_ranges = 65536;
module_param_named(max_ranges, mtag_max_ranges, uint, 0644);
MODULE_PARM_DESC(max_ranges, "address ranges that a process's tags may divide it into (65536)");

unsigned int mtag_max_memory_kb;
module_param_named(max_memory_kb, mtag_max_memory_kb, uint, 0644);
MODULE_PARM_DESC(max_memory_kb, "KiB for what the module keeps, stacks and unwind tables included; 0: a sixteenth of memory (0)");

unsigned int mtag_max_stacks = 65536;
module_param_named(max_stacks, mtag_max_stacks, uint, 0644);
MODULE_PARM_DESC(max_stacks, "different stacks of first touches that are told apart (65536)");

unsigned int mtag_unwind_kb = 65536;
module_param_named(unwind_kb, mtag_unwind_kb, uint, 0644);
MODULE_PARM_DESC(unwind_kb, "KiB for unwind tables; no user except root has more than it leaves to others (65536)");

unsigned int mtag_linger_ms = 2000;
module_param_named(linger_ms, mtag_linger_ms, uint, 0644);
MODULE_PARM_DESC(linger_ms, "how long the hooks stay after the last tracked process (2000)");

bool mtag_count_down;
module_param_named(count_down, mtag_count_down, bool, 0644);
MODULE_PARM_DESC(count_down, "account for every page of an exiting process instead of comparing sums; for tests");

bool mtag_force_kprobes;
module_param_named(force_kprobes, mtag_force_kprobes, bool, 0444);
MODULE_PARM_DESC(force_kprobes, "hook by kprobes even where function tracing works");

bool mtag_direct = true;
module_param_named(direct, mtag_direct, bool, 0444);
MODULE_PARM_DESC(direct, "hot functions call mtag without a trampoline of ftrace's, where they can");

bool mtag_force_ftrace;
module_param_named(force_ftrace, mtag_force_ftrace, bool, 0444);
MODULE_PARM_DESC(force_ftrace, "do not load where function tracing does not work");

bool mtag_track_all;
