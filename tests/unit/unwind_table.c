// SPDX-License-Identifier: GPL-2.0
/* sources: kmod/rows.c ctl/unwind/image.c ctl/unwind/recipe.c ctl/unwind/cfi.c ctl/unwind/ranges.c */
/* sources: ctl/unwind/table.c */
/*
 * Unwind tables: what the module's step does by each row of large files is what libdw says of the
 * same instruction. Registers and memory have random contents: two rules that differ lead to
 * different places.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kmod/unwind.c"
#include "ctl.h"
#include "ctl_tap.h"
#include "unwind/table.h"

/* libelf never frees some of what it reads from a file that it has not mapped. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so";
}

int unit_user_access = 1;

/* A word of memory: no two are alike. */
static u64 word_at(u64 addr)
{
	u64 x = addr * 0x9e3779b97f4a7c15ULL;

	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL >> 18;
}

static inline bool unit_user_word(const u64 *addr, u64 *value)
{
	*value = word_at((u64)(uintptr_t)addr);
	return true;
}

/* ---- what DWARF says ---- */

/* Registers by DWARF's number. */
static u64 regs_of(int reg)
{
	return reg == REG_SP ? 0x10000 : word_at((u64)reg) | 1ULL << 44;
}

static u64 pc;

static u64 reg_value(u64 reg)
{
	return reg == REG_IP ? pc : regs_of((int)reg);
}

static bool evaluate_one(const Dwarf_Op *op, u64 cfa, u64 *stack, int *depth)
{
	u64 *top = &stack[*depth - 1];

	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		stack[(*depth)++] = reg_value(op->atom - DW_OP_breg0) + op->number;
		return true;
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		stack[(*depth)++] = op->atom - DW_OP_lit0;
		return true;
	}
	switch (op->atom) {
	case DW_OP_bregx:
		stack[(*depth)++] = reg_value(op->number) + op->number2;
		return true;
	case DW_OP_call_frame_cfa:
		stack[(*depth)++] = cfa;
		return true;
	case DW_OP_plus_uconst:
		*top += op->number;
		return true;
	case DW_OP_deref:
		*top = word_at(*top);
		return true;
	}
	if (*depth < 2)
		return false;
	(*depth)--;
	switch (op->atom) {
	case DW_OP_and:
		top[-1] &= *top;
		return true;
	case DW_OP_plus:
		top[-1] += *top;
		return true;
	case DW_OP_mul:
		top[-1] *= *top;
		return true;
	case DW_OP_shl:
		top[-1] <<= *top;
		return true;
	case DW_OP_ge:
		top[-1] = (s64)top[-1] >= (s64)*top;
		return true;
	default:
		return false;
	}
}

static bool evaluate(const Dwarf_Op *ops, size_t count, u64 cfa, u64 *value)
{
	u64 stack[34] = {0};
	int depth = 1;

	for (size_t i = 0; i < count && depth < 32; i++)
		if (!evaluate_one(&ops[i], cfa, stack + 1, &depth))
			return false;
	*value = stack[depth];
	return true;
}

/* The caller's registers. */
struct caller {
	bool known; /* there is a rule */
	bool ended; /* it says that there is no caller */
	bool has_bp, has_bx;
	u64 sp, ip, bp, bx;
};

/* The caller's @reg. */
static bool caller_reg(Dwarf_Frame *frame, int reg, u64 cfa, u64 *value, bool *undefined)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	u64 at;

	*undefined = false;
	if (dwarf_frame_register(frame, reg, memory, &ops, &count))
		return false;
	/* Where nothing is said, libdw calls RBX undefined; by the ABI it is preserved. */
	if (!count) {
		*undefined = ops && reg != REG_BX;
		*value = reg_value((u64)reg);
		return !*undefined;
	}
	/* In another register, by some assembler code: for that there is no recipe. */
	if (ops[0].atom == DW_OP_regx)
		return false;
	if (ops[count - 1].atom == DW_OP_stack_value)
		return evaluate(ops, count - 1, cfa, value);
	if (!evaluate(ops, count, cfa, &at))
		return false;
	*value = word_at(at);
	return true;
}

static struct caller ask_libdw(Dwarf_CFI *cfi, u64 address)
{
	struct caller caller = {0};
	Dwarf_Frame *frame;
	bool undefined;
	Dwarf_Op *ops;
	size_t count;

