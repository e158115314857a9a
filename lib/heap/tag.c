// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calling thread's current tag. A thread that libmtag has registered has a word. Of others only
 * the module knows: libmtag is not called here, because that would register a word for the thread,
 * which ends the tags that come by thread names.
 */
#include "tag.h"

#include <errno.h>
#include <stdbool.h>

#include "../internal.h"
#include "self.h"
#include "uapi/linux/mtag.h"

/* A thread without a word has its tag for long: after so many questions only each eighth is asked. */
#define SURE  4
#define QUIET 7

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

uint32_t mtag__tag_ask(void)
{
	struct mtag_ioc_heap arg = {.size = sizeof(arg), .flags = MTAG_HEAP_ASK};
	struct mtag__self *self = &mtag__self;
	bool gone = false;

	if (!self->word)
		self->word = &self->tag;
	if (self->word == &self->tag && ask_now(self)) {
		int err = mtag__call_device(MTAG_IOC_HEAP, &arg, &gone);

		/* No module, or one that does not know the question. Other errors may pass. */
		if (gone || err == -EINVAL)
			module_tells = false;
		else if (!err)
			learn(self, &arg);
	}
	return (uint16_t)__atomic_load_n(self->word, __ATOMIC_RELAXED);
}
