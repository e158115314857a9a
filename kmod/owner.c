// SPDX-License-Identifier: GPL-2.0
/*
 * Manages the owner table. The sections of present memory are allocated at module
 * load, those of hotplugged memory by a memory notifier. No section is freed
 * before unload, so hooks read them without a lock.
 */
#include <linux/memory.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mtag.h"
#include "owner.h"
#include "stat.h"

struct mtag_section **mtag_sections __read_mostly;
unsigned long mtag_nr_sections __read_mostly;

/* Protects growth of the table at load and by memory hotplug. Readers take no lock. */
static DEFINE_MUTEX(sections_lock);

/*
 * An array that was replaced by a longer one. It cannot be freed by RCU, as some hooks read it
 * outside of an RCU read-side critical section.
 */
struct old_array {
	struct list_head list;
	struct mtag_section **sections;
};

static LIST_HEAD(old_arrays);	/* sections_lock */

/*
 * Keeps a replaced array until unload. Each array is at least twice as long as the one before, so
 * the old ones are few and short.
 */
static int array_keep(struct mtag_section **sections)
{
	struct old_array *old;

	if (!sections)
		return 0;
	old = kmalloc(sizeof(*old), GFP_KERNEL);
	if (!old)
		return -ENOMEM;
	old->sections = sections;
	list_add(&old->list, &old_arrays);
	return 0;
}

/* Makes room for @nr sections. Context: sections_lock. */
static int array_grow(unsigned long nr)
{
	struct mtag_section **old = mtag_sections, **new;

	if (nr <= mtag_nr_sections)
		return 0;
	nr = max(nr, 2 * mtag_nr_sections);
	new = kvcalloc(nr, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (array_keep(old)) {
		kvfree(new);
		return -ENOMEM;
	}
	if (old)
		memcpy(new, old, mtag_nr_sections * sizeof(*new));
	WRITE_ONCE(mtag_sections, new);
	/* Pairs with mtag_owner_section(): the longer array before its length. */
	smp_store_release(&mtag_nr_sections, nr);
	return 0;
}

/* Context: sections_lock. */
static int section_add(unsigned long nr)
{
	struct mtag_section *section;

	if (mtag_sections[nr])
		return 0;
	section = kvzalloc(sizeof(*section), GFP_KERNEL);
	if (!section)
		return -ENOMEM;
	atomic64_add(sizeof(*section), &mtag_stat.memory);
	WRITE_ONCE(mtag_sections[nr], section);
	return 0;
}

static int sections_add(unsigned long pfn, unsigned long nr_pages)
{
	unsigned long end = DIV_ROUND_UP(pfn + nr_pages, MTAG_SECTION_PAGES), nr;
	int ret;

	mutex_lock(&sections_lock);
	ret = array_grow(end);
	for (nr = pfn >> MTAG_SECTION_SHIFT; !ret && nr < end; nr++)
		ret = section_add(nr);
	mutex_unlock(&sections_lock);
	return ret;
}

/* Refuses to online memory whose owners cannot be recorded: the counts would not be exact. */
static int memory_changed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct memory_notify *change = data;

	if (action != MEM_GOING_ONLINE)
		return NOTIFY_OK;
	return notifier_from_errno(sections_add(change->start_pfn, change->nr_pages));
}

static struct notifier_block memory_notifier = { .notifier_call = memory_changed };

static void sections_free(void)
{
	struct old_array *old, *next;
	unsigned long nr;

	for (nr = 0; nr < mtag_nr_sections; nr++) {
		if (mtag_sections[nr])
			atomic64_sub(sizeof(struct mtag_section), &mtag_stat.memory);
		kvfree(mtag_sections[nr]);
	}
	list_for_each_entry_safe(old, next, &old_arrays, list) {
		list_del(&old->list);
		kvfree(old->sections);
		kfree(old);
	}
	kvfree(mtag_sections);
	mtag_sections = NULL;
	mtag_nr_sections = 0;
}

int mtag_owner_init(void)
{
	int node, ret;

	ret = register_memory_notifier(&memory_notifier);
	if (ret)
		return ret;
	for_each_online_node(node) {
		ret = sections_add(node_start_pfn(node), node_spanned_pages(node));
		if (ret)
			goto undo;
	}
	return 0;
undo:
	unregister_memory_notifier(&memory_notifier);
	sections_free();
	return ret;
}

void mtag_owner_exit(void)
{
	unregister_memory_notifier(&memory_notifier);
	sections_free();
}

u16 mtag_owner_get(const struct page *page)
{
	unsigned long pfn = page_to_pfn(page);
	struct mtag_section *section = mtag_owner_section(pfn);

	return section ? READ_ONCE(*mtag_section_tag(section, pfn)) : MTAG_ID_UNTAGGED;
}

void mtag_owner_set(const struct page *page, u16 tag)
{
	unsigned long pfn = page_to_pfn(page);
	struct mtag_section *section = mtag_owner_section(pfn);

	if (section)
		WRITE_ONCE(*mtag_section_tag(section, pfn), tag);
}

/* Makes @tag the owner of all frames of the huge page at @head. */
void mtag_owner_set_huge(const struct page *head, u16 tag)
{
	unsigned long pfn = page_to_pfn(head);
	struct mtag_section *section = mtag_owner_section(pfn);

	if (!section)
		return;
	/* A huge page never crosses a section. Stores four owners at a time. */
	memset64((u64 *)mtag_section_tag(section, pfn), tag * 0x0001000100010001ULL,
		 HPAGE_PMD_NR / 4);
	WRITE_ONCE(*mtag_section_huge(section, pfn), tag);
}

/* Makes @tag the owner of @nr frames of one folio. */
void mtag_owner_set_run(const struct page *page, int nr, u16 tag)
{
	int i;

	if (nr == HPAGE_PMD_NR) {
		mtag_owner_set_huge(page, tag);
		return;
	}
	for (i = 0; i < nr; i++)
		mtag_owner_set(page + i, tag);
}

/* The owner of all frames of the huge page at @head, or MTAG_MIXED. */
u16 mtag_owner_get_huge(const struct page *head)
{
	unsigned long pfn = page_to_pfn(head);
	struct mtag_section *section = mtag_owner_section(pfn);

	return section ? READ_ONCE(*mtag_section_huge(section, pfn)) : MTAG_ID_UNTAGGED;
}

static void set_huge(const struct page *page, u16 tag)
{
	unsigned long pfn = page_to_pfn(page);
	struct mtag_section *section = mtag_owner_section(pfn);

	if (section)
		WRITE_ONCE(*mtag_section_huge(section, pfn), tag);
}

/* Notes that the frames of the huge page at @page may differ in their owners. */
void mtag_owner_mixed(const struct page *page)
{
	set_huge(page, MTAG_MIXED);
}

/* Changes the owner of one frame, which may be part of a huge page. */
void mtag_owner_change(const struct page *page, u16 tag)
{
	if (PageCompound((struct page *)page))
		mtag_owner_mixed(page);
	mtag_owner_set(page, tag);
}

/* Copies owners along with the contents of frames, which are not mapped. */
void mtag_owner_copy(const struct page *to, const struct page *from, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		mtag_owner_set(to + i, mtag_owner_get(from + i));
	if (nr == HPAGE_PMD_NR)
		set_huge(to, mtag_owner_get_huge(from));
}
