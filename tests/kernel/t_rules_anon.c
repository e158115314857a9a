// SPDX-License-Identifier: GPL-2.0
/* Rule 1: anonymous memory belongs to the tag that first touched it, however it was touched. */
/* vm: core=1 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"
#include <alloca.h>

#define N 64

struct job {
	char *p;
	mtag_t tag;
	size_t first, step;
};

static void *touch_some(void *arg)
{
	struct job *job = arg;

	for (size_t i = job->first; i < N; i += job->step)
		touch(job->tag, job->p + i * PG, PG);
	return NULL;
}

static void threads(void)
{
	char *p = area(N * PG);
	struct job jobs[2] = {{p, tag("thread-a"), 0, 2}, {p, tag("thread-b"), 1, 2}};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, touch_some, &jobs[i]))
			bail("thread");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	is(anon_of(jobs[0].tag), N / 2 * PG,
	   "of pages that two threads touch in turn, each has its own (first)");
	is(anon_of(jobs[1].tag), N / 2 * PG,
	   "of pages that two threads touch in turn, each has its own (second)");
	exact("two threads touching are exact");
	must(munmap(p, N * PG));
	is(anon_of(jobs[0].tag) + anon_of(jobs[1].tag), 0, "munmap leaves both at 0");
}

static void *touch_inherited(void *arg)
{
	for (size_t i = 0; i < N; i++)
		((volatile char *)arg)[i * PG] = 1;
	return NULL;
}

static void thread_inherits(void)
{
	char *p = area(N * PG);
	mtag_t t = tag("creator"), before = mtag_enter(t);
	pthread_t thread;
	int error;

	error = pthread_create(&thread, NULL, touch_inherited, p);
	mtag_leave(before);
	if (error)
		bail("thread");
	pthread_join(thread, NULL);
	/* The thread's stack and libc's own data for it are the tag's, too: count the area alone. */
	ok(anon_of(t) >= N * PG, "a thread starts with its creator's tag");
	before = anon_of(t);
	must(madvise(p, N * PG, MADV_DONTNEED));
	is(before - anon_of(t), N * PG, "what the thread touched is exactly its creator's tag's");
	must(munmap(p, N * PG));
	exact("a thread that inherits is exact");
}

static void kernel_writes(void)
{
	char *p = area(N * PG), *q = area(N * PG);
	mtag_t t = tag("read"), u = tag("populate"), v = tag("lock"), before;
	int zero = must(open("/dev/zero", O_RDONLY)), pipes[2];
	char word[8] = "content";

	before = mtag_enter(t);
	if (read(zero, p, N * PG / 2) != N * PG / 2)
		bail("read");
	mtag_leave(before);
	is(anon_of(t), N / 2 * PG, "read(2) into a fresh buffer is the reader's tag's");
	must(pipe(pipes));
	must(write(pipes[1], word, 8));
	before = mtag_enter(u);
	must(read(pipes[0], p + N / 2 * PG, 8));
	mtag_leave(before);
	is(anon_of(u), PG, "read(2) from a pipe as well");
	before = mtag_enter(u);
	must(madvise(q, N * PG / 2, MADV_POPULATE_WRITE));
	mtag_leave(before);
	is(anon_of(u), (N / 2 + 1) * PG, "MADV_POPULATE_WRITE is the caller's tag's");
	before = mtag_enter(v);
	must(mlock(q, N * PG));
	mtag_leave(before);
	is(anon_of(v), N / 2 * PG, "mlock populates the rest for its caller's tag");
	must(munlock(q, N * PG));
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));

	before = mtag_enter(u);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
	mtag_leave(before);
	is(anon_of(u), N * PG, "MAP_POPULATE is the mapper's tag's");
	must(munmap(p, N * PG));
	is(anon_of(t) + anon_of(u) + anon_of(v), 0, "all of it goes away");
	exact("pages that the kernel touched for a thread are exact");
	close(zero);
	close(pipes[0]);
	close(pipes[1]);
}

static __attribute__((noinline)) void deep(mtag_t t, uint64_t *touched)
{
	volatile char *room = alloca(N * 4 * PG);
	char *start = (char *)(((uintptr_t)room + PG - 1) & -PG);
	/* Well above the frames of the calls made from here. */
	char *low = start + 8 * PG;
	uint64_t before = present(low, (N * 4 - 16) * PG);

	touch(t, low, (N * 4 - 16) * PG);
	*touched = present(low, (N * 4 - 16) * PG) - before;
}

static void stack(void)
{
	mtag_t t = tag("stack");
	uint64_t touched;

	deep(t, &touched);
	ok(touched >= N * 2 * PG, "the stack grew");
	is(anon_of(t), touched, "pages of the growing stack are the tag's that touched them");
	exact("stack growth is exact");
}

