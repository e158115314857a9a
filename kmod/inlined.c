// SPDX-License-Identifier: GPL-2.0
/*
 * Refuses a kernel whose compiler has inlined a hooked function into others of its source file.
 *
 * A copy of the function may still exist out of line and be hooked, but the hook would miss the
 * inlined ones. So the code of each function that calls it in the sources is searched for a call.
 */
#include <linux/bits.h>
#include <linux/kallsyms.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>
#include "hooked.h"
#include "inlined.h"
#include "mtag.h"
#include "resolve.h"

/* Of a call or jmp: the opcode, and the distance in four bytes. */
#define CALL_SIZE	5

/* A call targets the ENDBR in front of @addr, or with call depth tracking the function's prefix. */
#define PREFIX_MAX	32

/*
 * Does @text look like a call of @callee? @text may as well lie in the middle of an instruction.
 * That is harmless: four such bytes hardly match the distance by chance.
 */
static bool is_call(const u8 *text, unsigned long ip, const struct mtag_hook *callee)
{
	unsigned long to;
	s32 distance;

	if (text[0] != CALL_INSN_OPCODE && text[0] != JMP32_INSN_OPCODE)
		return false;
	memcpy(&distance, text + 1, sizeof(distance));
	to = ip + CALL_SIZE + distance;
	return to <= callee->addr && to + PREFIX_MAX > callee->addr;
}

static bool range_calls(unsigned long start, unsigned long end, const struct mtag_hook *callee)
{
	u8 text[256];
	unsigned long ip = start;
	size_t size, i;

	while (ip + CALL_SIZE <= end) {
		size = min(sizeof(text), end - ip);
		if (copy_from_kernel_nofault(text, (void *)ip, size))
			return false;
		for (i = 0; i + CALL_SIZE <= size; i++)
			if (is_call(text + i, ip + i, callee))
				return true;
		ip += i;
	}
	return false;
}

/* Does the function @name, or this part of it, call @callee? Return: does it exist? */
static bool part_calls(const char *name, const char *suffix, const struct mtag_hook *callee,
		       bool *calls)
{
	unsigned long start, end;

	if (!mtag_resolve_range(name, suffix, &start, &end))
		return false;
	*calls |= range_calls(start, end, callee);
	return true;
}

static void caller_calls(const char *name, const struct mtag_hook *callee, bool *exists,
			 bool *calls)
{
	static const char *const suffixes[] = { MTAG_SUFFIXES };
	char cold[32];
	int i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (!part_calls(name, suffixes[i], callee, calls))
			continue;
		*exists = true;
		snprintf(cold, sizeof(cold), "%s.cold", suffixes[i]);
		part_calls(name, cold, callee, calls);
	}
}

/* A caller may be missing, as inlined itself. Each that exists must call, and one must exist. */
static int check_called(const struct mtag_called *called, const struct mtag_hook *callee)
{
	const char *rest = called->callers, *end;
	char name[KSYM_NAME_LEN];
	bool seen = false;

	for (; *rest; rest = *end ? end + 1 : end) {
		bool exists = false, calls = false;

		end = strchrnul(rest, ' ');
		snprintf(name, sizeof(name), "%.*s", (int)(end - rest), rest);
		caller_calls(name, callee, &exists, &calls);
		if (exists && !calls && called->inlined) {
			*called->inlined = true;
			calls = true;
		} else if (exists && !calls) {
			pr_err("this kernel's compiler has inlined %s into %s, where it cannot be hooked\n",
			       callee->name, name);
			return -ENOENT;
		}
		seen |= calls;
	}
	if (seen)
		return 0;
	pr_err("this kernel has no caller of %s: none of %s\n", callee->name, called->callers);
	return -ENOENT;
}

static const struct mtag_hook *hook_of(const struct mtag_called *called,
				       const struct mtag_hook *hook)
{
	for (; hook->name; hook++)
		if (!strcmp(hook->name, called->name))
			return hook;
	return NULL;
}

/**
 * mtag_inlined_check() - is every hooked function called where the sources call it?
 * @hooks:	table of the hooked functions, with addresses
 * @called:	hooked functions that a compiler might inline
 *
 * Context: module load, after mtag_resolve_init().
 * Return: 0; -ENOENT if one is inlined, which is logged by name.
 */
int mtag_inlined_check(const struct mtag_hook *hooks, const struct mtag_called *called)
{
	const struct mtag_hook *hook;
	int ret = 0;

	for (; called->name && !ret; called++) {
		hook = hook_of(called, hooks);
		if (WARN_ON_ONCE(!hook))
			return -ENOENT;
		ret = check_called(called, hook);
	}
	return ret;
}
