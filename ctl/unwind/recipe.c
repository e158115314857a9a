// SPDX-License-Identifier: GPL-2.0
/* What DWARF says of a frame, as a recipe of an unwind table. */
#include <dwarf.h>
#include <stdint.h>

#include "unwind/recipe.h"

/* DWARF's numbers of registers. */
enum { REG_BX = 3, REG_BP = 6, REG_SP = 7, REG_IP = 16 };

/* Where struct ucontext has registers. */
enum { CONTEXT_BP = 120, CONTEXT_SP = 160, CONTEXT_IP = 168 };

/* Where the value of a register of the caller's is. */
struct place {
	enum { UNDEFINED, SAME, AT_CFA, AT_REG, ELSEWHERE } where;
	unsigned int reg;
	int64_t off;
};

/* Whether an operation pushes the sum of a register and an offset. */
static bool is_sum(const Dwarf_Op *op, unsigned int *reg, int64_t *off)
{
	if (op->atom == DW_OP_bregx) {
		*reg = (unsigned int)op->number;
		*off = (int64_t)op->number2;
		return true;
	}
	*reg = op->atom - DW_OP_breg0;
	*off = (int64_t)op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static struct place place_of(Dwarf_Frame *frame, int reg)
{
	struct place place = {.where = ELSEWHERE};
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count))
		return place;
	if (!count) {
		place.where = ops ? UNDEFINED : SAME;
		return place;
	}
	/* Expressions begin with CFA on the stack. */
	if (ops->atom != DW_OP_call_frame_cfa)
		return place;
	if (count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst)) {
		place.where = AT_CFA;
		place.off = count == 1 ? 0 : (int64_t)ops[1].number;
	} else if (count == 2 && is_sum(&ops[1], &place.reg, &place.off)) {
		place.where = AT_REG;
	}
	return place;
}

static bool is_at(struct place place, unsigned int reg, int64_t off)
{
	return place.where == AT_REG && place.reg == reg && place.off == off;
}

/* What linkers write for the entries of .plt: SP + off, + 8 behind an entry's push. */
static bool is_plt(const Dwarf_Op *ops, size_t count, struct mtag_unwind_recipe *recipe)
{
	static const uint8_t atoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	DW_OP_plus};

	if (count != sizeof(atoms) || ops[1].number)
		return false;
	for (size_t i = 0; i < count; i++)
		if (i != 4 && ops[i].atom != atoms[i])
			return false;
	if (ops[4].atom < DW_OP_lit0 || ops[4].atom > DW_OP_lit15)
		return false;
	recipe->kind = MTAG_UNWIND_PLT;
	recipe->off = (int32_t)ops[0].number;
	recipe->reg = ops[4].atom - DW_OP_lit0;
	return recipe->off >= 8;
}

static bool set_cfa(struct mtag_unwind_recipe *recipe, Dwarf_Frame *frame)
{
	unsigned int reg;
	Dwarf_Op *ops;
	size_t count;
	int64_t off;

	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		return false;
	if (is_plt(ops, count, recipe))
		return true;
	if (!is_sum(ops, &reg, &off) || reg >= REG_IP || off != (int32_t)off)
		return false;
	recipe->reg = (uint8_t)reg;
	recipe->off = (int32_t)off;
	if (count == 1) {
		recipe->kind = reg == REG_SP   ? MTAG_UNWIND_SP
			       : reg == REG_BP ? MTAG_UNWIND_BP
					       : MTAG_UNWIND_REG;
		if (recipe->kind != MTAG_UNWIND_REG)
			recipe->reg = 0;
		return reg != REG_SP || (off >= 8 && off <= 1 << 30);
	}
	if (ops[1].atom != DW_OP_deref || count > 3)
		return false;
	if (count == 3) {
		if (ops[2].atom != DW_OP_plus_uconst || ops[2].number > UINT8_MAX)
			return false;
		recipe->add = (uint8_t)ops[2].number;
	}
	recipe->kind = MTAG_UNWIND_DEREF;
	return true;
}

static bool is_signal(Dwarf_Frame *frame)
{
	unsigned int reg;
	Dwarf_Op *ops;
	size_t count;
	int64_t off;

	return !dwarf_frame_cfa(frame, &ops, &count) && count == 2 && is_sum(ops, &reg, &off) &&
	       reg == REG_SP && off == CONTEXT_SP && ops[1].atom == DW_OP_deref &&
	       is_at(place_of(frame, REG_IP), REG_SP, CONTEXT_IP) &&
	       is_at(place_of(frame, REG_BP), REG_SP, CONTEXT_BP);
}

/* Where a register is saved, as a recipe says it: relative to RBP, or to CFA. False if it cannot. */
static bool slot_of(struct place place, bool at_bp, int16_t *slot)
{
	*slot = MTAG_UNWIND_SAME;
	if (place.where == SAME)
		return true;
	if (place.where != (at_bp ? AT_REG : AT_CFA) || (at_bp && place.reg != REG_BP) ||
	    place.off <= MTAG_UNWIND_SAME || place.off > INT16_MAX)
		return false;
	*slot = (int16_t)place.off;
	return true;
}

struct mtag_unwind_recipe recipe_plain(enum mtag_unwind_kind kind)
{
	return (struct mtag_unwind_recipe){.kind = (uint8_t)kind};
}

struct mtag_unwind_recipe recipe_of(Dwarf_Frame *frame, bool signal)
{
	struct mtag_unwind_recipe recipe = recipe_plain(MTAG_UNWIND_STOP);
	struct place ip = place_of(frame, REG_IP), bp = place_of(frame, REG_BP);
	struct place bx = place_of(frame, REG_BX);
	bool at_bp = bp.where == AT_REG;

	if (signal)
		return recipe_plain(is_signal(frame) ? MTAG_UNWIND_SIGNAL : MTAG_UNWIND_STOP);
	if (ip.where == UNDEFINED)
		return recipe_plain(MTAG_UNWIND_END);
	if (ip.where != AT_CFA || ip.off != -8 || !set_cfa(&recipe, frame))
		return recipe_plain(MTAG_UNWIND_STOP);
	recipe.flags = at_bp ? MTAG_UNWIND_AT_BP : 0;
	if (!slot_of(bp, at_bp, &recipe.bp))
		recipe.flags |= MTAG_UNWIND_LOST_BP;
	/* Of RBP libdw knows that it is preserved unless something else is said, of RBX it does not. */
	if (bx.where == UNDEFINED)
		bx.where = SAME;
	if (!slot_of(bx, at_bp, &recipe.bx))
		recipe.flags |= MTAG_UNWIND_LOST_BX;
	return recipe;
}
