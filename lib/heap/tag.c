// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calling thread's current tag and, where stacks are taken, its stack. A thread that libmtag has
 * registered has a word. Of others only the module knows: libmtag is not called here, because that
 * would register a word for the thread, which ends the tags that come by thread names.
 */
#include "tag.h"

#include <errno.h>
#include <stdbool.h>

#include "../internal.h"
#include "self.h"
#include "uapi/linux/mtag.h"

/* A thread without a word has its tag for long: after so many questions only each eighth is asked. */
#define SURE   4
#define QUIET  7

#define SECOND UINT64_C(1000000000)

static bool module_tells = true;

/* Is it time to ask? */
static bool ask_now(struct mtag__self *self)
{
	if (!module_tells)
		return false;
	if (!self->quiet)
		return true;
	self->quiet--;
	return false;
}

/* A word that is not libmtag's may change at any time, and may be freed: it is not looked at. */
static void learn(struct mtag__self *self, const struct mtag_ioc_heap *arg)
{
	self->tag = arg->tag;
	if (arg->address)
		self->asked = 0;
	else if (self->asked < SURE)
		self->asked++;
	self->quiet = self->asked < SURE ? 0 : QUIET;
}

/* 0, or when it is worth asking for stacks again. */
static uint64_t stacks_due;

static bool ask_stacks(uint64_t now)
{
	return module_tells && now >= __atomic_load_n(&stacks_due, __ATOMIC_RELAXED);
}

/* A module that does not know that question may know the other one. */
static void learn_stacks(int err, uint64_t now, uint32_t stack)
{
	uint64_t due = err == -EINVAL ? UINT64_MAX : stack ? 0 : now + SECOND;

	if (__atomic_load_n(&stacks_due, __ATOMIC_RELAXED) != due)
		__atomic_store_n(&stacks_due, due, __ATOMIC_RELAXED);
}

/* One question. Returns 0 or a negative errno. */
static int ask(struct mtag_ioc_heap *arg, uint32_t flags)
{
	bool gone = false;
	int err;

	*arg = (struct mtag_ioc_heap){.size = sizeof(*arg), .flags = flags};
	err = mtag__call_device(MTAG_IOC_HEAP, arg, &gone);
	/* No module, or one that knows no question. Other errors may pass. */
	if (gone || (err == -EINVAL && flags == MTAG_HEAP_ASK))
		module_tells = false;
	return err;
}

uint32_t mtag__tag_ask(uint64_t now, uint32_t *stack)
{
	struct mtag__self *self = &mtag__self;
	struct mtag_ioc_heap arg;
	int err = -EINVAL;
	bool tag;

	if (!self->word)
		self->word = &self->tag;
	tag = self->word == &self->tag && ask_now(self);
	if (stack && ask_stacks(now)) {
		err = ask(&arg, MTAG_HEAP_ASK | MTAG_HEAP_STACK);
		*stack = err ? 0 : arg.stack;
		learn_stacks(err, now, *stack);
	}
	if (tag && err == -EINVAL)
		err = ask(&arg, MTAG_HEAP_ASK);
	if (tag && !err)
		learn(self, &arg);
	return (uint16_t)__atomic_load_n(self->word, __ATOMIC_RELAXED);
}
