// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the user stack of the current task by unwind tables, and by frame pointers where there is
 * no table. Tables and stacks are user space's: nothing of them is trusted, each step but that over
 * a signal's frame goes upwards, and there are not more steps than frames fit.
 *
 * All is inlined into mtag_unwind(): nothing may be called while user memory is read.
 */
#include <linux/compiler.h>
#include <linux/types.h>
#include "rows.h"
#include "unwind.h"
#include "userword.h"

/* DWARF's numbers. */
#define REG_BX	3
#define REG_BP	6
#define REG_SP	7
#define REG_IP	16

/* Where struct pt_regs has registers, by DWARF's number, in words: this is ABI (ptrace(2)). */
static const u8 in_regs[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
/* Likewise struct sigcontext, and where struct ucontext has that, in bytes. */
static const u8 in_context[] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16 };
#define CONTEXT		40

/* mov $__NR_rt_sigreturn,%rax; syscall, but for its last byte. */
#define SIGRETURN	0x0f0000000fc0c748ULL
/* The register's value is gone. No stack is there. */
#define LOST		(~0ULL)

/**
 * struct walk - the frame that the walk is at
 * @regs:	registers with which it began
 * @maps:	all mappings
 * @cache:	what walks have found in them
 * @generation:	of @cache
 * @map:	the one in which something was looked up last
 * @ip:		where it is, or returns to
 * @sp:		stack pointer there
 * @bp_at:	where RBP is: 0, in @regs; LOST
 * @bx_at:	where RBX is, likewise
 * @context:	registers of the interrupted frame: address of a struct sigcontext; 0, @regs
 * @at:		where @ip was read
 * @back:	bytes from the instruction being executed to @ip: 1, the end of a call; 0, it
 *		was interrupted there, and @context has all its registers
 */
struct walk {
	const unsigned long *regs;
	const struct mtag_unwind_maps *maps;
	struct mtag_unwind_cache *cache;
	u64 generation;
	const struct mtag_unwind_map *map;
	u64 ip;
	u64 sp;
	u64 bp_at;
	u64 bx_at;
	u64 context;
	u64 at;
	u64 back;
};

/* What a step says when it did not end the walk. */
#define GO_ON	(-1)

/* The address at which to look for rows: the call, not what is behind it. */
static __always_inline u64 pc_of(const struct walk *w)
{
	return w->ip - w->back;
}

/* Finds the mapping of @ip. */
static __always_inline bool find_map(struct walk *w)
{
	const struct mtag_unwind_map *map = w->map;
	unsigned int left = w->maps->nr, half;
	u64 pc = pc_of(w);

	/* Most frames are in the same file as the one before. */
	if (pc >= map->start && pc < map->end)
		return true;
	map = w->maps->map;
	while (left > 1) {
		half = left / 2;
		map = map[half].start <= pc ? map + half : map;
		left -= half;
	}
	w->map = map;
	return pc >= map->start && pc < map->end;
}

static __always_inline bool saved_register(const struct walk *w, u64 at, unsigned int reg,
					   u64 *value)
{
	if (likely(at))
		return mtag_userword_read(at, value);
	*value = w->regs[in_regs[reg]];
	return true;
}

static __always_inline bool read_bp(const struct walk *w, u64 *value)
{
	return saved_register(w, w->bp_at, REG_BP, value);
}

/* Most registers are known of an interrupted frame only. */
static __always_inline bool read_reg(const struct walk *w, unsigned int reg, u64 *value)
{
	u64 at = w->context ? w->context + in_context[reg] * sizeof(u64) : 0;

	if (reg == REG_SP) {
		*value = w->sp;
		return true;
	}
	if (reg == REG_BP)
		at = w->bp_at;
	else if (reg == REG_BX)
		at = w->bx_at;
	else if (w->back)
		return false;
	return saved_register(w, at, reg, value);
}

/* SP points to a struct ucontext. */
static __always_inline int step_signal(struct walk *w)
{
	u64 context = w->sp + CONTEXT;

	if (!mtag_userword_read(context + in_context[REG_IP] * sizeof(u64), &w->ip) ||
	    !mtag_userword_read(context + in_context[REG_SP] * sizeof(u64), &w->sp))
		return MTAG_STACK_ABSENT;
	w->bp_at = context + in_context[REG_BP] * sizeof(u64);
	w->bx_at = context + in_context[REG_BX] * sizeof(u64);
	w->context = context;
	w->at = context + in_context[REG_IP] * sizeof(u64);
	w->back = 0;
	return GO_ON;
}

