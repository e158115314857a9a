// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The operators of C++. Those of the C++ library call malloc() and free(), and are left to do so.
 * Some allocators have operators of their own, which do not: these are counted here.
 *
 * Each name jumps to where its entry points: to the next operator of that name, or to one here that
 * counts and then goes there. The beginning decides that for all of them: later the dynamic linker may
 * be busy with a library whose constructor waits for this very thread, and an error of the program's
 * may wait for its dlerror().
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "filter.h"
#include "next.h"
#include "sampler.h"
#include "self.h"
#include "setup.h"

#define EXPORT	    __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* How C++ writes size_t in names: unsigned long, unsigned int. */
#if __SIZEOF_SIZE_T__ == 8
#define NEW_OPERATORS(X)                                                                           \
	X(_Znwm, (size_t n), (n), 0)                                                               \
	X(_Znam, (size_t n), (n), 0)                                                               \
	X(_ZnwmRKSt9nothrow_t, (size_t n, void *t), (n, t), 0)                                     \
	X(_ZnamRKSt9nothrow_t, (size_t n, void *t), (n, t), 0)                                     \
	X(_ZnwmSt11align_val_t, (size_t n, size_t a), (n, a), a)                                   \
	X(_ZnamSt11align_val_t, (size_t n, size_t a), (n, a), a)                                   \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, void *t), (n, a, t), a)         \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, void *t), (n, a, t), a)
#define SIZED_DELETES(X)                                                                           \
	X(_ZdlPvm, (void *p, size_t n), (p, n))                                                    \
	X(_ZdaPvm, (void *p, size_t n), (p, n))                                                    \
	X(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))                        \
	X(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
#else
#define NEW_OPERATORS(X)                                                                           \
	X(_Znwj, (size_t n), (n), 0)                                                               \
	X(_Znaj, (size_t n), (n), 0)                                                               \
	X(_ZnwjRKSt9nothrow_t, (size_t n, void *t), (n, t), 0)                                     \
	X(_ZnajRKSt9nothrow_t, (size_t n, void *t), (n, t), 0)                                     \
	X(_ZnwjSt11align_val_t, (size_t n, size_t a), (n, a), a)                                   \
	X(_ZnajSt11align_val_t, (size_t n, size_t a), (n, a), a)                                   \
	X(_ZnwjSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, void *t), (n, a, t), a)         \
	X(_ZnajSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, void *t), (n, a, t), a)
#define SIZED_DELETES(X)                                                                           \
	X(_ZdlPvj, (void *p, size_t n), (p, n))                                                    \
	X(_ZdaPvj, (void *p, size_t n), (p, n))                                                    \
	X(_ZdlPvjSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))                        \
	X(_ZdaPvjSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
#endif

#define DELETE_OPERATORS(X)                                                                        \
	SIZED_DELETES(X)                                                                           \
	X(_ZdlPv, (void *p), (p))                                                                  \
	X(_ZdaPv, (void *p), (p))                                                                  \
	X(_ZdlPvRKSt9nothrow_t, (void *p, void *t), (p, t))                                        \
	X(_ZdaPvRKSt9nothrow_t, (void *p, void *t), (p, t))                                        \
	X(_ZdlPvSt11align_val_t, (void *p, size_t a), (p, a))                                      \
	X(_ZdaPvSt11align_val_t, (void *p, size_t a), (p, a))                                      \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, void *t), (p, a, t))            \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, void *t), (p, a, t))

#define NAME_OF(name) #name

/* ---- where there is no next operator: a C++ library was loaded later, for its user alone ---- */

/* The operator of that name of a file that is loaded, or of one that it needs. */
static void *operator_of(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD), *found = NULL;

	if (library) {
		found = dlsym(library, name);
		/* It stays loaded by whoever calls it. */
		dlclose(library);
	}
	return found;
}

/* Calls an operator of that name. What stands for std::nothrow is not looked at. */
static void *call(void *found, const char *name, size_t n, size_t alignment)
{
	static const char nothrow;
	union {
		void *found;
		void *(*plain)(size_t n);
		void *(*aligned)(size_t n, size_t a);
		void *(*plain_nothrow)(size_t n, const void *t);
		void *(*aligned_nothrow)(size_t n, size_t a, const void *t);
	} to = {found};

	if (__builtin_strstr(name, "nothrow"))
		return alignment ? to.aligned_nothrow(n, alignment, &nothrow)
				 : to.plain_nothrow(n, &nothrow);
	return alignment ? to.aligned(n, alignment) : to.plain(n);
}

