// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libmtag against a module of our own: syscall(2), which is how the library
 * calls the kernel, is replaced here. What it asks is counted and can be made
 * to fail.
 */
#include <mtag.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "lib_tap.h"
#include "uapi/linux/mtag.h"

/* ---- the module ---- */

#define FAKE_FD	 100000
#define TIDS	 (1 << 22)
#define NR(cmd)	 (0xff & (cmd))
#define CHILDREN 512

static struct {
	int open_error;		   /* fails every open */
	int error[256];		   /* fails an ioctl, by its number */
	atomic_int opened, closed; /* descriptors */
	atomic_int calls[256];	   /* ioctls, by number */
	mtag_t default_tag;
	int raise_in_thread; /* a signal that comes in the middle of MTAG_IOC_THREAD */
} fake;

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
	}
	return ENOTTY;
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
	long a[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat && !strcmp((const char *)a[1], MTAG_DEVICE)) {
		if (fake.open_error)
			return result(fake.open_error);
		CHECK((int)a[2] == (O_RDWR | O_CLOEXEC));
		return FAKE_FD + atomic_fetch_add(&fake.opened, 1);
	}
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

/* ---- attaching ---- */

static void test_attach(void)
{
	CHECK(!mtag_active());
	CHECK(mtag_init() == 0 && mtag_init() == 0);
	CHECK(mtag_active());
	CHECK(count(MTAG_IOC_ATTACH) == 1);
	CHECK(nothing_open());
}

static void test_implicit(void)
{
	mtag_t a = mtag_child(MTAG_UNTAGGED, "a");

	CHECK(a >= MTAG_ID_FIRST && mtag_active());
	CHECK(count(MTAG_IOC_ATTACH) == 1 && nothing_open());
}

static void test_later(void)
{
	fake.open_error = ENXIO;
	CHECK(mtag_init() == -ENOENT);
	CHECK(mtag_child(0, "a") == 0 && errno == ENOENT);
	fake.open_error = EACCES;
	CHECK(mtag_init() == -EACCES);
	fake.open_error = 0;
	/* Nobody asked again. */
	CHECK(mtag_child(0, "a") == 0 && !mtag_active());
	CHECK(mtag_enter(0) == 0);
	CHECK(mtag_init() == 0 && mtag_active());
	CHECK(mtag_child(0, "a") >= MTAG_ID_FIRST);
	mtag_enter(3);
	CHECK(charged() == 3);
}

static void test_refused_attach(void)
{
	fake.error[NR(MTAG_IOC_ATTACH)] = ENOSPC;
	CHECK(mtag_init() == -ENOSPC && !mtag_active());
	CHECK(mtag_enter(1) == 0 && mtag_current() == 1);
	CHECK(nothing_open());
}

/* ---- the current tag ---- */

static void test_word(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(a, "b"), first, second;

	first = mtag_enter(a);
	CHECK(charged() == a && mtag_current() == a);
	second = mtag_enter(b);
	CHECK(charged() == b);
	mtag_leave(second);
	CHECK(charged() == a);
	mtag_leave(first);
	CHECK(charged() == 0);
	CHECK(count(MTAG_IOC_THREAD) == 1 && nothing_open());
}

static void test_default(void)
{
	mtag_t a = mtag_child(0, "a");

	CHECK(mtag_default(a) == 0);
	CHECK(mtag_current() == a);
	CHECK(mtag_enter(0) == a);
	mtag_leave(a);
	CHECK(charged() == a);
}

static void test_errno(void)
{
	mtag_t previous;

	errno = 42;
	previous = mtag_enter(1);
	mtag_current();
	mtag_leave(previous);
	CHECK(errno == 42);
	{
		MTAG_SCOPE("x");
		CHECK(errno == 42);
	}
	{
		MTAG_SCOPE("no/good");
		CHECK(errno == 42);
	}
	CHECK(errno == 42 && mtag_failures() == 1);
}

static void test_no_registration(void)
{
	int i;

	fake.error[NR(MTAG_IOC_THREAD)] = ENOMEM;
	for (i = 0; i < 500; i++) {
		mtag_t previous = mtag_enter(7);

		CHECK(mtag_current() == 7);
		{
			MTAG_SCOPE("below");
			CHECK(mtag_current() == 7);
		}
		mtag_leave(previous);
		CHECK(mtag_current() == 0);
	}
	CHECK(count(MTAG_IOC_THREAD) < 10 && count(MTAG_IOC_CHILD) == 0);
	CHECK(mtag_failures() > 0 && mtag_active());
	fake.error[NR(MTAG_IOC_THREAD)] = 0;
	for (i = 0; i < 2000; i++)
		mtag_leave(mtag_enter(7));
	CHECK(mtag_enter(7) == 0 && charged() == 7);
}

/* ---- tags ---- */

