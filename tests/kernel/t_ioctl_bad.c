// SPDX-License-Identifier: GPL-2.0
/* Bad input to /dev/mtag and bad tag words: each gives a clear error and changes nothing. */
/* vm: timeout=300 */
/* vm: short=6.1 because="on all root is told the same" timeout=300 args=nobody */
#include <sys/eventfd.h>
#include "lib/test.h"

#define N 16

union any {
	__u32 size;
	struct mtag_ioc_attach attach;
	struct mtag_ioc_thread thread;
	struct mtag_ioc_child child;
	struct mtag_ioc_default def;
	struct mtag_ioc_range range;
	struct mtag_ioc_usage usage;
	struct mtag_ioc_path path;
	struct mtag_ioc_notify notify;
	struct mtag_ioc_heap heap;
	struct mtag_ioc_heap_read heap_read;
	struct mtag_ioc_owners owners;
	char room[8192];
};

static char *target, path_buf[64];
static mtag_t t;
static int event_fd;
static struct mtag_ioc_span span;
static uint32_t owners[N];

static const struct request {
	const char *name;
	unsigned long nr;
	size_t size;
	size_t pad; /* of a field that has to be 0, or 0: there is none */
} requests[] = {
	{"ATTACH", MTAG_IOC_ATTACH, sizeof(struct mtag_ioc_attach), 0},
	{"THREAD", MTAG_IOC_THREAD, sizeof(struct mtag_ioc_thread),
	 offsetof(struct mtag_ioc_thread, pad)},
	{"CHILD", MTAG_IOC_CHILD, sizeof(struct mtag_ioc_child),
	 offsetof(struct mtag_ioc_child, pad)},
	{"DEFAULT", MTAG_IOC_DEFAULT, sizeof(struct mtag_ioc_default), 0},
	{"RANGE", MTAG_IOC_RANGE, sizeof(struct mtag_ioc_range),
	 offsetof(struct mtag_ioc_range, pad)},
	{"USAGE", MTAG_IOC_USAGE, sizeof(struct mtag_ioc_usage),
	 offsetof(struct mtag_ioc_usage, pad)},
	{"PATH", MTAG_IOC_PATH, sizeof(struct mtag_ioc_path), 0},
	{"NOTIFY", MTAG_IOC_NOTIFY, sizeof(struct mtag_ioc_notify), 0},
	{"HEAP", MTAG_IOC_HEAP, sizeof(struct mtag_ioc_heap),
	 offsetof(struct mtag_ioc_heap, stack)},
	{"HEAP_READ", MTAG_IOC_HEAP_READ, sizeof(struct mtag_ioc_heap_read),
	 offsetof(struct mtag_ioc_heap_read, pad)},
	{"OWNERS", MTAG_IOC_OWNERS, sizeof(struct mtag_ioc_owners),
	 offsetof(struct mtag_ioc_owners, pad)},
};

/* The argument as it should be. */
static void fill(union any *arg, const struct request *r)
{
	static uint32_t *word;

	if (!word)
		word = (uint32_t *)area(PG);
	memset(arg, 0, sizeof(*arg));
	arg->size = r->size;
	switch (r->nr) {
	case MTAG_IOC_THREAD:
		arg->thread.word = (uintptr_t)word;
		break;
	case MTAG_IOC_CHILD:
		arg->child.name = (uintptr_t) "good";
		arg->child.name_len = 4;
		break;
	case MTAG_IOC_DEFAULT:
		arg->def.tag = t;
		break;
	case MTAG_IOC_RANGE:
		arg->range.addr = (uintptr_t)target;
		arg->range.len = N * PG;
		arg->range.tag = t;
		break;
	case MTAG_IOC_USAGE:
		arg->usage.tag = t;
		break;
	case MTAG_IOC_PATH:
		arg->path.tag = t;
		arg->path.buf = (uintptr_t)path_buf;
		arg->path.buf_len = sizeof(path_buf);
		break;
	case MTAG_IOC_NOTIFY:
		arg->notify.tag = t;
		arg->notify.fd = event_fd;
		arg->notify.rss_bytes = UINT64_C(1) << 40;
		break;
	case MTAG_IOC_HEAP:
		arg->heap.address = (uintptr_t)target;
		arg->heap.length = N * PG;
		break;
	case MTAG_IOC_HEAP_READ:
		arg->heap_read.buffer = (uintptr_t)path_buf;
		arg->heap_read.length = sizeof(path_buf);
		break;
	case MTAG_IOC_OWNERS:
		arg->owners.spans = (uintptr_t)&span;
		arg->owners.nr_spans = 1;
		arg->owners.pages = (uintptr_t)owners;
		arg->owners.room = N;
		break;
	}
}

