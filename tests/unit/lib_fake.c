// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libmtag against the module of lib_fake.h: attaching, tags, scopes and reports,
 * and what becomes of them without it.
 */
#include "lib_fake.h"

/* ---- attaching ---- */

static void test_attach(void)
{
	CHECK(!mtag_active());
	CHECK(mtag_init() == 0 && mtag_init() == 0);
	CHECK(mtag_active());
	CHECK(count(MTAG_IOC_ATTACH) == 1);
	CHECK(nothing_open());
}

static void test_implicit(void)
{
	mtag_t a = mtag_child(MTAG_UNTAGGED, "a");

	CHECK(a >= MTAG_ID_FIRST && mtag_active());
	CHECK(count(MTAG_IOC_ATTACH) == 1 && nothing_open());
}

static void test_later(void)
{
	fake.open_error = ENXIO;
	CHECK(mtag_init() == -ENOENT);
	CHECK(mtag_child(0, "a") == 0 && errno == ENOENT);
	fake.open_error = EACCES;
	CHECK(mtag_init() == -EACCES);
	fake.open_error = 0;
	/* Nobody asked again. */
	CHECK(mtag_child(0, "a") == 0 && !mtag_active());
	CHECK(mtag_enter(0) == 0);
	CHECK(mtag_init() == 0 && mtag_active());
	CHECK(mtag_child(0, "a") >= MTAG_ID_FIRST);
	mtag_enter(3);
	CHECK(charged() == 3);
}

/* A thread in a sandbox may not open the device any more; the others go on. */
static void test_sandbox(void)
{
	CHECK(mtag_init() == 0);
	fake.open_error = EPERM;
	CHECK(mtag_child(0, "a") == 0 && errno == EPERM);
	fake.open_error = EACCES;
	CHECK(mtag_child(0, "a") == 0 && errno == EACCES && mtag_active());
	fake.open_error = 0;
	CHECK(mtag_child(0, "a") >= MTAG_ID_FIRST && nothing_open());
}

/* As after chroot(2): the thread sees no /dev, or another one that has no such device. */
static void enter_jail(int open_error, int directory)
{
	fake.open_error = open_error;
	fake.directory = directory;
}

static void leave_jail(void)
{
	fake.open_error = 0;
	fake.directory = 1;
}

static void test_jail(void)
{
	static const struct {
		int open_error, directory;
	} jails[] = {{ENOENT, 0}, {ENOENT, 2}, {ENOTDIR, 3}, {ENXIO, 2}, {ENODEV, 2}};
	mtag_t a = mtag_child(0, "a");
	size_t i;

	mtag_enter(a);
	for (i = 0; i < sizeof(jails) / sizeof(jails[0]); i++) {
		enter_jail(jails[i].open_error, jails[i].directory);
		CHECK(mtag_child(a, "new") == a && errno == ENOENT);
		CHECK(mtag_active() && mtag_init() == 0 && mtag_child(0, "a") == a);
		mtag_enter(0);
		{
			MTAG_SCOPE("a");
			CHECK(charged() == a);
		}
		mtag_leave(a);
	}
	CHECK(mtag_failures() == sizeof(jails) / sizeof(jails[0]));
	leave_jail();
	CHECK(mtag_child(a, "new") > a && nothing_open());
}

static void test_refused_attach(void)
{
	fake.error[NR(MTAG_IOC_ATTACH)] = ENOSPC;
	CHECK(mtag_init() == -ENOSPC && !mtag_active());
	CHECK(mtag_enter(1) == 0 && mtag_current() == 1);
	CHECK(nothing_open());
}

/* ---- the current tag ---- */

static void test_word(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(a, "b"), first, second;

	first = mtag_enter(a);
	CHECK(charged() == a && mtag_current() == a);
	second = mtag_enter(b);
	CHECK(charged() == b);
	mtag_leave(second);
	CHECK(charged() == a);
	mtag_leave(first);
	CHECK(charged() == 0);
	CHECK(count(MTAG_IOC_THREAD) == 1 && nothing_open());
}

static void test_default(void)
{
	mtag_t a = mtag_child(0, "a");

	CHECK(mtag_default(a) == 0);
	CHECK(mtag_current() == a);
	CHECK(mtag_enter(0) == a);
	mtag_leave(a);
	CHECK(charged() == a);
}

