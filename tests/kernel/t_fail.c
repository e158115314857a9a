// SPDX-License-Identifier: GPL-2.0
/*
 * Each n-th allocation of mtag fails, in all that a process can do with mtag. The result must be an error, after
 * which the caller may try again, or a counted loss, but never a wrong total. See failnth/failnth.c for what counts.
 */
/* vm: group=parallel mem=1G timeout=600 repairs=any because="each allocation that fails in a hook may cost one" */
#include "lib/fail_by.h"
#include "lib/fail_each.h"
#include "lib/fail_fork.h"
#include "lib/uffd_move.h"
#include <sys/ipc.h>
#include <sys/shm.h>

/* ---- operations ---- */

static void attach(void)
{
	char *p = area(N * PG);
	int result;
	mtag_t t;

	write_pages(p, N / 2);
	arm();
	result = mtag_init();
	or_enomem(disarm(), result, "mtag_init");
	begin();
	exactly("after attaching again");
	t = tag("t");
	touch(t, p, N * PG);
	good(anon_of(t) == N / 2 * PG, "its tag has not what it touched");
	exactly("with a tag");
}

/* Writes under a word that libmtag does not know. */
static void touch_by(volatile uint32_t *word, mtag_t t, char *p, size_t len)
{
	*word = t;
	for (size_t at = 0; at < len; at += PG)
		((volatile char *)p)[at] = 1;
	*word = 0;
}

static void register_word(void)
{
	uint32_t *word = (uint32_t *)area(PG);
	struct mtag_ioc_thread arg = {.size = sizeof(arg), .word = (uintptr_t)word};
	char *p = area(N * PG);
	mtag_t t;
	int result;

	begin();
	t = tag("t");
	arm();
	result = mtag_ioctl(MTAG_IOC_THREAD, &arg);
	or_enomem(disarm(), result, "registering");
	exactly("after registering a word");
	if (result) {
		touch(t, p, N * PG);
		good(anon_of(t) == N * PG, "the old word does not count");
		must(madvise(p, N * PG, MADV_DONTNEED));
		good(!mtag_ioctl(MTAG_IOC_THREAD, &arg), "registering again fails");
	}
	touch_by(word, t, p, N * PG);
	good(anon_of(t) == N * PG, "the word does not count");
	exactly("with another word");
}

static int tags_before;

/* Touches under a number that is no tag are counted as untagged. */
static void guess(mtag_t next, char *p)
{
	uint64_t bad = health("bad_word");

	touch(next, p, N * PG);
	bad = health("bad_word") - bad;
	good(bad >= N, "%" PRIu64 " of %d touches by the number of no tag", bad, N);
	exactly("under the number of a tag that could not be made");
	must(madvise(p, N * PG, MADV_DONTNEED));
	exactly("without what was touched then");
}

static void relative(struct gate *g, mtag_t next, char *p)
{
	pass_gate(g, 2);
	if (!atomic_load(&now_at->made))
		guess(next, p);
	open_gate(g, 3);
	pass_gate(g, 4);
	exactly("in a relative, before it uses the tag");
	touch(next, p, N * PG);
	good(anon_of(next) == N * PG, "a relative has not the tag's account");
	exactly("in a relative");
}

/* The tags of a program have consecutive numbers, so the next number is known. */
static void create(void)
{
	/* Of one page, all of which the write below makes its own. */
	_Alignas(64) struct mtag_ioc_child arg = {
		.size = sizeof(arg), .name = (uintptr_t) "next", .name_len = 4};
	mtag_t next = MTAG_ID_FIRST + tags_before;
	char name[16], *p = area(N * PG);
	struct gate *g = gate();
	int result, status;
	pid_t pid;

	begin();
	for (int i = 0; i < tags_before; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		tag(name);
	}
	pid = child();
	if (!pid) {
		open_gate(g, 1);
		relative(g, next, p);
		_exit(0);
	}
	pass_gate(g, 1);
	/* Since the fork the page may be shared: no copy of it is to be among what fails. */
	*(volatile __typeof__(arg.size) *)&arg.size = sizeof(arg);
	arm();
	result = mtag_ioctl(MTAG_IOC_CHILD, &arg);
	or_enomem(disarm(), result, "creating a tag");
	atomic_store(&now_at->made, !result);
	open_gate(g, 2);
	pass_gate(g, 3);
	if (result) {
		guess(next, p);
		arg.size = sizeof(arg);
		good(!mtag_ioctl(MTAG_IOC_CHILD, &arg), "creating it again fails");
	}
	good(arg.id == next, "the tag is %u", arg.id);
	touch(next, p, N * PG);
	good(anon_of(next) == N * PG, "the tag has not what was touched");
	exactly("with the tag");
	open_gate(g, 4);
	must(waitpid(pid, &status, 0));
	good(!status, "the relative ended with status %#x", status);
	exactly("in the end");
}