static void test_child_cache(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(0, "b"), ax = mtag_child(a, "x");
	char name[8] = "a";
	int i;

	CHECK(a != b && ax != a && ax != b && mtag_child(b, "x") != ax);
	for (i = 0; i < 100; i++)
		CHECK(mtag_child(0, "a") == a && mtag_child(a, "x") == ax);
	CHECK(mtag_child(0, name) == a);
	name[0] = 'b';
	CHECK(mtag_child(0, name) == b);
	CHECK(count(MTAG_IOC_CHILD) == 4 && nothing_open());
}

static void test_many_tags(void)
{
	mtag_t ids[400];
	char name[16];
	int i;

	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		ids[i] = mtag_child(0, name);
	}
	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		CHECK(mtag_child(0, name) == ids[i]);
	}
	CHECK(last_tag == MTAG_ID_FIRST + 399);
}

static mtag_t in_scope(void)
{
	MTAG_SCOPE("leaf");
	return mtag_current();
}

static void test_scope(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(0, "b"), under_a, under_b, previous;
	int i, calls;

	previous = mtag_enter(a);
	under_a = in_scope();
	CHECK(tags[under_a].parent == a && !strcmp(tags[under_a].name, "leaf"));
	CHECK(mtag_current() == a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 1000; i++)
		CHECK(in_scope() == under_a);
	CHECK(count(MTAG_IOC_CHILD) == calls);
	mtag_enter(b);
	under_b = in_scope();
	CHECK(tags[under_b].parent == b && under_b != under_a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 100; i++) {
		mtag_enter(i & 1 ? a : b);
		CHECK(in_scope() == (i & 1 ? under_a : under_b));
	}
	CHECK(count(MTAG_IOC_CHILD) == calls);
	mtag_leave(previous);
	CHECK(in_scope() != under_a && charged() == 0);
}

static void test_refused(void)
{
	mtag_t a = mtag_child(0, "a"), previous;
	char longest[66] = {0};
	int i, calls;

	memset(longest, 'n', 64);
	errno = 0;
	CHECK(mtag_child(a, "") == a && errno == EINVAL);
	CHECK(mtag_child(a, "x/y") == a && errno == EINVAL);
	CHECK(mtag_child(a, NULL) == a && errno == EINVAL);
	CHECK(mtag_child(a, longest) == a && errno == ENAMETOOLONG);
	longest[63] = 0;
	CHECK(mtag_child(a, longest) != a);
	CHECK(mtag_failures() == 4);
	previous = mtag_enter(a);
	fake.error[NR(MTAG_IOC_CHILD)] = ENOSPC;
	CHECK(in_scope() == a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 100; i++)
		CHECK(in_scope() == a);
	CHECK(count(MTAG_IOC_CHILD) == calls && mtag_failures() == 5);
	mtag_leave(previous);
	/* Out of memory is no answer for good. */
	fake.error[NR(MTAG_IOC_CHILD)] = ENOMEM;
	CHECK(in_scope() == 0);
	fake.error[NR(MTAG_IOC_CHILD)] = 0;
	CHECK(in_scope() != 0 && nothing_open());
}

/* ---- threads, fork, signals ---- */

static sem_t ready, go;
static uint32_t *thread_words[300];