static void test_errno(void)
{
	mtag_t previous;

	errno = 42;
	previous = mtag_enter(1);
	mtag_current();
	mtag_leave(previous);
	CHECK(errno == 42);
	{
		MTAG_SCOPE("x");
		CHECK(errno == 42);
	}
	{
		MTAG_SCOPE("no/good");
		CHECK(errno == 42);
	}
	CHECK(errno == 42 && mtag_failures() == 1);
}

static void test_no_registration(void)
{
	int i;

	fake.error[NR(MTAG_IOC_THREAD)] = ENOMEM;
	for (i = 0; i < 500; i++) {
		mtag_t previous = mtag_enter(7);

		CHECK(mtag_current() == 7);
		{
			MTAG_SCOPE("below");
			CHECK(mtag_current() == 7);
		}
		mtag_leave(previous);
		CHECK(mtag_current() == 0);
	}
	CHECK(count(MTAG_IOC_THREAD) < 10 && count(MTAG_IOC_CHILD) == 0);
	CHECK(mtag_failures() > 0 && mtag_active());
	fake.error[NR(MTAG_IOC_THREAD)] = 0;
	for (i = 0; i < 2000; i++)
		mtag_leave(mtag_enter(7));
	CHECK(mtag_enter(7) == 0 && charged() == 7);
}

/* The tag that the kernel has for the thread is not overwritten by leaving one that it was never told of. */
static void test_late_registration(void)
{
	mtag_t a = mtag_child(0, "a"), outer;
	int i;

	CHECK(mtag_default(a) == 0);
	fake.error[NR(MTAG_IOC_THREAD)] = ENOMEM;
	outer = mtag_enter(7);
	fake.error[NR(MTAG_IOC_THREAD)] = 0;
	for (i = 0; i < 2000; i++)
		mtag_leave(mtag_enter(8));
	CHECK(mtag_current() == 7 && charged() == a);
	mtag_leave(outer);
	CHECK(mtag_enter(0) == a && charged() == 0);
	mtag_leave(a);
	CHECK(charged() == a);
}

/* Nor by leaving untagged, or what was entered before there was a module. */
static void test_late_leave(void)
{
	mtag_t a, outer;
	int i;

	fake.open_error = ENOENT;
	outer = mtag_enter(0);
	fake.open_error = 0;
	CHECK(mtag_init() == 0);
	a = mtag_child(0, "a");
	CHECK(mtag_default(a) == 0);
	mtag_leave(outer);
	CHECK(charged() == a && mtag_current() == a);
	for (i = 0; i < 2000; i++)
		mtag_leave(mtag_enter(0));
	CHECK(charged() == a && count(MTAG_IOC_THREAD) == 1);
}

/* A thread may begin with it: it sets the tag. */
static void test_first_leave(void)
{
	CHECK(mtag_init() == 0);
	mtag_leave(7);
	CHECK(charged() == 7 && mtag_current() == 7);
}

/* ---- tags ---- */

static void test_child_cache(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(0, "b"), ax = mtag_child(a, "x");
	char name[8] = "a";
	int i;

	CHECK(a != b && ax != a && ax != b && mtag_child(b, "x") != ax);
	for (i = 0; i < 100; i++)
		CHECK(mtag_child(0, "a") == a && mtag_child(a, "x") == ax);
	CHECK(mtag_child(0, name) == a);
	name[0] = 'b';
	CHECK(mtag_child(0, name) == b);
	CHECK(count(MTAG_IOC_CHILD) == 4 && nothing_open());
}

static void test_many_tags(void)
{
	mtag_t ids[400];
	char name[16];
	int i;

	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		ids[i] = mtag_child(0, name);
	}
	for (i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "tag-%d", i);
		CHECK(mtag_child(0, name) == ids[i]);
	}
	CHECK(last_tag == MTAG_ID_FIRST + 399);
}

static mtag_t in_scope(void)
{
	MTAG_SCOPE("leaf");
	return mtag_current();
}