static void heap(void)
{
	mtag_t t = tag("brk-map"), u = tag("brk-touch"), before = mtag_enter(t);
	char *p = sbrk(0), *start = (char *)(((uintptr_t)p + PG - 1) & -PG);

	if (brk(start + N * PG))
		bail("brk");
	mtag_leave(before);
	touch(u, start, N * PG);
	is(anon_of(u), N * PG, "the heap belongs to the tag that touches it");
	is(anon_of(t), 0, "not to the one that called brk");
	exact("brk is exact");
	if (brk(p))
		bail("brk");
	is(anon_of(u), 0, "shrinking the heap ends it");
	exact("the heap shrunk is exact");
}

static void zero_page(void)
{
	char *p = area(N * PG);
	mtag_t t = tag("zero-read"), u = tag("zero-write");

	read_all(t, p, N * PG);
	is(anon_of(t), 0, "reading the zero page owns nothing");
	exact("the zero page is no RSS");
	touch(u, p, N * PG);
	is(anon_of(u), N * PG, "the page belongs to the first writer");
	is(anon_of(t), 0, "and not to the first reader");
	is(present(p, N * PG), anon_of(u), "pagemap says the same");
	must(munmap(p, N * PG));
}

static void ranges(void)
{
	char *p = area(N * PG);
	mtag_t r = tag("range"), t = tag("range-thread");

	must0(mtag_range(p, N * PG, r, 0));
	touch(t, p, N * PG);
	owns(r, p, N * PG, "a range's tag comes before the thread's");
	is(anon_of(r), N * PG, "all of the range is its tag's");
	is(anon_of(t), 0, "and nothing the thread's");
	must(madvise(p, N * PG, MADV_DONTNEED));
	touch(t, p, N * PG);
	is(anon_of(r), N * PG, "a range outlives its pages");
	must(mmap(p, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0));
	touch(t, p, N * PG);
	is(anon_of(r), 0, "mapping anew ends the range");
	is(anon_of(t), N * PG, "so that the thread's tag counts again");
	must0(mtag_range(p, N / 2 * PG, r, 0));
	is(anon_of(t), N * PG, "a range without MTAG_RANGE_PRESENT leaves anonymous pages alone");
	must0(mtag_range(p, N / 4 * PG, r, MTAG_RANGE_PRESENT));
	is(anon_of(r), N / 4 * PG, "MTAG_RANGE_PRESENT moves those of its range");
	is(anon_of(t), (N - N / 4) * PG, "and no others");
	exact("ranges are exact");
	must(munmap(p, N * PG));
	is(anon_of(r) + anon_of(t), 0, "munmap ends both");
}

static void range_ioctl(void)
{
	char *p = area(N * PG);
	mtag_t r = tag("moved"), t = tag("was");
	struct mtag_ioc_range arg = {.size = sizeof(arg),
				     .flags = MTAG_RANGE_PRESENT,
				     .addr = (uintptr_t)p,
				     .len = N * PG,
				     .tag = r};

	touch(t, p, N / 2 * PG);
	is(mtag_ioctl(MTAG_IOC_RANGE, &arg), 0, "MTAG_IOC_RANGE works on pages present");
	is(arg.moved, N / 2 * PG, "it says how much moved");
	is(arg.kept, 0, "and that nothing was kept");
	is(mtag_ioctl(MTAG_IOC_RANGE, &arg), 0, "again");
	is(arg.moved, 0, "nothing moves to where it is");
	in_child {
		touch(r, p, N / 4 * PG);
		arg.tag = t;
		is(mtag_ioctl(MTAG_IOC_RANGE, &arg), 0, "a forked child may move its range");
		is(arg.moved, N / 4 * PG, "its own copies move");
		is(arg.kept, N / 4 * PG, "pages shared with its parent do not");
		is(anon_of(t), N / 4 * PG, "its tags agree with that (moved)");
		is(anon_of(r), N / 4 * PG, "its tags agree with that (kept)");
		exact("a child's range is exact");
	}
	is(anon_of(r), N / 2 * PG, "the parent keeps what it had");
	must(munmap(p, N * PG));
}

static void retouch(void)
{
	char *p = area(N * PG);
	mtag_t t = tag("first"), u = tag("second");

	touch(t, p, N * PG);
	touch(u, p, N * PG);
	is(anon_of(t), N * PG, "touching again changes no owner");
	must(mprotect(p, N * PG, PROT_READ));
	must(mprotect(p, N * PG, PROT_READ | PROT_WRITE));
	touch(u, p, N * PG);
	is(anon_of(u), 0, "nor does mprotect");
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	touch(u, p, N / 2 * PG);
	is(anon_of(u), N / 2 * PG, "after MADV_DONTNEED the next to touch is the owner");
	is(anon_of(t), N / 2 * PG, "of those pages only");
	is(c(t, MTAG_C_TOUCHED), N * PG, "touched_bytes counts first touches (first)");
	is(c(u, MTAG_C_TOUCHED), N / 2 * PG, "touched_bytes counts first touches (second)");
	must(munmap(p, N * PG));
	exact("retouching is exact");
}

