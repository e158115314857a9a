/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page events, as the hooked functions call them; direct.c. Only entry.S calls these: they leave
 * the registers of arguments alone.
 */
#ifndef MTAG_HOT_DIRECT_H
#define MTAG_HOT_DIRECT_H

#include <linux/types.h>
#include <asm/ibt.h>

void __noendbr mtag_direct_new_anon(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip,
				    struct hlist_node *node);
void __noendbr mtag_direct_remove(unsigned long a0, unsigned long a1, unsigned long a2,
				  unsigned long a3, unsigned long parent_ip,
				  struct hlist_node *node);
void __noendbr mtag_direct_drop(unsigned long a0, unsigned long a1, unsigned long a2,
				unsigned long a3, unsigned long parent_ip, struct hlist_node *node);

void __noendbr mtag_direct_add_file(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long parent_ip,
				    struct hlist_node *node);

#endif /* MTAG_HOT_DIRECT_H */
