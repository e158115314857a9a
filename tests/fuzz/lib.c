// SPDX-License-Identifier: GPL-2.0
/*
 * libmtag's calls in any order, with any names and sizes, against a module that answers and refuses as
 * it likes. What a tag is worth is the module's affair; but the library keeps to its buffers, gives
 * back what it opens, leaves errno alone and puts back the tag that was there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "fuzz.h"
#include "uapi/linux/mtag.h"

#define FAKE_FD 1000

static struct input module;
static int opened;
static unsigned int calls;

/* What the kernel would write, and whether it says so. */
static int fake_ioctl(unsigned long command, void *arg)
{
	static const int errors[] = {EINVAL, ENOMEM, ENOSPC, ENAMETOOLONG, ENOENT,
				     EAGAIN, ERANGE, EFAULT, ESRCH,	   ENOTTY};
	unsigned int pick = in_below(&module, 64);
	struct mtag_ioc_child *child = arg;
	struct mtag_ioc_thread *thread = arg;
	struct mtag_ioc_usage *usage = arg;
	struct mtag_ioc_path *path = arg;

	calls++;
	must(*(uint32_t *)arg >= 8);
	if (pick < sizeof(errors) / sizeof(*errors))
		return errors[pick];
	switch (command) {
	case MTAG_IOC_CHILD:
		/* All of the name can be read. */
		must(child->name_len <= MTAG_NAME_MAX + 1);
		for (uint32_t i = 0; i < child->name_len; i++)
			must(((const char *)(uintptr_t)child->name)[i]);
		if (!child->name_len || child->name_len > MTAG_NAME_MAX)
			return EINVAL;
		child->id = (uint32_t)in_number(&module);
		break;
	case MTAG_IOC_THREAD:
		thread->tag = (uint32_t)in_number(&module);
		if (thread->word)
			*(uint32_t *)(uintptr_t)thread->word = thread->tag;
		break;
	case MTAG_IOC_USAGE:
		for (size_t i = 0; i < sizeof(usage->counters) / sizeof(*usage->counters); i++)
			usage->counters[i] = in_number(&module);
		break;
	case MTAG_IOC_PATH:
		memset((void *)(uintptr_t)path->buf, in_rarely(&module) ? 'x' : 0, path->buf_len);
		break;
	}
	return 0;
}

static long fake_syscall(long number, ...)
{
	static const int errors[] = {ENOENT, EACCES, EMFILE, EINTR, ENODEV};
	unsigned int pick;
	va_list args;
	long a[3];

	va_start(args, number);
	for (int i = 0; i < 3; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_openat:
		pick = in_below(&module, 64);
		if (pick >= sizeof(errors) / sizeof(*errors))
			return FAKE_FD + opened++;
		errno = errors[pick];
		return -1;
	case SYS_ioctl:
		errno = fake_ioctl((unsigned long)a[1], (void *)a[2]);
		return errno ? -1 : 0;
	case SYS_close:
		opened--;
		return 0;
	case SYS_getpid:
	case SYS_gettid:
		return 7;
	}
	errno = ESRCH; /* tgkill */
	return -1;
}

/* Nothing is asked for by the environment. */
#include "../../lib/environment.h"
void mtag__environment_attached(void)
{
}

#define syscall fake_syscall
#include "../../lib/dev.c"
#include "../../lib/attach.c"
#include "../../lib/child.c"
#include "../../lib/report.c"
#include "../../lib/thread.c"

/* As in a new process. */
static void forget_all(void)
{
	for (unsigned int i = 0; i < PAGES && pages[i]; i++) {
		munmap(pages[i], SLOTS_PER_PAGE * sizeof(struct slot));
		pages[i] = NULL;
		used[i] = 0;
	}
	memset(entries, 0, sizeof(entries));
	memset(&self, 0, sizeof(self));
	mtag_thread_word = NULL;
	state = UNTRIED;
	failures = 0;
}

