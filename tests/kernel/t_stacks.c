// SPDX-License-Identifier: GPL-2.0
/* Each anonymous page is beneath the stack that first touched it, wherever its contents go. */
/* vm: timeout=600 */
#include <dlfcn.h>
#include <sys/eventfd.h>
#include "lib/keepers.h"
#include "lib/stacks.h"

#define SITES 16
#define DEEP  12 /* frames of a site's stack that the test knows, at most */
#define N     64

#define alone __attribute__((noinline, noipa))

/*
 * A site is a chain of calls that ends at one instruction. Each function of the chain notes the address that it
 * returns to: that is the truth.
 */
struct site {
	char *at;
	size_t pages;
	unsigned int nr;
	const void *frame[DEEP]; /* innermost first; the first is the instruction */
};

extern const char stacks_touch[], stacks_in_kernel[];
static struct site *current;
static char exe[256];

#define note() (current->frame[current->nr++] = __builtin_return_address(0))

/* Writes to each page at one known instruction. */
static alone void touch_here(void)
{
	char *at = current->at;
	size_t pages = current->pages;

	note();
	__asm__ volatile("1:\n.globl stacks_touch\nstacks_touch: movb $1, (%0)\n"
			 "add $4096, %0\ndec %1\njnz 1b"
			 : "+r"(at), "+r"(pages)
			 :
			 : "memory");
}

/* The kernel writes for the thread: read(2) into memory that is not there yet. */
static alone void read_here(void)
{
	static int fd = -1;
	long n;

	note();
	if (fd < 0)
		fd = must(open("/dev/zero", O_RDONLY | O_CLOEXEC));
	__asm__ volatile("syscall\n.globl stacks_in_kernel\nstacks_in_kernel:"
			 : "=a"(n)
			 : "0"(SYS_read), "D"(fd), "S"(current->at), "d"(current->pages * PG)
			 : "rcx", "r11", "memory");
	if (n != (long)(current->pages * PG))
		bail("read: %ld", n);
}

typedef void leaf_t(void);

/* Sixteen places, of depths 1 to 8. */
#define PLACE(n)                                                                                   \
	static alone void place_##n(leaf_t *leaf, int depth)                                       \
	{                                                                                          \
		note();                                                                            \
		if (depth)                                                                         \
			place_##n(leaf, depth - 1);                                                \
		else                                                                               \
			leaf();                                                                    \
		__asm__ volatile("");                                                              \
	}
#define EACH(of)                                                                                   \
	of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13)    \
		of(14) of(15)
#define NAME(n) place_##n,

EACH(PLACE)

static void (*const place[SITES])(leaf_t *, int) = {EACH(NAME)};

/* The addresses were noted on the way in. */
static void turn(struct site *s, const void *instruction)
{
	const void *noted[DEEP];

	memcpy(noted, s->frame, sizeof(noted));
	s->frame[0] = instruction;
	for (unsigned int i = 0; i < s->nr; i++)
		s->frame[i + 1] = noted[s->nr - 1 - i];
	s->nr++;
}

/* Touches @pages at @at by place @k, under a tag. */
static alone void visit(struct site *s, int k, leaf_t *leaf, mtag_t as, char *at, size_t pages)
{
	mtag_t before;

	*s = (struct site){.at = at, .pages = pages};
	current = s;
	before = mtag_enter(as);
	place[k](leaf, k % 8);
	mtag_leave(before);
	turn(s, leaf == touch_here ? stacks_touch : stacks_in_kernel);
}

/* ---- where code is, by /proc/self/maps ---- */

static struct code {
	uint64_t start, end, offset;
	char path[128];
} code[128];

static unsigned int nr_code;

static void read_code(void)
{
	char *line = slurp("/proc/self/maps"), *end, perms[8];

	nr_code = 0;
	for (; line && *line; line = end ? end + 1 : NULL) {
		struct code *c = &code[nr_code];

		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		c->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %127s", &c->start,
			   &c->end, perms, &c->offset, c->path) >= 4 &&
		    perms[2] == 'x' && nr_code < COUNT(code) - 1)
			nr_code++;
	}
}

/* Is a frame of an answer the one at @address? */
static bool same_frame(const struct stacks *s, const struct mtag_stack_frame *f,
		       const void *address)
{
	uint64_t at = (uintptr_t)address;
	const char *path = f->image < IMAGES_SEEN ? s->path[f->image] : NULL;

	for (unsigned int i = 0; i < nr_code; i++)
		if (at >= code[i].start && at < code[i].end)
			return f->offset == at - code[i].start + code[i].offset && path &&
			       !strcmp(path, code[i].path);
	return false;
}

static bool same_stack(const struct stacks *s, const struct stack_seen *e, const struct site *site)
{
	if (e->kind != MTAG_STACK_TAKEN || e->nr < site->nr)
		return false;
	for (unsigned int i = 0; i < site->nr; i++)
		if (!same_frame(s, &e->frame[i], site->frame[i]))
			return false;
	for (unsigned int i = 1; i < e->nr; i++)
		if (e->frame[i].flags & MTAG_STACK_EXACT)
			return false;
	return !(e->frame[0].flags & MTAG_STACK_EXACT) == (site->frame[0] != stacks_touch);
}

