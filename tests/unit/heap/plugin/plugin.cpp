// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library in C++ that a program in C loads for itself alone: its operators have nobody behind
 * libmtag-heap. Returns how many of 4 things were as they should be.
 */
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

extern "C" int plugin()
{
	std::vector<std::string> texts;
	volatile std::size_t much = PTRDIFF_MAX;
	struct alignas(128) block {
		char bytes[1000];
	};
	int good = 0;

	for (int i = 0; i < 10000; i++)
		texts.emplace_back(100, 'x');
	good += texts.back() == std::string(100, 'x');
	block *blocks = new block[10];
	good += reinterpret_cast<std::uintptr_t>(blocks) % 128 == 0;
	delete[] blocks;
	good += !::operator new(much, std::nothrow);
	try {
		::operator delete(::operator new(much));
	} catch (const std::bad_alloc &) {
		good++;
	}
	return good;
}
