// SPDX-License-Identifier: GPL-2.0
/*
 * Page events called directly: entry.S comes here if a process in the mm's bucket is tracked.
 *
 * The argument registers of the hooked function must survive the hook. The compiler is told (see
 * Kbuild) never to write them, nor any callee-saved register; enough others remain. So no function
 * with arguments, and no sanitizer hook, can be called. The exception is the tail call into rest.S,
 * which finds the arguments in place.
 */
#include "direct.h"
#include "compat/compat.h"
#include "compat/rest.h"
#include "hooked.h"
#include "hot.h"
#include "hot_file.h"
#include "space.h"
#include "thread.h"

/**
 * mtag_direct_new_anon() - page_add_new_anon_rmap() or folio_add_new_anon_rmap() is called
 * @a0:		its arguments …
 * @a1:		…
 * @a2:		…
 * @a3:		…
 * @parent_ip:	its caller
 * @node:	first space in the bucket of the mm
 *
 * Context: page-table lock of the mapping.
 */
notrace void __noendbr mtag_direct_new_anon(unsigned long a0, unsigned long a1, unsigned long a2,
					    unsigned long a3, unsigned long parent_ip,
					    struct hlist_node *node)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_from(node, mtag_new_vma(&args)->vm_mm);
	enum mtag_left left;

	if (unlikely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_new(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL)) {
		mtag_rest_new_full();
		return;
	}
	mtag_cpu_release();
	if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rest_new();
}

/*
 * As mtag_direct_new_anon(), for page_remove_rmap() or folio_remove_rmap_ptes(), of pages that are
 * probably anonymous.
 */
notrace void __noendbr mtag_direct_remove(unsigned long a0, unsigned long a1, unsigned long a2,
					  unsigned long a3, unsigned long parent_ip,
					  struct hlist_node *node)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_from(node, mtag_ptes_vma(&args)->vm_mm);
	enum mtag_left left;

	if (unlikely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_gone(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL)) {
		mtag_rest_gone_full();
		return;
	}
	mtag_cpu_release();
	if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rest_gone();
}

/* As mtag_direct_remove(), of pages that are probably those of a file. */
notrace void __noendbr mtag_direct_drop(unsigned long a0, unsigned long a1, unsigned long a2,
					unsigned long a3, unsigned long parent_ip,
					struct hlist_node *node)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_from(node, mtag_ptes_vma(&args)->vm_mm);
	enum mtag_left left;

	if (unlikely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_dropped(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL)) {
		mtag_rest_file_full();
		return;
	}
	mtag_cpu_release();
	if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rest_gone();
}

/* As mtag_direct_new_anon(), for page_add_file_rmap() or folio_add_file_rmap_ptes(). */
notrace void __noendbr mtag_direct_add_file(unsigned long a0, unsigned long a1, unsigned long a2,
					    unsigned long a3, unsigned long parent_ip,
					    struct hlist_node *node)
{
	const struct mtag_args args = { { a0, a1, a2, a3 } };
	struct mtag_space *s = mtag_space_from(node, mtag_ptes_vma(&args)->vm_mm);
	enum mtag_left left;

	if (unlikely(!s))
		return;
	mtag_cpu_hold();
	left = mtag_hot_mapped(s, &args, parent_ip);
	if (unlikely(left == MTAG_LEFT_FULL)) {
		mtag_rest_file_full();
		return;
	}
	mtag_cpu_release();
	if (unlikely(left == MTAG_LEFT_ALL))
		mtag_rest_file();
}
