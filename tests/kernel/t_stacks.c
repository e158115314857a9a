// SPDX-License-Identifier: GPL-2.0
/* Each anonymous page is beneath the stack that first touched it, wherever its contents go. */
/* vm: timeout=600 */
#include <dlfcn.h>
#include <sys/eventfd.h>
#include "lib/keepers.h"
#include "lib/stacks.h"
#include "stacks/signalled.h"
#include "stacks/sites.h"

/* ---- the ways of a page ---- */

static mtag_t tags[4];
static struct site sites[SITES];

static void sixteen(void)
{
	char *p = area(SITES * N * PG), what[80];

	for (int k = 0; k < SITES; k++)
		visit(&sites[k], k, touch_here, tags[k % 4], p + k * N * PG, k + 1);
	for (int k = 0; k < SITES; k++) {
		snprintf(what, sizeof(what), "%d pages beneath place %d, of depth %d", k + 1, k,
			 k % 8 + 1);
		has(getpid(), tags[k % 4], &sites[k], (k + 1) * PG, 0, what);
	}
	for (int i = 0; i < 4; i++)
		tag_adds_up(tags[i], "sixteen places");
	is(stack_sum(stacks(getpid()), tags[0], ANY_KIND).stacks, 4,
	   "one stack for all pages of a place");
	must(munmap(p, SITES * N * PG));
	is(stack_sum(stacks(getpid()), tags[0], ANY_KIND).stacks, 0, "after munmap there is none");
	for (int k = 0; k < SITES; k++) {
		snprintf(what, sizeof(what), "place %d is known to have touched %d pages", k,
			 k + 1);
		ever(getpid(), tags[k % 4], &sites[k], (k + 1) * PG, what);
	}
}

static void by_kernel(mtag_t a)
{
	char *p = area(N * PG), *from = area(N * PG);
	struct iovec theirs = {from, 4 * PG}, ours = {p + 8 * PG, 4 * PG};
	struct site s;
	pid_t pid;

	visit(&s, 3, read_here, a, p, 4);
	has(getpid(), a, &s, 4 * PG, 0, "what read(2) fills is beneath the call");
	touch(0, from, 4 * PG);
	pid = child();
	if (!pid) {
		must(process_vm_writev(getppid(), &theirs, 1, &ours, 1, 0));
		_exit(0);
	}
	reap(pid);
	is(stack_sum(stacks(getpid()), ANY_TAG, MTAG_STACK_KERNEL).anon >= 4 * PG, true,
	   "what another process writes there is beneath no stack, but the kernel's");
	must(munmap(p, N * PG));
	must(munmap(from, N * PG));
}

static void copied(mtag_t a, mtag_t b)
{
	char *p = area(N * PG);
	struct site s, w;
	pid_t pid;

	visit(&s, 5, touch_here, a, p, N);
	frozen_child(pid)
	{
		visit(&w, 6, touch_here, b, p, N / 2);
	}
	has(pid, a, &s, N * PG, 0, "a child that copies half keeps the stack of the originals");
	is(stack_sum(stacks(pid), a, ANY_KIND).touched, 0, "it has touched none of it first");
	is(stack_sum(stacks(pid), b, ANY_KIND).touched, 0, "nor by writing to the copies");
	has(getpid(), a, &s, N * PG, 0, "and so does its parent");
	whole(pid, "a forked child");
	end_child(pid);
	visit(&w, 7, touch_here, b, p, N);
	has(getpid(), a, &s, N * PG, 0, "writing again changes nothing");
	must(madvise(p, N / 4 * PG, MADV_DONTNEED));
	has(getpid(), a, &s, (N - N / 4) * PG, 0, "what is discarded is beneath no stack");
	visit(&w, 7, touch_here, a, p, N / 4);
	has(getpid(), a, &w, N / 4 * PG, 0, "and then beneath that which touches it anew");
	ever(getpid(), a, &s, N * PG, "what was discarded was touched all the same");
	ever(getpid(), a, &w, N / 4 * PG, "and what is touched anew is so once more");
	tag_adds_up(a, "discarded and touched anew");
	must(munmap(p, N * PG));
}

