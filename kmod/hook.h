/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Installs, removes and verifies the hooks; hook.c.
 */
#ifndef MTAG_HOOK_H
#define MTAG_HOOK_H

#include <linux/ftrace.h>
#include <linux/seq_file.h>
#include <linux/types.h>

int mtag_hook_init(void);
void mtag_hook_exit(void);
int mtag_hook_install(void);
void mtag_hook_remove(void);
bool mtag_hook_installed(void);
unsigned int mtag_hook_epoch(void);
bool mtag_hook_may_miss(void);
bool mtag_hook_missed(void);
const char *mtag_hook_mode(void);
const char *mtag_hook_name(ftrace_func_t func);
u64 mtag_hook_hits(ftrace_func_t func);
int mtag_hook_show(struct seq_file *m);

#endif /* MTAG_HOOK_H */
