// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind tables that lie, and files of code that touches pages with any registers: what user space may do to those who
 * walk its stack.
 */
#include "tables.h"

/* ---- tables ---- */

static int32_t some_offset(struct random *r)
{
	switch (below(r, 4)) {
	case 0:
		return odd_number(r);
	case 1:
		return below(r, 4096) - 2048;
	default:
		return 8 * (int32_t)below(r, 16) - 32;
	}
}

static int16_t some_place(struct random *r)
{
	if (one_in(r, 2))
		return MTAG_UNWIND_SAME;
	return one_in(r, 4) ? (int16_t)odd_number(r) : -8 * (int16_t)below(r, 8);
}

struct mtag_unwind_recipe some_recipe(struct random *r)
{
	struct mtag_unwind_recipe recipe = {
		.off = some_offset(r),
		.bp = some_place(r),
		.bx = some_place(r),
		.kind = below(r, MTAG_UNWIND_KINDS),
		.reg = below(r, 16),
		.add = one_in(r, 2) ? 8 : rnd(r),
		.flags = one_in(r, 3) ? below(r, 8) : 0,
	};

	/* Those lead on most often. */
	if (one_in(r, 3))
		recipe.kind = one_in(r, 2) ? MTAG_UNWIND_SP : MTAG_UNWIND_SIGNAL;
	if (recipe.kind == MTAG_UNWIND_SP || recipe.kind == MTAG_UNWIND_PLT)
		recipe.off = one_in(r, 16) ? 1 << 30 : 8 + 8 * below(r, 64);
	return recipe;
}

void some_table(struct random *r, struct table *t)
{
	uint32_t blocks = 1 + below(r, 16), rows = 0, recipes = 1 + below(r, 24), low;
	uint32_t *index = (uint32_t *)(&t->header + 1), *row = index + blocks + 1;

	t->header = (struct mtag_unwind_header){
		.magic = MTAG_UNWIND_MAGIC, .version = MTAG_UNWIND_VERSION, .blocks = blocks};
	for (uint32_t i = 0; i < blocks; i++) {
		index[i] = rows;
		low = 0;
		do {
			row[rows++] = low << MTAG_UNWIND_LOW | below(r, recipes);
			low += 1 + below(r, 96);
		} while (low < MTAG_UNWIND_BLOCK);
	}
	index[blocks] = rows;
	t->header.rows = rows;
	t->header.recipes = recipes;
	for (uint32_t i = 0; i < recipes; i++) {
		struct mtag_unwind_recipe recipe = some_recipe(r);

		memcpy(row + rows + i * 3, &recipe, sizeof(recipe));
	}
	t->bytes = (char *)(row + rows + recipes * 3) - (char *)t->words;
	if (t->bytes > TABLE_ROOM)
		bail("a table of %zu bytes", t->bytes);
}

void mangle_table(struct random *r, struct table *t)
{
	size_t words = t->bytes / 4;

	switch (below(r, 6)) {
	case 0:
		t->bytes = below(r, TABLE_ROOM);
		return;
	case 1:
		t->words[below(r, 8)] = odd_number(r);
		return;
	case 2:
		t->words[below(r, words)] ^= 1U << below(r, 32);
		return;
	case 3:
		t->words[below(r, words)] = odd_number(r);
		return;
	case 4:
		noise(r, (char *)t->words + below(r, t->bytes), 1);
		return;
	default:
		/* Two fields at once, whose product may overflow. */
		t->words[3 + below(r, 3)] += 1 << below(r, 32);
		t->words[3 + below(r, 3)] = odd_number(r);
	}
}

static bool is_recipe(const struct mtag_unwind_recipe *r)
{
	bool on_sp = r->kind == MTAG_UNWIND_SP || r->kind == MTAG_UNWIND_PLT,
	     has_reg = r->kind == MTAG_UNWIND_REG || r->kind == MTAG_UNWIND_DEREF;

	return r->kind < MTAG_UNWIND_KINDS && r->flags < 8 && (!has_reg || r->reg < 16) &&
	       (!on_sp || (r->off >= 8 && r->off <= 1 << 30));
}

bool is_table(const struct table *t)
{
	const struct mtag_unwind_header *h = &t->header;
	const uint32_t *index = (const uint32_t *)(h + 1), *row;
	const struct mtag_unwind_recipe *recipe;

	if (t->bytes < sizeof(*h) || h->magic != MTAG_UNWIND_MAGIC ||
	    h->version != MTAG_UNWIND_VERSION || h->pad || h->id_size > MTAG_UNWIND_ID_MAX)
		return false;
	if (!h->blocks || !h->rows || !h->recipes || h->recipes > MTAG_UNWIND_RECIPES_MAX)
		return false;
	if (t->bytes !=
	    sizeof(*h) + 4 * ((uint64_t)h->blocks + 1 + h->rows) + 12 * (uint64_t)h->recipes)
		return false;
	row = index + h->blocks + 1;
	recipe = (const struct mtag_unwind_recipe *)(row + h->rows);
	if (index[0] || index[h->blocks] != h->rows)
		return false;
	for (uint32_t i = 0, at = 0; i < h->blocks; i++) {
		int64_t low = -1;

		if (index[i + 1] > h->rows || index[i + 1] <= at || row[at] >> MTAG_UNWIND_LOW)
			return false;
		for (; at < index[i + 1]; at++) {
			if (row[at] >> MTAG_UNWIND_LOW <= low ||
			    row[at] >> MTAG_UNWIND_LOW >= MTAG_UNWIND_BLOCK ||
			    (row[at] & 0xffff) >= h->recipes)
				return false;
			low = row[at] >> MTAG_UNWIND_LOW;
		}
	}
	for (uint32_t i = 0; i < h->recipes; i++)
		if (!is_recipe(recipe + i))
			return false;
	return true;
}

int table_give(int fd, const void *table, uint64_t bytes)
{
	struct mtag_ioc_unwind arg = {.size = sizeof(arg), .fd = fd, .bytes = bytes};

	arg.table = (uintptr_t)table;
	return mtag_ioctl(MTAG_IOC_UNWIND, &arg);
}

/* ---- code ---- */

extern const char wild_code[], wild_code_end[];

/* Arguments: page, sp, bp, bx. Programs of 32 bits, whose stacks are not taken, cannot run it. */
__asm__(".code64\n.pushsection .text\n.globl wild_code, wild_code_end\nwild_code:\n"
	"mov %rsp, %r8\nmov %rbp, %r9\nmov %rbx, %r10\n"
	"mov %rsi, %rsp\nmov %rdx, %rbp\nmov %rcx, %rbx\n"
	"movb $1, (%rdi)\n"
	"mov %r8, %rsp\nmov %r9, %rbp\nmov %r10, %rbx\nret\n"
	"wild_code_end:\n.popsection\n"
#ifdef __i386__
	".code32\n"
#endif
);

int code_file(size_t pages)
{
	int fd = must(memfd_create("code", MFD_CLOEXEC));
	size_t len = wild_code_end - wild_code;

	must(ftruncate(fd, pages * PG));
	for (size_t i = 0; i < pages; i++)
		if (pwrite(fd, wild_code, len, i * PG) != (ssize_t)len)
			bail("pwrite");
	return fd;
}

void touch_as(const void *code, void *page, const struct wild *w)
{
	((void (*)(void *, uint64_t, uint64_t, uint64_t))code)(page, w->sp, w->bp, w->bx);
}