	pc = address;
	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return caller;
	caller.known = true;
	if (dwarf_frame_cfa(frame, &ops, &count) || !evaluate(ops, count, 0, &caller.sp))
		caller.known = false;
	caller_reg(frame, REG_IP, caller.sp, &caller.ip, &caller.ended);
	caller.has_bp = caller_reg(frame, REG_BP, caller.sp, &caller.bp, &undefined);
	caller.has_bx = caller_reg(frame, REG_BX, caller.sp, &caller.bx, &undefined);
	free(frame);
	return caller;
}

/* ---- what the module does ---- */

static unsigned long pt_regs[21];
static const struct mtag_unwind_map everywhere = {.end = UINT64_MAX};
static const struct mtag_unwind_maps all_maps = {&everywhere, 1, NULL};

/* Whether a step by @recipe leads to where it must. */
static bool leads_to(const struct mtag_unwind_recipe *recipe, u64 address,
		     const struct caller *caller)
{
	struct walk w = {.regs = pt_regs,
			 .maps = &all_maps,
			 .map = &everywhere,
			 .ip = address,
			 .sp = regs_of(REG_SP)};
	int why = step_frame(&w, recipe);
	u64 bp, bx;

	if (caller->ended)
		return why == MTAG_STACK_COMPLETE;
	/* A random CFA may be below SP, which is never so. */
	if (caller->sp <= regs_of(REG_SP))
		return why == MTAG_STACK_NO_TABLE;
	if (why != GO_ON || w.sp != caller->sp || w.ip != caller->ip)
		return false;
	if (w.bp_at == LOST ? caller->has_bp : !read_bp(&w, &bp) || bp != caller->bp)
		return false;
	return w.bx_at == LOST ? !caller->has_bx
			       : saved_register(&w, w.bx_at, REG_BX, &bx) && bx == caller->bx;
}

/* ---- a file ---- */

struct file {
	struct image image;
	struct table table;
	struct mtag_rows rows;
	Dwarf_CFI *cfi;
	int fd;
	unsigned long checked, stopped, wrong;
};

static bool address_of(const struct image *image, u64 offset, u64 *address)
{
	for (unsigned int i = 0; i < image->texts; i++)
		if (offset - image->text[i].offset < image->text[i].size) {
			*address = offset - image->text[i].offset + image->text[i].address;
			return true;
		}
	return false;
}

/* Padding behind a function has its last row. */
static bool in_padding(struct file *file, u64 address)
{
	for (u64 back = 1; back < 16; back++)
		if (ask_libdw(file->cfi, address - back).known)
			return true;
	return false;
}

/* The code that the kernel jumps to has no caller, and need not say so. */
static bool at_entry(struct file *file, u64 address)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->image.elf, &header) && address >= header.e_entry &&
	       address < header.e_entry + 128;
}

static void check_at(struct file *file, u64 offset)
{
	const struct mtag_unwind_recipe *recipe = mtag_rows_find(&file->rows, offset);
	struct caller caller;
	bool good = recipe;
	u64 address;

	if (!address_of(&file->image, offset, &address))
		return;
	caller = ask_libdw(file->cfi, address);
	file->checked++;
	if (recipe && recipe->kind == MTAG_UNWIND_STOP)
		file->stopped++;
	else if (recipe && caller.known)
		good = leads_to(recipe, address, &caller);
	else if (recipe && recipe->kind != MTAG_UNWIND_NONE)
		good = recipe->kind == MTAG_UNWIND_SIGNAL || in_padding(file, address) ||
		       (recipe->kind == MTAG_UNWIND_END && at_entry(file, address));
	if (!good && ++file->wrong <= 5)
		printf("# at %lx, offset %lx: kind %d\n", (unsigned long)address,
		       (unsigned long)offset, recipe ? recipe->kind : -1);
}

/* Both ends of every row; of @one_in blocks, one. */
static void check_rows(struct file *file, unsigned int one_in)
{
	const struct mtag_rows *t = &file->rows;

	for (u32 block = 0; block < t->blocks; block += one_in)
		for (u32 row = t->index[block]; row < t->index[block + 1]; row++) {
			u64 start = ((u64)t->first + block) << MTAG_UNWIND_SHIFT;
			u64 end = row + 1 < t->index[block + 1]
					  ? t->rows[row + 1] >> MTAG_UNWIND_LOW
					  : MTAG_UNWIND_BLOCK;

			check_at(file, start + (t->rows[row] >> MTAG_UNWIND_LOW));
			check_at(file, start + end - 1);
		}
}