static void test_scope(void)
{
	mtag_t a = mtag_child(0, "a"), b = mtag_child(0, "b"), under_a, under_b, previous;
	int i, calls;

	previous = mtag_enter(a);
	under_a = in_scope();
	CHECK(tags[under_a].parent == a && !strcmp(tags[under_a].name, "leaf"));
	CHECK(mtag_current() == a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 1000; i++)
		CHECK(in_scope() == under_a);
	CHECK(count(MTAG_IOC_CHILD) == calls);
	mtag_enter(b);
	under_b = in_scope();
	CHECK(tags[under_b].parent == b && under_b != under_a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 100; i++) {
		mtag_enter(i & 1 ? a : b);
		CHECK(in_scope() == (i & 1 ? under_a : under_b));
	}
	CHECK(count(MTAG_IOC_CHILD) == calls);
	mtag_leave(previous);
	CHECK(in_scope() != under_a && charged() == 0);
}

static void test_refused(void)
{
	mtag_t a = mtag_child(0, "a"), previous;
	char longest[66] = {0};
	int i, calls;

	memset(longest, 'n', 64);
	errno = 0;
	CHECK(mtag_child(a, "") == a && errno == EINVAL);
	CHECK(mtag_child(a, "x/y") == a && errno == EINVAL);
	CHECK(mtag_child(a, NULL) == a && errno == EINVAL);
	CHECK(mtag_child(a, longest) == a && errno == ENAMETOOLONG);
	longest[63] = 0;
	CHECK(mtag_child(a, longest) != a);
	CHECK(mtag_failures() == 4);
	previous = mtag_enter(a);
	fake.error[NR(MTAG_IOC_CHILD)] = ENOSPC;
	CHECK(in_scope() == a);
	calls = count(MTAG_IOC_CHILD);
	for (i = 0; i < 100; i++)
		CHECK(in_scope() == a);
	CHECK(count(MTAG_IOC_CHILD) == calls && mtag_failures() == 5);
	mtag_leave(previous);
	/* Out of memory is no answer for good. */
	fake.error[NR(MTAG_IOC_CHILD)] = ENOMEM;
	CHECK(in_scope() == 0);
	fake.error[NR(MTAG_IOC_CHILD)] = 0;
	CHECK(in_scope() != 0 && nothing_open());
}

/* ---- the module goes ---- */

static void check_inactive(mtag_t entered)
{
	struct mtag_usage u;
	char buf[64];
	mtag_t previous;

	CHECK(!mtag_active());
	CHECK(mtag_current() == entered);
	previous = mtag_enter(4);
	CHECK(previous == entered && mtag_current() == 4);
	CHECK(mtag_child(4, "new") == 4 && errno == ESRCH);
	CHECK(in_scope() == 4);
	mtag_leave(previous);
	CHECK(mtag_usage(entered, &u) == -ESRCH && u.rss_bytes == 0);
	CHECK(mtag_default(entered) == -ESRCH);
	CHECK(!mtag_path(entered, buf, sizeof(buf)) && errno == ESRCH);
	CHECK(mtag_init() == -ESRCH);
	CHECK(mtag_current() == entered);
}

static void test_module_goes(void)
{
	mtag_t a = mtag_child(0, "a");
	int opened;

	mtag_enter(a);
	fake.open_error = ENOENT;
	CHECK(mtag_child(a, "b") == a && errno == ENOENT);
	check_inactive(a);
	/* Not even when a module comes: its tree has other tags. */
	fake.open_error = 0;
	opened = atomic_load(&fake.opened);
	check_inactive(a);
	CHECK(atomic_load(&fake.opened) == opened && nothing_open());
}

/* Nobody in a jail can tell, but whoever is outside can. */
static void test_module_goes_meanwhile(void)
{
	mtag_t a = mtag_child(0, "a");

	mtag_enter(a);
	enter_jail(ENOENT, 2);
	CHECK(mtag_child(a, "b") == a && mtag_active());
	enter_jail(ENOENT, 1);
	CHECK(mtag_child(a, "b") == a && errno == ENOENT);
	check_inactive(a);
}

static void test_untracked(void)
{
	mtag_t a = mtag_child(0, "a");

	mtag_enter(a);
	fake.error[NR(MTAG_IOC_DEFAULT)] = ESRCH;
	CHECK(mtag_default(a) == -ESRCH);
	check_inactive(a);
}

