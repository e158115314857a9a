// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: t_compat32.sh runs the builds of this, which differ in word size and C library.
 *   NEXT          the calls that change the address space, by each way into the kernel that a program
 *                 of this word size has; tags of threads; being told of a size; what mtag_write() writes;
 *                 then NEXT, another build, is forked and executed
 *   executed      what NEXT is told to do
 */
#include "lib/test.h"
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/shm.h>

#define N 64

extern char **environ;

/* ---- ways into the kernel ---- */
enum { MMAP, MUNMAP, MREMAP, BRK, SHMAT, SHMDT };

/* The table of 32-bit calls, and what is in no other. */
static const short nr_ia32[] = {
	[MMAP] = 192, [MUNMAP] = 91, [MREMAP] = 163, [BRK] = 45, [SHMAT] = 397, [SHMDT] = 398};
#define OLD_MMAP  90
#define IPC	  117
#define IPC_SHMAT 21
#define IPC_SHMDT 22

struct way {
	const char *name;
	const short *nr;
	long (*call)(long nr, long a, long b, long c, long d, long e, long f);
};

#ifdef __x86_64__
static const short nr_native[] = {[MMAP] = SYS_mmap, [MUNMAP] = SYS_munmap, [MREMAP] = SYS_mremap,
				  [BRK] = SYS_brk,   [SHMAT] = SYS_shmat,   [SHMDT] = SYS_shmdt};

static long native(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret == -1 ? -errno : ret;
}

long int80(long nr, long a, long b, long c, long d, long e, long f);
__asm__(".text\n"
	"int80:	push %rbx\n"
	"	push %rbp\n"
	"	mov 24(%rsp), %rbp\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rbx\n"
	"	mov %r9, %rdi\n"
	"	mov %r8, %rsi\n"
	"	xchg %rcx, %rdx\n"
	"	int $0x80\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n");

/* A 64-bit program may well have something in the halves of registers that do not count. */
#define JUNK(x) ((long)((uint32_t)(x) | 0xdead600000000000))

static long emulated(long nr, long a, long b, long c, long d, long e, long f)
{
	int ret = int80(nr, JUNK(a), JUNK(b), JUNK(c), JUNK(d), JUNK(e), JUNK(f));

	return ret < 0 && ret > -4096 ? ret : (long)(uint32_t)ret;
}

static const struct way ways[] = {{"syscall", nr_native, native},
				  {"int 0x80 of 64 bits", nr_ia32, emulated}};
#else
/* entry: what to call with the registers set. */
long enter_by(long nr, long a, long b, long c, long d, long e, long f, void *entry);
void int80(void);
__asm__(".text\n"
	"enter_by: push %ebp\n"
	"	push %ebx\n"
	"	push %esi\n"
	"	push %edi\n"
	"	mov 20(%esp), %eax\n"
	"	mov 24(%esp), %ebx\n"
	"	mov 28(%esp), %ecx\n"
	"	mov 32(%esp), %edx\n"
	"	mov 36(%esp), %esi\n"
	"	mov 40(%esp), %edi\n"
	"	mov 44(%esp), %ebp\n"
	"	call *48(%esp)\n"
	"	pop %edi\n"
	"	pop %esi\n"
	"	pop %ebx\n"
	"	pop %ebp\n"
	"	ret\n"
	"int80:	int $0x80\n"
	"	ret\n");

static long by_int80(long nr, long a, long b, long c, long d, long e, long f)
{
	return enter_by(nr, a, b, c, d, e, f, (void *)int80);
}

/* sysenter or syscall, as the processor has it. */
static long by_vdso(long nr, long a, long b, long c, long d, long e, long f)
{
	return enter_by(nr, a, b, c, d, e, f, (void *)getauxval(AT_SYSINFO));
}

static const struct way ways[] = {{"int 0x80", nr_ia32, by_int80}, {"the vdso", nr_ia32, by_vdso}};
#endif

static long good(long ret)
{
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		bail("a call fails");
	}
	return ret;
}

static bool is_ia32(const struct way *w)
{
	return w->nr == nr_ia32;
}

/* 32-bit calls have a variant that only 32-bit programs used: "old". */
static char *map_by(const struct way *w, bool old, size_t pages)
{
	const long prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	uint32_t *args;
	long ret;

	if (old) {
		/* In memory that has such an address. */
		args = (uint32_t *)map_by(w, false, 1);
		memcpy(args, (uint32_t[]){0, pages * PG, prot, flags, -1, 0}, 24);
		ret = w->call(OLD_MMAP, (long)args, 0, 0, 0, 0, 0);
		w->call(w->nr[MUNMAP], (long)args, PG, 0, 0, 0, 0);
	} else {
		ret = w->call(w->nr[MMAP], 0, pages * PG, prot, flags, -1, 0);
	}
	return (char *)good(ret);
}