static void *hold_a_word(void *arg)
{
	mtag_enter((mtag_t)(uintptr_t)arg);
	thread_words[(uintptr_t)arg] = atomic_load(&words[my_tid()]);
	sem_post(&ready);
	sem_wait(&go);
	CHECK(charged() == (mtag_t)(uintptr_t)arg);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t threads[300];
	int i;

	for (i = 0; i < n; i++)
		CHECK(!pthread_create(&threads[i], NULL, hold_a_word, (void *)(uintptr_t)i));
	for (i = 0; i < n; i++)
		sem_wait(&ready);
	for (i = 0; i < n; i++)
		sem_post(&go);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void test_threads(void)
{
	uintptr_t pages[900];
	int i, j, round, npages = 0;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (round = 0; round < 3; round++) {
		run_threads(300);
		for (i = 0; i < 300; i++) {
			uintptr_t word = (uintptr_t)thread_words[i];

			CHECK(word && word % 64 == 0);
			for (j = 0; j < i; j++)
				CHECK((uintptr_t)thread_words[j] != word);
			for (j = 0; j < npages && pages[j] != word / 4096; j++)
				;
			if (j == npages)
				pages[npages++] = word / 4096;
		}
	}
	/* Each took its registration back, so that later threads had the same slots. */
	for (i = 0; i < TIDS; i++)
		CHECK(!words[i]);
	CHECK(npages == 5);
	CHECK(count(MTAG_IOC_THREAD) == 2 * 3 * 300 && nothing_open());
}

static void *inherit(void *arg)
{
	/* The kernel knows the creator's tag; here its stand-in is the default. */
	CHECK(mtag_current() == (mtag_t)(uintptr_t)arg);
	return NULL;
}

static void test_inherit(void)
{
	pthread_t thread;
	mtag_t a = mtag_child(0, "a");

	mtag_default(a);
	CHECK(!pthread_create(&thread, NULL, inherit, (void *)(uintptr_t)a));
	pthread_join(thread, NULL);
}

static void *stay(void *arg)
{
	mtag_enter(1);
	sem_post(&ready);
	pause();
	return arg;
}

static void test_fork(void)
{
	pthread_t thread;
	uint32_t *mine;
	pid_t pid;
	int i;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (i = 0; i < 63; i++) {
		CHECK(!pthread_create(&thread, NULL, stay, NULL));
		sem_wait(&ready);
	}
	mtag_enter(5);
	mine = atomic_load(&words[my_tid()]);
	pid = fork();
	if (!pid) {
		/* The kernel registers the child's only thread with the same word. */
		atomic_store(&words[my_tid()], mine);
		CHECK(mtag_current() == 5 && charged() == 5);
		run_threads(63);
		for (i = 0; i < 63; i++) {
			CHECK(thread_words[i] != mine);
			CHECK((uintptr_t)thread_words[i] / 4096 == (uintptr_t)mine / 4096);
		}
		CHECK(mtag_current() == 5 && *mine == 5);
		tap_end();
	}
	CHECK(tap_reap(pid));
	CHECK(charged() == 5);
}

static void test_raw_fork(void)
{
	uint32_t *mine;
	pid_t pid;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	mtag_enter(5);
	mine = atomic_load(&words[my_tid()]);
	pid = (pid_t)real_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		mtag_t previous = mtag_enter(6);

		/* No pthread_atfork() here: the slot must not become another's. */
		if (*mine != 6 || mtag_current() != 6)
			_exit(1);
		mtag_leave(previous);
		_exit(*mine != 5);
	}
	CHECK(tap_reap(pid));
	CHECK(*mine == 5);
}

static atomic_int handled, wrong;

static void on_signal(int sig)
{
	int saved = errno;
	mtag_t before = mtag_current(), previous = mtag_enter(77);

	(void)sig;
	wrong += mtag_current() != 77 || charged() != 77;
	{
		MTAG_SCOPE("handler");
		wrong += mtag_current() == 77;
	}
	mtag_leave(previous);
	wrong += mtag_current() != before;
	wrong += errno != saved;
	handled++;
}

static void test_signal_in_registration(void)
{
	signal(SIGUSR1, on_signal);
	fake.raise_in_thread = SIGUSR1;
	CHECK(mtag_enter(4) == 0);
	CHECK(handled == 1 && !wrong);
	CHECK(mtag_current() == 4 && charged() == 4);
	CHECK(count(MTAG_IOC_THREAD) == 1);
}

static void *come_and_go(void *arg)
{
	mtag_t previous = mtag_enter(9);

	CHECK(mtag_current() == 9 && charged() == 9);
	mtag_leave(previous);
	return arg;
}

