/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A consistent read of a process; report.c.
 */
#ifndef MTAG_REPORT_H
#define MTAG_REPORT_H

#include "../include/uapi/linux/mtag.h"
#include "account.h"
#include "state.h"
#include "tree.h"

/**
 * struct mtag_report - a process, read at one time
 * @space:	its space; reference
 * @uid:	effective user of the process; invalid if it is exiting
 * @bytes:	size of this report
 * @nr_tags:	tags of the process
 * @nr_named:	tree->nr_named: tags that were born later were not there, or were others
 * @lost:	counter of the space
 * @overflow:	counter of the space
 * @repairs:	counter of the space
 * @total:	sum of @sums, except the peak, which does not add up
 * @total_virt:	sum of @virt
 * @virt:	virtual size in bytes, by tag; NULL: only the totals have been read
 * @has:	bit set for each tag that has bytes, counts or calls, and for untagged; likewise
 * @sums:	counters of those tags
 */
struct mtag_report {
	struct mtag_space *space;
	kuid_t uid;
	size_t bytes;
	unsigned int nr_tags;
	u64 nr_named;
	u64 lost, overflow, repairs;
	struct mtag_sum total;
	u64 total_virt;
	u64 *virt;
	unsigned long *has;
	struct mtag_sum sums[];
};

/**
 * struct mtag_label - what a tag of a report is called
 * @parent:	id; 0 for a first-level tag
 * @len:	bytes of @name, without the NUL
 * @name:	last component of its path, with zeros up to a multiple of 8 bytes; as long as its
 *		finder is under RCU
 */
struct mtag_label {
	u32 parent;
	unsigned int len;
	const char *name;
};

/**
 * struct mtag_labels - goes through the tags of a report
 * @xas:	of the nodes of its tree
 * @seen:	a tag that the process sees: so it does all below that are its own
 * @called:	tags that have not been gone through have no calls if they are below this one
 */
struct mtag_labels {
	struct xa_state xas;
	u32 seen;
	unsigned long called;
};

/**
 * struct mtag_row - one tag of a report
 * @id:		the tag
 * @parent:	id; 0 for a first-level tag
 * @name:	last component of its path
 * @counters:	by MTAG_C_*, bytes and calls
 */
struct mtag_row {
	u32 id;
	u32 parent;
	char name[MTAG_NAME_MAX + 1];
	u64 counters[MTAG_C_NR];
};

struct mtag_report *mtag_report_get(struct mtag_space *s);
struct mtag_report *mtag_report_totals(struct mtag_space *s);
void mtag_report_put(struct mtag_report *r);
/* Begins to go through the labels of @r. */
static inline void mtag_report_labels_begin(struct mtag_labels *l, const struct mtag_report *r)
{
	l->xas = (struct xa_state)__XA_STATE(&r->space->tree->nodes, 0, 0, 0);
	l->seen = MTAG_ID_UNTAGGED;
	l->called = 0;
}

bool mtag_report_labels_other(struct mtag_labels *l, const struct mtag_report *r, u32 tag,
			      const struct mtag_node *node, bool empty, struct mtag_label *label);

/**
 * mtag_report_labels_find() - what a tag is called
 * @l:		labels of @r; takes a tag at once that is the last one's successor
 * @r:		report
 * @tag:	id below r->nr_tags
 * @empty:	all its counters are 0
 * @label:	filled
 *
 * Inline, as reports have many tags. Context: RCU read side, as long as @label is used.
 * Return: false if there is nothing to show under that id.
 */
static __always_inline bool
mtag_report_labels_find(struct mtag_labels *l, const struct mtag_report *r, u32 tag, bool empty,
			struct mtag_label *label)
{
	const struct mtag_node *node = mtag_tree_step(&l->xas, tag);

	/* Relatives of one user, and tags one beside the other, are the rule. */
	if (unlikely(!node || !uid_eq(node->uid, r->uid) || node->parent != l->seen ||
		     node->born >= r->nr_named)) {
		struct mtag_label other;
		bool shown = mtag_report_labels_other(l, r, tag, node, empty, &other);

		*label = other;
		return shown;
	}
	label->name = node->name;
	label->len = node->len;
	label->parent = node->parent;
	return true;
}

unsigned int mtag_report_labels_count(struct mtag_labels *l, const struct mtag_report *r, u32 tag,
				      u64 *counters);

/**
 * mtag_report_labels_counters() - the bytes and calls of a tag
 * @l:		labels of @r, the tags of which are gone through in ascending order
 * @r:		report
 * @tag:	id below r->nr_tags
 * @counters:	filled except for zeros at the end; room for MTAG_C_NR
 *
 * Inline, as most tags of a large tree have none. Context: as mtag_report_labels_find().
 * Return: how many there are without the zeros at the end.
 */
static __always_inline unsigned int
mtag_report_labels_counters(struct mtag_labels *l, const struct mtag_report *r, u32 tag,
			    u64 *counters)
{
	return test_bit(tag, r->has) ? mtag_report_labels_count(l, r, tag, counters) : 0;
}

bool mtag_report_row(const struct mtag_report *r, u32 tag, struct mtag_row *row);
int mtag_report_one(struct mtag_space *s, u32 tag, u64 *counters);

/* The name and @value of the module's health counter number @i; NULL at the end. */
const char *mtag_report_health(unsigned int i, u64 *value);

#endif /* MTAG_REPORT_H */
