// SPDX-License-Identifier: GPL-2.0
/* Processes and their tags as blocks within each other, with sums and descriptions. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/label.h"
#include "format/text.h"
#include "picture/block.h"
#include "picture/markup.h"
#include "utf8.h"

static void add_parts(uint64_t *sum, const uint64_t *parts)
{
	for (size_t i = 0; i < PARTS; i++)
		sum[i] += parts[i];
}

static void set_own(struct block *block, const struct tag *tag)
{
	static const int counters[PARTS] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};

	for (size_t i = 0; i < PARTS; i++)
		block->own[i] = tag->c[counters[i]];
	for (size_t i = 0; i < PART_SWAP; i++)
		block->size += (double)block->own[i];
}

/* The block of a process, then those of its tags in their order: a tag's parent is before it. */
static int add_proc(struct blocks *b, const struct proc *proc)
{
	_cleanup_(freep) size_t *places = calloc(proc->n_tags + 1, sizeof(*places));
	size_t place = b->n++;

	if (!places)
		return -ENOMEM;
	b->blocks[place] = (struct block){.proc = proc};
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];
		struct block *block = &b->blocks[b->n];

		if (!tag_is_shown(tag))
			continue;
		*block = (struct block){.proc = proc, .tag = tag, .parent = place};
		if (tag->parent >= 0)
			block->parent = places[tag->parent];
		set_own(block, tag);
		places[proc->order[i]] = b->n++;
	}
	return 0;
}

static int by_parent(const void *a, const void *b, void *arg)
{
	const struct block *blocks = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct block *x = &blocks[i], *y = &blocks[j];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (i > j) - (i < j);
}

static void link_kids(struct blocks *b)
{
	for (size_t i = 1; i < b->n; i++)
		b->kids[i - 1] = i;
	qsort_r(b->kids, b->n - 1, sizeof(*b->kids), by_parent, b->blocks);
	for (size_t k = b->n - 1; k-- > 0;) {
		struct block *parent = &b->blocks[b->blocks[b->kids[k]].parent];

		parent->first = k;
		parent->n++;
	}
}

int blocks_make(struct blocks *b, const struct snap *snap)
{
	size_t room = 1;
	int err = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		room += 1 + snap->procs[i].n_tags;
	*b = (struct blocks){.n = 1};
	b->blocks = calloc(room, sizeof(*b->blocks));
	b->kids = calloc(room, sizeof(*b->kids));
	if (!b->blocks || !b->kids)
		return -ENOMEM;
	for (size_t i = 0; i < snap->n_procs && !err; i++)
		err = add_proc(b, &snap->procs[i]);
	for (size_t i = b->n; i-- > 0;) {
		struct block *block = &b->blocks[i], *parent = &b->blocks[block->parent];

		add_parts(block->all, block->own);
		if (!i)
			break;
		add_parts(parent->all, block->all);
		parent->size += block->size;
	}
	link_kids(b);
	return err;
}

void blocks_clear(struct blocks *blocks)
{
	free(blocks->blocks);
	free(blocks->kids);
	*blocks = (struct blocks){0};
}

size_t block_visible(const struct blocks *blocks, const struct block *block, double least,
		     struct block *rest)
{
	size_t n = 0;

	*rest = (struct block){.proc = block->proc, .tag = block->tag};
	while (n < block->n && block_kid(blocks, block, n)->size >= least)
		n++;
	if (block->n - n == 1 && block_kid(blocks, block, n)->size > 0)
		n++;
	for (size_t i = n; i < block->n; i++) {
		const struct block *kid = block_kid(blocks, block, i);

		add_parts(rest->all, kid->all);
		rest->size += kid->size;
		rest->merged++;
	}
	return n;
}

char *block_name(const struct block *block)
{
	_cleanup_(freep) char *comm = NULL;
	char *name = NULL;
	int length;

	if (block->merged) {
		length = asprintf(&name, "%zu more", block->merged);
	} else if (block->itself) {
		length = asprintf(&name, "itself");
	} else if (block->tag) {
		return utf8_clean_export(block->tag->depth ? block->tag->name
							   : label_of(block->tag));
	} else if (block->proc) {
		comm = utf8_clean_export(block->proc->comm);
		length = comm ? asprintf(&name, "%s-%d", comm, (int)block->proc->pid) : -1;
	} else {
		length = asprintf(&name, "all processes");
	}
	return length < 0 ? NULL : name;
}

static void print_parts(FILE *out, const char *what, const uint64_t *parts)
{
	static const char *const names[PARTS] = {"anon", "file", "shmem", "swap"};

	fputs(what, out);
	for (size_t i = 0; i < PARTS; i++)
		fprintf(out, "%s%s %" PRIu64, i ? ", " : "", names[i], parts[i]);
}

/* Bytes of a path in a title: else each box of a deep stack would have the names of all above it. */
#define PATH_MOST 8192

/* The end of a path that is too long. */
static const char *end_of(const char *path)
{
	size_t length = strlen(path);

	if (length <= PATH_MOST)
		return path;
	path += length - PATH_MOST;
	/* Not from within a character on. */
	while ((*path & 0xc0) == 0x80)
		path++;
	return path;
}

static int print_path(FILE *out, const struct block *block)
{
	if (!block->proc)
		fputs("all processes", out);
	if (block->proc && markup_name(out, block->proc->comm))
		return -ENOMEM;
	if (block->proc)
		fprintf(out, "-%d", (int)block->proc->pid);
	if (block->tag) {
		_cleanup_(freep) char *path = chain_text(block->proc, block->tag);

		if (!path)
			return -ENOMEM;
		fputs(end_of(path) == path ? "/" : "/…", out);
		if (markup_name(out, end_of(path)))
			return -ENOMEM;
	}
	if (block->merged)
		fprintf(out, ": %zu more", block->merged);
	if (block->itself)
		fputs(": itself", out);
	return 0;
}

int block_title(FILE *out, const struct blocks *blocks, const struct block *block)
{
	uint64_t rss = block_rss(block->all);
	char size[16], percent[16];

	fputs("<title>", out);
	if (print_path(out, block))
		return -ENOMEM;
	fprintf(out, "\n%" PRIu64 " bytes, %s, %s\n", rss, text_size(size, rss),
		text_percent(percent, rss, block_rss(blocks->blocks[0].all)));
	print_parts(out, "", block->all);
	if (block->n && block->tag)
		print_parts(out, "\nitself: ", block->own);
	fputs("</title>", out);
	return 0;
}
