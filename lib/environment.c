// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Snapshots without code, as the environment asks for them: every so often, at a signal, at exit.
 *
 * A helper thread does it. It is created when the library is loaded, where a thread may be created,
 * and waits until the program attaches, which may happen in a signal handler: all that wakes it is
 * an atomic operation and a futex. All its memory is one mapping, which belongs to untagged.
 * Without these variables there is no thread, no handler and no file.
 */
#include "internal.h"

#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#include "dot.h"
#include "file.h"
#include "json.h"

#define STACK_BYTES (1 << 20) /* touched as far as needed */
#define NUMBERS	    1000000   /* of snapshots */
#define SECONDS	    (1L << 30)

enum { JSON, DOT, PREFIX, NAMES };

static const char *const variables[NAMES] = {
	"MTAG_STATS_OUTPUT_JSON",
	"MTAG_STATS_OUTPUT_GRAPHVIZ_DOT",
	"MTAG_SNAPSHOT_OUTPUT_PREFIX_FILE_PATH",
};

/**
 * names - the variables' values; empty: not asked for. Changed only where no helper runs
 * @interval: seconds, 0: none
 * @signal_number: 0: none
 * @next: the number of the next snapshot; only the helper's
 */
static char names[NAMES][MTAG__NAME_BYTES - 64];
static long interval;
static int signal_number;
static unsigned next;

static atomic_bool attached, ignored, ending, main_ended;
static _Atomic uint32_t requests;

/* How many requests came before the helper, or were answered by it. */
static uint32_t answered;

/* Rung after a change of anything that the helper looks at. */
static _Atomic uint32_t bell;

/* The helper; only the thread that loads the library, forks or exits looks at these. */
static pthread_t helper;
static bool helper_runs;
/* The main thread has a value for it as long as it runs. */
static pthread_key_t main_key;
static bool main_has_key;
/* A child of a bare clone(2) finds its parent's number here: nothing of this is its own. */
static long process;
static void *stack;

/* ---- waking and waiting ---- */

static void ring(void)
{
	atomic_fetch_add(&bell, 1);
	syscall(SYS_futex, &bell, (long)FUTEX_WAKE_PRIVATE, 1L, NULL, NULL, 0L);
}

/* Waits until the bell is rung again, or for so many seconds; for ever, if negative. */
static void wait_for_bell(uint32_t seen, long seconds)
{
	struct {
		long seconds, nanoseconds; /* the system call's own type */
	} timeout = {seconds, 0};

	syscall(SYS_futex, &bell, (long)FUTEX_WAIT_PRIVATE, (long)seen,
		seconds < 0 ? NULL : &timeout, NULL, 0L);
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (long)ts.tv_sec;
}

/* ---- files ---- */

/* Copies a name with the process id in place of each %p. Returns false if it does not fit. */
static bool fill_name(char *buf, size_t size, const char *name, const char *end)
{
	size_t n = 0;
	int step;

	for (; *name; name++) {
		if (name[0] == '%' && name[1] == 'p') {
			step = snprintf(buf + n, size - n, "%d", (int)getpid());
			name++;
		} else {
			step = snprintf(buf + n, size - n, "%c", *name);
		}
		n += (size_t)step;
		if (n >= size)
			return false;
	}
	return n + (size_t)snprintf(buf + n, size - n, "%s", end) < size;
}

static void store_stats(struct mtag__sample *sample)
{
	static mtag__print_t *const prints[] = {mtag__json_print, mtag__dot_print};
	struct mtag__file *file = mtag__file_of(sample);
	int i;

	for (i = JSON; i <= DOT; i++)
		if (*names[i] && fill_name(file->name, sizeof(file->name), names[i], ""))
			mtag__file_store(file, prints[i], sample, true);
}

/* Under the first number that is free: an earlier process's files stay. */
static void store_snapshot(struct mtag__sample *sample)
{
	struct mtag__file *file = mtag__file_of(sample);
	char end[32];
	int err = -EEXIST;

	if (!*names[PREFIX])
		return;
	for (; err == -EEXIST && next < NUMBERS; next++) {
		snprintf(end, sizeof(end), ".%04u.json", next);
		if (!fill_name(file->name, sizeof(file->name), names[PREFIX], end))
			return;
		if (access(file->name, F_OK))
			err = mtag__file_store(file, mtag__json_snapshot, sample, false);
	}
	/* The next try may do better. */
	if (err && err != -EEXIST)
		next--;
}