/* A name that ends where its memory does. */
static char *name_of(struct input *in)
{
	char name[300];

	if (fuzz_built) {
		in_name(in, name, in_rarely(in) ? sizeof(name) : MTAG_NAME_MAX + 2);
		return strdup(name);
	}
	return strndup((const char *)in->p, in_below(in, (unsigned int)in->left + 1));
}

static mtag_t known[16];

static mtag_t some_tag(struct input *in)
{
	return in_rarely(in) ? (mtag_t)in_number(in) : known[in_below(in, 16)];
}

static void call_child(struct input *in)
{
	mtag_t parent = some_tag(in), id;
	char *name = in_rarely(in) ? NULL : name_of(in);
	uint64_t failed = mtag_failures();
	struct input rest;
	unsigned int before;
	uint8_t agreed[64];

	memset(agreed, 0xff, sizeof(agreed));
	errno = 0;
	id = mtag_child(parent, name);
	must(!errno || id == parent);
	must(errno || mtag_active());
	if (!errno) {
		known[in_below(in, 16)] = id;
		/* It is remembered, unless its place is taken 16 times. */
		before = calls;
		rest = module;
		module = (struct input){agreed, sizeof(agreed)};
		must(mtag_child(parent, name) == id || calls != before);
		module = rest;
	}
	must(mtag_failures() >= failed);
	free(name);
}

static void call_path(struct input *in)
{
	size_t len = in_rarely(in) ? in_below(in, 8192) : in_below(in, 64);
	mtag_t tag = some_tag(in);
	char *buf = malloc(len ? len : 1);
	const char *path;

	errno = 0;
	path = mtag_path(tag, buf, len);
	must(path ? path == buf : errno);
	must(tag || (len ? path && !*path : errno == ERANGE));
	free(buf);
}

static void call_usage(struct input *in)
{
	static const struct mtag_usage nothing;
	struct mtag_usage usage;
	int err;

	memset(&usage, 0xff, sizeof(usage));
	err = mtag_usage(some_tag(in), &usage);
	must(err <= 0);
	must(!err || !memcmp(&usage, &nothing, sizeof(usage)));
	must(usage.rss_bytes == usage.anon_bytes + usage.file_bytes + usage.shmem_bytes);
}

/* A scope of a scope; a registered thread's tag is then what it was. */
static void scopes(struct input *in, unsigned int depth)
{
	struct mtag_site site = {MTAG_SITE_EMPTY_};
	bool registered = mtag_thread_word;
	mtag_t before = registered ? *mtag_thread_word : 0, tag = some_tag(in);
	char *name = name_of(in);
	struct mtag_frame frame;
	mtag_t previous;

	errno = E2BIG;
	frame = mtag_scope_begin(&site, name);
	must(errno == E2BIG && (!registered || frame.previous == before));
	if (depth < 8 && in_u8(in) & 1)
		scopes(in, depth + 1);
	mtag_scope_end(&frame);
	must(!registered || *mtag_thread_word == before);
	previous = mtag_enter(tag);
	must(!registered || (previous == before && mtag_current() == tag));
	mtag_leave(previous);
	must(errno == E2BIG && (!registered || mtag_current() == before));
	free(name);
}

static void make_call(struct input *in)
{
	unsigned int what = in_below(in, 8);

	switch (what) {
	case 0:
		must(mtag_init() <= 0);
		break;
	case 1:
	case 2:
		call_child(in);
		break;
	case 3:
		call_path(in);
		break;
	case 4:
		call_usage(in);
		break;
	case 5:
		must(mtag_default(some_tag(in)) <= 0);
		must(mtag_range((void *)in_number(in), in_number(in), some_tag(in), in_u8(in)) <=
		     0);
		break;
	default:
		scopes(in, 0);
	}
	must(!opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size / 2};

	module = (struct input){data + size / 2, size - size / 2};
	memset(known, 0, sizeof(known));
	while (in.left)
		make_call(&in);
	if (self.slot)
		on_thread_exit(self.slot);
	forget_all();
	return 0;
}

/* No bytes are better than others. */
static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	size_t len = in_below(in, size < 1024 ? (unsigned int)size : 1024);

	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)in_u8(in);
	return len;
}

FUZZ_BEGIN(make, (void)0)
