// SPDX-License-Identifier: GPL-2.0
/*
 * Pins the user pages that hold words, the current tags of threads.
 *
 * The page of a word is pinned, so that the kernel reads the word through its own
 * mapping, without a user access. A fork copies pinned pages; the child's copy is
 * pinned in turn. Pinned pages count towards RLIMIT_MEMLOCK.
 */
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include "memory.h"
#include "mtag.h"
#include "pin.h"
#include "record.h"
#include "space.h"
#include "stat.h"
#include "state.h"

/**
 * struct mtag_pin - a pinned page of a space, with words in it
 * @node:	in space->pins, by @page; mtag_record_lock
 * @page:	anonymous, pinned with FOLL_LONGTERM
 * @space:	space in which it counts towards RLIMIT_MEMLOCK; reference, or NULL
 * @refs:	number of threads with a word here; mtag_record_lock
 * @free:	unpins the page, which may sleep, once no hook can read a word in it
 */
struct mtag_pin {
	struct rb_node node;
	struct page *page;
	struct mtag_space *space;
	unsigned int refs;
	struct rcu_work free;
};

static size_t pin_bytes(void)
{
	return sizeof(struct mtag_pin) + PAGE_SIZE;
}

/* Frees a pin that no thread has used, or that no hook can still read. Context: may sleep. */
void mtag_pin_free(struct mtag_pin *pin)
{
	unpin_user_page(pin->page);
	if (pin->space) {
		mtag_space_uncharge_pin(pin->space);
		mtag_space_put(pin->space);
	}
	kfree(pin);
	mtag_memory_uncharge(pin_bytes());
}

static void pin_free_work(struct work_struct *work)
{
	mtag_pin_free(container_of(to_rcu_work(work), struct mtag_pin, free));
}

/*
 * Pins the page of a word. A file page must neither be pinned for long nor be written behind the
 * back of the file. A pin on one page of a huge page would hold all of it.
 */
static int pin_page(unsigned long word, struct page **page)
{
	int ret = pin_user_pages_fast(word & PAGE_MASK, 1, FOLL_WRITE | FOLL_LONGTERM, page);

	if (ret != 1)
		return ret < 0 ? ret : -EFAULT;
	if (PageAnon(*page) && !PageCompound(*page))
		return 0;
	unpin_user_page(*page);
	return -EINVAL;
}

/* Pins the page of a word of the current process. Context: may sleep. */
struct mtag_pin *mtag_pin_make(unsigned long word)
{
	struct mtag_pin *pin;
	int ret = -ENOMEM;

	if (mtag_memory_charge(pin_bytes()))
		return ERR_PTR(ret);
	pin = kzalloc(sizeof(*pin), MTAG_GFP);
	if (!pin)
		goto uncharge;
	INIT_RCU_WORK(&pin->free, pin_free_work);
	ret = pin_page(word, &pin->page);
	if (!ret)
		return pin;
	kfree(pin);
uncharge:
	mtag_memory_uncharge(pin_bytes());
	return ERR_PTR(ret);
}

/**
 * mtag_pin_count() - count a pin towards RLIMIT_MEMLOCK
 * @pin:	not used by any thread yet
 * @s:		space of the current process
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM at the limit; -ESRCH if @s has ended.
 */
int mtag_pin_count(struct mtag_pin *pin, struct mtag_space *s)
{
	int ret = mtag_space_charge_pin(s);

	if (!ret)
		pin->space = mtag_space_get(s);
	return ret;
}

static int pin_find(const void *page, const struct rb_node *node)
{
	const struct page *other = rb_entry(node, struct mtag_pin, node)->page;

	return page < (void *)other ? -1 : page > (void *)other;
}

static bool pin_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct mtag_pin, node)->page <
	       rb_entry(other, struct mtag_pin, node)->page;
}

/*
 * Returns the pin of the page of *@pin for one more thread: the one that @s has already, or *@pin
 * itself, which is used up. NULL if *@pin would be used but has not been counted. Context:
 * mtag_record_lock.
 */
struct mtag_pin *mtag_pin_get(struct mtag_space *s, struct mtag_pin **pin)
{
	struct rb_node *old = rb_find((*pin)->page, &s->pins, pin_find);
	struct mtag_pin *mine = *pin;

	lockdep_assert_held(&mtag_record_lock);
	if (old) {
		mine = rb_entry(old, struct mtag_pin, node);
	} else if (mine->space) {
		rb_add(&mine->node, &s->pins, pin_less);
		*pin = NULL;
	} else {
		return NULL;
	}
	return mtag_pin_share(mine);
}

/* One more thread uses @pin. Context: mtag_record_lock. */
struct mtag_pin *mtag_pin_share(struct mtag_pin *pin)
{
	lockdep_assert_held(&mtag_record_lock);
	pin->refs++;
	return pin;
}

/*
 * One thread less uses @pin. If that was the last one, returns @pin, which the caller passes to
 * mtag_pin_unpin() after it has unlocked. Context: mtag_record_lock.
 */
struct mtag_pin *mtag_pin_put(struct mtag_space *s, struct mtag_pin *pin)
{
	lockdep_assert_held(&mtag_record_lock);
	if (--pin->refs)
		return NULL;
	rb_erase(&pin->node, &s->pins);
	return pin;
}

/* The kernel address of the word at the user address @word. */
u32 *mtag_pin_word(const struct mtag_pin *pin, unsigned long word)
{
	return page_address(pin->page) + offset_in_page(word);
}

/* Unpins later: a hook on another CPU may still be reading a word. Context: any. */
void mtag_pin_unpin(struct mtag_pin *pin)
{
	queue_rcu_work(mtag_wq, &pin->free);
}
