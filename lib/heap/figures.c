// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the allocator says of itself: how much it has from the kernel, and keeps for later. */
#include "figures.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "self.h"
#include "view.h"

#define SECOND	UINT64_C(1000000000)
#define SHARE	1000
#define ADVANCE (SECOND / 10) /* what answers may cost before it is paid for */

/* So much must have come or gone to ask before the second is over, and an eighth of what was in use. */
#define MUCH (UINT64_C(4) << 20)

static void (*ask)(struct mtag_heap_figures *figures);
/* When to ask at the earliest; when in any case; and how many bytes make it worth while before that. */
static uint64_t allowed, due, enough;
static uint64_t moved;
/* When all answers so far are paid for; protected by @asking. */
static uint64_t paid;
static uint32_t asking, sequence;

static void set(struct mtag_heap_figures *figures, uint64_t *figure, uint64_t value, uint64_t known)
{
	*figure = value;
	figures->known |= known;
}

/* ---- each allocator ---- */

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
static struct mallinfo2 (*glibc_info)(void);

/* What threads keep in their caches counts as used. */
static void ask_glibc(struct mtag_heap_figures *figures)
{
	struct mallinfo2 info = glibc_info();

	set(figures, &figures->mapped, info.arena + info.hblkhd, MTAG_HEAP_KNOWS_MAPPED);
	set(figures, &figures->used, info.uordblks + info.hblkhd, MTAG_HEAP_KNOWS_USED);
	set(figures, &figures->retained, info.fordblks, MTAG_HEAP_KNOWS_RETAINED);
}

static void find_glibc(void)
{
	*(void **)&glibc_info = mtag__next_own("mallinfo2");
	if (glibc_info)
		ask = ask_glibc;
}
#else
static void find_glibc(void)
{
}
#endif

static int (*jemalloc_ctl)(const char *name, void *old, size_t *old_len, void *new, size_t new_len);

static uint64_t jemalloc_figure(const char *name)
{
	size_t value = 0, len = sizeof(value);

	return jemalloc_ctl(name, &value, &len, NULL, 0) ? 0 : value;
}

/* Resident: active pages, those that wait to be given back, and metadata. */
static void ask_jemalloc(struct mtag_heap_figures *figures)
{
	uint64_t epoch = 1, resident, used, metadata;
	size_t len = sizeof(epoch), stats_len = sizeof(bool);
	bool stats = false;

	/* It may have been built without: then it tells nothing, not zeros. */
	if (jemalloc_ctl("config.stats", &stats, &stats_len, NULL, 0) || !stats ||
	    jemalloc_ctl("epoch", &epoch, &len, &epoch, len))
		return;
	used = jemalloc_figure("stats.allocated");
	metadata = jemalloc_figure("stats.metadata");
	resident = jemalloc_figure("stats.resident");
	set(figures, &figures->mapped, jemalloc_figure("stats.mapped"), MTAG_HEAP_KNOWS_MAPPED);
	set(figures, &figures->used, used, MTAG_HEAP_KNOWS_USED);
	set(figures, &figures->metadata, metadata, MTAG_HEAP_KNOWS_METADATA);
	set(figures, &figures->retained,
	    resident > used + metadata ? resident - used - metadata : 0, MTAG_HEAP_KNOWS_RETAINED);
}

static int (*tcmalloc_figure)(const char *name, size_t *value);

/*
 * The heap size includes what was given back to the kernel: the page heap tells how much that is.
 */
static void ask_tcmalloc(struct mtag_heap_figures *figures)
{
	size_t heap = 0, used = 0, unmapped = 0;

	if (!tcmalloc_figure("generic.heap_size", &heap) ||
	    !tcmalloc_figure("generic.current_allocated_bytes", &used))
		return;
	tcmalloc_figure("tcmalloc.pageheap_unmapped_bytes", &unmapped);
	set(figures, &figures->mapped, heap, MTAG_HEAP_KNOWS_MAPPED);
	set(figures, &figures->used, used, MTAG_HEAP_KNOWS_USED);
	set(figures, &figures->retained, heap > used + unmapped ? heap - used - unmapped : 0,
	    MTAG_HEAP_KNOWS_RETAINED);
}

static void (*mimalloc_info)(size_t *elapsed, size_t *user, size_t *system, size_t *rss,
			     size_t *peak_rss, size_t *commit, size_t *peak_commit, size_t *faults);

/* It does not tell what of the memory that it has committed is in use. */
static void ask_mimalloc(struct mtag_heap_figures *figures)
{
	size_t commit = 0;

	mimalloc_info(NULL, NULL, NULL, NULL, NULL, &commit, NULL, NULL);
	set(figures, &figures->mapped, commit, MTAG_HEAP_KNOWS_MAPPED);
}

void mtag__figures_find(enum mtag__allocator kind)
{
	switch (kind) {
	case MTAG__GLIBC:
		find_glibc();
		break;
	case MTAG__JEMALLOC:
		*(void **)&jemalloc_ctl = mtag__next_own("mallctl");
		ask = ask_jemalloc;
		break;
	case MTAG__TCMALLOC:
		*(void **)&tcmalloc_figure = mtag__next_own("MallocExtension_GetNumericProperty");
		ask = ask_tcmalloc;
		break;
	case MTAG__MIMALLOC:
		*(void **)&mimalloc_info = mtag__next_own("mi_process_info");
		if (mimalloc_info)
			ask = ask_mimalloc;
		break;
	case MTAG__OTHER:
		break;
	}
}

/* ---- when ---- */

/* Nanoseconds of this thread alone: that another one was given the processor is no cost. */
static uint64_t worked(void)
{
	struct timespec ts = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

static bool is_due(uint64_t now)
{
	return now >= __atomic_load_n(&allowed, __ATOMIC_RELAXED) &&
	       (now >= __atomic_load_n(&due, __ATOMIC_RELAXED) ||
		__atomic_load_n(&moved, __ATOMIC_RELAXED) >=
			__atomic_load_n(&enough, __ATOMIC_RELAXED));
}

/* Each answer is paid for by time that passes, a thousand times as long. */
static void wait_from(const struct mtag_heap_figures *figures)
{
	paid = (paid > figures->time ? paid : figures->time) + figures->cost * SHARE;
	__atomic_store_n(&allowed, paid > ADVANCE * SHARE ? paid - ADVANCE * SHARE : 0,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&due, figures->time + SECOND, __ATOMIC_RELAXED);
	__atomic_store_n(&moved, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&enough, figures->used / 8 > MUCH ? figures->used / 8 : MUCH,
			 __ATOMIC_RELAXED);
}

void mtag__figures_tick(uint64_t bytes)
{
	struct mtag_heap_figures figures = {0};
	uint32_t nobody = 0;

	if (!ask)
		return;
	__atomic_fetch_add(&moved, bytes, __ATOMIC_RELAXED);
	figures.time = mtag__view_now();
	if (!is_due(figures.time))
		return;
	/* The allocator may have been interrupted, with its locks taken. */
	if (mtag__self_in_handler() ||
	    !__atomic_compare_exchange_n(&asking, &nobody, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	figures.cost = worked();
	ask(&figures);
	figures.cost = worked() - figures.cost;
	wait_from(&figures);
	figures.sequence = ++sequence;
	figures.check = mtag_heap_check(&figures);
	mtag__view.head->figures = figures;
	__atomic_store_n(&asking, 0, __ATOMIC_RELEASE);
}

void mtag__figures_forked(void)
{
	asking = 0;
}
