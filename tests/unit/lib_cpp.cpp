// SPDX-License-Identifier: LGPL-2.1-or-later
/* libmtag in C++, with or without the module. */
#include <mtag.hpp>

#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "lib_tap.h"

static_assert(!std::is_copy_constructible_v<mtag::scope>);
static_assert(!std::is_copy_assignable_v<mtag::scope>);
static_assert(std::is_nothrow_move_constructible_v<mtag::scope>);
static_assert(std::is_nothrow_destructible_v<mtag::scope>);
static_assert(std::is_trivially_copyable_v<mtag::tag> && sizeof(mtag::tag) == 4);

static void test_scope()
{
	const mtag_t start = mtag_current();
	{
		mtag::scope a{mtag_t{5}};
		CHECK(mtag_current() == 5);
		{
			mtag::scope b{mtag::tag{6}};
			CHECK(mtag::tag::current().id() == 6);
			MTAG_SCOPE("macro");
		}
		CHECK(mtag_current() == 5);
		mtag::scope c{"literal"};
		mtag::scope d{std::string{"string"}};
	}
	CHECK(mtag_current() == start);
}

static mtag::scope make_scope()
{
	mtag::scope s{mtag_t{8}};
	return s;
}

static void test_move()
{
	const mtag_t start = mtag_current();
	{
		mtag::scope s = make_scope();
		mtag::scope t = std::move(s);
		CHECK(mtag_current() == 8);
	}
	CHECK(mtag_current() == start);
}

static void test_throw()
{
	const mtag_t start = mtag_current();

	try {
		MTAG_SCOPE("outer");
		mtag::scope s{mtag_t{3}};
		throw std::runtime_error{"out"};
	} catch (const std::runtime_error &) {
		CHECK(mtag_current() == start);
	}
}

static void test_hand_off()
{
	mtag::scope s{mtag_t{12}};
	const mtag::tag mine = mtag::tag::current();

	std::thread{[mine] {
		mtag::scope here{mine};
		CHECK(mtag::tag::current() == mine);
	}}.join();
	CHECK(mtag::tag::current() == mine);
}

static void test_carry()
{
	auto job = [] {
		mtag::scope s{mtag_t{12}};
		return mtag::carry([](mtag_t other) {
			CHECK(mtag_current() == 12);
			return mtag_current() + other;
		});
	}();
	mtag_t sum = 0;

	std::thread{[&] {
		mtag::scope here{mtag_t{7}};
		sum = job(1);
		CHECK(mtag_current() == 7);
	}}.join();
	CHECK(sum == 13 && mtag_current() == MTAG_UNTAGGED);
}

/* As a coroutine does it: it enters a tag here, and leaves it there. */
static void test_carried()
{
	mtag_t before;
	mtag::carried work;

	std::thread{[&] {
		mtag::scope here{mtag_t{7}};
		work.resume();
		CHECK(mtag_current() == MTAG_UNTAGGED);
		before = mtag_enter(12);
		work.suspend();
		CHECK(mtag_current() == 7);
	}}.join();
	work.resume();
	CHECK(mtag_current() == 12);
	mtag_leave(before);
	work.suspend();
	CHECK(mtag_current() == MTAG_UNTAGGED);
}

static void test_text()
{
	if (!mtag_active())
		CHECK(mtag::text(MTAG_JSON).empty());
}

static void test_tag()
{
	CHECK(mtag::tag{}.path().empty());
	CHECK(mtag::tag{}.id() == MTAG_UNTAGGED);
	if (!mtag_active()) {
		CHECK(mtag::tag{4}.child("x") == mtag::tag{4});
		CHECK(mtag::tag{4}.usage().rss_bytes == 0);
	}
}

static const tap_test tests[] = {
	{"a scope ends with its block", test_scope},
	{"a scope moves", test_move},
	{"an exception ends scopes", test_throw},
	{"a tag is handed to another thread", test_hand_off},
	{"a function carries the tag in which it was made", test_carry},
	{"work that moves between threads carries its tag", test_carried},
	{"without the module there is no text", test_text},
	{"a tag is a value", test_tag},
};
TAP_MAIN(tests)
