// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All operators of C++, with libmtag-heap preloaded before any allocator: objects large enough that
 * each is a sample are seen as long as they live, whichever way they are made and deleted. Says
 * what failed.
 */
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>

#define _Static_assert static_assert
#include "reader.h"

static const std::size_t size = 64 << 20;
static reader self;

/* Samples of that size. */
static unsigned alive()
{
	mtag_heap_sample sample;
	unsigned n = 0;

	reader_head(&self);
	for (uint32_t i = 0; i < self.head.samples_used; i++)
		if (reader_get(&self, self.head.samples_at + i * sizeof(sample), &sample,
			       sizeof(sample)) &&
		    sample.address && mtag_heap_sample_good(&sample) && sample.asked == size)
			n++;
	return n;
}

static int failed;

template <typename New, typename Delete> static void check(const char *name, New make, Delete end)
{
	void *p = make();
	const unsigned during = alive();

	end(p);
	const unsigned after = alive();
	if (!p || during != 1 || after) {
		std::printf("%s: %u while it lives, %u after\n", name, during, after);
		failed = 1;
	}
}

struct thrower {
	char bytes[size];
	thrower()
	{
		throw std::runtime_error("constructor");
	}
};

/* An allocator's operators may call others of its own; each object is drawn once even so. */
template <typename New, typename Delete>
static void check_drawn(const char *name, New make, Delete end)
{
	const std::size_t rounds = 4000000, bytes = 128;

	reader_head(&self);
	const double expected = double(rounds * (bytes + 32)) / double(self.head.period);
	const uint64_t before = self.head.seen;
	for (std::size_t i = 0; i < rounds; i++)
		end(make(bytes));
	reader_head(&self);
	const double drawn = double(self.head.seen - before);
	/* Some 1,000, so 0.2 is more than six times the deviation. */
	if (drawn < 0.8 * expected || drawn > 1.2 * expected) {
		std::printf("%s: %.0f samples, not %.0f\n", name, drawn, expected);
		failed = 1;
	}
}

/* An operator that nobody has used so far asks nothing of the dynamic linker. */
static void check_dlerror()
{
	const std::align_val_t alignment{64};

	if (dlopen("/none", RTLD_NOW))
		failed = 1;
	::operator delete[](::operator new[](1, alignment), alignment);
	if (!dlerror()) {
		std::puts("an operator took the error of the program's dlopen()");
		failed = 1;
	}
}

/* Each way to make an object, and each to delete it. */
static void check_pairs()
{
	const std::align_val_t alignment{256};
	const std::nothrow_t &no = std::nothrow;

	check(
		"new", [] { return ::operator new(size); }, [](void *p) { ::operator delete(p); });
	check(
		"new[]", [] { return ::operator new[](size); },
		[](void *p) { ::operator delete[](p); });
	check(
		"sized", [] { return ::operator new(size); },
		[](void *p) { ::operator delete(p, size); });
	check(
		"sized []", [] { return ::operator new[](size); },
		[](void *p) { ::operator delete[](p, size); });
	check(
		"nothrow", [&] { return ::operator new(size, no); },
		[&](void *p) { ::operator delete(p, no); });
	check(
		"nothrow []", [&] { return ::operator new[](size, no); },
		[&](void *p) { ::operator delete[](p, no); });
	check(
		"aligned", [&] { return ::operator new(size, alignment); },
		[&](void *p) { ::operator delete(p, alignment); });
	check(
		"aligned []", [&] { return ::operator new[](size, alignment); },
		[&](void *p) { ::operator delete[](p, alignment); });
	check(
		"aligned, sized", [&] { return ::operator new(size, alignment); },
		[&](void *p) { ::operator delete(p, size, alignment); });
	check(
		"aligned, sized []", [&] { return ::operator new[](size, alignment); },
		[&](void *p) { ::operator delete[](p, size, alignment); });
	check(
		"aligned, nothrow", [&] { return ::operator new(size, alignment, no); },
		[&](void *p) { ::operator delete(p, alignment, no); });
	check(
		"aligned, nothrow []", [&] { return ::operator new[](size, alignment, no); },
		[&](void *p) { ::operator delete[](p, alignment, no); });
}

static void check_small()
{
	check_drawn(
		"small", [](std::size_t n) { return ::operator new(n); },
		[](void *p) { ::operator delete(p); });
	check_drawn(
		"small, aligned",
		[](std::size_t n) { return ::operator new (n, std::align_val_t{64}); },
		[](void *p) { ::operator delete (p, std::align_val_t{64}); });
}

static void check_throwing()
{
	try {
		new thrower;
		failed = 1;
	} catch (const std::runtime_error &) {
	}
	/* Debian's mimalloc is C and cannot throw: it aborts. */
	try {
		volatile std::size_t much = PTRDIFF_MAX;
		if (!std::strcmp(self.head.allocator, "mimalloc"))
			throw std::bad_alloc();
		::operator delete(::operator new(much));
		failed = 1;
	} catch (const std::bad_alloc &) {
	}
	if (alive()) {
		std::puts("what a constructor threw away is still there");
		failed = 1;
	}
}

int main()
{
	/* Nor has the library's own beginning left an error. */
	if (dlerror()) {
		std::puts("there is an error of the dynamic linker's at the beginning");
		failed = 1;
	}
	check_dlerror();
	if (!reader_open(&self, getpid()))
		return 2;
	check_pairs();
	check_small();
	check_throwing();
	std::vector<int> many;
	for (int i = 0; i < 100000; i++)
		many.push_back(i);
	std::puts(failed ? "failed" : "good");
	return failed;
}
