// SPDX-License-Identifier: GPL-2.0
/* USS and PSS by tag are those of smaps, whatever is shared with whom and how it is mapped. */
/* vm: timeout=600 */
#include "lib/keepers.h"
#include "lib/shares.h"

#define N      64
#define CROWD  20
#define SHARED 1024

static mtag_t a, b, f, w;

/* ---- anonymous memory ---- */

static void alone(void)
{
	char *p = area(N * PG);

	touch(a, p, N * PG);
	is(shares(getpid()).tag[a].uss, N * PG, "pages that nobody else maps are USS");
	is(shares(getpid()).tag[a].pss, N * PG, "and as much PSS");
	shares_own(getpid(), a, p, N * PG, "as smaps says of this mapping");
	shares_exact(getpid(), "and all tags together are what smaps says of the process");
	read_all(b, area(N * PG), N * PG);
	is(shares(getpid()).tag[b].pss, 0, "the zero page is nobody's");
	must(munmap(p, N * PG));
	is(shares(getpid()).tag[a].pss, 0, "after munmap nothing is left");
}

static void copied(void)
{
	char *p = area(N * PG);
	struct shares s;
	pid_t one, two, three;

	touch(a, p, N * PG);
	frozen_child(one) touch(w, p, N / 2 * PG);
	frozen_child(two) must(munmap(p + 3 * PG, PG));
	frozen_child(three)
	{
	}
	s = shares(one);
	is(s.tag[a].uss, N / 2 * PG, "what a child has copied is its own, under the owner's tag");
	is(s.tag[a].pss, N / 2 * PG + N / 2 * PG / 4, "and of the rest it has a quarter");
	s = shares(getpid());
	is(s.tag[a].uss, 0, "its parent has no page alone");
	is(s.tag[a].pss, (N / 2 - 1) * PG / 3 + PG / 2 + N / 2 * PG / 4,
	   "but a third of what one of three children has copied, and half of what another unmapped");
	shares_family("pages of a family", (pid_t[]){getpid(), one, two, three, 0}, a, p, N * PG);
	end_child(one);
	end_child(two);
	end_child(three);
	is(shares(getpid()).tag[a].uss, N * PG, "once they have ended, all is the parent's alone");
	must(munmap(p, N * PG));
}

/* ---- files and shared memory ---- */

static char *map_shared(mtag_t as, int fd, size_t len)
{
	mtag_t before = mtag_enter(as);
	char *p = must(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));

	mtag_leave(before);
	return p;
}

static void mapped_by_several(const char *what, int fd)
{
	char *p, *q;
	pid_t one, two;

	must(ftruncate(fd, N * PG));
	p = map_shared(a, fd, N * PG);
	read_all(0, p, N * PG);
	touch(0, p, N / 2 * PG);
	frozen_child(one) read_all(0, p, N / 4 * PG);
	frozen_child(two)
	{
		q = map_shared(b, fd, N / 8 * PG);
		read_all(0, p, N * PG);
		touch(0, q, N / 8 * PG);
	}
	shares_own(getpid(), a, p, N * PG, "%s, shared: the mapper's", what);
	shares_exact(getpid(), "%s, shared: exact", what);
	shares_own(one, a, p, N * PG, "%s, partly touched by a child", what);
	shares_exact(one, "%s, partly touched by a child: exact", what);
	shares_own(two, a, p, N * PG, "%s, mapped twice by another: one mapping", what);
	shares_exact(two, "%s, mapped twice by another: exact", what);
	is(shares(two).tag[b].uss, 0, "%s: what one process maps twice is not alone", what);
	end_child(one);
	end_child(two);
	must(munmap(p, N * PG));
	close(fd);
}

