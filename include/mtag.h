/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmtag: which part of a program owns its resident pages.
 *
 * A program names its parts by tags, nodes of a tree written as paths such as
 * "db/cache/block". Each thread has a current tag, and a page belongs to the
 * current tag of the thread that touched it first. Without the kernel module
 * every call is a cheap no-op and every tag is MTAG_UNTAGGED. See libmtag(3).
 *
 * mtag_enter(), mtag_leave(), mtag_current() and MTAG_SCOPE() may be used in
 * signal handlers and leave errno alone; no call but mtag_write() takes a lock or
 * allocates.
 */
#ifndef MTAG_H
#define MTAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* struct mtag_usage and mtag_usage(), as with stat(2) */

#ifdef __cplusplus
#define MTAG_NOEXCEPT_ noexcept
#else
#define MTAG_NOEXCEPT_
#endif

/** mtag_t - a tag of this process and of the processes that it forks */
typedef uint32_t mtag_t;

#define MTAG_UNTAGGED 0 /* path "" */

/**
 * struct mtag_usage - the counters of one tag itself, without the tags below it
 * @reserved: 0
 *
 * All are current byte counts unless a comment says otherwise; see mtag_usage(3).
 */
struct mtag_usage {
	uint64_t anon_bytes;
	uint64_t file_bytes;
	uint64_t shmem_bytes;
	uint64_t rss_bytes; /* anon + file + shmem */
	uint64_t swap_bytes;
	uint64_t peak_rss_bytes; /* the highest rss_bytes so far */
	uint64_t virt_bytes;
	uint64_t touched_bytes; /* cumulative: ever touched first */
	uint64_t mmaps;		/* cumulative: calls, and below their bytes */
	uint64_t munmaps;
	uint64_t mremaps;
	uint64_t brks;
	uint64_t shmats;
	uint64_t shmdts;
	uint64_t mmap_bytes;
	uint64_t munmap_bytes;
	uint64_t mremap_bytes;
	uint64_t brk_bytes;
	uint64_t shmat_bytes;
	uint64_t shmdt_bytes;
	uint64_t reserved[12];
};

/**
 * mtag_init() - track the calling process
 *
 * Optional: the first call of any other function that needs the module does it.
 * That call tries only once; mtag_init() tries each time until it succeeds.
 *
 * Return: 0, or a negative errno: -ENOENT if there is no module, -EACCES,
 * -ENOMEM, -ENOSPC, -EBUSY, -EAGAIN, -EINTR; -EMFILE or -ENFILE, as any call, if there is
 * no descriptor for its duration; -ESRCH if the process was tracked and no longer
 * is. As the first call of the library any other may return these, too.
 */
int mtag_init(void) MTAG_NOEXCEPT_;

/**
 * mtag_active() - is the process tracked?
 *
 * Return: true after a successful mtag_init(), until a call finds that the
 * module is gone or no longer tracks this process.
 */
bool mtag_active(void) MTAG_NOEXCEPT_;

/**
 * mtag_child() - find or create a tag
 * @parent: the tag above it, MTAG_UNTAGGED for a root
 * @name: 1 to 63 bytes of printable UTF-8 without '/'
 *
 * Return: the tag; on failure @parent, with errno set.
 */
mtag_t mtag_child(mtag_t parent, const char *name) MTAG_NOEXCEPT_;

/** mtag_failures() - number of tags refused and threads not registered while tracked */
uint64_t mtag_failures(void) MTAG_NOEXCEPT_;

/**
 * mtag_default() - set the default tag of the process
 * @tag: the tag of threads that have none of their own
 *
 * Return: 0 or a negative errno.
 */
int mtag_default(mtag_t tag) MTAG_NOEXCEPT_;

/**
 * mtag_range() - give an address range to a tag, whichever thread touches it
 * @addr: page-aligned start
 * @len: bytes, rounded up to whole pages
 * @tag: the tag
 * @flags: 0, or MTAG_RANGE_PRESENT to move present anonymous pages, too
 *
 * Return: 0 or a negative errno.
 */
int mtag_range(void *addr, size_t len, mtag_t tag, unsigned flags) MTAG_NOEXCEPT_;

#define MTAG_RANGE_PRESENT 0x1

/**
 * mtag_usage() - read the counters of a tag of this process
 * @tag: the tag
 * @u: filled in; all 0 on failure
 *
 * Return: 0 or a negative errno.
 */