static void test_transient(void)
{
	mtag_t a = mtag_child(0, "a");

	fake.open_error = EMFILE;
	CHECK(mtag_child(a, "b") == a && errno == EMFILE);
	CHECK(mtag_active());
	fake.open_error = 0;
	CHECK(mtag_child(a, "b") != a);
}

static void test_not_ours(void)
{
	fake.error[NR(MTAG_IOC_ATTACH)] = ENOTTY;
	CHECK(mtag_init() == -ENOENT && nothing_open());
}

/* The module is older than a function of the library. */
static void test_older(void)
{
	mtag_t a = mtag_child(0, "a");
	struct mtag_usage u;

	fake.error[NR(MTAG_IOC_USAGE)] = ENOTTY;
	CHECK(mtag_usage(a, &u) == -ENOTTY);
	fake.error[NR(MTAG_IOC_USAGE)] = 0;
	CHECK(mtag_active() && mtag_usage(a, &u) == 0);
}

/* ---- reports ---- */

static void test_reports(void)
{
	mtag_t a = mtag_child(0, "a");
	struct mtag_usage u;
	char buf[4];

	CHECK(mtag_usage(a, &u) == 0);
	CHECK(u.anon_bytes == 1000 && u.file_bytes == 1001 && u.shmem_bytes == 1002);
	CHECK(u.rss_bytes == 3003 && u.swap_bytes == 1003 && u.peak_rss_bytes == 1004);
	CHECK(u.virt_bytes == 1005 && u.touched_bytes == 1006 && u.mmaps == 1007);
	CHECK(u.munmaps == 1008 && u.mremaps == 1009 && u.brks == 1010 && u.shmats == 1011);
	CHECK(u.shmdts == 1012 && u.mmap_bytes == 1013 && u.munmap_bytes == 1014);
	CHECK(u.mremap_bytes == 1015 && u.brk_bytes == 1016 && u.shmat_bytes == 1017);
	CHECK(u.shmdt_bytes == 1018 && !u.reserved[0]);
	CHECK(mtag_usage(999, &u) == -ENOENT && !u.anon_bytes && mtag_active());
	CHECK(mtag_path(a, buf, sizeof(buf)) == buf && !strcmp(buf, "a"));
	CHECK(!mtag_path(a, buf, 1) && errno == ERANGE);
	CHECK(!mtag_path(999, buf, sizeof(buf)) && errno == ENOENT);
	CHECK(mtag_range((void *)0x5000, 0x6000, a, MTAG_RANGE_PRESENT) == 0);
	CHECK(last_range.addr == 0x5000 && last_range.len == 0x6000 && last_range.tag == a &&
	      last_range.flags == 1 && last_range.size == sizeof(last_range) && !last_range.pad);
	CHECK(nothing_open());
}

static const struct tap_test tests[] = {
	{"a process attaches once", test_attach},
	{"the first call attaches", test_implicit},
	{"mtag_init tries again until there is a module", test_later},
	{"a refused process goes on without", test_refused_attach},
	{"a thread in a sandbox loses its tags alone", test_sandbox},
	{"one in a jail without the device keeps those that it knows", test_jail},
	{"the kernel sees each enter and leave", test_word},
	{"a thread starts with the default tag", test_default},
	{"errno is left alone", test_errno},
	{"a thread that cannot be registered nests right, and tries again later",
	 test_no_registration},
	{"it keeps the tag that it had when it is registered later", test_late_registration},
	{"leaving does not overwrite that either", test_late_leave},
	{"a thread may begin with leaving", test_first_leave},
	{"mtag_child asks the kernel once", test_child_cache},
	{"mtag_child keeps hundreds of tags apart", test_many_tags},
	{"a scope is right under every current tag", test_scope},
	{"a refused tag is its parent, and is counted", test_refused},
	{"without the module again, calls are no-ops", test_module_goes},
	{"so they are if another thread was in a jail meanwhile", test_module_goes_meanwhile},
	{"untracked, calls are no-ops", test_untracked},
	{"a passing failure does not end it", test_transient},
	{"another device of that name is no module", test_not_ours},
	{"a function that the module does not have costs nothing but itself", test_older},
	{"reports are handed through", test_reports},
};
TAP_MAIN(tests)
