// SPDX-License-Identifier: GPL-2.0
/* sources: kmod/rows.c */
/*
 * Unwind tables and stacks as nasty users would make them: a table is refused, or no lookup leaves it; a walk
 * ends, has no more frames than fit, and reads no address that is not a user's.
 */
#include "fuzz.h"

#include "../../kmod/unwind.c"

#define ROOM (MTAG_STACK_DEPTH + 1)
/* The highest offset of a mapping, of which none here is longer than 64 KiB. */
#define MOST  (MTAG_FRAME_OFFSET & ~0xffffULL)
#define TEXT  0x555555554000ULL
#define STACK 0x7ffffff00000ULL

int unit_user_access;

/* ---- memory: each word that is read is a decision ---- */

static struct input *words;
static unsigned int reads;

static u64 word(struct input *in)
{
	switch (in_below(in, 8)) {
	case 0:
	case 1:
	case 2:
		return TEXT + in_bytes(in, 2);
	case 3:
	case 4:
		return STACK + (in_bytes(in, 2) & 0xfff8);
	case 5:
		return SIGRETURN;
	default:
		return in_number(in);
	}
}

static inline bool unit_user_word(const u64 *addr, u64 *value)
{
	must((u64)(uintptr_t)addr <= TASK_SIZE_MAX - sizeof(u64));
	reads++;
	if (in_rarely(words))
		return false;
	*value = word(words);
	return true;
}

/* ---- what a table that was taken must stand ---- */

/* Once more, with the same words: what the walk before has left in the cache makes no difference. */
static void walk_again(const unsigned long *regs, const struct mtag_unwind_maps *maps,
		       struct input *in, unsigned int room, const u64 *frames, unsigned int count,
		       enum mtag_stack_why why)
{
	struct mtag_unwind_place *places = malloc(ROOM * sizeof(*places));
	u64 *others = malloc(ROOM * sizeof(*others));
	enum mtag_stack_why other;

	words = in;
	must(mtag_unwind(regs, maps, others, places, room, &other) == count && other == why);
	must(!memcmp(others, frames, count * sizeof(*frames)));
	free(others);
	free(places);
}

static void walk_by(const struct mtag_rows *rows, struct input *in)
{
	static struct mtag_unwind_cache cache;
	const struct mtag_unwind_map map[] = {
		{TEXT, TEXT + 0x4000, (u64)rows->first << MTAG_UNWIND_SHIFT & MOST, rows, 1},
		{TEXT + 0x4000, TEXT + 0x5000, MOST, rows, 2},
		{TEXT + 0x6000, TEXT + 0xf000, in_number(in) & MOST, in_u8(in) & 1 ? rows : NULL,
		 3},
		{TEXT + 0x10000, TEXT + 0x11000, 0, NULL, 4},
	};
	const struct mtag_unwind_maps maps = {map, in_rarely(in) ? 0 : 1 + in_below(in, 4), &cache};
	struct mtag_unwind_place *places = malloc(ROOM * sizeof(*places));
	u64 *frames = malloc(ROOM * sizeof(*frames)), map_id;
	unsigned int room = in_below(in, ROOM), count;
	enum mtag_stack_why why;
	unsigned long regs[20];
	struct input again;

	for (unsigned int i = 0; i < 20; i++)
		regs[i] = word(in);
	if (!in_rarely(in))
		regs[in_regs[REG_IP]] = TEXT + in_bytes(in, 2) % 0x4000;
	cache.generation++;
	again = *in;
	words = in;
	reads = 0;
	count = mtag_unwind(regs, &maps, frames, places, room, &why);
	must(count <= room && reads <= 8 * room + 8 && !unit_user_access);
	must(why <= MTAG_STACK_NO_EXEC && (why != MTAG_STACK_DEEP || count == room));
	for (unsigned int i = 0; i < count; i++) {
		map_id = frames[i] >> MTAG_FRAME_MAP;
		must(map_id >= 1 && map_id <= 4 && (i || frames[i] & MTAG_FRAME_EXACT));
	}
	walk_again(regs, &maps, &again, room, frames, count, why);
	free(frames);
	free(places);
}

/* As slowly as can be. */
static u32 recipe_at(const struct mtag_rows *rows, u64 offset)
{
	u32 block = (u32)((offset >> MTAG_UNWIND_SHIFT) - rows->first), recipe = UINT32_MAX;

	for (u32 row = rows->index[block]; row < rows->index[block + 1]; row++)
		if (rows->rows[row] >> MTAG_UNWIND_LOW <= offset % MTAG_UNWIND_BLOCK)
			recipe = rows->rows[row] & 0xffff;
	return recipe;
}

static void use(const struct mtag_rows *rows, struct input *in)
{
	const u64 start = (u64)rows->first << MTAG_UNWIND_SHIFT;
	const u64 end = start + ((u64)rows->blocks << MTAG_UNWIND_SHIFT);

	for (u64 offset = start; offset < end && offset < start + 64 * MTAG_UNWIND_BLOCK;
	     offset += 1 + in_bytes(in, 1))
		must(mtag_rows_find(rows, offset) == rows->recipes + recipe_at(rows, offset));
	must(mtag_rows_find(rows, start) && mtag_rows_find(rows, end - 1));
	must(!mtag_rows_find(rows, end) && !mtag_rows_find(rows, start - 1));
	for (int i = 0; i < 8; i++)
		walk_by(rows, in);
}

