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
#include "memory.h"
#include "mtag.h"
#include "owner.h"
#include "stat.h"

struct mtag_section **mtag_sections __read_mostly;
unsigned long mtag_sections_end __read_mostly;
struct mtag_section *mtag_section_none __read_mostly;

/* The index of the first possible section. */
static unsigned long sections_start __read_mostly;

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

/* Makes room for sections below @end. Context: sections_lock. */
static int array_grow(unsigned long end)
{
	unsigned long old_nr = mtag_sections_end - sections_start, nr = end - sections_start, i;
	struct mtag_section **old = old_nr ? mtag_sections + sections_start : NULL, **new;

	lockdep_assert_held(&sections_lock);
	if (nr <= old_nr)
		return 0;
	nr = max(nr, 2 * old_nr);
	new = kvmalloc_array(nr, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (array_keep(old)) {
		kvfree(new);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		new[i] = i < old_nr ? old[i] : mtag_section_none;
	/* Pairs with the address dependency there: the array's contents before the array. */
	smp_store_release(&mtag_sections, new - sections_start);
	/* Pairs with mtag_owner_section_or_none(): the longer array before its end. */
	smp_store_release(&mtag_sections_end, sections_start + nr);
	return 0;
}

static struct mtag_section *section_alloc(void)
{
	struct mtag_section *section = mtag_memory_table(sizeof(*section));

	if (section)
		atomic64_add(PAGE_ALIGN(sizeof(*section)), &mtag_stat.memory);
	return section;
}

/* Context: sections_lock. */
static int section_add(unsigned long index)
{
	struct mtag_section *section;

	lockdep_assert_held(&sections_lock);
	if (mtag_sections[index] != mtag_section_none)
		return 0;
	section = section_alloc();
	if (!section)
		return -ENOMEM;
	/* Pairs with the address dependency of all that read a section: its contents first. */
	smp_store_release(&mtag_sections[index], section);
	return 0;
}

static int sections_add(unsigned long pfn, unsigned long nr_pages)
{
	unsigned long index = sections_start + (pfn >> MTAG_SECTION_SHIFT);
	unsigned long end = sections_start + DIV_ROUND_UP(pfn + nr_pages, MTAG_SECTION_PAGES);
	int ret;

	mutex_lock(&sections_lock);
	ret = array_grow(end);
	for (; !ret && index < end; index++)
		ret = section_add(index);
	mutex_unlock(&sections_lock);
	return ret;
}

/**
 * mtag_owner_next() - go through all sections
 * @index:	0 to begin with; where the next call goes on
 *
 * Return: a section, or NULL when there are no more.
 */
struct mtag_section *mtag_owner_next(unsigned long *index)
{
	/* Pairs with the release in array_grow(). */
	unsigned long end = smp_load_acquire(&mtag_sections_end);
	struct mtag_section *section;

	for (*index = max(*index, sections_start); *index < end; (*index)++) {
		section = READ_ONCE(READ_ONCE(mtag_sections)[*index]);
		if (section == mtag_section_none)
			continue;
		(*index)++;
		return section;
	}
	return NULL;
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

static void section_free(struct mtag_section *section)
{
	if (section)
		atomic64_sub(PAGE_ALIGN(sizeof(*section)), &mtag_stat.memory);
	mtag_memory_table_free(section, sizeof(*section));
}

static void sections_free(void)
{
	struct mtag_section *section;
	struct old_array *old, *next;
	unsigned long index = 0;

	while ((section = mtag_owner_next(&index)))
		section_free(section);
	list_for_each_entry_safe(old, next, &old_arrays, list) {
		list_del(&old->list);
		kvfree(old->sections);
		kfree(old);
	}
	if (mtag_sections_end > sections_start)
		kvfree(mtag_sections + sections_start);
	mtag_sections_end = sections_start;
	section_free(mtag_section_none);
	mtag_section_none = NULL;
}

static int none_init(void)
{
	unsigned long first = mtag_owner_frame(pfn_to_page(0));

	/* Struct pages begin where the page tables have a new page of tables. */
	if (WARN_ON_ONCE(first % MTAG_SECTION_PAGES))
		return -EINVAL;
	sections_start = first >> MTAG_SECTION_SHIFT;
	mtag_sections_end = sections_start;
	mtag_section_none = section_alloc();
	if (!mtag_section_none)
		return -ENOMEM;
	memset16(mtag_section_none->tag, MTAG_MIXED, ARRAY_SIZE(mtag_section_none->tag));
	return 0;
}

/*
 * Makes the sections of a node's memory, but for that of devices: the kernel puts a graphics card's
 * at the end of all possible addresses, and the node reaches from its first frame to that.
 */
static int node_init(int node)
{
	struct zone *zone, *end = NODE_DATA(node)->node_zones + MAX_NR_ZONES;
	int ret = 0;

	for (zone = NODE_DATA(node)->node_zones; !ret && zone < end; zone++)
		if (!zone_is_zone_device(zone))
			ret = sections_add(zone->zone_start_pfn, zone->spanned_pages);
	return ret;
}

/**
 * mtag_owner_init() - make the owner table for all memory that there is, all of it untagged
 *
 * From here on memory that is plugged in gets its sections, too.
 * Context: module load. May sleep.
 * Return: 0; -ENOMEM; -EINVAL if struct pages lie where no section can begin.
 */
int mtag_owner_init(void)
{
	int node, ret;

	ret = none_init();
	if (ret)
		return ret;
	ret = register_memory_notifier(&memory_notifier);
	if (ret)
		goto free_sections;
	for_each_online_node(node) {
		ret = node_init(node);
		if (ret) {
			unregister_memory_notifier(&memory_notifier);
			goto free_sections;
		}
	}
	return 0;
free_sections:
	sections_free();
	return ret;
}

/* Frees the owner table. Context: no hook is installed. May sleep. */
void mtag_owner_exit(void)
{
	unregister_memory_notifier(&memory_notifier);
	sections_free();
}

/* The owner of a frame; untagged if it has no place in the table. Context: see owner.h. */
u16 __noendbr mtag_owner_get(const struct page *page)
{
	struct mtag_section *section = mtag_owner_section(page);

	return section ? READ_ONCE(*mtag_section_tag(section, page)) : MTAG_ID_UNTAGGED;
}

/* Makes @tag the owner of a frame; mtag_owner_change() if it may be part of a huge page. */
void __noendbr mtag_owner_set(const struct page *page, u16 tag)
{
	struct mtag_section *section = mtag_owner_section(page);

	if (section)
		WRITE_ONCE(*mtag_section_tag(section, page), tag);
}

/* Makes @tag the owner of all frames of the huge page at @head. */
void __noendbr mtag_owner_set_huge(const struct page *head, u16 tag)
{
	struct mtag_section *section = mtag_owner_section(head);

	if (!section)
		return;
	/* A huge page never crosses a section. Stores four owners at a time. */
	memset64((u64 *)mtag_section_tag(section, head), tag * 0x0001000100010001ULL,
		 HPAGE_PMD_NR / 4);
	WRITE_ONCE(*mtag_section_huge(section, head), tag);
}

/* Makes @tag the owner of @nr frames of one folio. */
void __noendbr mtag_owner_set_run(const struct page *page, int nr, u16 tag)
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
u16 __noendbr mtag_owner_get_huge(const struct page *head)
{
	struct mtag_section *section = mtag_owner_section(head);

	return section ? READ_ONCE(*mtag_section_huge(section, head)) : MTAG_ID_UNTAGGED;
}

static void set_huge(const struct page *page, u16 tag)
{
	struct mtag_section *section = mtag_owner_section(page);

	if (section)
		WRITE_ONCE(*mtag_section_huge(section, page), tag);
}

/* Notes that the frames of the huge page at @page may differ in their owners. */
void mtag_owner_mark_mixed(const struct page *page)
{
	set_huge(page, MTAG_MIXED);
}

/* Changes the owner of one frame, which may be part of a huge page. */
void mtag_owner_change(const struct page *page, u16 tag)
{
	if (PageCompound((struct page *)page))
		mtag_owner_mark_mixed(page);
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
