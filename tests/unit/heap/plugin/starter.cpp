// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library whose constructor waits for a thread that is the first to use some operators of C++. The dynamic
 * linker is locked meanwhile: an operator that asked it for anything would wait for ever.
 */
#include <cstddef>
#include <new>
#include <thread>

static int used;

__attribute__((constructor)) static void start()
{
	std::thread([] {
		const std::align_val_t alignment{128};

		::operator delete[](::operator new[](1000, alignment, std::nothrow), alignment,
				    std::nothrow);
		::operator delete[](::operator new[](1000, alignment), 1000, alignment);
		used = 1;
	}).join();
}

extern "C" int plugin()
{
	return used;
}