static void errs(int got, int want, const char *name, const char *what)
{
	ok(got == -want, "%s, %s: %s", name, what, want ? strerror(want) : "works");
	if (got != -want)
		diag("  got %d (%s)", got, strerror(-got));
}

static void arguments(const struct request *r)
{
	long page = sysconf(_SC_PAGESIZE);
	char *edge = area(2 * page);
	union any *arg = must(mmap(NULL, sizeof(*arg), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	fill(arg, r);
	errs(mtag_ioctl(r->nr, arg), 0, r->name, "as it should be");
	fill(arg, r);
	arg->size = 0;
	errs(mtag_ioctl(r->nr, arg), EINVAL, r->name, "size 0");
	arg->size = 4;
	errs(mtag_ioctl(r->nr, arg), EINVAL, r->name, "size 4");
	fill(arg, r);
	arg->size = r->size - 4;
	errs(mtag_ioctl(r->nr, arg), EINVAL, r->name, "size too small");
	fill(arg, r);
	arg->size = r->size + 64;
	errs(mtag_ioctl(r->nr, arg), 0, r->name, "a longer size with zeros, of a later version");
	fill(arg, r);
	arg->size = r->size + 64;
	arg->room[r->size + 17] = 1;
	errs(mtag_ioctl(r->nr, arg), E2BIG, r->name, "a longer size with something in it");
	fill(arg, r);
	arg->size = 0xffffffff;
	errs(mtag_ioctl(r->nr, arg), E2BIG, r->name, "a huge size");
	fill(arg, r);
	arg->size = PG + 4;
	errs(mtag_ioctl(r->nr, arg), E2BIG, r->name, "a size of more than a page");
	fill(arg, r);
	((__u32 *)arg)[1] = 0x80000000;
	errs(mtag_ioctl(r->nr, arg), EINVAL, r->name, "an unknown flag");
	if (r->pad) {
		fill(arg, r);
		*(__u32 *)(arg->room + r->pad) = 1;
		errs(mtag_ioctl(r->nr, arg), EINVAL, r->name, "padding that is not 0");
	}
	errs(mtag_ioctl(r->nr, NULL), EFAULT, r->name, "no argument");
	errs(mtag_ioctl(r->nr, (void *)1), EFAULT, r->name, "an argument at address 1");
	errs(mtag_ioctl(r->nr, (void *)0xffffffff81000000), EFAULT, r->name,
	     "an argument in the kernel");
	errs(mtag_ioctl(r->nr, (void *)0x8000000000000000), EFAULT, r->name,
	     "an argument at no address");
	must(munmap(edge + page, page));
	fill(arg, r);
	memcpy(edge + page - 8, arg, 8);
	errs(mtag_ioctl(r->nr, edge + page - 8), EFAULT, r->name,
	     "an argument that ends in a hole");
	fill(arg, r);
	must(mprotect(arg, sizeof(*arg), PROT_READ));
	errs(mtag_ioctl(r->nr, arg), EFAULT, r->name, "an argument that cannot be written");
	must(munmap(arg, sizeof(*arg)));
}

static void unknown(void)
{
	union any arg;

	memset(&arg, 0, sizeof(arg));
	arg.size = 64;
	errs(mtag_ioctl(_IO(MTAG_IOC_MAGIC, 0x3f), &arg), ENOTTY, "an unknown ioctl", "just below");
	errs(mtag_ioctl(_IO(MTAG_IOC_MAGIC, 0x4d), &arg), ENOTTY, "an unknown ioctl", "just above");
	errs(mtag_ioctl(_IO(MTAG_IOC_MAGIC, 0xff), &arg), ENOTTY, "an unknown ioctl", "far above");
	errs(mtag_ioctl(_IO(0xb5, 0x40), &arg), ENOTTY, "an unknown ioctl", "of another kind");
	errs(mtag_ioctl(_IOWR(MTAG_IOC_MAGIC, 0x40, __u64), &arg), ENOTTY, "an unknown ioctl",
	     "with a size in its number");
	errs(mtag_ioctl(0, &arg), ENOTTY, "an unknown ioctl", "0");
	errs(mtag_ioctl(0x5401, &arg), ENOTTY, "an unknown ioctl", "TCGETS");
}

static void values(void)
{
	union any arg;

	fill(&arg, &requests[3]);
	arg.def.tag = 0xfff0;
	errs(mtag_ioctl(MTAG_IOC_DEFAULT, &arg), ENOENT, "DEFAULT", "no such tag");
	arg.def.tag = 0x10000 + t;
	errs(mtag_ioctl(MTAG_IOC_DEFAULT, &arg), ENOENT, "DEFAULT", "a tag beyond 16 bits");
	fill(&arg, &requests[4]);
	arg.range.addr++;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), EINVAL, "RANGE", "an address within a page");
	fill(&arg, &requests[4]);
	arg.range.addr = -PG;
	arg.range.len = 4 * PG;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), EINVAL, "RANGE", "a range that wraps");
	fill(&arg, &requests[4]);
	arg.range.len = UINT64_MAX;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), EINVAL, "RANGE", "a length that wraps");
	fill(&arg, &requests[4]);
	arg.range.addr = 0xffffffff80000000;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), EINVAL, "RANGE", "a range in the kernel");
	fill(&arg, &requests[4]);
	arg.range.tag = 0xfff0;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), ENOENT, "RANGE", "no such tag");
	fill(&arg, &requests[4]);
	arg.range.flags = MTAG_RANGE_PRESENT << 1;
	errs(mtag_ioctl(MTAG_IOC_RANGE, &arg), EINVAL, "RANGE", "the next flag");
	fill(&arg, &requests[5]);
	arg.usage.tag = 0xfff0;
	errs(mtag_ioctl(MTAG_IOC_USAGE, &arg), ENOENT, "USAGE", "no such tag");
	fill(&arg, &requests[6]);
	arg.path.buf = 8;
	errs(mtag_ioctl(MTAG_IOC_PATH, &arg), EFAULT, "PATH", "a buffer at a bad address");
	fill(&arg, &requests[6]);
	arg.path.buf_len = 0;
	errs(mtag_ioctl(MTAG_IOC_PATH, &arg), ERANGE, "PATH", "no buffer");
}

