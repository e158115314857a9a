// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads that attach, switch tags and die at once; signals in every call; and SIGKILL at random points of attach,
 * fork, exec and exit. Processes that survive are exact, those that die leave all counters at 0.
 *   t_load_threads THREADS SECONDS KILLS
 */
/* vm: also=7.3-rt group=plain mem=2G module=linger_ms=200 timeout=400 args=24 1 40 */
/* vm: group=load-long mem=8G module=linger_ms=200 timeout=10800 long=6.1,7.3 args=2000 60 20000 */
#include <sys/time.h>
#include "lib/load.h"

/* ---- many threads ---- */

#define THREADS_MAX 4000
#define TAGS	    16
#define EACH	    4 /* pages of a thread */

static mtag_t tags[TAGS];
static size_t threads;
static char *pages;
static pthread_barrier_t together;
static atomic_long switches;

static void make_tags(void)
{
	for (size_t i = 0; i < TAGS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "tag-%zu", i);
		tags[i] = tag(name);
	}
}

/* Each has its own word while all of them live. */
static void *toucher(void *arg)
{
	size_t i = (uintptr_t)arg;

	for (size_t n = 0; n < EACH; n++) {
		touch(tags[(i + n) % TAGS], pages + (i * EACH + n) * PG, PG);
		if (!n)
			pthread_barrier_wait(&together);
	}
	atomic_fetch_add(&switches, EACH);
	return NULL;
}

/* Runs until it is killed. It starts when all are there, as otherwise their creator would rarely get the CPU. */
static void *switcher(void *arg)
{
	size_t i = (uintptr_t)arg;
	char *p = pages + i * EACH * PG;

	pthread_barrier_wait(&together);
	for (size_t n = 0;; n++) {
		touch(tags[(i + n) % TAGS], p + n % EACH * PG, PG);
		if (n % EACH == 0)
			must(madvise(p, EACH * PG, MADV_DONTNEED));
		atomic_fetch_add(&switches, 1);
	}
}

/* Starts all of them; stores them in @thread. */
static void begin_threads(pthread_t *thread, void *(*run)(void *))
{
	pthread_attr_t attr;

	must0(pthread_attr_init(&attr));
	must0(pthread_attr_setstacksize(&attr, 64 * KIB));
	for (uintptr_t i = 0; i < threads; i++)
		must0(pthread_create(&thread[i], &attr, run, (void *)i));
	pthread_attr_destroy(&attr);
}

static void all_touch(void)
{
	static pthread_t thread[THREADS_MAX];
	uint64_t count[TAGS] = {0};
	size_t wrong = 0;

	pages = area(threads * EACH * PG);
	must0(pthread_barrier_init(&together, NULL, threads));
	begin_threads(thread, toucher);
	for (size_t i = 0; i < threads; i++) {
		must0(pthread_join(thread[i], NULL));
		for (size_t n = 0; n < EACH; n++)
			count[(i + n) % TAGS] += PG;
	}
	for (size_t i = 0; i < TAGS; i++)
		wrong += anon_of(tags[i]) != count[i];
	is(wrong, 0, "%zu threads at once: every tag has what was touched under it", threads);
	must(munmap(pages, threads * EACH * PG));
}

/* Creates threads that must attach first, all at the same time. */
static void *attacher(void *failed)
{
	char *p = area(PG);
	mtag_t before;

	pthread_barrier_wait(&together);
	if (mtag_init())
		atomic_store((atomic_bool *)failed, true);
	before = mtag_enter(tag("attached"));
	*(volatile char *)p = 1;
	mtag_leave(before);
	return NULL;
}

static void all_attach(void)
{
	static atomic_bool failed;

	for (int round = 0; round < 4; round++) {
		in_child {
			pthread_t thread[16];

			must0(pthread_barrier_init(&together, NULL, COUNT(thread)));
			for (size_t i = 0; i < COUNT(thread); i++)
				must0(pthread_create(&thread[i], NULL, attacher, &failed));
			for (size_t i = 0; i < COUNT(thread); i++)
				must0(pthread_join(thread[i], NULL));
			ok(!atomic_load(&failed), "16 threads attach their process at once");
			is(anon_of(tag("attached")), 16 * PG, "each has touched its page");
		}
	}
}

