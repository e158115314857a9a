// SPDX-License-Identifier: GPL-2.0
/*
 * Many processes, in many trees and in one, and many tags: each is exact, no time grows with the square, and nothing
 * stays behind.
 *   t_load_many [processes N | tags N]
 */
/* vm: group=plain mem=2G module=linger_ms=200 timeout=400 */
/* vm: group=load-long mem=8G module=linger_ms=200 timeout=7200 long=6.1,7.3 args=processes 10000 */
/* vm: group=load-long mem=8G module=linger_ms=200 timeout=7200 long=6.1,7.3 args=tags 60000 */
#include "lib/load.h"

/* ---- many processes ---- */

#define MANY_MAX 20000

/* Shared with all that are forked. */
struct crowd {
	atomic_int ready;
	atomic_bool refused;
	double took_forks, took_tags;
	pid_t pid[MANY_MAX];
};
static struct crowd *crowd;

struct times {
	double attach, forks, tags, show, audit, unload, load_all, track, end;
};

static void announce(size_t i)
{
	crowd->pid[i] = getpid();
	atomic_fetch_add(&crowd->ready, 1);
}

static void await(int n)
{
	if (!until(atomic_load(&crowd->ready) >= n, 1200))
		bail("%d of %d came", atomic_load(&crowd->ready), n);
}

_Noreturn static void loner(size_t i)
{
	char *p;

	if (mtag_init())
		atomic_store(&crowd->refused, true);
	p = area(4 * PG);
	touch(tag("loner"), p, 3 * PG);
	announce(i);
	rest();
}

static void *outlasts(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	atomic_fetch_add(&crowd->ready, 1);
	rest();
}

/* A process whose first thread ends before another. */
static pid_t headless(void)
{
	static pthread_t first;
	pthread_t thread;
	pid_t pid = child();

	if (!pid) {
		first = pthread_self();
		must0(pthread_create(&thread, NULL, outlasts, &first));
		pthread_exit(NULL);
	}
	await(1);
	return pid;
}

/* Starts n / 2 processes, each with its own tree. */
static void make_loners(size_t n)
{
	for (size_t i = 0; i < n / 2; i++)
		if (!child())
			loner(i);
	await(n / 2);
}

/* The ancestor of n / 2 processes, all in its tree. It then makes tags, which all of them get. */
_Noreturn static void head(size_t n)
{
	char name[16];
	char *p;
	size_t i;

	if (mtag_init())
		atomic_store(&crowd->refused, true);
	p = area(4 * PG);
	touch(tag("head"), p, 4 * PG);
	crowd->took_forks = timed({
		for (i = n / 2 + 1; i < n; i++) {
			if (child())
				continue;
			touch(tag(i % 2 ? "odd" : "even"), p, 2 * PG);
			announce(i);
			rest();
		}
		await(n - 1);
	});
	crowd->took_tags = timed(for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "late-%zu", i);
		tag(name);
	});
	announce(n / 2);
	rest();
}

static void make_family(size_t n)
{
	if (!child())
		head(n);
	await(n);
}

static void check_crowd(size_t n, const char *when)
{
	struct audit a = audit_all();

	ok(a.rows >= n, "%s %zu processes are tracked (%" PRIu64 ")", when, n, a.rows);
	is(a.drift, 0, "%s the audit of all agrees with the page tables", when);
	is(a.lost + a.overflow, 0, "%s nothing was lost", when);
	for (size_t i = 0; i < 8; i++)
		exact_of(crowd->pid[i * (n - 1) / 7], "%s process %zu is exact", when,
			 i * (n - 1) / 7);
}

static bool gone(uint64_t ended)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	visit_cpus();
	return health("ended") >= ended;
}

static void end_crowd(size_t n)
{
	uint64_t ended = health("ended");

	for (size_t i = 0; i < n; i++)
		must(kill(crowd->pid[i], SIGKILL));
	if (!until(gone(ended + n), 600))
		bail("they do not end");
}

static void unload(void)
{
	if (!until(!syscall(SYS_delete_module, "mtag", O_NONBLOCK), 60))
		bail("rmmod");
}

static void load(const char *parameter)
{
	must0(sh("insmod $MTAG_MODULE linger_ms=200 %s", parameter));
}

static void no_drift_yet(void)
{
	is(health("drift"), 0, "every process that ended left all its counters at 0");
	is(health("lost") + health("overflow"), 0, "nothing was lost");
}