/* MTAG_IOC_THREAD with a word at that address, which a 32-bit program may not be able to name. */
static int word_at_number(uint64_t where)
{
	struct mtag_ioc_thread arg = {.size = sizeof(arg), .word = where};

	return mtag_ioctl(MTAG_IOC_THREAD, &arg);
}

static int word_at(const void *where)
{
	return word_at_number((uintptr_t)where);
}

static void words_refused(void)
{
	char *p = area(2 * PG), *q;
	int fd = must(open("/proc/self/exe", O_RDONLY));

	touch(0, p, 2 * PG);
	for (int i = 1; i < 4; i++) {
		char what[32];

		snprintf(what, sizeof(what), "%d bytes off", i);
		errs(word_at(p + i), EINVAL, "a word not aligned", what);
	}
	errs(word_at(p + 2 * PG - 2), EINVAL, "a word not aligned", "over the end of a page");
	errs(word_at((void *)8), EFAULT, "a word", "where nothing is mapped");
	errs(word_at_number(0xffff888000000000), EFAULT, "a word", "in the kernel");
	errs(word_at_number(0xfffffffffffffffc), EFAULT, "a word", "at the end of all addresses");
	if (sizeof(long) == 4)
		errs(word_at_number((uintptr_t)p + (1ULL << 32)), EFAULT, "a word",
		     "whose address is longer than the program's");
	must(mprotect(p, PG, PROT_READ));
	errs(word_at(p), EFAULT, "a word", "in memory that cannot be written");
	must(mprotect(p, PG, PROT_NONE));
	errs(word_at(p), EFAULT, "a word", "in memory that cannot be accessed");
	q = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	errs(word_at(q), EINVAL, "a word", "in shared memory");
	must(munmap(q, PG));
	q = must(mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, 0));
	errs(word_at(q) ? -EINVAL : 0, EINVAL, "a word", "in a file that cannot be written");
	must(munmap(q, PG));
	close(fd);
	exact("refused words change nothing");
	must(munmap(p, 2 * PG));
}

/* Touches under whatever the word holds. The word has a page of its own. */
static void touch_with(volatile uint32_t *word, uint32_t value, char *p)
{
	*word = value;
	for (size_t i = 0; i < N; i++)
		((volatile char *)p)[i * PG] = 1;
	*word = 0;
}