int mtag_usage(mtag_t tag, struct mtag_usage *u) MTAG_NOEXCEPT_;

/**
 * mtag_notify() - be told when a tag reaches a size
 * @tag: the tag
 * @rss_bytes: anon + file + shmem of this tag alone; 0 ends it
 * @eventfd: gets 1 added by the very page fault that makes the tag reach @rss_bytes, or by this
 *	call if it has; again after the tag has fallen by an eighth (large tags: up to a quarter).
 *	While other threads copy pages on write in @tag, the signal may come up to a page for
 *	each of them early
 *
 * One size for each pair of tag and eventfd; a new one replaces it. It ends with the last
 * descriptor of the eventfd, and at exec, exit or untrack, which also add 1. A forked
 * child has none.
 *
 * Return: 0 or a negative errno.
 */
int mtag_notify(mtag_t tag, uint64_t rss_bytes, int eventfd) MTAG_NOEXCEPT_;

/**
 * mtag_path() - the path of a tag
 * @tag: the tag; the path of MTAG_UNTAGGED is ""
 * @buf: where to put it; MTAG_PATH_BYTES are always enough
 * @len: bytes at @buf
 *
 * Return: @buf, or NULL with errno set (ERANGE: @len is too small).
 */
const char *mtag_path(mtag_t tag, char *buf, size_t len) MTAG_NOEXCEPT_;

#define MTAG_PATH_BYTES 2048

/** enum mtag_format - the forms of mtag_write() */
enum mtag_format {
	MTAG_JSON, /* one array of objects, as `mtagctl -j show` */
	MTAG_DOT,  /* a graph for graphviz, as `mtagctl show -f dot` */
	MTAG_TREE, /* for people, as `mtagctl tree` */
};

/**
 * mtag_write() - write all tags of this process and their counters, as of one moment
 * @out: where to; it is flushed. Not written to before all is read
 * @format: MTAG_*
 *
 * Not for signal handlers.
 *
 * Return: 0, or a negative errno, which may be that of @out.
 */
int mtag_write(FILE *out, enum mtag_format format);

/**
 * mtag_ignore_environment() - write no snapshots that environment variables ask for
 *
 * For programs that have an idea of their own of MTAG_SNAPSHOT_… and
 * MTAG_STATS_…: see mtag_ignore_environment(3).
 */
void mtag_ignore_environment(void) MTAG_NOEXCEPT_;

/**
 * mtag_enter() - set the calling thread's current tag
 * @tag: a tag of this process
 *
 * Return: the previous tag, to be passed to mtag_leave().
 */
mtag_t mtag_enter(mtag_t tag) MTAG_NOEXCEPT_;

/**
 * mtag_leave() - return to the previous tag
 * @previous: what mtag_enter() returned
 */
void mtag_leave(mtag_t previous) MTAG_NOEXCEPT_;

/**
 * mtag_current() - the calling thread's current tag
 *
 * Return: the tag; in a thread that never entered one, the tag of its creator.
 */
mtag_t mtag_current(void) MTAG_NOEXCEPT_;

/**
 * MTAG_SCOPE() - be in a tag until the end of the block
 * @name: the component below the current tag, always the same at one place
 *
 * The tag is remembered at this place, for one current tag. A name that is
 * permanently refused leaves the current tag unchanged.
 */
#define MTAG_SCOPE(name) MTAG_SCOPE_AT_(name, __COUNTER__)

/* ---- Internals of the calls above; programs must not use them. ---- */

/* The current tag, where the kernel reads it; NULL until the thread is registered. */
extern __thread uint32_t *mtag_thread_word __attribute__((tls_model("initial-exec")));

/* A place with MTAG_SCOPE: the current tag (low half) and the tag below it (high half). */
struct mtag_site {
	uint64_t cell __attribute__((__aligned__(8))); /* atomic in 32-bit programs, too */
};
#define MTAG_SITE_EMPTY_ UINT64_C(0xffffffff)

/* An open scope: the word of its thread, and the previous tag. */
struct mtag_frame {
	uint32_t *word;
	mtag_t previous;
};