/* Unloads and loads the module, and has all of them tracked again. */
static void reload(size_t n, struct times *t)
{
	pid_t other;

	no_drift_yet();
	t->unload = timed(unload());
	atomic_store(&crowd->ready, 0);
	other = headless();
	t->load_all = timed(load("track=all"));
	check_crowd(n, "after track=all");
	is(sh("mtagctl audit %d >/dev/null", other), 0,
	   "so is a process whose first thread has ended");
	must(kill(other, SIGKILL));
	must(waitpid(other, NULL, 0));
	no_drift_yet();
	unload();
	load("");
}

static void track_crowd(size_t n)
{
	FILE *to = popen("xargs mtagctl track", "w");

	if (!to)
		bail("popen");
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%d\n", crowd->pid[i]);
	is(pclose(to), 0, "%zu processes are tracked by name", n);
}

static struct times round_of(size_t n)
{
	struct times t;

	atomic_store(&crowd->ready, 0);
	t.attach = timed(make_loners(n));
	make_family(n);
	t.forks = crowd->took_forks;
	t.tags = crowd->took_tags;
	ok(!atomic_load(&crowd->refused), "none of %zu was refused", n);
	t.show = timed(must0(sh("mtagctl -j show >/dev/null")));
	t.audit = timed(check_crowd(n, "at first"));
	reload(n, &t);
	t.track = timed(track_crowd(n));
	check_crowd(n, "tracked by name");
	t.end = timed(end_crowd(n));
	diag("%zu processes: attach %.2f s, fork %.2f s, 40 tags for all %.2f s, show %.2f s, audit %.2f s, "
	     "unload %.2f s, load track=all %.2f s, track %.2f s, end %.2f s",
	     n, t.attach, t.forks, t.tags, t.show, t.audit, t.unload, t.load_all, t.track, t.end);
	return t;
}

/* Of two times each the longer. */
static struct times slower(struct times t, struct times u)
{
	double *of_t = (double *)&t, *of_u = (double *)&u;

	for (size_t i = 0; i < sizeof(t) / sizeof(double); i++)
		of_t[i] = of_t[i] > of_u[i] ? of_t[i] : of_u[i];
	return t;
}

static bool are_linear(size_t few, const struct times *took_few, size_t many,
		       const struct times *took_many)
{
	const double *of_few = (const double *)took_few, *of_many = (const double *)took_many;

	for (size_t i = 0; i < sizeof(*took_few) / sizeof(double); i++)
		if (!is_linear(few, of_few[i], many, of_many[i]))
			return false;
	return true;
}

static void processes(size_t n)
{
	struct times few, many;
	struct load before;

	if (n > MANY_MAX)
		bail("at most %d", MANY_MAX);
	crowd = must(mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0));
	/* What was counted before is forgotten. */
	unload();
	load("");
	before = load_begin();
	few = round_of(n / 4);
	many = round_of(n);
	if (!are_linear(n / 4, &few, n, &many)) {
		diag("once more the few: the machine may have been faster then");
		few = slower(few, round_of(n / 4));
	}
	linear("attach", n / 4, few.attach, n, many.attach);
	linear("fork", n / 4, few.forks, n, many.forks);
	linear("a tag", n / 4, few.tags, n, many.tags);
	linear("show", n / 4, few.show, n, many.show);
	linear("audit", n / 4, few.audit, n, many.audit);
	linear("unload", n / 4, few.unload, n, many.unload);
	linear("load with track=all", n / 4, few.load_all, n, many.load_all);
	linear("track", n / 4, few.track, n, many.track);
	linear("end", n / 4, few.end, n, many.end);
	no_drift_yet();
	before.drift = before.lost = before.bad_word = 0;
	load_end(&before);
	diag("counts: lifetimes=%zu reloads=4", n + n / 4);
}

/* ---- many tags ---- */

#define TAGS_MAX 65533

struct tag_times {
	double make, find, show, forks, end;
};

static mtag_t tags_made[TAGS_MAX];

/* The i-th of n: 200 below each of the first level. */
static mtag_t nth_tag(size_t i)
{
	char name[24];

	snprintf(name, sizeof(name), "tag-%zu", i);
	return mtag_child(i % 201 ? tags_made[i - i % 201] : MTAG_UNTAGGED, name);
}

static size_t make_tags(size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		tags_made[i] = nth_tag(i);
		if (i % 201 && tags_made[i] == tags_made[i - i % 201])
			break;
	}
	return i;
}

static size_t differ(size_t n)
{
	size_t differing = 0;

	for (size_t i = 0; i < n; i++)
		differing += nth_tag(i) != tags_made[i];
	return differing;
}

