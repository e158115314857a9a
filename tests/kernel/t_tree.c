// SPDX-License-Identifier: GPL-2.0
/* The tag tree and its limits: each has a clear error, and the charge goes to the parent. */
/* vm: short=6.1 because="a tree of names is the same on all" timeout=300 */
/* vm: short=6.1 because="a tree of names is the same on all" timeout=400 args=limit */
#include "lib/test.h"

#define N 16

/* MTAG_IOC_CHILD: 0 or -errno. */
static int make(mtag_t parent, const char *name, size_t len, mtag_t *id)
{
	struct mtag_ioc_child arg = {
		.size = sizeof(arg), .parent = parent, .name_len = len, .name = (uintptr_t)name};
	int error = mtag_ioctl(MTAG_IOC_CHILD, &arg);

	if (id)
		*id = arg.id;
	return error;
}

static void refused(const char *name, size_t len, int error, const char *what)
{
	uint64_t tags = 0;
	struct usage u;
	mtag_t id;
	int got;

	while (!usage_get(tags, &u))
		tags++;
	got = make(0, name, len, &id);
	ok(got == -error, "%s: %s", what, strerror(error));
	if (got != -error)
		diag("  got %d (%s)", got, strerror(-got));
	is(usage_get(tags, &u), -ENOENT, "%s: nothing was created", what);
}

static void names(void)
{
	char longest[65];
	mtag_t id, again;

	memset(longest, 'n', sizeof(longest));
	refused("", 0, EINVAL, "an empty name");
	refused("a/b", 3, EINVAL, "a name with a slash");
	refused("/", 1, EINVAL, "a slash");
	refused("new\nline", 8, EINVAL, "a name with a newline");
	refused("\033[2J", 4, EINVAL, "a name with an escape sequence");
	refused("\x7f", 1, EINVAL, "a name with DEL");
	refused("tab\t", 4, EINVAL, "a name with a tab");
	refused("nul\0x", 5, EINVAL, "a name with a NUL");
	refused("\xc2\x9b", 2, EINVAL, "a name with a C1 control character");
	refused("a\xc2\xad", 3, EINVAL, "a name with a soft hyphen, which is not seen");
	refused("\xd8\x9c", 2, EINVAL, "a name with a mark that reorders (U+061C)");
	refused("\xe2\x80\xae", 3, EINVAL, "a name with a mark that reorders (U+202E)");
	refused("\xe1\xa0\x8e", 3, EINVAL, "a name with an invisible separator (U+180E)");
	refused("\xf0\x9d\x85\xb3", 4, EINVAL, "a name with an invisible mark (U+1D173)");
	refused("\xf3\xa0\x81\xa1", 4, EINVAL, "a name with an invisible letter (U+E0061)");
	refused("\xef\xbf\xbf", 3, EINVAL, "a name with what is no character (U+FFFF)");
	refused("\xff\xfe", 2, EINVAL, "a name that is no UTF-8");
	refused("\xc0\xaf", 2, EINVAL, "a name with an overlong slash");
	refused("\xed\xa0\x80", 3, EINVAL, "a name with a surrogate");
	refused("\xf4\x90\x80\x80", 4, EINVAL, "a name beyond Unicode");
	refused("cut \xe2\x82", 6, EINVAL, "a name that ends within a character");
	refused(longest, 64, ENAMETOOLONG, "a name of 64 bytes");
	refused(longest, 0x7fffffff, ENAMETOOLONG, "a name of 2 GiB");
	refused((void *)8, 4, EFAULT, "a name at a bad address");
	is(make(0, longest, 63, &id), 0, "a name of 63 bytes is fine");
	is(make(0, "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", 15, &id), 0,
	   "so is UTF-8 with spaces");
	is(make(0, "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", 15, &again), 0, "twice");
	is(again, id, "the same name is the same tag");
	is(make(id, "child", 5, &again), 0, "the same below it");
	ok(again != id, "is another");
	is(make(0xfffe, "x", 1, NULL), -ENOENT, "no such parent");
	is(make(0x10002, "x", 1, NULL), -ENOENT, "a parent beyond 16 bits");
	is(make(MTAG_ID_KSM, "x", 1, NULL) != 0, 1, "nothing goes below [ksm]");
}

static void paths(void)
{
	mtag_t t = mtag_child(mtag_child(mtag_child(0, "db"), "cache"), "block");
	char buf[MTAG_PATH_MAX];
	struct mtag_ioc_path arg = {
		.size = sizeof(arg), .tag = t, .buf_len = sizeof(buf), .buf = (uintptr_t)buf};

	is(mtag_ioctl(MTAG_IOC_PATH, &arg), 0, "MTAG_IOC_PATH works");
	ok(!strcmp(buf, "db/cache/block"), "a path is its components (%s)", buf);
	is(arg.buf_len, strlen(buf) + 1, "it says how long it is");
	arg.buf_len = 3;
	is(mtag_ioctl(MTAG_IOC_PATH, &arg), -ERANGE, "too small a buffer: ERANGE");
	is(arg.buf_len, strlen("db/cache/block") + 1, "with what is needed");
	arg.tag = 0;
	arg.buf_len = sizeof(buf);
	is(mtag_ioctl(MTAG_IOC_PATH, &arg), 0, "the untagged have a path");
	ok(buf[0] == '\0', "which is empty");
	arg.tag = 0xfff0;
	arg.buf_len = sizeof(buf);
	is(mtag_ioctl(MTAG_IOC_PATH, &arg), -ENOENT, "no such tag: ENOENT");
	ok(mtag_path(t, buf, sizeof(buf)) && !strcmp(buf, "db/cache/block"),
	   "libmtag's path is the same");
}

