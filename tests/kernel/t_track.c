// SPDX-License-Identifier: GPL-2.0
/* Tracking from outside: track, untrack, run, by thread; inherited over thread, fork, vfork and exec. */
/* vm: core=1 timeout=400 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"

#define N 128

/*
 * The victim: this program, which never calls libmtag then. It obeys letters on its stdin and
 * answers each with a line on its stdout.
 */
static char *victim_area;

static void *victim_thread(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (size_t i = 0; i < N; i++)
		((volatile char *)victim_area)[i * PG] = 2;
	return NULL;
}

static void victim_fork(bool vforked)
{
	char *p = victim_area;
	pid_t pid = vforked ? vfork() : fork();

	if (!pid) {
		if (!vforked) {
			p[0] = 3;
			printf("%d\n", getpid());
			fflush(stdout);
			while (getchar() != 'q')
				;
			_exit(0);
		}
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static int victim(bool exec_ed)
{
	pthread_t thread;
	int command;

	victim_area = area(2 * N * PG);
	if (exec_ed) {
		/* The answer to 'x'. */
		printf("%d\n", getpid());
		fflush(stdout);
	}
	while ((command = getchar()) != EOF && command != 'q') {
		switch (command) {
		case 't':
			for (size_t i = 0; i < N; i++)
				victim_area[i * PG] = 1;
			break;
		case 'T':
			pthread_create(&thread, NULL, victim_thread, "worker-thread");
			pthread_join(thread, NULL);
			break;
		case 'f':
			victim_fork(false);
			break;
		case 'v':
			victim_fork(true);
			break;
		case 'd':
			madvise(victim_area, 2 * N * PG, MADV_DONTNEED);
			break;
		case 'x':
			execl("/proc/self/exe", "victim", NULL);
			_exit(1);
		}
		printf("%d\n", getpid());
		fflush(stdout);
	}
	return 0;
}

/* The pid that a line of the victim's says. */
static pid_t heard(struct spoken *p)
{
	char line[64];

	if (!fgets(line, sizeof(line), p->out))
		bail("the victim is gone");
	return atoi(line);
}

static pid_t tell(struct spoken *p, char command)
{
	fputc(command, p->in);
	return heard(p);
}

static void in_state(pid_t pid, char state)
{
	char path[64], word[8];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(word, sizeof(word), ") %c ", state);
	if (!until(strstr(slurp(path), word), 60))
		bail("%d is not in state %c", pid, state);
}

/* Asleep in read(2): the truth stands still. */
static void at_rest(pid_t pid)
{
	in_state(pid, 'S');
}

static void finish(struct spoken *p)
{
	fclose(p->in);
	reap(p->pid);
	fclose(p->out);
}

static bool rests_exact(pid_t pid, const char *what)
{
	at_rest(pid);
	return exact_of(pid, "%s: exact", what) & clean(pid, "%s: audit agrees", what);
}

static char self[256];

static void live(void)
{
	char *argv[] = {self, "victim", NULL};
	struct spoken p = speak_to(argv);
	uint64_t ended;
	int status;
	pid_t pid;

	tell(&p, 't');
	at_rest(p.pid);
	is(show(p.pid, NULL).rows, 0, "a process that nobody tracks is not shown");
	ctl(&status, "track %d", p.pid);
	is(status, 0, "mtagctl track takes a live process");
	rests_exact(p.pid, "tracked live");
	is(show(p.pid, "").rss, truth_of(p.pid).rss, "all that was there is untagged");
	is(show(p.pid, "").anon, truth_of(p.pid).anon, "anonymous pages as well");
	tell(&p, 'T');
	rests_exact(p.pid, "after a thread of it touched more");
	tell(&p, 'd');
	tell(&p, 't');
	rests_exact(p.pid, "after it discarded and touched anew");
	ctl(&status, "track %d", p.pid);
	is(status, 0, "tracking what is tracked is fine");
	rests_exact(p.pid, "tracked twice");

	pid = tell(&p, 'f');
	ok(pid != p.pid, "it forks");
	rests_exact(pid, "its child is tracked");
	tell(&p, 'q');
	ended = health("ended");
	tell(&p, 'v');
	ok(until(health("ended") > ended, 30),
	   "a program that it started by vfork and exec was tracked, and ended");
	rests_exact(p.pid, "after vfork and exec");
	tell(&p, 'x');
	rests_exact(p.pid, "after its own exec");
	tell(&p, 't');
	rests_exact(p.pid, "after touching as another program");

	ctl(&status, "untrack %d", p.pid);
	is(status, 0, "mtagctl untrack lets go");
	is(show(p.pid, NULL).rows, 0, "it is shown no more");
	tell(&p, 'T');
	tell(&p, 'd');
	tell(&p, 't');
	ctl(&status, "track %d", p.pid);
	is(status, 0, "it may be tracked again");
	rests_exact(p.pid, "tracked again");
	tell(&p, 'T');
	rests_exact(p.pid, "tracked again, and touching");
	finish(&p);
}

/* Tracked while it maps, touches and forks all the time. */
static void busy(void)
{
	char *argv[] = {self, "busy", NULL};
	struct spoken p = speak_to(argv);
	int status;

	for (int i = 0; i < more(4, 8); i++) {
		heard(&p);
		ctl(&status, "track %d", p.pid);
		if (status)
			ok(false, "round %d: tracking a busy process (status %d)", i, status);
		heard(&p);
		ctl(&status, "untrack %d", p.pid);
		if (status)
			ok(false, "round %d: untracking it (status %d)", i, status);
	}
	ctl(&status, "track %d", p.pid);
	heard(&p);
	must(kill(p.pid, SIGSTOP));
	in_state(p.pid, 'T');
	exact_of(p.pid, "tracked while busy: exact");
	clean(p.pid, "tracked while busy: audit agrees");
	must(kill(p.pid, SIGKILL));
	waitpid(p.pid, &status, 0);
}

static int busy_main(void)
{
	char *p = area(N * PG);

	for (;;) {
		for (int i = 0; i < 20; i++) {
			for (size_t j = 0; j < N; j++)
				p[j * PG] = 1;
			madvise(p, N / 2 * PG, MADV_DONTNEED);
			if (i % 10 == 0) {
				pid_t pid = fork();

				if (!pid)
					_exit(0);
				waitpid(pid, NULL, 0);
			}
		}
		printf("%d\n", getpid());
		fflush(stdout);
	}
}

static void run(void)
{
	char *argv[] = {"mtagctl", "run", "-t", "web", "--", self, "victim", NULL};
	char *shell[] = {"mtagctl", "run", "-t",	   "outer/inner", "--",
			 "sh",	    "-c",  "$0 victim; :", self,	  NULL};
	char *plain[] = {"mtagctl", "run", "--", self, "victim", NULL};
	struct spoken p = speak_to(argv);
	pid_t pid = tell(&p, 't');

	rests_exact(pid, "run -t");
	is(show(pid, "web").rss, truth_of(pid).rss, "run -t: all of it is that tag's");
	tell(&p, 'x');
	tell(&p, 't');
	rests_exact(pid, "run -t, after exec");
	is(show(pid, "web").rss, truth_of(pid).rss, "run -t: the default tag stays over exec");
	tell(&p, 'T');
	is(show(pid, "web").rss, truth_of(pid).rss, "run -t: and over threads");
	finish(&p);

	p = speak_to(shell);
	pid = tell(&p, 't');
	ok(pid != p.pid, "run sh -c: a grandchild");
	rests_exact(pid, "run sh -c");
	is(show(pid, "outer/inner").rss, truth_of(pid).rss,
	   "run sh -c: all of it is that tag's, too");
	rests_exact(p.pid, "run sh -c: the shell");
	finish(&p);

	p = speak_to(plain);
	pid = tell(&p, 't');
	rests_exact(pid, "run without a tag");
	is(show(pid, "").rss, truth_of(pid).rss, "run without a tag: all is untagged");
	finish(&p);
}

/* Anonymous bytes of the tags that are called so, wherever they are. */
static uint64_t named(pid_t pid, const char *name)
{
	uint64_t sum = 0;
	char *text = ctl(NULL, "-j show %d", pid), *object;

	while ((object = json_next(&text))) {
		const char *path = json_string(object, "tag"), *last = strrchr(path, '/');

		if (!strcmp(last ? last + 1 : path, name))
			sum += json_u64(object, "anon_bytes");
	}
	return sum;
}

static void by_thread(void)
{
	char *argv[] = {"mtagctl", "run", "--by-thread", "--", self, "victim", NULL};
	struct spoken p = speak_to(argv);
	pid_t pid = p.pid;
	uint64_t before;

	tell(&p, 'd');
	before = show(pid, NULL).anon;
	tell(&p, 'T');
	rests_exact(pid, "run --by-thread");
	ok(named(pid, "worker-thread") >= N * PG, "pages of a thread are its name's");
	ok(show(pid, NULL).anon >= before + N * PG, "and the process's");
	tell(&p, 'x');
	tell(&p, 'T');
	rests_exact(pid, "run --by-thread, after exec");
	ok(named(pid, "worker-thread") >= N * PG,
	   "run --by-thread: threads have names after exec, too");
	finish(&p);
}

static void refusals(void)
{
	int status;
	pid_t pid = child();

	if (!pid)
		_exit(0);
	reap(pid);
	ctl(&status, "track %d 2>/dev/null", pid);
	is(status, 2, "tracking a dead pid is refused with status 2");
	ctl(&status, "untrack %d 2>/dev/null", pid);
	is(status, 2, "untracking one as well");
	ctl(&status, "untrack 1 2>/dev/null");
	is(status, 2, "untracking what is not tracked as well");
	ctl(&status, "track 2 2>/dev/null");
	is(status, 2, "tracking a kernel thread as well");
	ctl(&status, "track nonsense 2>/dev/null");
	is(status, 1, "a pid that is none is a usage error");
	ctl(&status, "audit %d 2>/dev/null", pid);
	is(status, 2, "auditing a dead pid is refused with status 2");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "busy"))
		return busy_main();
	if (!strcmp(argv[argc - 1], "victim"))
		return victim(!strcmp(argv[0], "victim"));
	begin_test();
	must(readlink("/proc/self/exe", self, sizeof(self) - 1));
	live();
	busy();
	run();
	by_thread();
	refusals();
	return end_test();
}