/* What the walk relies on. */
static void must_be_sound(const struct mtag_rows *rows, unsigned int recipes)
{
	for (unsigned int i = 0; i < recipes; i++) {
		const struct mtag_unwind_recipe *r = &rows->recipes[i];

		must(r->kind < MTAG_UNWIND_KINDS);
		must(r->reg < 16 || (r->kind != MTAG_UNWIND_REG && r->kind != MTAG_UNWIND_DEREF));
		must(r->off >= 8 || (r->kind != MTAG_UNWIND_SP && r->kind != MTAG_UNWIND_PLT));
	}
	for (u32 block = 0; block < rows->blocks; block++) {
		must(rows->index[block] < rows->index[block + 1]);
		must(!(rows->rows[rows->index[block]] >> MTAG_UNWIND_LOW));
	}
	for (u32 row = 0; row < rows->index[rows->blocks]; row++)
		must(rows->rows[row] >> MTAG_UNWIND_LOW < MTAG_UNWIND_BLOCK &&
		     (rows->rows[row] & 0xffff) < recipes);
}

/* A table of just that size, so that what is behind it is noticed. Returns whether it was taken. */
static bool take(const void *data, size_t size, struct input *in)
{
	void *table = malloc(size ? size : 1);
	struct mtag_rows rows;
	bool taken;

	memcpy(table, data, size);
	taken = !mtag_rows_set(&rows, table, size);
	if (taken) {
		must_be_sound(&rows, ((struct mtag_unwind_header *)table)->recipes);
		use(&rows, in);
	}
	free(table);
	return taken;
}

/* ---- tables as they should be ---- */

static void make_recipe(struct input *in, struct mtag_unwind_recipe *recipe)
{
	/* Most are such as compilers make them. */
	*recipe = (struct mtag_unwind_recipe){
		.off = 8 + (s32)in_below(in, 16) * 8,
		.bp = in_u8(in) & 1 ? MTAG_UNWIND_SAME : (s16)in_bytes(in, 2),
		.bx = in_u8(in) & 1 ? MTAG_UNWIND_SAME : (s16)in_bytes(in, 2),
		.kind = (u8)in_below(in, MTAG_UNWIND_KINDS),
		.reg = in_u8(in) & 15,
		.add = in_u8(in),
		.flags = in_rarely(in) ? in_u8(in) & 7 : 0,
	};
	if (in_rarely(in) && recipe->kind != MTAG_UNWIND_SP && recipe->kind != MTAG_UNWIND_PLT)
		recipe->off = (s32)in_number(in);
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	struct mtag_unwind_header header = {
		.magic = MTAG_UNWIND_MAGIC,
		.version = MTAG_UNWIND_VERSION,
		.first = in_u8(in) & 1 ? 1 : (u32)in_number(in),
		.blocks = 1 + in_below(in, 8),
		.recipes = 1 + in_below(in, 8),
		.id_size = in_below(in, MTAG_UNWIND_ID_MAX + 1),
	};
	/* Each block has a row, or it is no table. */
	const bool gap = in_rarely(in);
	const size_t most = 8;
	u32 *index = (u32 *)(buf + sizeof(header)), *rows = index + header.blocks + 1;
	struct mtag_unwind_recipe *recipes;

	must(size >= sizeof(header) + 9 * 4 + 8 * most * 4 + 8 * sizeof(*recipes));
	/* Nothing begins behind the end of all files. */
	if (header.first > UINT32_MAX - 64 || !header.first)
		header.first = 1;
	for (u32 block = 0; block < header.blocks; block++) {
		u32 low = 0;

		index[block] = header.rows;
		for (size_t n = !gap + in_below(in, most); n && low < MTAG_UNWIND_BLOCK; n--) {
			rows[header.rows++] = low << MTAG_UNWIND_LOW | in_below(in, header.recipes);
			low += 1 + in_u8(in);
		}
	}
	index[header.blocks] = header.rows;
	recipes = (struct mtag_unwind_recipe *)(rows + header.rows);
	for (u32 i = 0; i < header.recipes; i++)
		make_recipe(in, &recipes[i]);
	memcpy(buf, &header, sizeof(header));
	return (size_t)((uint8_t *)(recipes + header.recipes) - buf);
}

static bool is_gap(const uint8_t *table)
{
	const struct mtag_unwind_header *header = (const void *)table;
	const u32 *index = (const u32 *)(header + 1);

	for (u32 i = 0; i < header->blocks; i++)
		if (index[i] == index[i + 1])
			return true;
	return false;
}

/*
 * Changes a bit of a table, half of the time one of its recipes, and after that changes it back. libFuzzer
 * leaves most bytes of an input alone from run to run: where, comes from all of them.
 */
static void take_damaged(uint8_t *table, size_t length, u64 where, struct input in)
{
	const struct mtag_unwind_header *header = (const void *)table;
	const size_t recipes = sizeof(struct mtag_unwind_recipe) * header->recipes;
	const uint8_t bit = (uint8_t)(1U << (where >> 60 & 7));
	size_t at = (where >> 8) % length;

	if (where >> 63)
		at = length - 1 - at % recipes;
	table[at] ^= bit;
	take(table, length, &in);
	table[at] ^= bit;
}

static u64 sum_of(const uint8_t *data, size_t size)
{
	u64 sum = 14695981039346656037ULL;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 1099511628211ULL;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(8) uint8_t table[FUZZ_ROOM];
	const struct input all = {data, size};
	u64 where = sum_of(data, size);
	struct input in = all;
	size_t length;

	if (!fuzz_built) {
		take(data, size, &in);
		return 0;
	}
	length = make(&in, table, sizeof(table));
	must(take(table, length, &in) || is_gap(table));
	must(!take(table, length - 1, &in) && !take(table, length + 1, &in));
	for (int i = 0; i < 12; i++) {
		where = where * 6364136223846793005ULL + 1442695040888963407ULL;
		take_damaged(table, length, where, all);
	}
	return 0;
}

FUZZ_BEGIN(make, (void)0)