static void unmap_by(const struct way *w, char *p, size_t pages)
{
	good(w->call(w->nr[MUNMAP], (long)p, pages * PG, 0, 0, 0, 0));
}

static char *remap_by(const struct way *w, char *p, size_t from, size_t to)
{
	return (char *)good(w->call(w->nr[MREMAP], (long)p, from * PG, to * PG, MREMAP_MAYMOVE, 0,
				    0));
}

static char *brk_by(const struct way *w, char *to)
{
	return (char *)w->call(w->nr[BRK], (long)to, 0, 0, 0, 0, 0);
}

static char *attach_by(const struct way *w, bool old, int id)
{
	uint32_t *where;
	char *p;

	if (!old)
		return (char *)good(w->call(w->nr[SHMAT], id, 0, 0, 0, 0, 0));
	where = (uint32_t *)map_by(w, false, 1);
	good(w->call(IPC, IPC_SHMAT, id, 0, (long)where, 0, 0));
	p = (char *)(uintptr_t)*where;
	unmap_by(w, (char *)where, 1);
	return p;
}

static long detach_by(const struct way *w, bool old, char *p)
{
	return old ? w->call(IPC, IPC_SHMDT, 0, 0, 0, (long)p, 0)
		   : w->call(w->nr[SHMDT], (long)p, 0, 0, 0, 0, 0);
}

/* ---- what mtag says of them ---- */
static mtag_t tag_of(const struct way *w, const char *what)
{
	char name[MTAG_NAME_MAX];

	snprintf(name, sizeof(name), "%s, %s", w->name, what);
	return tag(name);
}

static void counted(mtag_t t, int call, uint64_t calls, uint64_t pages, const char *what)
{
	struct usage u = usage(t);
	char path[MTAG_PATH_MAX];

	mtag_path(t, path, sizeof(path));
	is(u.c[MTAG_C_MMAPS + call], calls, "%s: %s is counted", path, what);
	is(u.c[MTAG_C_MMAP_BYTES + call], pages * PG, "%s: %s with its bytes", path, what);
}

/* In the order of MTAG_C_*. */
enum { MMAPS, MUNMAPS, MREMAPS, BRKS, SHMATS, SHMDTS };

