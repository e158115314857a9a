// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How libmtag-heap asks the module of lib_fake.h for the tag of a thread without a word, and when it
 * gives up.
 *
 * sources: lib/heap/tag.c
 */
#include "lib_fake.h"

#include "internal.h"
#include "heap/self.h"
#include "heap/tag.h"

__thread struct mtag__self mtag__self;

/* The module has one tag for all threads. */
static void begin_in(mtag_t tag)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	bool gone;

	CHECK(!mtag__call_device(MTAG_IOC_ATTACH, &arg, &gone));
	fake.default_tag = tag;
	CHECK(mtag__tag_ask(0, NULL) == tag);
}

static void test_jail(void)
{
	begin_in(7);
	fake.open_error = ENOENT;
	fake.directory = 2;
	fake.default_tag = 8;
	CHECK(mtag__tag_ask(0, NULL) == 7);
	fake.directory = 0;
	CHECK(mtag__tag_ask(0, NULL) == 7);
	fake.open_error = 0;
	fake.directory = 1;
	CHECK(mtag__tag_ask(0, NULL) == 8 && nothing_open());
}

static void test_module_goes(void)
{
	begin_in(7);
	fake.open_error = ENOENT;
	CHECK(mtag__tag_ask(0, NULL) == 7);
	fake.open_error = 0;
	fake.default_tag = 8;
	CHECK(mtag__tag_ask(0, NULL) == 7 && count(MTAG_IOC_HEAP) == 1);
}

static void test_absent(void)
{
	fake.open_error = ENOENT;
	CHECK(mtag__tag_ask(0, NULL) == 0);
	fake.open_error = 0;
	fake.default_tag = 8;
	CHECK(mtag__tag_ask(0, NULL) == 0 && !count(MTAG_IOC_HEAP));
}

static const struct tap_test tests[] = {
	{"in a jail without the device a thread keeps its tag, and is asked for again afterwards",
	 test_jail},
	{"a module that has gone is not asked again", test_module_goes},
	{"nor one that never was there", test_absent},
};
TAP_MAIN(tests)