static void of_file(mtag_t a)
{
	int fd = must(open(exe, O_RDONLY | O_CLOEXEC));
	char *p = must(mmap(NULL, 4 * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
	struct site s;

	read_all(0, p, 4 * PG);
	visit(&s, 2, touch_here, a, p, 4);
	has(getpid(), a, &s, 4 * PG, 0, "private pages of a file are beneath their writer");
	ever(getpid(), a, &s, 4 * PG, "who has touched them");
	must(munmap(p, 4 * PG));
	close(fd);
}

static void swapped(mtag_t a)
{
	char *p = area(N * PG);
	struct site s, w;
	pid_t pid;

	if (!swap_zram()) {
		skip("swapped pages keep their stack (no zram)");
		return;
	}
	visit(&s, 9, touch_here, a, p, N);
	ok(page_out(p, N * PG), "all of it goes to swap");
	has(getpid(), a, &s, 0, N * PG, "swapped pages are beneath their stack");
	tag_adds_up(a, "swapped out");
	frozen_child(pid) read_all(0, p, N / 2 * PG);
	has(pid, a, &s, N / 2 * PG, N / 2 * PG, "a child that reads half of it back");
	whole(pid, "a child with swap");
	end_child(pid);
	visit(&w, 10, touch_here, a, p, N);
	has(getpid(), a, &s, N * PG, 0, "what comes back is beneath the first stack");
	ok(page_out(p, N * PG), "it goes out again");
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	has(getpid(), a, &s, 0, N / 2 * PG, "half of it is discarded there");
	swapoff_all();
	has(getpid(), a, &s, N / 2 * PG, 0, "swapoff brings the rest back");
	must(munmap(p, N * PG));
}

static void huge(mtag_t a, mtag_t b)
{
	struct site s, w;
	uint64_t filled;
	char *p;

	if (!has_huge_pages()) {
		skip("huge pages keep their stack (there are none)");
		return;
	}
	compact_memory();
	p = huge_area(2 * HPAGE);
	visit(&s, 11, touch_here, a, p, 1);
	is(smaps(p, 2 * HPAGE).huge, HPAGE, "a touch brings a huge page");
	has(getpid(), a, &s, HPAGE, 0, "all of it is beneath the stack");
	ever(getpid(), a, &s, HPAGE, "which has touched all of it");
	must(madvise(p + PG, 16 * PG, MADV_DONTNEED));
	visit(&w, 12, touch_here, b, p + PG, 16);
	has(getpid(), a, &s, HPAGE - 16 * PG, 0, "split, each page keeps it");
	has(getpid(), b, &w, 16 * PG, 0, "and what fills the hole has another");
	must(madvise(p + 32 * PG, 8 * PG, MADV_DONTNEED));
	if (madvise(p, HPAGE, MADV_COLLAPSE)) {
		skip("collapsed, each page keeps it (no MADV_COLLAPSE)");
	} else {
		is(smaps(p, 2 * HPAGE).huge, HPAGE, "it is collapsed");
		has(getpid(), a, &s, HPAGE - 24 * PG, 0, "collapsed, each page keeps it");
		has(getpid(), b, &w, 16 * PG, 0, "that of the other tag as well");
		filled = stack_sum(stacks(getpid()), a, MTAG_STACK_KERNEL).anon;
		is(filled, 8 * PG, "what the collapse fills is the kernel's");
		tag_adds_up(a, "collapsed");
	}
	must(munmap(p, 2 * HPAGE));
}

/* Recursion that is deeper than a stack can be. */
static alone void deep(int depth)
{
	if (depth)
		deep(depth - 1);
	else
		touch_here();
	__asm__ volatile("");
}

static void too_deep(mtag_t a)
{
	char *p = area(PG);
	struct site s = {.at = p, .pages = 1};
	struct stacks *seen;
	mtag_t before;

	current = &s;
	before = mtag_enter(a);
	deep(300);
	mtag_leave(before);
	seen = stacks(getpid());
	for (unsigned int i = 0; i < seen->nr; i++)
		if (seen->stack[i].tag == a && seen->stack[i].anon) {
			is(seen->stack[i].nr, FRAMES_MAX, "of 300 frames 127 are kept");
			is(seen->stack[i].why, MTAG_STACK_DEEP, "and it says so");
		}
	must(munmap(p, PG));
}

/* More stacks than there are counters at first: one of each depth, by each tag, again and again. */
static void many(void)
{
	enum { DEPTHS = 100, ROUNDS = 3 };
	char *p = area(PG);
	struct site s = {.at = p, .pages = 1};
	uint64_t owned[4], total[4];
	struct stacks *seen;

	for (int i = 0; i < 4; i++) {
		owned[i] = c(tags[i], MTAG_C_TOUCHED);
		total[i] = stack_sum(stacks(getpid()), tags[i], ANY_KIND).touched;
	}
	for (int i = 0; i < 4 * DEPTHS * ROUNDS; i++) {
		mtag_t before = mtag_enter(tags[i % 4]);

		s.nr = 0;
		s.at = p;
		current = &s;
		deep(i / 4 % DEPTHS);
		mtag_leave(before);
		must(madvise(p, PG, MADV_DONTNEED));
	}
	seen = stacks(getpid());
	for (int i = 0; i < 4; i++) {
		is(c(tags[i], MTAG_C_TOUCHED) - owned[i], DEPTHS * ROUNDS * PG,
		   "a tag touches by a hundred stacks");
		is(stack_sum(seen, tags[i], ANY_KIND).touched - total[i], DEPTHS * ROUNDS * PG,
		   "all of it is counted by stack");
	}
	is(seen->uncounted, 0, "there was room for all counters");
	must(munmap(p, PG));
}

/* Two threads touch the same, by the same stack. */
static void *touch_much(void *p)
{
	for (int i = 0; i < 2000; i++) {
		touch(tags[1], p, 4 * PG);
		must(madvise(p, 4 * PG, MADV_DONTNEED));
	}
	return NULL;
}

static void at_once(void)
{
	uint64_t before = stack_sum(stacks(getpid()), tags[1], ANY_KIND).touched;
	pthread_t threads[2];
	char *p = area(8 * PG);

	for (int i = 0; i < 2; i++)
		must0(pthread_create(&threads[i], NULL, touch_much, p + 4 * i * PG));
	for (int i = 0; i < 2; i++)
		must0(pthread_join(threads[i], NULL));
	is(stack_sum(stacks(getpid()), tags[1], ANY_KIND).touched - before, 16000 * PG,
	   "two threads that touch at once: each page is counted");
	must(munmap(p, 8 * PG));
}

/* By any stack, by the kernel, sampled or not. */
static void all_counted(void)
{
	for (int i = 0; i < 4; i++)
		is(stack_sum(stacks(getpid()), tags[i], ANY_KIND).touched,
		   c(tags[i], MTAG_C_TOUCHED), "all that a tag ever touched is beneath its stacks");
}

/* Part @i of what is sampled: each has a tag and a place of its own, together. */
static char *part_of(char *p, int i)
{
	return p + (size_t)i * N * PG;
}

/* Each first touch is drawn with the chance of 1/4, whatever became of those before. */
static void sampled(void)
{
	enum { PARTS = 4 * SITES, PAGES = PARTS * N };
	char *p = area(PAGES * PG);
	uint64_t pages = 0, others = 0;
	struct stacks *seen;
	double spread = 0;

	is(-stacks_start_self(4, -1), 0, "one in four is sampled from here on");
	for (int i = 0; i < PARTS; i++)
		visit(&sites[i / 4], i / 4, touch_here, tags[i % 4], part_of(p, i), N);
	is(-stacks_start_self(1, -1), 0, "and then all again");
	seen = stacks(getpid());
	for (int i = 0; i < PARTS; i++) {
		uint64_t here = beneath(seen, tags[i % 4], &sites[i / 4]).anon / PG;
		double off = (double)here - N / 4.0;

		pages += here;
		spread += off * off / (N * 3 / 16.0);
	}
	for (int i = 0; i < 4; i++)
		others += stack_sum(seen, tags[i], MTAG_STACK_UNSAMPLED).anon / PG;
	is(pages + others, PAGES, "sampled or not, each page is there");
	is(seen->one_in, 0, "it does not say one in how many: that varied");
	/* The standard deviation is 28 pages: 4.5 of them are exceeded once in 150,000 runs. */
	ok(pages > PAGES / 4 - 125 && pages < PAGES / 4 + 125,
	   "of %d first touches %" PRIu64 " are sampled", PAGES, pages);
	/*
	 * Pearson's chi-squared of 64 degrees of freedom: each bound is passed once in a million
	 * runs. Each fourth page would make it 0; parts that are sampled as a whole, thousands.
	 */
	ok(spread > 23 && spread < 133,
	   "no draw depends on others: over %d parts they spread by a chi-squared of %.1f", PARTS,
	   spread);
	must(munmap(p, PAGES * PG));
}

/* Code elsewhere: what runs there is in its frames. */
static void elsewhere(mtag_t a)
{
	/* push %rbp; mov %rsp,%rbp; movb $1,(%rdi); pop %rbp; ret */
	static const unsigned char text[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x5d, 0xc3};
	char *p = area(PG), *jit = area(PG);
	int event = must(eventfd(0, EFD_NONBLOCK)), fd;
	struct stacks *s;
	bool found = false;
	mtag_t before;
	void *q;

	memcpy(jit, text, sizeof(text));
	must(mprotect(jit, PG, PROT_READ | PROT_EXEC));
	before = mtag_enter(a);
	((void (*)(char *))jit)(p);
	mtag_leave(before);
	s = stacks(getpid());
	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		found |= e->tag == a && e->nr > 1 && e->frame[0].offset == (uintptr_t)jit + 4 &&
			 !strcmp(image_path(s, e->frame[0].image) ?: "", "[anon]") &&
			 !strcmp(image_path(s, e->frame[1].image) ?: "", exe);
	}
	if (!ok(found, "code made at run time has its addresses in frames"))
		show_stacks(s, a);
	must(munmap(p, PG));
	must(munmap(jit, PG));
	is(-stacks_start_self(1, event), 0, "an eventfd is taken");
	signals(event);
	fd = must(open("/bin/true", O_RDONLY | O_CLOEXEC));
	q = must(mmap(NULL, PG, PROT_READ, MAP_PRIVATE, fd, 0));
	is(signals(event), 0, "data of a file do not signal it");
	must(mprotect(q, PG, PROT_READ | PROT_EXEC));
	is(signals(event), 1, "a file that becomes executable does");
	must(munmap(q, PG));
	close(fd);
	is(-stacks_start_self(1, -1), 0, "it is forgotten again");
	close(event);
}

/* ---- other programs ---- */

#define FOUND "all-found"

/* After exec nothing has to be asked for again. The parent reads what was found from the name. */
static int executed(void)
{
	struct site s;
	char *p;

	begin();
	read_code();
	p = area(N * PG);
	visit(&s, 8, touch_here, tag("new"), p, N);
	if (found(getpid(), tag("new"), &s, N * PG, 0))
		must0(prctl(PR_SET_NAME, FOUND));
	freeze();
	return 0;
}

static pid_t execute(const char *arg)
{
	pid_t pid = child();

	if (!pid) {
		execl(exe, "t_stacks", arg, NULL);
		_exit(1);
	}
	await_frozen(pid);
	return pid;
}

static void by_exec(void)
{
	pid_t pid = execute("executed");
	struct stacks *s = stacks(pid);
	char path[32];

	is(-s->error, 0, "the stacks of an executed program are taken");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	ok(!strcmp(slurp(path), FOUND "\n"), "it finds its own touches beneath their stack");
	ok(stack_sum(s, MTAG_ID_FIRST, MTAG_STACK_TAKEN).anon == N * PG,
	   "beneath its tag, as before");
	ok(stack_sum(s, ANY_TAG, MTAG_STACK_KERNEL).anon >= PG, "its arguments are the kernel's");
	is(stack_sum(s, ANY_TAG, MTAG_STACK_NONE).anon, 0, "and nothing was there before");
	whole(pid, "an executed program");
	end_child(pid);
}

/* A process that runs already. */
static void started_later(void)
{
	struct gate *g = gate();
	char *p = area(2 * N * PG);
	struct site before, after;
	pid_t pid = child();

	if (!pid) {
		begin();
		visit(&before, 1, touch_here, tag("a0"), p, N);
		open_gate(g, 1);
		pass_gate(g, 2);
		visit(&after, 2, touch_here, tag("a0"), p + N * PG, N);
		has(getpid(), tag("a0"), &after, N * PG, 0, "what it touches from then on has");
		is(stack_sum(stacks(getpid()), tag("a0"), MTAG_STACK_NONE).anon, N * PG,
		   "what it had has no stack");
		freeze();
	}
	pass_gate(g, 1);
	is(-stacks(pid)->error, ENODATA, "before it is started there are no stacks");
	is(-stacks_start(pid, 1, -1), 0, "another process is started");
	open_gate(g, 2);
	await_frozen(pid);
	whole(pid, "a process that was started later");
	is(stack_sum(stacks_older(pid, 3600), ANY_TAG, ANY_KIND).anon, 0,
	   "none of it is an hour old");
	end_child(pid);
	must(munmap(p, 2 * N * PG));
}

static void refused(void)
{
	pid_t self = getpid(), pid, untracked;

	is(-stacks_start_self(0, -1), EINVAL, "one in none is refused");
	is(-stacks_start_self(1, 1000), EBADF, "an eventfd that is not open is refused");
	is(-stacks_start_self(1, 0), EINVAL, "and a file that is no eventfd");
	is(-mtag_ioctl(MTAG_IOC_STACKS, NULL), EFAULT, "and no argument");
	is(-stacks_start(self, 0, -1), EINVAL, "one in none of another process is refused");
	is(-stacks_start(0, 1, -1), EINVAL, "no process is refused");
	is(-stacks(0)->error, EINVAL, "none to read from as well");
	is(-stacks_start(2, 1, -1), EINVAL, "a kernel thread has no stack");
	is(-stacks(2)->error, EINVAL, "nor can it be read");
	untracked = must(fork());
	if (!untracked) {
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	until(!sh("grep -qx sleep /proc/%d/comm", untracked), 60);
	sh("mtagctl untrack %d 2>/dev/null", untracked);
	is(-stacks_start(untracked, 1, -1), ENOENT, "an untracked process is said to be one");
	is(-stacks(untracked)->error, ENOENT, "also when it is read");
	end_child(untracked);
	pid = child();
	if (!pid) {
		must0(setgid(65534) || setuid(65534));
		_exit(stacks(self)->error != -EACCES || stacks_start(self, 1, -1) != -EPERM ||
		      stacks(self)->nr);
	}
	reap(pid);
	ok(true, "nobody may neither read nor start them");
}

int main(int argc, char **argv)
{
	ssize_t n = must(readlink("/proc/self/exe", exe, sizeof(exe) - 1));

	exe[n] = '\0';
	if (argc > 1 && !strcmp(argv[1], "executed"))
		return executed();
	begin_test();
	hand_in_tables();
	begin();
	no_khugepaged();
	for (int i = 0; i < 4; i++)
		tags[i] = tag((char[]){'t', '0' + i, 0});
	is(-stacks(getpid())->error, ENODATA, "no stacks are taken that nobody asked for");
	read_code();
	started_later();
	is(-stacks_start_self(1, -1), 0, "this process's are taken from here on");
	stacks(getpid());
	sixteen();
	by_kernel(tags[0]);
	in_handler(tags[0]);
	copied(tags[0], tags[1]);
	of_file(tags[0]);
	swapped(tags[0]);
	huge(tags[0], tags[1]);
	too_deep(tags[0]);
	many();
	at_once();
	is(stacks(getpid())->one_in, 1, "it says that each first touch was sampled");
	sampled();
	elsewhere(tags[0]);
	by_exec();
	refused();
	is(stacks(getpid())->lost, 0, "no stack was lost");
	all_counted();
	return end_test();
}