mtag_t mtag_enter_slow(mtag_t tag) MTAG_NOEXCEPT_;
void mtag_leave_slow(mtag_t previous) MTAG_NOEXCEPT_;
mtag_t mtag_current_slow(void) MTAG_NOEXCEPT_;
struct mtag_frame mtag_scope_begin(struct mtag_site *site, const char *name) MTAG_NOEXCEPT_;
struct mtag_frame mtag_scope_tag(mtag_t tag) MTAG_NOEXCEPT_;
/* With @site NULL the tag is not remembered. */
struct mtag_frame mtag_scope_slow(struct mtag_site *site, const char *name) MTAG_NOEXCEPT_;
struct mtag_frame mtag_scope_tag_slow(mtag_t tag) MTAG_NOEXCEPT_;
void mtag_scope_end(struct mtag_frame *frame) MTAG_NOEXCEPT_;

#define MTAG_JOIN_(a, b) a##b
#define MTAG_SCOPE_AT_(name, n)                                                                    \
	MTAG_SCOPE_IN_(name, MTAG_JOIN_(mtag_site_, n), MTAG_JOIN_(mtag_frame_, n))
#define MTAG_SCOPE_IN_(name, site, frame)                                                          \
	static struct mtag_site site = {MTAG_SITE_EMPTY_};                                         \
	struct mtag_frame frame __attribute__((__cleanup__(mtag_scope_end), __unused__)) =         \
		mtag_scope_begin(&site, name)

/*
 * The library has all of these functions, too, for other languages and for
 * builds that do not inline. With MTAG_NO_INLINE only those are used.
 */
#ifndef MTAG_NO_INLINE
#define MTAG_INLINE_	extern __inline __attribute__((__gnu_inline__))
#define MTAG_LIKELY_(x) __builtin_expect(!!(x), 1)

/*
 * Any access may be a first touch, at which the kernel reads the word, so no
 * access may be moved out of its scope. The fences keep the compiler from that;
 * the processor itself takes faults in program order.
 */
MTAG_INLINE_ __attribute__((__always_inline__)) void mtag_word_set_(uint32_t *word, mtag_t tag)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(word, tag, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

MTAG_INLINE_ mtag_t mtag_enter(mtag_t tag) MTAG_NOEXCEPT_
{
	uint32_t *word = mtag_thread_word;
	mtag_t previous;

	if (!MTAG_LIKELY_(word))
		return mtag_enter_slow(tag);
	previous = __atomic_load_n(word, __ATOMIC_RELAXED);
	mtag_word_set_(word, tag);
	return previous;
}

MTAG_INLINE_ void mtag_leave(mtag_t previous) MTAG_NOEXCEPT_
{
	uint32_t *word = mtag_thread_word;

	if (MTAG_LIKELY_(word))
		mtag_word_set_(word, previous);
	else
		mtag_leave_slow(previous);
}

MTAG_INLINE_ mtag_t mtag_current(void) MTAG_NOEXCEPT_
{
	uint32_t *word = mtag_thread_word;

	return MTAG_LIKELY_(word) ? __atomic_load_n(word, __ATOMIC_RELAXED) : mtag_current_slow();
}

MTAG_INLINE_ struct mtag_frame mtag_scope_begin(struct mtag_site *site,
						const char *name) MTAG_NOEXCEPT_
{
	struct mtag_frame frame;
	uint64_t cell;

	frame.word = mtag_thread_word;
	if (MTAG_LIKELY_(frame.word)) {
		cell = __atomic_load_n(&site->cell, __ATOMIC_RELAXED);
		frame.previous = __atomic_load_n(frame.word, __ATOMIC_RELAXED);
		if (MTAG_LIKELY_((uint32_t)cell == frame.previous)) {
			mtag_word_set_(frame.word, (mtag_t)(cell >> 32));
			return frame;
		}
	}
	return mtag_scope_slow(site, name);
}

MTAG_INLINE_ struct mtag_frame mtag_scope_tag(mtag_t tag) MTAG_NOEXCEPT_
{
	struct mtag_frame frame;

	frame.word = mtag_thread_word;
	if (!MTAG_LIKELY_(frame.word))
		return mtag_scope_tag_slow(tag);
	frame.previous = __atomic_load_n(frame.word, __ATOMIC_RELAXED);
	mtag_word_set_(frame.word, tag);
	return frame;
}

MTAG_INLINE_ void mtag_scope_end(struct mtag_frame *frame) MTAG_NOEXCEPT_
{
	mtag_word_set_(frame->word, frame->previous);
}
#endif /* MTAG_NO_INLINE */

#pragma GCC diagnostic pop
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* MTAG_H */