static void mapping(const struct way *w, bool old)
{
	mtag_t t = tag_of(w, old ? "old mmap" : "mmap"), other = tag_of(w, "other"), before;
	/* An old mmap's arguments are mapped, too. */
	int more = old;
	char *p;

	before = mtag_enter(t);
	p = map_by(w, old, N);
	p = remap_by(w, p, N, 2 * N);
	mtag_leave(before);
	no_huge(p, 2 * N * PG);
	is(virt_of(t), 2 * N * PG, "%s: a mapping that grew is its mapper's", w->name);
	touch(t, p, N * PG);
	touch(other, p + N * PG, N * PG);
	is(anon_of(t), N * PG, "%s: a tag that touches a page has it", w->name);
	is(anon_of(other), N * PG, "%s: so has another tag", w->name);
	is(smaps(p, 2 * N * PG).rss, 2 * N * PG, "%s: and smaps has them", w->name);
	exact("%s: exact", w->name);

	before = mtag_enter(t);
	p = remap_by(w, p, 2 * N, N + N / 2);
	unmap_by(w, p, N / 2);
	if (w->call(w->nr[MUNMAP], (long)p + 1, PG, 0, 0, 0, 0) != -EINVAL ||
	    w->call(w->nr[MMAP], 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != -EINVAL ||
	    w->call(w->nr[MREMAP], (long)p + 1, PG, PG, 0, 0, 0) != -EINVAL)
		bail("%s: bad calls work", w->name);
	mtag_leave(before);
	is(anon_of(t) + anon_of(other), smaps(p, 2 * N * PG).anon, "%s: what is left", w->name);
	is(anon_of(other), N / 2 * PG, "%s: whose it is", w->name);
	is(virt_of(t), N * PG, "%s: and its virtual size", w->name);
	before = mtag_enter(t);
	unmap_by(w, p + N / 2 * PG, N);
	mtag_leave(before);
	is(anon_of(t) + anon_of(other) + virt_of(t), 0, "%s: nothing is left", w->name);
	counted(t, MMAPS, 1 + more, N + more, "mmap");
	counted(t, MREMAPS, 2, 2 * N + N + N / 2, "mremap");
	counted(t, MUNMAPS, 2 + more, N / 2 + N + more, "munmap");
	exact("%s: exact when unmapped", w->name);
}

static void heap(const struct way *w)
{
	mtag_t t = tag_of(w, "brk"), before;
	char *end = sbrk(0), *start = (char *)(((uintptr_t)end + PG - 1) & -PG);

	if ((uintptr_t)start > UINT32_MAX - MIB && is_ia32(w)) {
		skip("%s: brk (the heap is beyond its reach)", w->name);
		return;
	}
	if (brk_by(w, start) != start)
		bail("%s: brk", w->name);
	before = mtag_enter(t);
	if (brk_by(w, start + N * PG) != start + N * PG || brk_by(w, NULL) != start + N * PG ||
	    brk_by(w, (char *)-PG) != start + N * PG)
		bail("%s: brk", w->name);
	mtag_leave(before);
	no_huge(start, N * PG);
	touch(t, start, N * PG);
	is(virt_of(t), N * PG, "%s: the heap is the caller's", w->name);
	is(anon_of(t), N * PG, "%s: its pages are the toucher's", w->name);
	exact("%s: brk is exact", w->name);
	before = mtag_enter(t);
	if (brk_by(w, start + PG) != start + PG)
		bail("%s: brk", w->name);
	mtag_leave(before);
	is(anon_of(t), PG, "%s: a page of heap is left", w->name);
	counted(t, BRKS, 2, N + N - 1, "brk");
	brk_by(w, end);
	exact("%s: exact when it has shrunk", w->name);
}

static void shared(const struct way *w, bool old)
{
	mtag_t t = tag_of(w, old ? "ipc(2)" : "shm"), before;
	int id = must(shmget(IPC_PRIVATE, N * PG, IPC_CREAT | 0600)), more = old;
	char *p;

	before = mtag_enter(t);
	p = attach_by(w, old, id);
	mtag_leave(before);
	must(shmctl(id, IPC_RMID, NULL));
	touch(MTAG_UNTAGGED, p, N * PG);
	is(shmem_of(t), N * PG, "%s: shared memory is its mapper's", w->name);
	is(smaps(p, N * PG).rss, N * PG, "%s: as smaps has it", w->name);
	is(virt_of(t), N * PG, "%s: its virtual size, too", w->name);
	exact("%s: shared memory is exact", w->name);
	before = mtag_enter(t);
	if (detach_by(w, old, p + 1) != -EINVAL)
		bail("%s: bad shmdt works", w->name);
	good(detach_by(w, old, p));
	mtag_leave(before);
	is(shmem_of(t) + virt_of(t), 0, "%s: nothing is left of it", w->name);
	counted(t, SHMATS, 1, N, "shmat");
	counted(t, SHMDTS, 1, N, "shmdt");
	counted(t, MMAPS, more, more, "mmap");
	counted(t, MUNMAPS, more, more, "munmap");
	exact("%s: exact without it", w->name);
}

/* ---- the library's thread-local word ---- */
struct worker {
	mtag_t tag;
	char *area;
};

/* Like prefault_stack(), for the 128 KiB that threads have with musl. */
static __attribute__((noinline)) void warm_stack(void)
{
	volatile char room[16 * KIB];

	for (size_t at = 0; at < sizeof(room); at += PG)
		room[at] = 1;
}

/* Touches the second half of the area. */
static void touch_in_scope(struct worker *w)
{
	for (int i = 0; i < 2; i++) {
		mtag_t before = mtag_enter(w->tag);
		MTAG_SCOPE("below");

		is(mtag_current(), mtag_child(w->tag, "below"),
		   "a scope is below the thread's tag");
		touch(mtag_current(), w->area + (N / 2 + i * N / 4) * PG, N / 4 * PG);
		mtag_leave(before);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	is(mtag_current(), MTAG_UNTAGGED, "a thread begins with its creator's tag");
	warm_stack();
	touch(w->tag, w->area, N / 2 * PG);
	touch_in_scope(w);
	return NULL;
}

static void threads(void)
{
	struct worker workers[4];
	pthread_t ids[COUNT(workers)];
	char name[] = "thread 0";
	struct worker *w;

	for (size_t i = 0; i < COUNT(workers); i++) {
		name[7] = '0' + i;
		workers[i] = (struct worker){tag(name), area(N * PG)};
		/* The library's memory of it is not to be touched under the tag first. */
		mtag_child(workers[i].tag, "below");
	}
	for (size_t i = 0; i < COUNT(workers); i++)
		if (pthread_create(&ids[i], NULL, work, &workers[i]))
			bail("thread");
	for (size_t i = 0; i < COUNT(workers); i++)
		pthread_join(ids[i], NULL);
	for (w = workers; w < workers + COUNT(workers); w++) {
		is(smaps(w->area, N * PG).anon, N * PG, "all of a thread's pages are there");
		is(anon_of(w->tag), N / 2 * PG, "those that it touched are its tag's");
		is(anon_of(mtag_child(w->tag, "below")), N / 2 * PG, "its scope's are the scope's");
		must(munmap(w->area, N * PG));
		is(anon_of(w->tag) + anon_of(mtag_child(w->tag, "below")), 0, "until they go");
	}
}

static void tell(const char *next, mtag_t in)
{
	char *args[] = {(char *)next, (char *)"executed", NULL};
	mtag_t before = mtag_enter(in);
	pid_t pid;

	/* The libraries do this by CLONE_VM and CLONE_VFORK. */
	if (posix_spawn(&pid, next, NULL, NULL, args, environ))
		bail("posix_spawn %s", next);
	is(mtag_current(), in, "a program spawned leaves the spawner's tag alone");
	reap(pid);
	mtag_leave(before);
	exact("its spawner is exact");
	in_child {
		is(mtag_current(), MTAG_UNTAGGED, "a child begins with its parent's tag");
		touch(in, area(N * PG), N * PG);
		is(anon_of(in), N * PG, "a child's word is read");
		exact("a child is exact");
		execv(next, args);
		bail("exec %s", next);
	}
	is(anon_of(in), 0, "what a child touched is not its parent's");
}

static __attribute__((noinline)) pid_t touch_in_vfork(mtag_t as, char *p)
{
	pid_t pid = vfork();

	if (!pid) {
		touch(as, p, N * PG);
		_exit(0);
	}
	return pid;
}

static void vforked(void)
{
	mtag_t outer = tag("outer"), v = tag("vfork"), before = mtag_enter(outer);
	char *p = area(N * PG);

	reap(must(touch_in_vfork(v, p)));
	is(mtag_current(), outer, "a child by vfork leaves its parent's tag as it was");
	mtag_leave(before);
	owns(v, p, N * PG, "what it touched is the tag's that it entered");
	must(munmap(p, N * PG));
}

static void notified(void)
{
	int fd = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	mtag_t t = tag("notified");
	char *p = area(N * PG);

	must0(mtag_notify(t, N * PG, fd));
	touch(t, p, (N - 1) * PG);
	is(signals(fd), 0, "a page below a size its eventfd is not signalled");
	touch(t, p + (N - 1) * PG, PG);
	is(signals(fd), 1, "the touch of the page that reaches it signals it");
	/* Beyond what a word of 32 bits holds. */
	must0(mtag_notify(t, (UINT64_C(1) << 32) + PG, fd));
	is(signals(fd), 0, "a size of 4 GiB and a page is not taken for a page");
	must0(mtag_notify(t, 0, fd));
	must(munmap(p, N * PG));
	close(fd);
}

static void written(void)
{
	mtag_t t = tag("written");
	char *p = area(N * PG), *text = NULL, *at, *object;
	uint64_t rss = 0;
	size_t length;
	FILE *out;

	touch(t, p, N * PG);
	out = open_memstream(&text, &length);
	if (!out)
		bail("open_memstream");
	must0(mtag_write(out, MTAG_JSON));
	fclose(out);
	for (at = text; (object = json_next(&at));)
		if (!strcmp(json_string(object, "tag"), "written"))
			rss += json_u64(object, "rss_bytes");
	is(rss, smaps(p, N * PG).rss, "mtag_write() writes of a tag what smaps shows, once");
	free(text);
	must(munmap(p, N * PG));
}

/* This process was forked by a tracked one of perhaps another word size. */
static int executed(void)
{
	char *p = area(N * PG);
	mtag_t t;

	ok(mtag_active() || !mtag_init(), "a program that was executed attaches");
	is(mtag_current(), MTAG_UNTAGGED, "with no tag");
	exact("it is exact");
	t = tag("new");
	touch(t, p, N * PG);
	owns(t, p, N * PG, "it has tags of its own");
	exact("it stays exact");
	return done();
}

int main(int argc, char **argv)
{
	begin_test();
	if (argc != 2)
		bail("usage: %s NEXT|executed", argv[0]);
	begin();
	if (!strcmp(argv[1], "executed"))
		return executed();
	exact("a program of %zu bits is exact at first", 8 * sizeof(long));
	for (const struct way *w = ways; w < ways + COUNT(ways); w++) {
		for (int old = 0; old <= is_ia32(w); old++) {
			mapping(w, old);
			shared(w, old);
		}
		heap(w);
	}
	threads();
	vforked();
	notified();
	written();
	tell(argv[1], tag("teller"));
	exact("exact at last");
	is(mtag_failures(), 0, "nothing was refused");
	return end_test();
}
