// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Aligned operators of C++ out of memory: they call the handler, and throw or return null. Nothing comes back that is
 * not aligned.
 */
#include <cstddef>
#include <cstdint>
#include <new>

static int handled;

extern "C" int plugin()
{
	const std::align_val_t alignment{std::size_t{1} << 45};
	int good = 0;

	std::set_new_handler([] {
		handled++;
		std::set_new_handler(nullptr);
	});
	try {
		void *p = ::operator new(64, alignment);
		good = reinterpret_cast<std::uintptr_t>(p) % (std::size_t{1} << 45) ? -100 : -200;
	} catch (const std::bad_alloc &) {
		good = 1;
	}
	std::set_new_handler([] {
		handled++;
		std::set_new_handler(nullptr);
	});
	good += !::operator new(64, alignment, std::nothrow);
	return 10 * good + handled;
}
