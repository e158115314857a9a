// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calling thread's current tag. If the program uses the shared libmtag, its thread-local pointer
 * tells where the tag is. Otherwise only the module knows: it is not libmtag that is called here,
 * because that would register a word for the thread, and replace one that a static copy of
 * libmtag has registered or end the tags that come by thread names.
 */
#include "tag.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../internal.h"
#include "module.h"

static MTAG_TLS uint32_t *no_word;

/* So that the first allocations, which come before mtag__tag_find(), find a pointer, too. */
intptr_t mtag__tag_offset;

__thread const uint32_t *mtag__tag_told __attribute__((tls_model("initial-exec")));

static bool module_tells = true;

void mtag__tag_find(void)
{
	char *self = __builtin_thread_pointer(), *word = dlsym(RTLD_DEFAULT, "mtag_thread_word");

	mtag__tag_offset = (word ? word : (char *)&no_word) - self;
}

/*
 * Is the word at @address one of libmtag's? Beside these stands which thread they are of, see
 * lib/thread.c, and they stay where they are as long as the process lives; others may be freed.
 */
static bool is_libmtags(uint64_t address)
{
	const uint64_t me = (uint64_t)syscall(SYS_getpid) << 22 | (uint64_t)syscall(SYS_gettid);
	uint64_t owner = 0;
	struct iovec to = {&owner, sizeof(owner)};
	struct iovec from = {(void *)(uintptr_t)(address + 8), sizeof(owner)};

	if (!address || address % 64)
		return false;
	return process_vm_readv((pid_t)(me >> 22), &to, 1, &from, 1, 0) == sizeof(owner) &&
	       owner >> 20 == me;
}

uint32_t mtag__tag_ask(uint32_t last)
{
	struct mtag_ioc_heap arg = {.size = sizeof(arg), .flags = MTAG_HEAP_ASK};
	int saved = errno;
	bool gone;

	if (mtag__tag_word() || mtag__tag_told || !module_tells)
		return mtag__tag_now(last);
	if (mtag__call_device(MTAG_IOC_HEAP, &arg, &gone)) {
		/* No module, or one that does not know the question. */
		module_tells = false;
		return last;
	}
	if (is_libmtags(arg.address))
		mtag__tag_told = (const uint32_t *)(uintptr_t)arg.address;
	errno = saved;
	return (uint16_t)arg.tag;
}