/* Touches a page under each 50th tag; returns how many have anything else. */
static size_t wrong_usage(size_t n, char *p)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i += 50) {
		touch(tags_made[i], p + i / 50 * PG, PG);
		wrong += anon_of(tags_made[i]) != PG;
	}
	return wrong;
}

/* The results of a process with many tags and of its child. */
struct keeping {
	atomic_int step;
	size_t made, differing, wrong;
	double took_make, took_find, took_fork;
	pid_t child;
};

_Noreturn static void keeper(struct keeping *k, size_t n)
{
	pid_t pid;
	char *p;

	must0(mtag_init());
	p = area((n / 50 + 1) * PG);
	k->took_make = timed(k->made = make_tags(n));
	k->took_find = timed(k->differing = differ(n));
	k->wrong = wrong_usage(n, p);
	k->took_fork = timed(pid = child());
	if (!pid) {
		touch(tags_made[n - 1], p, n / 100 * PG);
		atomic_fetch_add(&k->step, 1);
		rest();
	}
	k->child = pid;
	atomic_fetch_add(&k->step, 1);
	rest();
}

/* Like exact_of(), for a process with more tags than slurp() can hold. */
static void exact_sums(pid_t pid, size_t tags, const char *who)
{
	uint64_t rows = 0, rss = 0, anon = 0, swap = 0, virt = 0;
	struct truth t = truth_of(pid);
	int status;

	sscanf(ctl(&status,
		   "-j show %d | jq -r '[length, (map(.rss_bytes) | add), (map(.anon_bytes) | add), "
		   "(map(.swap_bytes) | add), (map(.virt_bytes) | add)] | @tsv'",
		   pid),
	       "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &rows, &rss, &anon, &swap,
	       &virt);
	is(rows, tags + 1, "%s has %zu tags and the untagged row", who, tags);
	ok(rss == t.rss && anon == t.anon && swap == t.swap && virt == t.virt,
	   "%s is exact: rss %" PRIu64 "/%" PRIu64 ", anon %" PRIu64 "/%" PRIu64 ", virt %" PRIu64
	   "/%" PRIu64,
	   who, rss, t.rss, anon, t.anon, virt, t.virt);
	clean(pid, "%s: audit agrees", who);
}

static void end_keeping(const struct keeping *k, pid_t pid)
{
	uint64_t ended = health("ended");

	must(kill(k->child, SIGKILL));
	must(kill(pid, SIGKILL));
	must(waitpid(pid, NULL, 0));
	must(waitpid(k->child, NULL, 0));
	if (!until((visit_cpus(), health("ended") >= ended + 2), 120))
		bail("they do not end");
}

static struct tag_times tag_round(size_t n)
{
	struct keeping *k =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid_t pid = child();
	struct tag_times t;

	if (!pid)
		keeper(k, n);
	if (!until(atomic_load(&k->step) == 2, 1200))
		bail("%zu tags: not in time", n);
	is(k->made, n, "%zu tags are made", n);
	is(k->differing, 0, "each is found again");
	is(k->wrong, 0, "each has what was touched under it");
	exact_sums(pid, n, "the process that made them");
	exact_sums(k->child, n, "its child");
	t.make = k->took_make;
	t.find = k->took_find;
	t.forks = k->took_fork;
	t.show = timed(must0(sh("mtagctl -j show %d >/dev/null", pid)));
	t.end = timed(end_keeping(k, pid));
	diag("%zu tags: make %.2f s, find %.2f s, fork %.3f s, show %.2f s, end %.2f s", n, t.make,
	     t.find, t.forks, t.show, t.end);
	must(munmap(k, PG));
	return t;
}

static void many_tags(size_t n)
{
	struct tag_times few, many;

	set_limit("max_tags", TAGS_MAX);
	few = tag_round(n / 4);
	many = tag_round(n);
	set_limit("max_tags", 4096);
	linear("make a tag", n / 4, few.make, n, many.make);
	linear("find a tag", n / 4, few.find, n, many.find);
	linear("fork", n / 4, few.forks, n, many.forks);
	linear("show", n / 4, few.show, n, many.show);
	linear("end", n / 4, few.end, n, many.end);
	diag("counts: tags=%zu", n + n / 4);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct load before, after;

	need_root();
	must0(prctl(PR_SET_CHILD_SUBREAPER, 1));
	if (strcmp(what, "tags"))
		processes(n ?: 80);
	if (!strcmp(what, "processes"))
		return done();
	before = load_begin();
	many_tags(n ?: 1600);
	no_loss(&before, "many tags");
	after = load_end(&before);
	diag("counts: lifetimes=%" PRIu64, after.ended - before.ended);
	return done();
}