enum death {
	BY_SIGNAL,
	BY_EXIT,
	BY_EXEC,
	DEATHS,
};

/* A process with many threads that switch tags, and that ends while they do. */
_Noreturn static void full_swing(enum death death, struct gate *g)
{
	static pthread_t thread[THREADS_MAX];

	must0(mtag_init());
	make_tags();
	pages = area(threads * EACH * PG);
	must0(pthread_barrier_init(&together, NULL, threads));
	begin_threads(thread, switcher);
	if (!until(atomic_load(&switches) > (long)threads, 60))
		bail("no threads");
	open_gate(g, 1);
	if (death == BY_EXIT)
		_exit(0);
	if (death == BY_EXEC)
		execl("/bin/true", "true", NULL);
	for (;;)
		pause();
}

static void deaths(enum death death)
{
	struct gate *g = gate();
	pid_t pid = child();

	if (!pid)
		full_swing(death, g);
	pass_gate(g, 1);
	if (death == BY_SIGNAL)
		must(kill(pid, SIGKILL));
	must(waitpid(pid, NULL, 0));
}

static void many_threads(size_t n)
{
	if (n > THREADS_MAX)
		bail("at most %d", THREADS_MAX);
	threads = n;
	in_child {
		begin();
		make_tags();
		for (int round = 0; round < 3; round++)
			all_touch();
		exact("and the process is exact");
		clean(getpid(), "audit agrees");
	}
	all_attach();
	for (int i = 0; i < 2 * DEATHS; i++)
		deaths(i % DEATHS);
	diag("counts: threads=%zu", threads * (3 + 2 * DEATHS));
}

/* ---- signals in every call ---- */

static atomic_long sent;

static void handler(int number)
{
	(void)number;
	atomic_fetch_add_explicit(&sent, 1, memory_order_relaxed);
}

static void signals_begin(void)
{
	/* No SA_RESTART: a call that would be interrupted says so. */
	struct sigaction action = {.sa_handler = handler};
	struct itimerval often = {.it_interval.tv_usec = 500, .it_value.tv_usec = 500};

	must(sigaction(SIGALRM, &action, NULL));
	must(setitimer(ITIMER_REAL, &often, NULL));
}

static void signals_end(void)
{
	struct itimerval never = {0};

	must(setitimer(ITIMER_REAL, &never, NULL));
}