/* Out of memory: the C++ library of the caller's calls the program's handler, or throws. */
static void *fail(const char *name, size_t n, size_t alignment, const void *caller)
{
	void *found = NULL;
	Dl_info info;

	if (dladdr(caller, &info))
		found = operator_of(info.dli_fname, name);
	if (!found)
		found = operator_of("libstdc++.so.6", name);
	if (!found && __builtin_strstr(name, "nothrow"))
		return NULL;
	if (!found)
		abort();
	return call(found, name, n, alignment);
}

static void *new_by_malloc(size_t n, size_t alignment, const char *name, const void *caller)
{
	void *p;

	if (!n)
		n = 1;
	p = alignment ? memalign(alignment, n) : malloc(n);
	return p ? p : fail(name, n, alignment, caller);
}

/* ---- the allocator's own ---- */

static void *noted(void *p, size_t n)
{
	if (p)
		mtag__sampler_add(p, n, n + MTAG__OBJECT);
	return p;
}

static inline __attribute__((always_inline)) bool noticed(size_t n)
{
	return UNLIKELY(mtag__countdown(&mtag__self.countdown, n + MTAG__OBJECT));
}

#define NEW(name, parameters, arguments, alignment)                                                \
	EXPORT void *name parameters;                                                              \
	static void *(*next##name)parameters;                                                      \
	static void *first##name parameters;                                                       \
	static void *(*entry##name)parameters = first##name;                                       \
	static void *counting##name parameters                                                     \
	{                                                                                          \
		if (noticed(n) && mtag__sampler_due())                                             \
			return noted(next##name arguments, n);                                     \
		return next##name arguments;                                                       \
	}                                                                                          \
	static void *without##name parameters                                                      \
	{                                                                                          \
		return new_by_malloc(n, alignment, NAME_OF(name), __builtin_return_address(0));    \
	}                                                                                          \
	static void *first##name parameters                                                        \
	{                                                                                          \
		if (!mtag__set_up())                                                               \
			return without##name arguments;                                            \
		return entry##name arguments;                                                      \
	}                                                                                          \
	EXPORT void *name parameters                                                               \
	{                                                                                          \
		return entry##name arguments;                                                      \
	}

#define DELETE(name, parameters, arguments)                                                        \
	EXPORT void name parameters;                                                               \
	static void(*next##name) parameters;                                                       \
	static void first##name parameters;                                                        \
	static void(*entry##name) parameters = first##name;                                        \
	static __attribute__((noinline)) void slowly##name parameters                              \
	{                                                                                          \
		struct mtag_heap_sample sample;                                                    \
		bool found = mtag__sampler_take(p, false, &sample);                                \
                                                                                                   \
		next##name arguments;                                                              \
		if (found)                                                                         \
			mtag__sampler_freed(&sample);                                              \
	}                                                                                          \
	static void counting##name parameters                                                      \
	{                                                                                          \
		if (UNLIKELY(mtag__filter_page(p)))                                                \
			slowly##name arguments;                                                    \
		else                                                                               \
			next##name arguments;                                                      \
	}                                                                                          \
	static void without##name parameters                                                       \
	{                                                                                          \
		free(p);                                                                           \
	}                                                                                          \
	static void first##name parameters                                                         \
	{                                                                                          \
		if (!mtag__set_up())                                                               \
			without##name arguments;                                                   \
		else                                                                               \
			entry##name arguments;                                                     \
	}                                                                                          \
	EXPORT void name parameters                                                                \
	{                                                                                          \
		entry##name arguments;                                                             \
	}

/* malloc() and free() need not know all that operators do. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
NEW_OPERATORS(NEW)
DELETE_OPERATORS(DELETE)

/* For setup.c, which is below this file: it finds them as all that is in the section. */
#define LIST(name, ...)                                                                            \
	{#name, (void **)&next##name, (void **)&entry##name, (void *)counting##name,               \
	 (void *)without##name},
static const struct mtag__operator operators[] __attribute__((used, section(MTAG__OPERATORS))) = {
	NEW_OPERATORS(LIST) DELETE_OPERATORS(LIST)};
