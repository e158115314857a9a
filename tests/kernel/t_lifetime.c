// SPDX-License-Identifier: GPL-2.0
/* What ends at a bad moment: words, execs, task works, and a load that fails. */
/* vm: also=7.3-rt group=plain mem=2G module=linger_ms=200 timeout=600 */
#include <linux/userfaultfd.h>
#include "lib/load.h"

static const struct timespec a_while = {.tv_nsec = 1000000};

/* ---- words registered while the process is being untracked ---- */

static atomic_bool stop;
static atomic_long registered, refused, wrong;

/* Pages pinned in this guest: nobody but mtag keeps any. */
static int64_t pins(void)
{
	spew("/proc/sys/vm/stat_refresh", "1");
	return vmstat("nr_foll_pin_acquired") - vmstat("nr_foll_pin_released");
}

static int register_word(void *word)
{
	struct mtag_ioc_thread arg = {.size = sizeof(arg), .word = (uintptr_t)word};
	int error = mtag_ioctl(MTAG_IOC_THREAD, &arg);

	if (!error)
		atomic_fetch_add(&registered, 1);
	else if (error == -ESRCH)
		atomic_fetch_add(&refused, 1);
	else
		atomic_fetch_add(&wrong, 1);
	return error;
}

static void *registrar(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		char *page = area(2 * PG);

		/* Who is to track the process again needs a processor. */
		if (register_word(page) == -ESRCH)
			nanosleep(&a_while, NULL);
		register_word(page + PG);
		register_word(NULL);
		register_word(page + 8);
		/* The kernel keeps what was the page, not we; and its neighbours go. */
		must(munmap(page - PG, 4 * PG));
	}
	return NULL;
}

/* Untracks and tracks the calling process for a while; how often a pin was left. */
static int untrack_often(int64_t pins_before)
{
	double end = now() + more(1, 8);
	int left = 0, times = 0;

	for (; now() < end || times < 2; times++) {
		sh("mtagctl untrack %d >/dev/null", getpid());
		left += !until(pins() <= pins_before, 10);
		sh("mtagctl track %d >/dev/null", getpid());
	}
	diag("untracked %d times; %ld words taken, %ld refused", times, atomic_load(&registered),
	     atomic_load(&refused));
	return left;
}

static void untracked_meanwhile(void)
{
	int64_t before = pins();
	uint64_t drift = health("drift");

	in_child {
		pthread_t threads[3];
		pid_t relative;

		begin();
		for (size_t i = 0; i < COUNT(threads); i++)
			must0(pthread_create(&threads[i], NULL, registrar, NULL));
		is(untrack_often(before), 0, "no page stays pinned in what is untracked");
		relative = child();
		if (!relative)
			for (;;)
				pause();
		is(untrack_often(before + 1), 0, "nor in what stays known for a relative's sake");
		must(kill(relative, SIGKILL));
		must(waitpid(relative, NULL, 0));
		atomic_store(&stop, true);
		for (size_t i = 0; i < COUNT(threads); i++)
			pthread_join(threads[i], NULL);
		ok(atomic_load(&registered) && atomic_load(&refused),
		   "words were registered while the process was being untracked");
		is(atomic_load(&wrong), 0, "and nothing else was said of them");
		exact("the process is exact");
	}
	ok(until(pins() <= before, 30), "no page of a word stays pinned");
	is(health("drift"), drift, "no drift");
}

/* ---- an exec that fails ---- */

#define EXECS 50

static char *long_args[64];

/* The new program has no stack yet: too little memory may be committed. */
static int exec_uncommitted(void)
{
	execl("/bin/true", "true", NULL);
	return errno;
}

/* The new program has its arguments, of which there are too many. */
static int exec_too_long(void)
{
	execv("/bin/true", long_args);
	return errno;
}

static long failures(int (*run)(void), int error)
{
	long n = 0;

	for (int i = 0; i < EXECS; i++)
		n += run() == error;
	return n;
}