static void depth(void)
{
	mtag_t t = 0, below;
	char *p = area(N * PG);
	int n;

	for (n = 0; n < 100; n++) {
		int error = make(t, "deeper", 6, &below);

		if (error) {
			is(error, -ENAMETOOLONG, "too deep a tree: ENAMETOOLONG");
			break;
		}
		t = below;
	}
	is(n, MTAG_DEPTH_MAX, "a path has at most %d components", MTAG_DEPTH_MAX);
	errno = 0;
	is(mtag_child(t, "deeper"), t, "libmtag returns the parent");
	is(errno, ENAMETOOLONG, "with the reason in errno");
	touch(mtag_child(t, "deeper"), p, N * PG);
	is(anon_of(t), N * PG, "so that the charge goes to the parent");
	must(munmap(p, N * PG));
}

static void shared_by_fork(void)
{
	struct gate *g = gate();
	mtag_t before_fork = tag("before-fork"), theirs, ours;
	pid_t pid = child();

	if (!pid) {
		is(tag("before-fork"), before_fork, "a child knows its parent's tags");
		open_gate(g, tag("made-by-child"));
		pass_gate(g, 0x10000);
		must0(make(0, "made-by-parent", 14, &ours));
		is(ours, atomic_load(&g->step) - 0x10000, "and those that the parent made since");
		exact("and is exact with more tags");
		_exit(0);
	}
	pass_gate(g, 1);
	theirs = atomic_load(&g->step);
	must0(make(0, "made-by-child", 13, &ours));
	is(ours, theirs, "the parent knows a tag that the child made");
	open_gate(g, 0x10000 + tag("made-by-parent"));
	reap(pid);
}

/* To the limit of one tree. */
static int limit(void)
{
	uint64_t overflow = health("overflow"), drift = health("drift");
	mtag_t parent, last = 0, id = 0;
	char *p;
	int error, n;

	begin();
	parent = tag("parent");
	p = area(N * PG);
	for (n = 0; n < 70000; n++) {
		char name[16];
		int len = snprintf(name, sizeof(name), "t%d", n);

		error = make(parent, name, len, &id);
		if (error)
			break;
		last = id;
	}
	diag("%d tags below one parent", n);
	is(error, -ENOSPC, "the limit of tags in a tree: ENOSPC");
	ok(n >= 1000, "a tree takes a thousand tags or more");
	ok(last <= MTAG_ID_MAX, "ids stay in their range");
	errno = 0;
	is(mtag_child(parent, "one-more"), parent, "libmtag returns the parent");
	is(errno, ENOSPC, "with the reason in errno");
	touch(mtag_child(parent, "one-more"), p, N * PG);
	is(anon_of(parent), N * PG, "so that the charge goes to the parent");
	ok(health("overflow") > overflow, "the overflow is counted");
	ok(audit(getpid()).overflow > 0, "and shown");
	is(make(parent, "t7", 2, &id), 0, "a tag that exists is found at the limit");
	must(madvise(p, N * PG, MADV_DONTNEED));
	touch(last, p, N * PG);
	is(anon_of(last), N * PG, "the last tag works like any other");
	exact("a tree at its limit is exact");
	clean(getpid(), "audit agrees");
	in_child {
		is(anon_of(last), N * PG, "a child has all its tags");
		exact("and is exact");
	}
	no_drift(drift);
	return done();
}

/* What main() does in an exec'ed process: its exit status tells which expectation failed. */
static int anew(void)
{
	struct mtag_ioc_attach attach = {.size = sizeof(attach)};
	char path[MTAG_PATH_MAX] = "";
	struct mtag_ioc_path arg = {
		.size = sizeof(arg), .buf_len = sizeof(path), .buf = (uintptr_t)path};
	struct usage u;
	mtag_t nr = 0;

	if (usage_get(0, &u))
		return 1;
	if (mtag_ioctl(MTAG_IOC_ATTACH, &attach))
		return 2;
	arg.tag = attach.default_tag;
	if (mtag_ioctl(MTAG_IOC_PATH, &arg) || strcmp(path, "kept/default"))
		return 3;
	while (!usage_get(nr, &u))
		nr++;
	/* [untagged], [ksm], kept and kept/default. */
	if (nr != MTAG_ID_FIRST + 2)
		return 4;
	if (usage_get(0, &u) || resident(&u))
		return 5;
	return 0;
}

static void exec_starts_anew(void)
{
	mtag_t d = mtag_child(tag("kept"), "default");
	int status;
	pid_t pid;

	must0(mtag_default(d));
	pid = child();
	if (!pid) {
		mtag_enter(tag("lost-by-exec"));
		execl("/proc/self/exe", "anew", NULL);
		bail("exec");
	}
	must0(mtag_default(0));
	must(waitpid(pid, &status, 0));
	is(status, 0, "exec starts a new tree of the default tag alone, which all is charged to");
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[0], "anew"))
		return anew();
	begin_test();
	if (argc > 1 && !strcmp(argv[1], "limit"))
		return limit();
	begin();
	names();
	paths();
	depth();
	shared_by_fork();
	exec_starts_anew();
	exact("all is exact in the end");
	return end_test();
}