static bool open_file(struct file *file, const char *path)
{
	int err;

	*file = (struct file){.fd = -1};
	if (!strcmp(path, "[vdso]")) {
		err = image_open_vdso(&file->image);
	} else {
		file->fd = open(path, O_RDONLY | O_CLOEXEC);
		err = file->fd < 0 ? -1 : image_open(&file->image, file->fd);
	}
	if (!err)
		err = table_make(&file->image, &file->table);
	if (!err)
		err = mtag_rows_set(&file->rows, file->table.data, file->table.size);
	file->cfi = err ? NULL : dwarf_getcfi_elf(file->image.elf);
	return file->cfi;
}

static void close_file(struct file *file)
{
	if (file->cfi)
		dwarf_cfi_end(file->cfi);
	image_close(&file->image);
	free(file->table.data);
	if (file->fd >= 0)
		close(file->fd);
}

static bool same_id(const struct image *image)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(image->elf, &id);

	return size <= 0 ? !image->id_size
			 : image->id_size == (size_t)size && !memcmp(id, image->id, (size_t)size);
}

/* At most @stops ends of rows may have rules for which there is no kind. */
static void test_file(const char *path, unsigned int one_in, unsigned long stops)
{
	struct file file;
	char name[200];

	snprintf(name, sizeof(name), "%s: the rows say what libdw says%s", path,
		 access(path, R_OK) && *path == '/' ? " # SKIP not here" : "");
	if (strstr(name, "SKIP")) {
		ok(true, name);
		return;
	}
	if (open_file(&file, path))
		check_rows(&file, one_in);
	printf("# %s: checked=%lu stopped=%lu wrong=%lu bytes=%zu\n", path, file.checked,
	       file.stopped, file.wrong, file.table.size);
	ok(file.checked && !file.wrong && file.stopped <= stops && same_id(&file.image), name);
	close_file(&file);
}

/* musl's trampoline has no entry in .eh_frame. */
static void test_trampoline(const char *path)
{
	static const u8 code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	const char *name = "the trampoline of signals is known by its code";
	const struct mtag_unwind_recipe *before, *behind;
	struct file file;
	const u8 *raw, *at;
	size_t size;

	if (!open_file(&file, path)) {
		ok(true, "the trampoline of signals is known by its code # SKIP no musl");
		close_file(&file);
		return;
	}
	raw = (const u8 *)elf_rawfile(file.image.elf, &size);
	at = memmem(raw, size, code, sizeof(code));
	before = at ? mtag_rows_find(&file.rows, (u64)(at - raw) - 1) : NULL;
	behind = at ? mtag_rows_find(&file.rows, (u64)(at - raw) + sizeof(code)) : NULL;
	ok(before && before->kind == MTAG_UNWIND_SIGNAL && behind &&
		   behind->kind != MTAG_UNWIND_SIGNAL,
	   name);
	close_file(&file);
}

/* ---- what nobody compiled ---- */

/* A file of notes alone that overlap in a hole: reading them all would take 64 GiB. */
static void test_notes(const char *dir)
{
	enum { NOTES = 256, HOLE = 1 << 28, AT = 4096 };
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = AT,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NOTES,
	};
	const Elf64_Phdr text = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 4096};
	const Elf64_Shdr note = {.sh_type = SHT_NOTE, .sh_offset = HOLE, .sh_size = HOLE};
	struct image image;
	struct rusage used;
	char path[64];
	bool opened;
	int fd;

	snprintf(path, sizeof(path), "%s/notes", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 2L * HOLE) ||
	    pwrite(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    pwrite(fd, &text, sizeof(text), sizeof(header)) != sizeof(text))
		abort();
	for (int i = 1; i < NOTES; i++)
		if (pwrite(fd, &note, sizeof(note), AT + i * (off_t)sizeof(note)) != sizeof(note))
			abort();
	opened = !image_open(&image, fd);
	getrusage(RUSAGE_SELF, &used);
	ok(opened && !image.id_size && used.ru_maxrss < 1 << 20,
	   "a file with notes without end is opened in bounded memory");
	image_close(&image);
	close(fd);
}

int main(void)
{
	char dir[] = "/tmp/mtag-unwind.XXXXXX", command[64];
	int failed;

	for (int reg = 0; reg < 16; reg++)
		pt_regs[in_regs[reg]] = regs_of(reg);
	if (!mkdtemp(dir))
		return 1;
	test_file("[vdso]", 1, 0);
	test_file("/lib/x86_64-linux-gnu/libc.so.6", 1, 20);
	test_file("/lib64/ld-linux-x86-64.so.2", 1, 4);
	test_file("/usr/bin/python3.11", 1, 0);
	test_file("/bin/bash", 1, 0);
	test_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 1, 20);
	test_file("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", 1, 10);
	test_trampoline("/usr/lib/x86_64-linux-musl/libc.so");
	test_notes(dir);
	failed = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || failed;
}