/* Makes every call once; returns how many failed. */
static size_t every_call(size_t round)
{
	char name[24], path[MTAG_PATH_MAX], *p;
	struct mtag_usage u;
	size_t failed = 0;
	mtag_t t;

	snprintf(name, sizeof(name), "signal-%zu", round % 1000);
	p = must(mmap(NULL, 32 * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	failed += mtag_init() != 0;
	t = mtag_child(MTAG_UNTAGGED, name);
	failed += t == MTAG_UNTAGGED;
	touch(t, p, 16 * PG);
	failed += mtag_range(p + 8 * PG, 16 * PG, t, MTAG_RANGE_PRESENT) != 0;
	failed += mtag_default(t) != 0;
	failed += mtag_default(MTAG_UNTAGGED) != 0;
	failed += mtag_usage(t, &u) != 0;
	failed += !mtag_path(t, path, sizeof(path));
	p = mremap(p, 32 * PG, 64 * PG, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return failed + 1;
	failed += munmap(p, 64 * PG) != 0;
	return failed;
}

static void *registers(void *failed)
{
	char *p = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	struct mtag_ioc_thread arg = {.size = sizeof(arg), .word = (uintptr_t)p};

	*(size_t *)failed += mtag_ioctl(MTAG_IOC_THREAD, &arg) != 0;
	arg.word = 0;
	*(size_t *)failed += mtag_ioctl(MTAG_IOC_THREAD, &arg) != 0;
	must(munmap(p, PG));
	return NULL;
}

/* A child does not inherit the timer of its parent. */
static size_t forks(void)
{
	int status = 0;
	pid_t pid = child();

	if (!pid) {
		signals_begin();
		_exit(every_call(0) != 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			bail("waitpid");
	return status != 0;
}

static void all_signals(double seconds)
{
	uint64_t *handled =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	in_child {
		double end = now() + seconds;
		size_t failed = 0, rounds = 0;

		begin();
		signals_begin();
		for (; now() < end || rounds < 20; rounds++) {
			failed += every_call(rounds);
			in_thread(registers, &failed);
			if (rounds % 8 == 0)
				failed += forks();
		}
		signals_end();
		*handled = atomic_load(&sent);
		is(failed, 0, "%zu rounds of every call: none fails for a signal", rounds);
		ok(*handled > rounds, "%" PRIu64 " signals came meanwhile", *handled);
		exact("the process is exact");
		clean(getpid(), "audit agrees");
	}
	diag("counts: signals=%" PRIu64, *handled);
}

/* ---- SIGKILL at random points ---- */

/* Random threads and calls of a victim. */
static void *victim_thread(void *arg)
{
	(void)arg;
	for (;;)
		every_call(random_below(50));
	return NULL;
}

static void victim_forks(void)
{
	pid_t pid = child();

	if (!pid) {
		touch(tag("forked"), area(8 * PG), 8 * PG);
		if (random_below(3) == 0)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	if (random_below(2))
		waitpid(pid, NULL, 0);
}

static void victim_vforks(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* Repeats one operation, from attaching on, and is killed with all that it has started. */
_Noreturn static void victim(unsigned int what)
{
	pthread_t thread;

	must(setpgid(0, 0));
	signal(SIGCHLD, SIG_IGN);
	if (mtag_init())
		_exit(1);
	if (what % 8 == 0)
		_exit(0);
	if (what % 8 == 1)
		execl("/bin/true", "true", NULL);
	for (unsigned int i = 0; what % 8 == 2 && i < 4; i++)
		must0(pthread_create(&thread, NULL, victim_thread, NULL));
	for (;;) {
		if (what % 8 < 4)
			every_call(random_below(50));
		else if (what % 8 < 7)
			victim_forks();
		else
			victim_vforks();
	}
}

/* Most are killed early, while they attach. */
static void some_time(void)
{
	unsigned int r = random_below(4);

	usleep(r < 2 ? random_below(1500) : r < 3 ? random_below(6000) : random_below(25000));
}

static void kill_some(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pid_t pid = child();

		if (!pid)
			victim(random_below(1000));
		some_time();
		/* It may be about to have a group of its own, and others in it. */
		if (kill(-pid, SIGKILL)) {
			must(kill(pid, SIGKILL));
			kill(-pid, SIGKILL);
		}
		must(waitpid(pid, NULL, 0));
	}
}

static void all_kills(size_t n)
{
	uint64_t ended = health("ended");
	pid_t relative = child();

	/* A process that lives on, and whose forked children are among the killed. */
	if (!relative) {
		begin();
		touch(tag("relative"), area(32 * PG), 32 * PG);
		kill_some(n / 2);
		exact("the relative of half of them is exact");
		clean(getpid(), "audit agrees");
		_exit(0);
	}
	kill_some(n - n / 2);
	reap(relative);
	ok(health("ended") - ended >= n / 2, "half of those killed or more had been tracked");
	diag("counts: kills=%zu", n);
}

int main(int argc, char **argv)
{
	struct load before, after;

	need_root();
	if (argc != 4)
		bail("how many threads, seconds and kills?");
	before = load_begin();
	many_threads(strtoul(argv[1], NULL, 10));
	no_loss(&before, "threads");
	all_signals(atof(argv[2]));
	no_loss(&before, "signals");
	all_kills(strtoul(argv[3], NULL, 10));
	no_loss(&before, "kills");
	after = load_end(&before);
	diag("counts: lifetimes=%" PRIu64, after.ended - before.ended);
	return done();
}
