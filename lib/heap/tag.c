// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calling thread's current tag. A thread that libmtag has registered has a word. Of others only
 * the module knows: libmtag is not called here, because that would register a word for the thread,
 * which ends the tags that come by thread names.
 */
#include "tag.h"

#include <stdbool.h>

#include "../internal.h"
#include "self.h"
#include "uapi/linux/mtag.h"

static bool module_tells = true;

uint32_t mtag__tag_ask(void)
{
	struct mtag_ioc_heap arg = {.size = sizeof(arg), .flags = MTAG_HEAP_ASK};
	struct mtag__self *self = &mtag__self;
	bool gone;

	if (!self->word)
		self->word = &self->tag;
	if (self->word == &self->tag && module_tells) {
		/* No module, or one that does not know the question. */
		if (mtag__call_device(MTAG_IOC_HEAP, &arg, &gone))
			module_tells = false;
		else
			self->tag = arg.tag;
	}
	return (uint16_t)__atomic_load_n(self->word, __ATOMIC_RELAXED);
}