static void range(void)
{
	char *p = area(N * PG), *q;
	int first, second;
	mtag_t t, u;

	begin();
	t = tag("t");
	u = tag("u");
	q = shared(u, N * PG);
	touch(u, p, N / 2 * PG);
	arm();
	first = mtag_range(p, N * PG, t, MTAG_RANGE_PRESENT);
	second = mtag_range(q, N * PG, t, 0);
	or_enomem(disarm(), first ?: second, "a range");
	exactly("after giving ranges to a tag");
	good(!mtag_range(p, N * PG, t, MTAG_RANGE_PRESENT), "the range cannot be had again");
	good(!mtag_range(q, N * PG, t, 0), "nor the other one");
	touch(u, p, N * PG);
	good(anon_of(t) == N * PG && shmem_of(t) == N * PG,
	     "the tag has not what is in its ranges");
	good(!anon_of(u) && !shmem_of(u), "another one has some of it");
	exactly("with ranges");
	must(munmap(q, N * PG));
	must(munmap(p, N * PG));
	exactly("without them");
}

/* Calls that change the address space; one of them moves shared pages to where another tag had some. */
static void calls(void)
{
	const size_t len = 2 * N * PG;
	int failed, id = must(shmget(IPC_PRIVATE, len, 0600));
	char *p, *q, *room, *attached;
	uint64_t before;
	mtag_t t, u;

	begin();
	t = tag("t");
	u = tag("u");
	p = shared(t, len);
	mtag_enter(u);
	room = must(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	must(munmap(room, len));
	before = losses();
	arm();
	q = mremap(p, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	attached = shmat(id, NULL, 0);
	sbrk(4 * PG);
	sbrk(-4 * PG);
	mmap(q, len / 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	shmdt(attached);
	failed = disarm();
	mtag_enter(MTAG_UNTAGGED);
	must(shmctl(id, IPC_RMID, NULL));
	good(q == room && (long)attached != -1, "a call failed");
	counted(failed, before);
	exactly("after calls");
	must(munmap(q, len));
	exactly("after unmapping what was moved");
}

static void collapse(void)
{
	char *p = area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE);
	uint64_t before;
	int failed;
	bool kept;
	mtag_t t;

	begin();
	t = tag("t");
	no_huge(p, HPAGE);
	touch(t, p, HPAGE / 2);
	before = losses();
	/* khugepaged may be faster. */
	fail_arm(-1, now_at->n);
	must(madvise(p, HPAGE, MADV_HUGEPAGE));
	if (madvise(p, HPAGE, MADV_COLLAPSE))
		diag("  no collapse: %s", strerror(errno));
	failed = disarm();
	/* What failed may have been khugepaged's for another mm, or the next to try had memory. */
	kept = until(anon_of(t) == (smaps(p, HPAGE).huge ? HPAGE : HPAGE / 2), 1);
	good(kept || losses() > before, "the tag has not its pages, and nothing was lost");
	exactly("after a collapse");
	if (!failed && smaps(p, HPAGE).huge)
		good(anon_of(t) == HPAGE, "the tag has not all of the huge page");
	must(munmap(p + PG, PG));
	exactly("after it was split");
	must(munmap(p, HPAGE));
	exactly("without it");
}

/* A process whose move of pages during a walk could not be recorded is counted anew, each time. */
static void moves(void)
{
	char *p = area(N * PG), *q = area(N * PG);
	struct uffdio_move move = {.dst = (uintptr_t)q, .src = (uintptr_t)p, .len = N * PG};
	int uffd = must(uffd_open()), failed, result;
	uint64_t before;
	mtag_t t;

	begin();
	t = tag("t");
	touch(t, p, N * PG);
	uffd_register(uffd, q, N * PG);
	before = losses();
	arm();
	result = ioctl(uffd, UFFDIO_MOVE, &move);
	failed = disarm();
	good(!result, "moving: %s", strerror(errno));
	counted(failed, before);
	exactly("after moving");
	before = health("repairs");
	good(anon_of(t) == N * PG, "the tag has not what was moved");
	good((health("repairs") > before) == !!failed, "it is %scounted at another reading",
	     failed ? "not " : "");
	close(uffd);
	must(munmap(q, N * PG));
	exactly("after unmapping what was moved");
}

/* ---- mtagctl ---- */

static const char *dump_command, *dump_option;

/* Runs mtagctl with failures; returns its exit status. */
static int failing_ctl(const char *out, const char *command, pid_t of, const char *json)
{
	char number[16];
	int status, fd;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", of);
	pid = child();
	if (!pid) {
		fd = must(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600));
		dup2(fd, STDOUT_FILENO);
		dup2(must(open("/dev/null", O_WRONLY)), STDERR_FILENO);
		arm();
		execlp("mtagctl", "mtagctl", command, number, json, dump_option, NULL);
		_exit(9);
	}
	must(waitpid(pid, &status, 0));
	disarm();
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
	good(!status || (now_at->failed && status == 2), "mtagctl %s: exit status %d", command,
	     status);
	return status;
}

static void exactly_of(pid_t pid, const char *when)
{
	struct truth truth = truth_of(pid);
	struct shown s = show(pid, NULL);
	struct audit a = audit(pid);

	good(s.rss == truth.rss && s.anon == truth.anon && s.virt == truth.virt && !a.drift,
	     "not exact %s: rss %" PRIu64 "/%" PRIu64 ", drift %" PRIu64, when, s.rss, truth.rss,
	     a.drift);
}

static pid_t victim(struct gate *g)
{
	pid_t pid = child();

	if (pid)
		return pid;
	write_pages(area(N * PG), N);
	write_pages(must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0)),
		    N);
	open_gate(g, 1);
	pass_gate(g, 2);
	_exit(0);
}