static void store(bool snapshot, bool stats)
{
	struct mtag__sample sample;

	if (mtag__sample_take(&sample))
		return;
	if (snapshot)
		store_snapshot(&sample);
	if (stats)
		store_stats(&sample);
	mtag__sample_free(&sample);
}

/* ---- the helper ---- */

/* Returns how long it may wait, in seconds. */
static long act(long *due)
{
	uint32_t asked = atomic_load(&requests);
	bool timely;
	long left;

	if (!atomic_load(&attached))
		return -1;
	if (!*due) {
		mtag__untagged(stack, STACK_BYTES);
		*due = now() + interval;
	}
	timely = interval && now() >= *due;
	if (timely || asked != answered)
		store(true, asked != answered);
	answered = asked;
	/* What was missed, while stopped or on a slow disk, is left out. */
	while (timely && *due <= now())
		*due += interval;
	if (!interval)
		return -1;
	/* One that was asked for may have taken so long that the next is due. */
	left = *due - now();
	return left > 0 ? left : 0;
}

static void on_main_end(void *unused)
{
	(void)unused;
	atomic_store(&main_ended, true);
	ring();
}

/* Does nothing run but the helper? The kernel counts a main thread that has ended, as well. */
static bool left_alone(void)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[1024], state = 0, *fields;
	long threads = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The name before it may contain anything. */
	fields = strrchr(text, ')');
	return fields &&
	       sscanf(fields + 1,
		      " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
		      &state, &threads) == 2 &&
	       state == 'Z' && threads == 2;
}

/*
 * A program whose main thread has called pthread_exit(3) ends with its last thread. That must not be
 * the helper, for which nobody waits. The other threads tell nothing at their end: hence each second.
 */
static void *run_helper(void *arg)
{
	uint32_t seen;
	long due = 0, wait;
	bool alone;

	prctl(PR_SET_NAME, "mtag");
	for (;;) {
		seen = atomic_load(&bell);
		alone = atomic_load(&main_ended);
		if (atomic_load(&ending) || atomic_load(&ignored) || (alone && left_alone()))
			return arg;
		wait = act(&due);
		wait_for_bell(seen, alone && (wait < 0 || wait > 1) ? 1 : wait);
	}
}