static void words_with_nonsense(void)
{
	static const uint32_t nonsense[] = {0xfff0,  0xfffe,	 0xffff,    0x10000,
					    0x10002, 0x7fffffff, 0xffffffff};
	uint32_t *word = (uint32_t *)area(PG);
	char *p = area(N * PG);
	uint64_t before, bad;

	touch(0, word, PG);
	errs(word_at(word), 0, "a word", "in private anonymous memory");
	for (size_t i = 0; i < COUNT(nonsense); i++) {
		must(madvise(p, N * PG, MADV_DONTNEED));
		before = anon_of(0);
		bad = geteuid() ? 0 : health("bad_word");
		touch_with(word, nonsense[i], p);
		is(anon_of(0) - before, N * PG,
		   "under the id %#x, which is no tag, pages are untagged", nonsense[i]);
		if (!geteuid())
			is(health("bad_word") - bad, N, "and that is counted (%#x)", nonsense[i]);
	}
	/* As libmtag keeps its own word elsewhere, this is how to touch under t now. */
	must(madvise(p, N * PG, MADV_DONTNEED));
	touch_with(word, t, p);
	is(anon_of(t), N * PG, "under a tag they are the tag's");
	must(munmap(p, N * PG));
	exact("nonsense in a word: exact");
}

/* The page with the word is unmapped: mtag holds a reference on the frame, so nothing breaks. */
static void word_unmapped(void)
{
	uint32_t *word = (uint32_t *)area(PG);
	char *p = area(N * PG);

	in_child {
		touch(0, word, PG);
		must0(word_at(word));
		*word = t;
		must(munmap(word, PG));
		for (size_t i = 0; i < N; i++)
			((volatile char *)p)[i * PG] = 1;
		exact("a thread without its word's page is exact");
		/* Something else where the word was does no harm. */
		must(mmap(word, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			  -1, 0));
		memset(word, 0xff, PG);
		must(madvise(p, N * PG, MADV_DONTNEED));
		for (size_t i = 0; i < N; i++)
			((volatile char *)p)[i * PG] = 1;
		exact("nor does other memory in its place");
		in_child {
			must(madvise(p, N * PG, MADV_DONTNEED));
			for (size_t i = 0; i < N; i++)
				((volatile char *)p)[i * PG] = 1;
			exact("and a child of that is exact");
		}
		must0(word_at(NULL));
		exact("the registration may be taken back");
	}
	in_child {
		touch(0, word, PG);
		must0(word_at(word));
		*word = t;
		must(madvise(word, PG, MADV_DONTNEED));
		for (size_t i = 0; i < N; i++)
			((volatile char *)p)[i * PG] = 1;
		exact("a word discarded by MADV_DONTNEED: exact");
	}
	must(munmap(p, N * PG));
}

static void not_tracked(void)
{
	union any arg;

	for (size_t i = COUNT(requests); i-- > 0;) {
		fill(&arg, &requests[i]);
		errs(mtag_ioctl(requests[i].nr, &arg), i ? ESRCH : 0, requests[i].name,
		     "by a process that is not tracked");
	}
}

static void device(void)
{
	char byte;

	ok(read(mtag_fd(), &byte, 1) == -1, "the device is not read");
	ok(write(mtag_fd(), &byte, 1) == -1, "nor written");
	ok(mmap(NULL, PG, PROT_READ, MAP_SHARED, mtag_fd(), 0) == MAP_FAILED, "nor mapped");
}

int main(int argc, char **argv)
{
	target = area(N * PG);
	span = (struct mtag_ioc_span){(uintptr_t)target, (uintptr_t)target + N * PG};
	if (mtag_fd() < 0)
		bail("open %s", MTAG_DEVICE);
	if (argc > 1 && !strcmp(argv[1], "nobody")) {
		must(setgid(65534));
		must(setuid(65534));
		/* Undumpable by setuid: /proc/self would be root's. */
		must(prctl(PR_SET_DUMPABLE, 1));
	}
	not_tracked();
	begin();
	t = tag("t");
	event_fd = must(eventfd(0, EFD_CLOEXEC));
	for (size_t i = 0; i < COUNT(requests); i++)
		arguments(&requests[i]);
	unknown();
	values();
	exact("after all that: exact");
	words_refused();
	words_with_nonsense();
	word_unmapped();
	device();
	exact("all is exact in the end");
	return done();
}