static void test_signal_storm(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	pthread_t thread;
	mtag_t id;
	int i;

	/* The tag is there before: the fake's tree has a lock, the kernel's is its own business. */
	id = mtag_child(77, "handler");
	CHECK(id != 77);
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 500; i++) {
		if (!pthread_create(&thread, NULL, come_and_go, NULL))
			pthread_join(thread, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(handled && !wrong);
}

/* ---- the module goes ---- */

static void check_inactive(mtag_t entered)
{
	struct mtag_usage u;
	char buf[64];
	mtag_t previous;

	CHECK(!mtag_active());
	CHECK(mtag_current() == entered);
	previous = mtag_enter(4);
	CHECK(previous == entered && mtag_current() == 4);
	CHECK(mtag_child(4, "new") == 4 && errno == ESRCH);
	CHECK(in_scope() == 4);
	mtag_leave(previous);
	CHECK(mtag_usage(entered, &u) == -ESRCH && u.rss_bytes == 0);
	CHECK(mtag_default(entered) == -ESRCH);
	CHECK(!mtag_path(entered, buf, sizeof(buf)) && errno == ESRCH);
	CHECK(mtag_init() == -ESRCH);
	CHECK(mtag_current() == entered);
}

static void test_module_goes(void)
{
	mtag_t a = mtag_child(0, "a");
	int opened;

	mtag_enter(a);
	fake.open_error = ENOENT;
	CHECK(mtag_child(a, "b") == a && errno == ENOENT);
	check_inactive(a);
	/* Not even when a module comes: its tree has other tags. */
	fake.open_error = 0;
	opened = atomic_load(&fake.opened);
	check_inactive(a);
	CHECK(atomic_load(&fake.opened) == opened && nothing_open());
}

static void test_untracked(void)
{
	mtag_t a = mtag_child(0, "a");

	mtag_enter(a);
	fake.error[NR(MTAG_IOC_DEFAULT)] = ESRCH;
	CHECK(mtag_default(a) == -ESRCH);
	check_inactive(a);
}

static void *enter_late(void *arg)
{
	sem_post(&ready);
	sem_wait(&go);
	CHECK(mtag_enter(3) == 0 && mtag_current() == 3);
	mtag_leave(0);
	return arg;
}

static void test_module_goes_under_threads(void)
{
	pthread_t holder, late;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	CHECK(!pthread_create(&holder, NULL, hold_a_word, (void *)(uintptr_t)2));
	CHECK(!pthread_create(&late, NULL, enter_late, NULL));
	sem_wait(&ready);
	sem_wait(&ready);
	fake.open_error = ENODEV;
	sem_post(&go);
	sem_post(&go);
	pthread_join(holder, NULL);
	pthread_join(late, NULL);
	CHECK(!mtag_active() && nothing_open());
}

static void test_transient(void)
{
	mtag_t a = mtag_child(0, "a");

	fake.open_error = EMFILE;
	CHECK(mtag_child(a, "b") == a && errno == EMFILE);
	CHECK(mtag_active());
	fake.open_error = 0;
	CHECK(mtag_child(a, "b") != a);
}

static void test_not_ours(void)
{
	fake.error[NR(MTAG_IOC_ATTACH)] = ENOTTY;
	CHECK(mtag_init() == -ENOENT && nothing_open());
}

/* ---- reports ---- */

static void test_reports(void)
{
	mtag_t a = mtag_child(0, "a");
	struct mtag_usage u;
	char buf[4];

	CHECK(mtag_usage(a, &u) == 0);
	CHECK(u.anon_bytes == 1000 && u.file_bytes == 1001 && u.shmem_bytes == 1002);
	CHECK(u.rss_bytes == 3003 && u.swap_bytes == 1003 && u.peak_rss_bytes == 1004);
	CHECK(u.virt_bytes == 1005 && u.touched_bytes == 1006 && u.mmaps == 1007);
	CHECK(u.munmaps == 1008 && u.mremaps == 1009 && u.brks == 1010 && u.shmats == 1011);
	CHECK(u.shmdts == 1012 && u.mmap_bytes == 1013 && u.munmap_bytes == 1014);
	CHECK(u.mremap_bytes == 1015 && u.brk_bytes == 1016 && u.shmat_bytes == 1017);
	CHECK(u.shmdt_bytes == 1018 && !u.reserved[0]);
	CHECK(mtag_usage(999, &u) == -ENOENT && !u.anon_bytes && mtag_active());
	CHECK(mtag_path(a, buf, sizeof(buf)) == buf && !strcmp(buf, "a"));
	CHECK(!mtag_path(a, buf, 1) && errno == ERANGE);
	CHECK(!mtag_path(999, buf, sizeof(buf)) && errno == ENOENT);
	CHECK(mtag_range((void *)0x5000, 0x6000, a, MTAG_RANGE_PRESENT) == 0);
	CHECK(last_range.addr == 0x5000 && last_range.len == 0x6000 && last_range.tag == a &&
	      last_range.flags == 1 && last_range.size == sizeof(last_range) && !last_range.pad);
	CHECK(nothing_open());
}

static const struct tap_test tests[] = {
	{"a process attaches once", test_attach},
	{"the first call attaches", test_implicit},
	{"mtag_init tries again until there is a module", test_later},
	{"a refused process goes on without", test_refused_attach},
	{"the kernel sees each enter and leave", test_word},
	{"a thread starts with the default tag", test_default},
	{"errno is left alone", test_errno},
	{"a thread that cannot be registered nests right, and tries again later",
	 test_no_registration},
	{"mtag_child asks the kernel once", test_child_cache},
	{"mtag_child keeps hundreds of tags apart", test_many_tags},
	{"a scope is right under every current tag", test_scope},
	{"a refused tag is its parent, and is counted", test_refused},
	{"threads have words of their own, and give them back", test_threads},
	{"a thread starts with what the kernel says", test_inherit},
	{"a forked child has the slots of threads that it lacks", test_fork},
	{"a child of a bare clone keeps its slot", test_raw_fork},
	{"a signal may come while a thread is registered", test_signal_in_registration},
	{"signals may come at any time", test_signal_storm},
	{"without the module again, calls are no-ops", test_module_goes},
	{"untracked, calls are no-ops", test_untracked},
	{"threads go on when the module goes", test_module_goes_under_threads},
	{"a passing failure does not end it", test_transient},
	{"another device of that name is no module", test_not_ours},
	{"reports are handed through", test_reports},
};
TAP_MAIN(tests)