/* Private mappings of a file: what is written is the writer's, the rest shared. */
static void written_privately(void)
{
	int fd = must(open(FS "/private", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	mtag_t before;
	pid_t pid;
	char *p;

	must(ftruncate(fd, N * PG));
	before = mtag_enter(f);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
	mtag_leave(before);
	read_all(0, p, N * PG);
	touch(w, p, N / 2 * PG);
	frozen_child(pid) touch(w, p, N / 4 * PG);
	shares_exact(getpid(), "a private mapping of a file, half written: exact");
	shares_exact(pid, "a child that wrote a part of it: exact");
	is(shares(pid).tag[w].uss, N / 4 * PG, "the child's copies are its own");
	is(shares(getpid()).tag[w].uss, N / 4 * PG, "and so are their originals now");
	end_child(pid);
	must(munmap(p, N * PG));
	close(fd);
}

/* The database of a hundred processes, on a smaller scale. */
static void crowd(void)
{
	int fd = must(memfd_create("buffers", MFD_CLOEXEC));
	uint64_t rss = 0, uss = 0, pss = 0;
	pid_t pid[CROWD];
	char *p;

	must(ftruncate(fd, SHARED * PG));
	p = map_shared(f, fd, SHARED * PG);
	for (int i = 0; i < CROWD; i++)
		frozen_child(pid[i]) read_all(0, p, SHARED * PG);
	must(munmap(p, SHARED * PG));
	for (int i = 0; i < CROWD; i++) {
		struct shares s = shares(pid[i]);

		rss += show(pid[i], "f").shmem;
		uss += s.tag[f].uss;
		pss += s.tag[f].pss;
	}
	is(rss, CROWD * SHARED * PG, "%d processes on shared memory have it %d times", CROWD,
	   CROWD);
	is(uss, 0, "none of them alone");
	/* Each rounds its part of a page down to a 4096th of a byte, and its sum down to a byte. */
	ok(pss <= SHARED * PG && pss + 2 * CROWD > SHARED * PG,
	   "and together their PSS is the memory once (%" PRIu64 " of %lu)", pss, SHARED * PG);
	shares_exact(pid[0], "one of them is exact");
	for (int i = 0; i < CROWD; i++)
		end_child(pid[i]);
	close(fd);
}

/* ---- pages that are merged, or not there ---- */

static void fill(mtag_t as, char *p, uint64_t what)
{
	mtag_t before = mtag_enter(as);

	for (size_t i = 0; i < N * PG; i += 8)
		*(volatile uint64_t *)(p + i) = what;
	mtag_leave(before);
	must(madvise(p, N * PG, MADV_MERGEABLE));
}

/* Another program, of another tree, with the same contents. */
static int twin(void)
{
	begin();
	fill(tag("twin"), area(N * PG), 0x5050);
	freeze();
	return 0;
}

/* Of two programs, whose [ksm] and first tags have nothing else. */
static uint64_t of_merged(pid_t pid)
{
	struct shares mine = shares(getpid()), its = shares(pid);

	return mine.tag[a].pss + mine.tag[b].pss + mine.tag[MTAG_ID_KSM].pss +
	       its.tag[MTAG_ID_FIRST].pss + its.tag[MTAG_ID_KSM].pss;
}

static void merged(void)
{
	char *p = area(N * PG), *q = area(N * PG);
	pid_t pid = child();

	if (!pid) {
		execl("/proc/self/exe", "t_pss", "twin", NULL);
		_exit(1);
	}
	await_frozen(pid);
	spew("/sys/kernel/mm/ksm/pages_to_scan", "1000");
	spew("/sys/kernel/mm/ksm/sleep_millisecs", "10");
	must0(spew("/sys/kernel/mm/ksm/run", "1"));
	fill(a, p, 0x5050);
	fill(b, q, 0x5050);
	/* 192 parts of a page, each rounded down to a 4096th of a byte, and five sums to bytes. */
	ok(until(of_merged(pid) <= PG, 60) && of_merged(pid) + 6 > PG,
	   "a page that KSM made of %d pages of two programs is one page of PSS", 3 * N);
	spew("/sys/kernel/mm/ksm/run", "0");
	shares_exact(getpid(), "one of them is exact");
	shares_exact(pid, "and so is the other");
	is(shares(getpid()).tag[MTAG_ID_KSM].uss + shares(getpid()).tag[a].uss, 0,
	   "none of it is USS");
	end_child(pid);
	shares_exact(getpid(), "exact without the other, too");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
}

static void swapped(void)
{
	char *p = area(N * PG);
	pid_t pid;

	if (!swap_zram()) {
		skip("swapped pages are in neither (no zram)");
		return;
	}
	touch(a, p, N * PG);
	/* page_out() would look for a mapping in that half. */
	ok(until((madvise(p, N / 2 * PG, MADV_PAGEOUT), smaps(p, N * PG).swap == N / 2 * PG), 30),
	   "half of it is swapped out");
	shares_own(getpid(), a, p, N * PG, "pages in swap are in neither");
	frozen_child(pid) read_all(0, p, N / 4 * PG);
	shares_own(pid, a, p, N * PG, "a child that read some of them back");
	shares_exact(pid, "is exact");
	shares_own(getpid(), a, p, N * PG, "and so is its parent");
	end_child(pid);
	must(munmap(p, N * PG));
	swapoff_all();
}

/* ---- a real program ---- */

/* redis makes a snapshot by fork, and goes on writing meanwhile. */
static void redis(void)
{
	const char *cli = "redis-cli -p 6398";
	char command[128];
	pid_t server, saver;

	if (sh("command -v redis-server redis-cli >/dev/null")) {
		skip("redis and the child that saves it are exact (not installed)");
		return;
	}
	must0(sh(
		"mtagctl run -t redis -- redis-server --port 6398 --save '' --dir /tmp --daemonize yes "
		"--rdb-key-save-delay 2000 --pidfile /tmp/redis.pid >&2"));
	snprintf(command, sizeof(command), "%s ping 2>&1 | grep -q PONG", cli);
	ok(until(!sh("%s", command), 60), "redis answers");
	must0(sh(
		"%s eval \"for i = 0, 20000 do redis.call('set', i, string.rep(i, 40)) end\" 0 >&2 && "
		"%s bgsave >&2",
		cli, cli));
	must0(sh("%s eval \"for i = 0, 5000 do redis.call('set', i, i) end\" 0 >&2", cli));
	server = strtol(slurp("/tmp/redis.pid"), NULL, 10);
	snprintf(command, sizeof(command), "/proc/%d/task/%d/children", server, server);
	saver = strtol(slurp(command), NULL, 10);
	ok(saver > 0, "its child is saving");
	if (saver > 0) {
		must(kill(saver, SIGSTOP));
		must(kill(server, SIGSTOP));
		shares_exact(server, "redis is exact");
		shares_exact(saver, "and so is the child that saves it");
		ok(shares(server).sum.uss < show(server, NULL).rss &&
			   shares(saver).sum.uss < show(saver, NULL).rss,
		   "they share memory");
		must(kill(saver, SIGKILL));
		must(kill(server, SIGCONT));
	}
	must(kill(server, SIGKILL));
	ok(until(kill(server, 0), 30), "redis ends");
}

/* ---- who asks, and what it costs ---- */

static void asked_by_mtagctl(void)
{
	char *p = area(N * PG), *text, *object;
	const char *from[] = {"show --pss", "show --from /tmp/t_pss.snap --pss", "tree --pss"};
	pid_t pid;
	int status;

	frozen_child(pid) touch(b, p, N * PG);
	ctl(NULL, "snapshot --pss -o /tmp/t_pss.snap %d", pid);
	for (size_t i = 0; i < COUNT(from); i++) {
		uint64_t uss = 0, pss = 0;

		text = ctl(NULL, "-j %s %d", from[i], pid);
		while ((object = json_next(&text))) {
			if (strcmp(json_string(object, "tag"), "b"))
				continue;
			uss += json_u64(object, "uss_bytes");
			pss += json_u64(object, "pss_bytes");
		}
		ok(uss == N * PG && pss == N * PG, "mtagctl %s: both numbers of a tag", from[i]);
	}
	ok(!strstr(ctl(NULL, "-j show %d", pid), "pss_bytes"),
	   "nothing is walked that nobody asked for");
	end_child(pid);
	ctl(&status, "show --pss %d 2>/dev/null", pid);
	is(status, 2, "of a process that has ended there is none");
	must(unlink("/tmp/t_pss.snap"));
}

/* Processes that end while all are read are left out, as without --pss. */
static void coming_and_going(void)
{
	pid_t storm = child();
	int wrong = 0, status;

	if (!storm) {
		for (;;)
			in_child {
			}
	}
	for (int i = 0; i < 3; i++) {
		ctl(&status, "show --pss >/dev/null 2>&1");
		wrong += status != 0;
	}
	end_child(storm);
	is(wrong, 0, "processes may end while all are read");
}

static void refused(void)
{
	struct heard *heard;
	pid_t self = getpid(), pid = child();

	if (!pid) {
		must0(setgid(65534) || setuid(65534));
		heard = nl_ask(nl_open(), MTAG_CMD_PSS_GET, NLM_F_DUMP, self);
		_exit(heard->error != -EACCES || heard->messages);
	}
	reap(pid);
	ok(true, "nobody is told nothing");
	is(-shares(2).error, EINVAL, "a kernel thread has none");
	pid = child();
	if (!pid)
		_exit(0);
	reap(pid);
	is(-shares(pid).error, ESRCH, "a process that does not exist is said not to");
}

static void memory(void)
{
	uint64_t before;

	shares(getpid());
	before = health("memory");
	for (int i = 0; i < 100; i++)
		shares(getpid());
	/* What ended before may still be given back. */
	ok(until(health("memory") <= before, 20), "nothing is kept of what was asked");
	set_limit("max_memory_kb", 1);
	is(-shares(getpid()).error, ENOMEM, "at the limit of memory it is refused");
	set_limit("max_memory_kb", 0);
	ok(until(health("memory") <= before, 20), "and what it had is given back");
}

int main(int argc, char **argv)
{
	int fd;

	(void)argv;
	if (argc > 1)
		return twin();
	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	f = tag("f");
	w = tag("w");
	alone();
	copied();
	fd = must(memfd_create("some", MFD_CLOEXEC));
	mapped_by_several("shared memory", fd);
	if (real_fs()) {
		fd = must(open(FS "/some", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
		mapped_by_several("a file", fd);
		written_privately();
	}
	crowd();
	merged();
	swapped();
	redis();
	asked_by_mtagctl();
	coming_and_going();
	refused();
	memory();
	return end_test();
}
