// SPDX-License-Identifier: GPL-2.0
/*
 * An eventfd that a space and those that come from it share. It stays until the last of them has
 * ended or has another.
 */
#include <linux/eventfd.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "bell.h"
#include "compat/compat.h"
#include "mtag.h"
#include "state.h"

/**
 * struct mtag_bell - an eventfd
 * @ref:	one for each space that has it
 * @ctx:	the eventfd; reference
 */
struct mtag_bell {
	refcount_t ref;
	struct eventfd_ctx *ctx;
};

/*
 * Protects space->stacks.bell, and taking a reference from it. Whoever rings it holds mmap_lock for
 * writing instead.
 */
static DEFINE_RAW_SPINLOCK(bell_lock);

/**
 * mtag_bell_get() - a bell of an eventfd
 * @fd:		of the current task
 *
 * Context: may sleep.
 * Return: the bell, which the caller must mtag_bell_put() or mtag_bell_set(); -EBADF, -EINVAL,
 * -ENOMEM.
 */
struct mtag_bell *mtag_bell_get(int fd)
{
	struct eventfd_ctx *ctx = eventfd_ctx_fdget(fd);
	struct mtag_bell *bell;

	if (IS_ERR(ctx))
		return ERR_CAST(ctx);
	bell = kmalloc(sizeof(*bell), MTAG_GFP);
	if (!bell) {
		eventfd_ctx_put(ctx);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&bell->ref, 1);
	bell->ctx = ctx;
	return bell;
}

/* NULL is allowed. Context: may sleep. */
void mtag_bell_put(struct mtag_bell *bell)
{
	if (!bell || !refcount_dec_and_test(&bell->ref))
		return;
	eventfd_ctx_put(bell->ctx);
	kfree(bell);
}

/**
 * mtag_bell_set() - whom to tell from here on
 * @s:		space
 * @bell:	takes the caller's reference; NULL: nobody
 *
 * Context: mmap_lock, and build_lock; or nothing else refers to @s. May sleep.
 */
void mtag_bell_set(struct mtag_space *s, struct mtag_bell *bell)
{
	struct mtag_bell *old;

	raw_spin_lock(&bell_lock);
	old = s->stacks.bell;
	s->stacks.bell = bell;
	raw_spin_unlock(&bell_lock);
	mtag_bell_put(old);
}

/**
 * mtag_bell_of() - the bell of a space, for another one to share
 * @s:		may get another bell meanwhile
 *
 * Context: any but interrupts.
 * Return: the bell, as of mtag_bell_get(), or NULL.
 */
struct mtag_bell *mtag_bell_of(struct mtag_space *s)
{
	struct mtag_bell *bell;

	raw_spin_lock(&bell_lock);
	bell = s->stacks.bell;
	if (bell)
		refcount_inc(&bell->ref);
	raw_spin_unlock(&bell_lock);
	return bell;
}

/**
 * mtag_bell_share() - a new space shares the bell of an older one
 * @s:		not published yet
 * @from:	may get another bell meanwhile
 *
 * Context: any but interrupts.
 */
void mtag_bell_share(struct mtag_space *s, struct mtag_space *from)
{
	s->stacks.bell = mtag_bell_of(from);
}

/*
 * Signals the eventfd of @s, if it has one. Context: mmap_lock, as for mtag_bell_set(); may take
 * spinlocks.
 */
void mtag_bell_ring(struct mtag_space *s)
{
	if (s->stacks.bell)
		mtag_eventfd_signal(s->stacks.bell->ctx);
}