/* There is no row. What is in RBP is a frame pointer if it looks like one. */
static __always_inline int step_bare(struct walk *w)
{
	u64 bp, word;

	if (mtag_userword_read(w->ip, &word) && word == SIGRETURN)
		return step_signal(w);
	if (!read_bp(w, &bp))
		return MTAG_STACK_NO_TABLE;
	/*
	 * So a chain of frame pointers ends. What came here otherwise may be code without frame
	 * pointers, to which 0 in RBP is a number like any other.
	 */
	if (!bp)
		return w->bx_at == LOST && w->bp_at == w->sp - 2 * sizeof(u64) ?
			       MTAG_STACK_COMPLETE : MTAG_STACK_NO_TABLE;
	if (bp < w->sp || bp % sizeof(u64) ||
	    !mtag_userword_read(bp + sizeof(u64), &w->ip))
		return MTAG_STACK_NO_TABLE;
	w->back = 1;
	if (!find_map(w))
		return MTAG_STACK_NO_TABLE;
	w->at = bp + sizeof(u64);
	w->sp = bp + 2 * sizeof(u64);
	w->bp_at = bp;
	w->bx_at = LOST;
	return GO_ON;
}

/* The CFA of a recipe that is not simply SP + off. */
static __always_inline int find_cfa(const struct walk *w, const struct mtag_unwind_recipe *r,
				    u64 *cfa)
{
	u64 base;

	switch (r->kind) {
	case MTAG_UNWIND_BP:
		if (!read_bp(w, &base))
			return MTAG_STACK_NO_TABLE;
		*cfa = base + r->off;
		break;
	case MTAG_UNWIND_REG:
		if (!read_reg(w, r->reg, &base))
			return MTAG_STACK_NO_TABLE;
		*cfa = base + r->off;
		break;
	case MTAG_UNWIND_DEREF:
		if (!read_reg(w, r->reg, &base))
			return MTAG_STACK_NO_TABLE;
		if (!mtag_userword_read(base + r->off, cfa))
			return MTAG_STACK_ABSENT;
		*cfa += r->add;
		break;
	case MTAG_UNWIND_PLT:
		*cfa = w->sp + r->off + ((w->ip & 15) >= r->reg ? sizeof(u64) : 0);
		break;
	case MTAG_UNWIND_END:
		return MTAG_STACK_COMPLETE;
	default:
		return MTAG_STACK_NO_TABLE;
	}
	return *cfa > w->sp ? GO_ON : MTAG_STACK_NO_TABLE;
}

/* Registers that are not saved at a place relative to CFA. */
static __always_inline bool lose_registers(struct walk *w, const struct mtag_unwind_recipe *r,
					   u64 *base)
{
	if (r->flags & MTAG_UNWIND_AT_BP && !read_bp(w, base))
		return false;
	if (r->flags & MTAG_UNWIND_LOST_BP)
		w->bp_at = LOST;
	if (r->flags & MTAG_UNWIND_LOST_BX)
		w->bx_at = LOST;
	return true;
}

/* To the caller's frame. */
static __always_inline int step_frame(struct walk *w, const struct mtag_unwind_recipe *r)
{
	u64 cfa = w->sp + r->off, base;
	int why;

	if (unlikely(r->kind != MTAG_UNWIND_SP)) {
		if (r->kind == MTAG_UNWIND_NONE)
			return step_bare(w);
		if (r->kind == MTAG_UNWIND_SIGNAL)
			return step_signal(w);
		why = find_cfa(w, r, &cfa);
		if (why != GO_ON)
			return why;
	}
	base = cfa;
	if (unlikely(r->flags) && !lose_registers(w, r, &base))
		return MTAG_STACK_NO_TABLE;
	if (r->bp != MTAG_UNWIND_SAME)
		w->bp_at = base + r->bp;
	if (r->bx != MTAG_UNWIND_SAME)
		w->bx_at = base + r->bx;
	w->at = cfa - sizeof(u64);
	if (!mtag_userword_read(w->at, &w->ip))
		return MTAG_STACK_ABSENT;
	w->sp = cfa;
	w->back = 1;
	return GO_ON;
}

