// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calling thread's current tag. If the program uses the shared libmtag, its thread-local pointer
 * tells where the tag is. Otherwise only the module knows: it is not libmtag that is called here,
 * because that would register a word for the thread, and replace one that a static copy of
 * libmtag has registered or end the tags that come by thread names.
 */
#include "tag.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "../internal.h"
#include "module.h"

static MTAG_TLS uint32_t *no_word;

/* So that the first allocations, which come before mtag__tag_find(), find a pointer, too. */
intptr_t mtag__tag_offset;

static bool module_tells = true;

void mtag__tag_find(void)
{
	char *self = __builtin_thread_pointer(), *word = dlsym(RTLD_DEFAULT, "mtag_thread_word");

	mtag__tag_offset = (word ? word : (char *)&no_word) - self;
}

uint32_t mtag__tag_ask(uint32_t last)
{
	struct mtag_ioc_heap arg = {.size = sizeof(arg), .flags = MTAG_HEAP_ASK};
	const uint32_t *word = mtag__tag_offset ? mtag__tag_word() : NULL;
	bool gone;

	if (word)
		return (uint16_t)__atomic_load_n(word, __ATOMIC_RELAXED);
	if (!module_tells)
		return last;
	if (mtag__call_device(MTAG_IOC_HEAP, &arg, &gone)) {
		/* No module, or one that does not know the question. */
		module_tells = false;
		return last;
	}
	return (uint16_t)arg.tag;
}