/*
 * So many that what a CPU may not have noticed is a small part of them. Nobody reads the tag before they are gone: that
 * would bring its peak up to date.
 */
static void peak(void)
{
	size_t pages = 4096 + 60, least = pages - 127 * sysconf(_SC_NPROCESSORS_CONF);
	char *p = area(pages * PG);
	mtag_t t = tag("peak");
	uint64_t most;

	touch(t, p, pages * PG);
	is(smaps(p, pages * PG).anon, pages * PG, "smaps shows the pages of a peak");
	must(munmap(p, pages * PG));
	is(anon_of(t), 0, "and has none when they are gone");
	most = c(t, MTAG_C_PEAK);
	diag("a peak of %" PRIu64 " pages of %zu", most / PG, pages);
	ok(most <= pages * PG, "its peak is no higher than what it had");
	ok(most >= least * PG, "and lower by fewer than 128 pages for each CPU");
	p = area(N * PG);
	touch(t, p, N * PG);
	is(c(t, MTAG_C_PEAK), most, "fewer pages later leave it as it is");
	must(munmap(p, N * PG));
}

/* Rule 6: an access from outside never uses the accessor's tag. */
static void from_outside(void)
{
	char *p = area(N * PG), *q = area(N * PG);
	mtag_t d = tag("outside-default"), a = tag("outside-accessor"), t = tag("outside-thread");
	struct iovec ours = {q, N * PG}, theirs = {p, N * PG};
	struct gate *g = gate();
	mtag_t before;
	pid_t pid;

	touch(0, q, N * PG);
	pid = child();
	if (!pid) {
		must0(mtag_default(d));
		mtag_enter(t);
		open_gate(g, 1);
		pass_gate(g, 2);
		mtag_enter(0);
		is(anon_of(d), N * PG, "process_vm_writev's pages are the target's default tag's");
		is(anon_of(a), 0, "not the accessor's");
		is(anon_of(t), 0, "not the target's thread's");
		exact("memory written from outside is exact");
		_exit(0);
	}
	pass_gate(g, 1);
	before = mtag_enter(a);
	is(process_vm_writev(pid, &ours, 1, &theirs, 1, 0), N * PG,
	   "process_vm_writev into a child");
	mtag_leave(before);
	open_gate(g, 2);
	reap(pid);
	munmap(p, N * PG);
	munmap(q, N * PG);
}

/* Runs in a process whose threads have no words, as it has not called libmtag. */
static void default_tag(void)
{
	struct mtag_ioc_attach attach = {.size = sizeof(attach)};
	struct mtag_ioc_child name = {
		.size = sizeof(name), .name_len = 4, .name = (uintptr_t) "tag0"};
	struct mtag_ioc_default def = {.size = sizeof(def)};
	char *p = area(N * PG);

	is(mtag_ioctl(MTAG_IOC_ATTACH, &attach), 0, "a process attaches without libmtag");
	is(attach.version, MTAG_ABI_VERSION, "the module tells its version");
	is(mtag_ioctl(MTAG_IOC_CHILD, &name), 0, "it makes a tag");
	def.tag = name.id;
	flush_rss();
	exact("it is exact");
	is(mtag_ioctl(MTAG_IOC_DEFAULT, &def), 0, "and makes it its default");
	is(def.previous, attach.default_tag, "the kernel tells what that was before");
	for (size_t i = 0; i < N; i++)
		((volatile char *)p)[i * PG] = 1;
	is(mtag_ioctl(MTAG_IOC_DEFAULT, &(struct mtag_ioc_default){.size = sizeof(def)}), 0,
	   "and back");
	owns(name.id, p, N * PG, "a thread with no tag of its own uses the default tag");
	is(anon_of(name.id), N * PG, "for all that it touches");
	exact("the default tag is exact");
}

/* A thread that takes its word back no longer has a tag of its own. */
static void taken_back(void)
{
	struct mtag_ioc_thread none = {.size = sizeof(none)};
	char *p = area(N * PG);
	mtag_t t = tag("taken-back"), d = tag("taken-back-default");

	in_child {
		must0(mtag_default(d));
		mtag_enter(t);
		is(mtag_ioctl(MTAG_IOC_THREAD, &none), 0, "a thread may take its word back");
		is(none.tag, d, "then it has the default tag, as the kernel tells it");
		for (size_t i = 0; i < N; i++)
			((volatile char *)p)[i * PG] = 1;
		ok(anon_of(d) >= N * PG, "and touches under that");
		ok(anon_of(t) < N * PG, "not under the tag it had");
		exact("and is exact");
	}
	must(munmap(p, N * PG));
}

int main(void)
{
	begin_test();
	in_child
		default_tag();
	begin();
	exact("a process that has just attached is exact");
	threads();
	thread_inherits();
	kernel_writes();
	stack();
	heap();
	zero_page();
	ranges();
	range_ioctl();
	retouch();
	peak();
	from_outside();
	taken_back();
	exact("all is exact in the end");
	return end_test();
}