static const struct mtag_unwind_recipe no_recipe = { .kind = MTAG_UNWIND_NONE };

/* Finds frame and recipe of @ip by mappings and tables. Return: false if there is none. */
static __always_inline bool look_up(struct walk *w, u64 *frame,
				    const struct mtag_unwind_recipe **recipe)
{
	const struct mtag_unwind_recipe *r;
	u64 offset;

	if (!find_map(w))
		return false;
	offset = w->ip - w->map->start + w->map->offset;
	*frame = (u64)w->map->id << MTAG_FRAME_MAP | offset;
	r = w->map->rows ? mtag_rows_find(w->map->rows, offset - w->back) : NULL;
	*recipe = r ? r : &no_recipe;
	return true;
}

/* Likewise, for an address that a call returns to, by the cache, if it is there. */
static __always_inline bool find_frame(struct walk *w, u64 *frame,
				       const struct mtag_unwind_recipe **recipe)
{
	struct mtag_unwind_known *known;

	known = &w->cache->known[(w->ip ^ w->ip >> 7) % MTAG_UNWIND_KNOWN];
	if (likely(known->ip == w->ip && known->generation == w->generation)) {
		*frame = known->frame;
		*recipe = known->recipe;
		return true;
	}
	if (!look_up(w, frame, recipe))
		return false;
	*known = (struct mtag_unwind_known){ w->ip, w->generation, *frame, *recipe };
	return true;
}

/* Steps until there is no caller, or no room. */
static __always_inline unsigned int walk_frames(struct walk *w, u64 *frames,
						struct mtag_unwind_place *places, unsigned int room,
						int *why)
{
	const struct mtag_unwind_recipe *r;
	unsigned int n = 0;
	u64 frame;

	do {
		*why = MTAG_STACK_NO_EXEC;
		if (likely(w->back)) {
			if (!find_frame(w, &frame, &r))
				break;
		} else {
			if (!look_up(w, &frame, &r))
				break;
			frame |= MTAG_FRAME_EXACT;
		}
		*why = MTAG_STACK_DEEP;
		if (n == room)
			break;
		places[n].at = w->at;
		places[n].ip = w->ip;
		frames[n] = frame;
		n++;
		*why = step_frame(w, r);
		/* The handler returns to a trampoline that has not called it. */
		if (unlikely(!w->back))
			frames[n - 1] |= MTAG_FRAME_EXACT;
	} while (*why == GO_ON);
	return n;
}

/**
 * mtag_unwind() - find the frames of the current task's user stack
 * @regs:	its struct pt_regs, which must be of 64-bit code
 * @maps:	executable mappings of its mm, with their tables
 * @frames:	set, the innermost first: MTAG_FRAME_*
 * @places:	set likewise
 * @room:	frames that fit, at most MTAG_STACK_DEPTH
 * @why:	set to why there are not more
 *
 * Neither sleeps nor allocates nor takes a lock nor handles a page fault: what is not present ends
 * the walk. The time is bounded by @room.
 *
 * Context: any in which current->mm is the mm of @maps, and @maps and their tables stay.
 * Return: number of frames; 0 if the task is in no executable mapping.
 */
unsigned int __noendbr mtag_unwind(const unsigned long *regs, const struct mtag_unwind_maps *maps,
				   u64 *frames, struct mtag_unwind_place *places, unsigned int room,
				   enum mtag_stack_why *why)
{
	struct walk w = {
		.regs = regs,
		.maps = maps,
		.cache = maps->cache,
		.generation = maps->cache->generation,
		.map = maps->map,
		.ip = regs[in_regs[REG_IP]],
		.sp = regs[in_regs[REG_SP]],
	};
	int ended = MTAG_STACK_NO_EXEC;
	unsigned int n = 0;

	if (maps->nr && mtag_userword_begin()) {
		n = walk_frames(&w, frames, places, room, &ended);
		mtag_userword_end();
	}
	*why = ended;
	return n;
}