static void track(void)
{
	struct gate *g = gate();
	pid_t pid = victim(g);
	int status;

	pass_gate(g, 1);
	/* Whose answer is lost does not know how it went: ENOBUFS, see netlink(7). */
	if (failing_ctl("/tmp/fail.out", "track", pid, NULL))
		good(!show(pid, NULL).rows || strstr(now_at->what, "__alloc_skb") ||
			     strstr(now_at->what, "kmalloc_reserve"),
		     "refused, and yet tracked");
	ctl(&status, "track %d", pid);
	good(!status, "it cannot be tracked afterwards");
	exactly_of(pid, "once it is tracked");
	open_gate(g, 2);
	must(waitpid(pid, &status, 0));
}

static int count_rows(const char *path)
{
	char *text = slurp(path);
	int rows = 0;

	while (text && json_next(&text))
		rows++;
	return rows;
}

static void dump(void)
{
	int status, want;
	char name[16];

	begin();
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		tag(name);
	}
	/* The same in each attempt: asked for in the first. */
	if (now_at->n == 1 && !now_at->all) {
		ctl(&status, "-j %s %s %d >/tmp/fail.want", dump_command, dump_option ?: "",
		    getpid());
		good(!status, "%s: status %d", dump_command, status);
	}
	want = count_rows("/tmp/fail.want");
	good(want, "%s: %d rows", dump_command, want);
	status = failing_ctl("/tmp/fail.out", dump_command, getpid(), "-j");
	if (!status)
		good(count_rows("/tmp/fail.out") == want, "%s: %d rows of %d", dump_command,
		     count_rows("/tmp/fail.out"), want);
	exactly("after a dump");
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static void files(void)
{
	static const char *const names[] = {"stats", "health", "hooks"};
	char path[64], *text;
	size_t want[3];
	bool refused = false;

	begin();
	tag("t");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/mtag/%s", names[i]);
		want[i] = lines(slurp(path));
	}
	arm();
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/mtag/%s", names[i]);
		text = slurp(path);
		refused |= !text;
		good(text ? lines(text) == want[i] : errno == ENOMEM, "%s: %zu lines of %zu",
		     names[i], lines(text), want[i]);
	}
	if (disarm())
		good(refused, "something is missing in a file, and was not missed");
	exactly("after reading files");
}

static void ioctls(void)
{
	char buf[MTAG_PATH_MAX] = ""; /* written to, so no page of it is to be copied later */
	struct usage u;
	int path = 0, used, set;
	mtag_t t;

	begin();
	t = tag("t");
	arm();
	if (!mtag_path(t, buf, sizeof(buf)))
		path = -errno;
	used = usage_get(t, &u);
	set = mtag_default(t);
	or_enomem(disarm(), path ?: used ?: set, "a call");
	exactly("after small calls");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "execed"))
		return execed();
	only = argv[1];
	every_one = in_long_form();
	need_root();
	now_at = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	khugepaged_goes_on();
	fail_begin();
	fail_beneath_mtag();
	each("attaching, the hooks being out", attach, 1);
	each("attaching", attach, 1);
	each("registering a word", register_word, 1);
	each("small calls", ioctls, 1);
	each("a program's first tag", create, 1);
	tags_before = 14;
	each("a tag that needs larger accounts", create, 1);
	tags_before = 30;
	each("a tag that needs more accounts", create, 1);
	each("ranges", range, 1);
	each("fork", forks, 1);
	each("a thread", threads, 1);
	each("a thread's name", naming, 1);
	each("a thread's own tag", by_tid, 1);
	each("the tags of mappings", by_map, 1);
	each("exec", execs, 1);
	fail_set("deadly", 1);
	each("a fork that is killed", killed_forks, 1);
	each("an exec that is killed", killed_execs, 1);
	fail_set("deadly", 0);
	each("mmap, mremap, shmat, brk", calls, 1);
	if (has_huge_pages())
		each("collapse", collapse, 1);
	else
		skip("collapse (no huge pages here)");
	if (has_uffd_move())
		each("UFFDIO_MOVE", moves, 1);
	else
		skip("UFFDIO_MOVE (not in this kernel)");
	each("track", track, 3);
	dump_command = "show";
	each("show", dump, 3);
	dump_option = "--pss";
	each("show --pss", dump, 3);
	dump_option = NULL;
	dump_command = "audit";
	each("audit", dump, 3);
	each("files of debugfs", files, 1);
	fail_end();
	return done();
}