/* What a process has of a site: as it has the test's own code where the test has it. */
static struct stack_sum beneath(const struct stacks *s, mtag_t tag, const struct site *site)
{
	struct stack_sum sum = {0};

	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		if (e->tag != tag || !same_stack(s, e, site))
			continue;
		sum.anon += e->anon;
		sum.swap += e->swap;
		sum.stacks++;
	}
	return sum;
}

static void show_stacks(const struct stacks *s, mtag_t tag)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		if (e->tag != tag)
			continue;
		diag("  tag %u kind %u why %u anon %" PRIu64 " swap %" PRIu64 ", %u frames:", tag,
		     e->kind, e->why, e->anon, e->swap, e->nr);
		for (unsigned int f = 0; f < e->nr && f < 8; f++)
			diag("    %s+0x%llx %s",
			     e->frame[f].image < IMAGES_SEEN ? s->path[e->frame[f].image] : "?",
			     e->frame[f].offset, e->frame[f].flags ? "exact" : "");
	}
}

/* Are so many bytes beneath that stack? Says what there is if not. */
static bool found(pid_t pid, mtag_t tag, const struct site *site, uint64_t anon, uint64_t swap)
{
	struct stacks *s = stacks(pid);
	struct stack_sum sum = beneath(s, tag, site);
	bool good = !s->error && s->ended && sum.anon == anon && sum.swap == swap;

	if (!good) {
		diag("  error %d, anon %" PRIu64 "/%" PRIu64 ", swap %" PRIu64 "/%" PRIu64,
		     s->error, sum.anon, anon, sum.swap, swap);
		for (unsigned int i = 0; i < site->nr; i++)
			diag("  want %p", site->frame[i]);
		show_stacks(s, tag);
	}
	return good;
}

static bool has(pid_t pid, mtag_t tag, const struct site *site, uint64_t anon, uint64_t swap,
		const char *what)
{
	return ok(found(pid, tag, site, anon, swap), "%s", what);
}

/* ---- sums ---- */

/* A process that does not run: all of its stacks together are what smaps says. */
static void whole(pid_t pid, const char *what)
{
	struct smaps truth = smaps_of(pid, NULL, (void *)UINTPTR_MAX);
	struct stacks *s = stacks(pid);
	struct stack_sum sum = stack_sum(s, ANY_TAG, ANY_KIND);

	is(sum.anon, truth.anon, "%s: all stacks together are smaps' Anonymous", what);
	is(sum.swap, truth.swap, "%s: and its Swap", what);
}

/* The stacks of a tag of this process are its anonymous memory and its swap. */
static void tag_adds_up(mtag_t tag, const char *what)
{
	struct stack_sum sum = stack_sum(stacks(getpid()), tag, ANY_KIND);

	is(sum.anon, anon_of(tag), "%s: the stacks of a tag are its anonymous memory", what);
	is(sum.swap, swap_of(tag), "%s: and its swap", what);
}

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
	has(getpid(), a, &s, N * PG, 0, "and so does its parent");
	whole(pid, "a forked child");
	end_child(pid);
	visit(&w, 7, touch_here, b, p, N);
	has(getpid(), a, &s, N * PG, 0, "writing again changes nothing");
	must(madvise(p, N / 4 * PG, MADV_DONTNEED));
	has(getpid(), a, &s, (N - N / 4) * PG, 0, "what is discarded is beneath no stack");
	visit(&w, 7, touch_here, a, p, N / 4);
	has(getpid(), a, &w, N / 4 * PG, 0, "and then beneath that which touches it anew");
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
	must(munmap(p, 4 * PG));
	close(fd);
}

static void moved(mtag_t a)
{
	char *p = area(N * PG), *q = area(N * PG);
	struct site s;

	visit(&s, 4, touch_here, a, p, N);
	must(mremap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	has(getpid(), a, &s, N * PG, 0, "mremap keeps the stack");
	must(munmap(q, N * PG));
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
	p = huge_area(2 * HPAGE);
	visit(&s, 11, touch_here, a, p, 1);
	is(smaps(p, 2 * HPAGE).huge, HPAGE, "a touch brings a huge page");
	has(getpid(), a, &s, HPAGE, 0, "all of it is beneath the stack");
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

static void sampled(mtag_t a)
{
	enum { PAGES = 4096 };
	char *p = area(PAGES * PG);
	struct site s;
	struct stacks *seen;
	uint64_t pages, others;

	is(-stacks_start_self(4, -1), 0, "one in four is sampled from here on");
	visit(&s, 13, touch_here, a, p, PAGES);
	is(-stacks_start_self(1, -1), 0, "and then all again");
	seen = stacks(getpid());
	pages = beneath(seen, a, &s).anon / PG;
	others = stack_sum(seen, a, MTAG_STACK_UNSAMPLED).anon / PG;
	is(pages + others, PAGES, "sampled or not, each page is there");
	/* The standard deviation is 28 pages. */
	ok(pages > PAGES / 4 - 200 && pages < PAGES / 4 + 200,
	   "of %d first touches %" PRIu64 " are sampled", PAGES, pages);
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
			 !strcmp(s->path[e->frame[0].image], "[anon]") &&
			 !strcmp(s->path[e->frame[1].image], exe);
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
	copied(tags[0], tags[1]);
	of_file(tags[0]);
	moved(tags[0]);
	swapped(tags[0]);
	huge(tags[0], tags[1]);
	too_deep(tags[0]);
	sampled(tags[0]);
	elsewhere(tags[0]);
	by_exec();
	refused();
	is(stacks(getpid())->lost, 0, "no stack was lost");
	return end_test();
}