static void failing_execs(void)
{
	uint64_t ended, drift = health("drift"), lost = health("lost");
	uint64_t kbytes = strtoull(slurp("/proc/sys/vm/overcommit_kbytes"), NULL, 10);
	uint64_t ratio = strtoull(slurp("/proc/sys/vm/overcommit_ratio"), NULL, 10);
	char *text = must(mmap(NULL, 126 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0));

	/* Lets earlier processes end, so that they do not count below. */
	ok(until((visit_cpus(), !health("tracked")), 60), "nobody is tracked");
	ended = health("ended");
	memset(text, 'x', 126 * KIB - 1);
	for (size_t i = 0; i < COUNT(long_args) - 1; i++)
		long_args[i] = text;
	in_child {
		long uncommitted;

		begin();
		must0(spew("/proc/sys/vm/overcommit_kbytes", "1"));
		must0(spew("/proc/sys/vm/overcommit_memory", "2"));
		uncommitted = failures(exec_uncommitted, ENOMEM);
		must0(spew("/proc/sys/vm/overcommit_memory", "0"));
		is(uncommitted, EXECS, "%d execs fail before there is a stack", EXECS);
		is(failures(exec_too_long, E2BIG), EXECS, "%d fail for their arguments", EXECS);
		exact("the process that tried is exact");
	}
	if (kbytes)
		spew("/proc/sys/vm/overcommit_kbytes", "%" PRIu64, kbytes);
	else
		spew("/proc/sys/vm/overcommit_ratio", "%" PRIu64, ratio);
	must(munmap(text, 126 * KIB));
	ok(until((visit_cpus(), !health("tracked")), 60),
	   "no program that was begun is tracked any more, nor is the process");
	is(health("ended") - ended, EXECS + 1, "those that had begun have ended, and it has");
	is(health("drift"), drift, "none had drift");
	is(health("lost"), lost, "nothing was lost");
}

/* ---- loading and unloading ---- */

static bool loaded(void)
{
	return !access("/sys/module/mtag", F_OK);
}

/* 0 or the error of rmmod. */
static int unload(void)
{
	return syscall(SYS_delete_module, "mtag", O_NONBLOCK) ? errno : 0;
}

static char *moved;
static atomic_int mover;

static void *remap(void *arg)
{
	(void)arg;
	atomic_store(&mover, gettid());
	moved = must(mremap(moved, PG, 2 * PG, MREMAP_MAYMOVE));
	return NULL;
}

/* A thread that moves @moved waits until somebody has read of it here. */
static int watch_moves(void)
{
	int fd = must(syscall(SYS_userfaultfd, O_CLOEXEC));
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_REMAP};
	struct uffdio_register range = {.range = {(uintptr_t)moved, PG},
					.mode = UFFDIO_REGISTER_MODE_MISSING};

	must(ioctl(fd, UFFDIO_API, &api));
	must(ioctl(fd, UFFDIO_REGISTER, &range));
	return fd;
}

static bool is_in(int thread, long call)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
	return strtol(slurp(path), NULL, 10) == call;
}

static void pending_work(void)
{
	in_child {
		struct uffd_msg message;
		pthread_t thread;
		int fd;

		must0(mtag_init());
		moved = area(PG);
		fd = watch_moves();
		must0(pthread_create(&thread, NULL, remap, NULL));
		ok(until(atomic_load(&mover) && is_in(atomic_load(&mover), SYS_mremap), 30),
		   "a thread stays in a call whose end mtag wants to see");
		ok(until(!unload() || !loaded(), 30), "the module can go meanwhile");
		is(read(fd, &message, sizeof(message)), sizeof(message), "the call goes on");
		pthread_join(thread, NULL);
		is(msync(moved, 2 * PG, MS_ASYNC), 0, "and does what it was to do");
	}
}

/* Processes to be tracked, and one that makes and ends others all the time. */
static pid_t populate(void)
{
	pid_t pid = child(), other;

	if (pid)
		return pid;
	must(setpgid(0, 0));
	for (int i = 0; i < 8; i++) {
		if (!child())
			for (;;)
				pause();
	}
	for (;;) {
		other = child();
		if (!other) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		reap(other);
		nanosleep(&a_while, NULL);
	}
}

#define LOADS more(1, 2)

static void failing_load(void)
{
	pid_t pid = populate();
	int refused_loads = 0, left = 0;

	for (int i = 0; i < LOADS; i++) {
		refused_loads +=
			sh("insmod $MTAG_MODULE track=all max_memory_kb=14 2>/dev/null") != 0;
		left += loaded();
	}
	is(refused_loads, LOADS,
	   "a load that cannot track all for want of memory fails, %d of %d times", refused_loads,
	   LOADS);
	is(left, 0, "and leaves no module");
	is(sh("insmod $MTAG_MODULE linger_ms=200"), 0, "with memory it loads");
	must(kill(-pid, SIGKILL));
	must(waitpid(pid, NULL, 0));
	in_child {
		begin();
		exact("and counts exactly");
	}
	is(health("drift"), 0, "no drift");
	is(health("lost"), 0, "nothing was lost");
}

int main(void)
{
	need_root();
	khugepaged_goes_on();
	failing_execs();
	untracked_meanwhile();
	pending_work();
	failing_load();
	return done();
}
