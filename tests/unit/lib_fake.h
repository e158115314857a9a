/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module of the tests' own for libmtag: syscall(2), which is how the library
 * calls the kernel, is replaced here. What it asks is counted and can be made
 * to fail.
 */
#ifndef LIB_FAKE_H
#define LIB_FAKE_H

#include <mtag.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <linux/stat.h>

#include "lib_tap.h"
#include "uapi/linux/mtag.h"

#define FAKE_FD	 100000
#define TIDS	 (1 << 22)
#define NR(cmd)	 (0xff & (cmd))
#define CHILDREN 512

static struct {
	int open_error;		   /* fails every open */
	int directory;		   /* the inode number of /dev; 0: there is none */
	int error[256];		   /* fails an ioctl, by its number */
	atomic_int opened, closed; /* descriptors */
	atomic_int calls[256];	   /* ioctls, by number */
	mtag_t default_tag;
	int raise_in_thread; /* a signal that comes in the middle of MTAG_IOC_THREAD */
} fake = {.directory = 1};

static struct {
	mtag_t parent;
	char name[MTAG_NAME_MAX + 1];
} tags[CHILDREN];
static mtag_t last_tag = MTAG_ID_FIRST - 1;
static atomic_flag tags_lock = ATOMIC_FLAG_INIT;

/* Each thread's registered word. */
static uint32_t *_Atomic words[TIDS];

static long (*real_syscall)(long, ...);

static int count(long nr)
{
	return atomic_load(&fake.calls[NR(nr)]);
}

static pid_t my_tid(void)
{
	return (pid_t)real_syscall(SYS_gettid);
}

/* What the kernel would charge this thread's next page to. */
static mtag_t charged(void)
{
	uint32_t *word = atomic_load(&words[my_tid()]);

	return word ? *word : fake.default_tag;
}

static int fake_thread(struct mtag_ioc_thread *arg)
{
	pid_t tid = my_tid();

	if (fake.raise_in_thread) {
		int sig = fake.raise_in_thread;

		fake.raise_in_thread = 0;
		raise(sig);
	}
	arg->tag = charged();
	if (arg->word)
		*(uint32_t *)(uintptr_t)arg->word = arg->tag;
	atomic_store(&words[tid], (uint32_t *)(uintptr_t)arg->word);
	return 0;
}

static int fake_child(struct mtag_ioc_child *arg)
{
	const char *name = (const char *)(uintptr_t)arg->name;
	mtag_t id;

	if (!arg->name_len || memchr(name, '/', arg->name_len))
		return EINVAL;
	if (arg->name_len > MTAG_NAME_MAX)
		return ENAMETOOLONG;
	/* Only for tests without signals that come here. */
	while (atomic_flag_test_and_set(&tags_lock))
		sched_yield();
	for (id = MTAG_ID_FIRST; id <= last_tag; id++)
		if (tags[id].parent == arg->parent && strlen(tags[id].name) == arg->name_len &&
		    !memcmp(tags[id].name, name, arg->name_len))
			break;
	if (id > last_tag) {
		last_tag = id;
		tags[id].parent = arg->parent;
		memcpy(tags[id].name, name, arg->name_len);
	}
	atomic_flag_clear(&tags_lock);
	arg->id = id;
	return 0;
}

static int fake_usage(struct mtag_ioc_usage *arg)
{
	unsigned i;

	if (arg->tag > last_tag)
		return ENOENT;
	for (i = 0; i < MTAG_C_NR; i++)
		arg->counters[i] = 1000 + i;
	return 0;
}

static int fake_path(struct mtag_ioc_path *arg)
{
	size_t need;

	if (arg->tag > last_tag)
		return ENOENT;
	need = strlen(tags[arg->tag].name) + 1;
	if (arg->buf_len < need)
		return ERANGE;
	memcpy((void *)(uintptr_t)arg->buf, tags[arg->tag].name, need);
	return 0;
}

#include "lib_fake_dump.h"

static struct mtag_ioc_range last_range;

static int fake_ioctl(unsigned long cmd, void *arg)
{
	unsigned nr = NR(cmd);

	atomic_fetch_add(&fake.calls[nr], 1);
	if (fake.error[nr])
		return fake.error[nr];
	switch (cmd) {
	case MTAG_IOC_ATTACH:
		return 0;
	case MTAG_IOC_THREAD:
		return fake_thread(arg);
	case MTAG_IOC_CHILD:
		return fake_child(arg);
	case MTAG_IOC_DEFAULT:
		fake.default_tag = ((struct mtag_ioc_default *)arg)->tag;
		return 0;
	case MTAG_IOC_RANGE:
		last_range = *(struct mtag_ioc_range *)arg;
		return 0;
	case MTAG_IOC_USAGE:
		return fake_usage(arg);
	case MTAG_IOC_PATH:
		return fake_path(arg);
	case MTAG_IOC_HEAP:
		((struct mtag_ioc_heap *)arg)->tag = charged();
		return 0;
	}
	return ENOTTY;
}

/* All there is to say of /dev. */
static int fake_statx(struct statx *st)
{
	if (!fake.directory)
		return ENOENT;
	memset(st, 0, sizeof(*st));
	st->stx_ino = (uint64_t)fake.directory;
	return 0;
}

static long result(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

long syscall(long number, ...)
{
	/* The last is on the stack, beyond which the sanitizer lets nobody read. */
	int i, n = number == SYS_statx ? 5 : 6;
	long a[6] = {0};
	va_list args;

	va_start(args, number);
	for (i = 0; i < n; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat && !strcmp((const char *)a[1], MTAG_DEVICE)) {
		if (fake.open_error)
			return result(fake.open_error);
		CHECK((int)a[2] == (O_RDWR | O_CLOEXEC));
		return FAKE_FD + atomic_fetch_add(&fake.opened, 1);
	}
	if (number == SYS_statx && !strcmp((const char *)a[1], "/dev"))
		return result(fake_statx((struct statx *)a[4]));
	if (number == SYS_socket && a[0] == AF_NETLINK) {
		if (dumps.socket_error)
			return result(dumps.socket_error);
		CHECK(a[1] & SOCK_CLOEXEC);
		return FAKE_FD + atomic_fetch_add(&fake.opened, 1);
	}
	if (number == SYS_sendto && a[0] >= FAKE_FD)
		return fake_send((void *)a[1], (size_t)a[2]);
	if (number == SYS_recvfrom && a[0] >= FAKE_FD)
		return dumps.receive_error ? result(dumps.receive_error)
					   : fake_receive((void *)a[1], (size_t)a[2]);
	if (number == SYS_close && a[0] >= FAKE_FD) {
		atomic_fetch_add(&fake.closed, 1);
		return 0;
	}
	if (number == SYS_ioctl && a[0] >= FAKE_FD)
		return result(fake_ioctl((unsigned long)a[1], (void *)a[2]));
	return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((constructor)) static void find_real_syscall(void)
{
	*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
}

static bool nothing_open(void)
{
	return atomic_load(&fake.opened) == atomic_load(&fake.closed);
}

#endif
