// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The allocator behind this library, found when the first allocation comes by. Looking for it may
 * allocate, and so may the dynamic linker, before the C library is ready to be asked anything: for
 * these there is a piece of static memory.
 */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#define EARLY_BYTES 65536
#define HEADER	    16

static _Alignas(4096) unsigned char early[EARLY_BYTES];
static size_t early_used;

/* ---- early memory ---- */

/*
 * Each object is preceded by what exact.c takes for glibc's size word: size 0, flagged as mmapped.
 * That combination is rare, and makes it ask mtag__early_has(). The true size precedes it.
 */
void *mtag__early_alloc(size_t alignment, size_t size)
{
	size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED), at, words[2] = {size, 2};

	if (alignment < HEADER)
		alignment = HEADER;
	do {
		if (alignment > EARLY_BYTES || size > EARLY_BYTES)
			return NULL;
		at = (used + HEADER + alignment - 1) & ~(alignment - 1);
		if (at + size > EARLY_BYTES)
			return NULL;
	} while (!__atomic_compare_exchange_n(&early_used, &used, at + size, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(early + at - sizeof(words), words, sizeof(words));
	return early + at;
}

bool mtag__early_has(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

size_t mtag__early_size(const void *p)
{
	size_t size;

	memcpy(&size, (const char *)p - 2 * sizeof(size), sizeof(size));
	return size;
}

const void *mtag__early_begin(size_t *size)
{
	*size = EARLY_BYTES;
	return early;
}

/* ---- until the allocator is found ---- */

/* Only the thread that looks for it comes here again meanwhile: it gets early memory. */
static __thread bool looking __attribute__((tls_model("initial-exec")));

static void *first_malloc(size_t size)
{
	if (looking)
		return mtag__early_alloc(0, size);
	mtag__next_find();
	return mtag__next.malloc(size);
}

static void first_free(void *p)
{
	if (looking || mtag__early_has(p))
		return;
	mtag__next_find();
	mtag__next.free(p);
}

static void *first_calloc(size_t n, size_t size)
{
	if (looking)
		return size && n > SIZE_MAX / size ? NULL : mtag__early_alloc(0, n * size);
	mtag__next_find();
	return mtag__next.calloc(n, size);
}

static void *first_realloc(void *p, size_t size)
{
	if (looking)
		return p ? NULL : mtag__early_alloc(0, size);
	mtag__next_find();
	return mtag__next.realloc(p, size);
}

static void *first_memalign(size_t alignment, size_t size)
{
	if (looking)
		return mtag__early_alloc(alignment, size);
	mtag__next_find();
	return mtag__next.memalign(alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	if (looking)
		return mtag__early_alloc(alignment, size);
	mtag__next_find();
	return mtag__next.aligned_alloc(alignment, size);
}

static int first_posix_memalign(void **p, size_t alignment, size_t size)
{
	if (looking) {
		*p = mtag__early_alloc(alignment, size);
		return *p ? 0 : ENOMEM;
	}
	mtag__next_find();
	return mtag__next.posix_memalign(p, alignment, size);
}

static size_t first_usable(void *p)
{
	if (looking)
		return 0;
	mtag__next_find();
	return mtag__next.usable(p);
}

struct mtag__next mtag__next = {
	.malloc = first_malloc,
	.free = first_free,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.memalign = first_memalign,
	.aligned_alloc = first_aligned_alloc,
	.posix_memalign = first_posix_memalign,
	.usable = first_usable,
};

/* ---- finding it ---- */

/* Some allocators lack a function; the C library's would take memory from another heap. */
static void *memalign_by_posix(size_t alignment, size_t size)
{
	void *p = NULL;
	int err;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	err = mtag__next.posix_memalign(&p, alignment, size);
	if (err)
		errno = err;
	return err ? NULL : p;
}

static size_t usable_unknown(void *p)
{
	(void)p;
	return 0;
}

/*
 * What the program would call: perhaps another file's than malloc() is, which knows nothing of its
 * objects.
 */
static size_t (*usable_of_program)(void *p);

static const void *file_of(const void *address, const char **name)
{
	Dl_info info;

	if (!address || !dladdr(address, &info))
		return NULL;
	*name = info.dli_fname;
	return info.dli_fbase;
}

/* A function of the file that @malloc is in: another's knows nothing of its objects. */
static void *find_own(void *malloc, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	const char *file;

	return found && file_of(found, &file) == file_of(malloc, &file) ? found : NULL;
}

static void *find(void *malloc, const char *name, void *instead)
{
	void *found = find_own(malloc, name);

	return found ? found : instead;
}

void mtag__next_find(void)
{
	struct mtag__next found;
	void *own;

	if (looking || mtag__next.malloc != first_malloc)
		return;
	looking = true;
	found = mtag__next;
	*(void **)&found.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&found.free = dlsym(RTLD_NEXT, "free");
	*(void **)&found.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&found.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&found.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	own = *(void **)&found.malloc;
	*(void **)&found.aligned_alloc = find(own, "aligned_alloc", (void *)memalign_by_posix);
	*(void **)&found.memalign = find(own, "memalign", (void *)memalign_by_posix);
	*(void **)&found.usable = find(own, "malloc_usable_size", (void *)usable_unknown);
	*(void **)&usable_of_program = dlsym(RTLD_NEXT, "malloc_usable_size");
	/* Without an allocator there is no program. */
	if (!found.malloc || !found.free || !found.calloc || !found.realloc ||
	    !found.posix_memalign)
		__builtin_trap();
	mtag__next = found;
	looking = false;
}

size_t mtag__next_usable(void *p)
{
	mtag__next_find();
	if (mtag__next.usable != usable_unknown)
		return mtag__next.usable(p);
	return usable_of_program ? usable_of_program(p) : 0;
}

/* ---- who it is ---- */

/*
 * A program that takes the address of malloc() may have a symbol of that name, at a stub, which
 * defines nothing.
 */
bool mtag__next_bypassed(void)
{
	const void *first = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = NULL;
	const char *file;
	Dl_info info;

	return first && dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx != SHN_UNDEF && info.dli_fbase != file_of(&mtag__next, &file);
}

void *mtag__next_own(const char *name)
{
	return find_own(*(void **)&mtag__next.malloc, name);
}

enum mtag__allocator mtag__next_kind(const char **name)
{
	static const struct {
		const char *symbol, *name;
	} known[] = {
		[MTAG__GLIBC] = {"gnu_get_libc_version", "glibc"},
		[MTAG__JEMALLOC] = {"mallctl", "jemalloc"},
		[MTAG__TCMALLOC] = {"MallocExtension_GetNumericProperty", "tcmalloc"},
		[MTAG__MIMALLOC] = {"mi_version", "mimalloc"},
	};
	const char *slash;
	unsigned i;

	for (i = MTAG__GLIBC; i <= MTAG__MIMALLOC; i++) {
		if (mtag__next_own(known[i].symbol)) {
			*name = known[i].name;
			return i;
		}
	}
	*name = "";
	file_of(*(void **)&mtag__next.malloc, name);
	slash = strrchr(*name, '/');
	if (slash)
		*name = slash + 1;
	return MTAG__OTHER;
}