/* Needs only a stack of ours and blocked signals. If it fails, there are no snapshots. */
static void start_helper(void)
{
	pthread_attr_t attr;
	sigset_t all, before;

	if (!stack) {
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
		if (stack == MAP_FAILED) {
			stack = NULL;
			return;
		}
		madvise(stack, STACK_BYTES, MADV_NOHUGEPAGE);
	}
	if (pthread_attr_init(&attr))
		return;
	main_has_key = main_has_key || !pthread_key_create(&main_key, on_main_end);
	if (main_has_key && syscall(SYS_gettid) == process)
		pthread_setspecific(main_key, &main_key);
	/* Not for the helper to read: it may begin to run after the first request. */
	answered = atomic_load(&requests);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	helper_runs = !pthread_attr_setstack(&attr, stack, STACK_BYTES) &&
		      !pthread_create(&helper, &attr, run_helper, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

static bool helper_wanted(void)
{
	bool named = *names[PREFIX] || *names[JSON] || *names[DOT];

	return (interval && *names[PREFIX]) || (signal_number && named);
}

/* ---- the signal ---- */

static void on_signal(int number)
{
	int saved = errno;

	(void)number;
	atomic_fetch_add(&requests, 1);
	ring();
	errno = saved;
}

/* Puts @to in the place of @from; a handler of the program's own stays. */
static void change_handler(void (*from)(int), void (*to)(int))
{
	struct sigaction action;

	if (!signal_number || sigaction(signal_number, NULL, &action) ||
	    (action.sa_flags & SA_SIGINFO) || action.sa_handler != from)
		return;
	memset(&action, 0, sizeof(action));
	action.sa_handler = to;
	action.sa_flags = SA_RESTART;
	sigfillset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

void mtag__environment_attached(void)
{
	int saved = errno;

	if (helper_runs && !atomic_load(&ignored)) {
		change_handler(SIG_DFL, on_signal);
		atomic_store(&attached, true);
		ring();
	} else {
		atomic_store(&attached, true);
	}
	errno = saved;
}

void mtag_ignore_environment(void)
{
	atomic_store(&ignored, true);
	change_handler(on_signal, SIG_DFL);
	ring();
}

/* ---- loading, fork and exit ---- */

/* A number of at least 1, or 0. */
static long number_in(const char *text)
{
	char *end;
	long number;

	errno = 0;
	number = text ? strtol(text, &end, 10) : 0;
	return !text || *end || errno || number < 1 ? 0 : number > SECONDS ? SECONDS : number;
}

/* Those whose default is to end the program, and that nobody else sends: by name, or number. */
static int signal_in(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
	long number;
	size_t i;

	if (!text)
		return 0;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	number = number_in(text);
	if (!strncmp(text, "RTMIN+", 6) && number_in(text + 6))
		number = SIGRTMIN + number_in(text + 6);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (number == known[i].number || !strcmp(text, known[i].name))
			return known[i].number;
	return number > SIGRTMIN && number <= SIGRTMAX ? (int)number : 0;
}

/*
 * What is asked for under a name without %p was asked of the parent. A parent that has not attached
 * leaves it to its child: that is how a daemon is made.
 */
static void after_fork_in_child(void)
{
	int i;

	process = syscall(SYS_getpid);
	if (!helper_runs && !*names[JSON] && !*names[DOT])
		return;
	helper_runs = false;
	atomic_store(&main_ended, false);
	next = 0;
	for (i = 0; atomic_load(&attached) && i < NAMES; i++)
		if (!strstr(names[i], "%p"))
			*names[i] = '\0';
	if (helper_wanted() && !atomic_load(&ignored))
		start_helper();
	/* Nobody would answer the signal. */
	if (!helper_runs)
		change_handler(on_signal, SIG_DFL);
}

__attribute__((constructor)) static void set_up(void)
{
	int saved = errno, i;

	process = syscall(SYS_getpid);
	for (i = 0; i < NAMES; i++) {
		const char *value = secure_getenv(variables[i]);

		if (value && strlen(value) < sizeof(names[i]))
			strcpy(names[i], value);
	}
	interval = number_in(secure_getenv("MTAG_SNAPSHOT_INTERVAL_SEC"));
	signal_number = signal_in(secure_getenv("MTAG_SNAPSHOT_SIGNAL"));
	if (helper_wanted() || *names[JSON] || *names[DOT])
		pthread_atfork(NULL, NULL, after_fork_in_child);
	if (helper_wanted())
		start_helper();
	errno = saved;
}

/* The linker's; static programs may have none. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/* Is this code never unloaded? It is in a program, which has DT_DEBUG, or in a library marked so. */
static bool code_stays(void)
{
	const ElfW(Dyn) *entry = _DYNAMIC;

	while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG &&
	       !(entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE)))
		entry++;
	return !entry || entry->d_tag != DT_NULL;
}

/* Is there a file to write at the end? */
static bool stats_wanted(void)
{
	return (*names[JSON] || *names[DOT]) && atomic_load(&attached) && !atomic_load(&ignored);
}

/*
 * Runs at exit, and before a library that contains this code is unloaded; libmtag.so itself never
 * is. Does nothing in a child without the helper thread, which would wait for it in vain, nor in a
 * vfork(2) child, which would end its parent's.
 *
 * By default the signal ends the program. So the handler stays until the files are written, and at
 * exit to the very end: others may yet take long to write out what they have buffered.
 */
__attribute__((destructor)) static void tear_down(void)
{
	int saved = errno;

	/* A sandbox may forbid any system call, even this one. */
	if (!helper_runs && !stats_wanted() && (code_stays() || (!signal_number && !main_has_key)))
		return;
	if (syscall(SYS_getpid) != process)
		return;
	if (helper_runs) {
		atomic_store(&ending, true);
		ring();
		/* In a program that ends with its last thread it may be this one. */
		if (!pthread_equal(helper, pthread_self()))
			pthread_join(helper, NULL);
		helper_runs = false;
	}
	if (stats_wanted())
		store(false, true);
	if (!code_stays()) {
		change_handler(on_signal, SIG_DFL);
		if (main_has_key)
			pthread_key_delete(main_key);
	}
	errno = saved;
}
