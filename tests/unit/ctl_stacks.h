/* SPDX-License-Identifier: GPL-2.0 */
/* A library with known functions, built by this machine's compiler, and what its own tools say of it. */
#ifndef CTL_STACKS_H
#define CTL_STACKS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A part of the library that is of interest, as the label in it is called. */
#define ELF_INLINED   "mark_inlined"   /* an instruction of touch(), inlined into pool::grow() */
#define ELF_RUST_CALL "mark_rust_call" /* behind the call of that by foo::example_function() */
#define ELF_MAIN_CALL "mark_main_call" /* behind the call of that by main_loop() */
#define ELF_LEGACY    "_ZN7example5arena5alloc17h05af221e174051e9E"
#define ELF_LONG                                                                                   \
	"a_function_of_a_name_that_is_much_too_long_for_a_line_of_a_table_of_eighty_columns"

static char elf_dir[] = "/tmp/mtag-stacks-XXXXXX";
/* Of the second one only main_loop() has a name: others can call it. */
static char elf_library[PATH_MAX], elf_stripped[PATH_MAX];
static const uint8_t elf_build_id[] = {0xfe, 0xed, 0xfa, 0xce};

/*
 * Labels are in no section of symbols that a lookup could find: each is an address in .marks. The names of C++ and Rust
 * are what their compilers would make of pool::grow(char volatile *), foo::example_function and example::arena::alloc.
 */
static const char elf_source[] =
	"#define MARK(name) __asm__ volatile(\"661:\\n.pushsection .marks,\\\"aw\\\"\\n\" \\\n"
	"	\".globl \" name \"\\n\" name \": .quad 661b\\n.popsection\")\n"
	"static inline __attribute__((always_inline)) int touch(volatile char *p)\n"
	"{\n"
	"	MARK(\"mark_inlined\");\n"
	"	return *p = 1;\n"
	"}\n"
	"int grow(volatile char *p) __asm__(\"_ZN4pool4growEPVc\");\n"
	"__attribute__((noinline)) int grow(volatile char *p)\n"
	"{\n"
	"	return touch(p) + 1;\n"
	"}\n"
	"int rust(volatile char *p) __asm__(\"_RNvCskwGfYPst2Cb_3foo16example_function\");\n"
	"__attribute__((noinline)) int rust(volatile char *p)\n"
	"{\n"
	"	int n = grow(p);\n"
	"	MARK(\"mark_rust_call\");\n"
	"	return n + p[1];\n"
	"}\n"
	"int legacy(volatile char *p) __asm__(\"" ELF_LEGACY "\");\n"
	"__attribute__((noinline)) int legacy(volatile char *p)\n"
	"{\n"
	"	return p[2];\n"
	"}\n"
	"__attribute__((noinline)) int " ELF_LONG "(volatile char *p)\n"
	"{\n"
	"	return p[3];\n"
	"}\n"
	"__attribute__((visibility(\"default\"))) int main_loop(volatile char *p)\n"
	"{\n"
	"	int n = rust(p);\n"
	"	MARK(\"mark_main_call\");\n"
	"	return n + legacy(p);\n"
	"}\n";

/* Runs a command of the shell; @out: the first line that it prints. */
static bool elf_run(char *out, size_t size, const char *format, const char *a, const char *b)
{
	char command[4 * PATH_MAX];
	FILE *in;

	snprintf(command, sizeof(command), format, a, b);
	in = popen(command, "r");
	if (!in)
		return false;
	if (!out || !fgets(out, (int)size, in))
		while (getc(in) != EOF)
			;
	return !pclose(in);
}

static inline void elf_remove(void)
{
	elf_run(NULL, 0, "rm -r '%s'", elf_dir, NULL);
}

/* Returns false if this machine cannot. Addresses in it are not offsets in the file. */
static bool elf_build(void)
{
	char path[PATH_MAX];
	FILE *out;

	if (!mkdtemp(elf_dir))
		return false;
	/* What is kept by the library's build-id is kept beside it. */
	setenv("XDG_CACHE_HOME", elf_dir, 1);
	snprintf(path, sizeof(path), "%s/pool.c", elf_dir);
	snprintf(elf_library, sizeof(elf_library), "%s/libpool.so", elf_dir);
	snprintf(elf_stripped, sizeof(elf_stripped), "%s/libpool-stripped.so", elf_dir);
	out = fopen(path, "w");
	if (!out || fputs(elf_source, out) < 0 || fclose(out))
		return false;
	return elf_run(NULL, 0,
		       "${CC:-cc} -O1 -g -fPIC -shared -fcf-protection=none -fvisibility=hidden "
		       "-Wl,--build-id=0xfeedface -Wl,-Bsymbolic -Wl,-Ttext=0x40003000 -o '%s' '%s' 2>/dev/null",
		       elf_library, path) &&
	       elf_run(NULL, 0, "objcopy --strip-all '%s' '%s' && command -v nm readelf >/dev/null",
		       elf_library, elf_stripped);
}

/* The offset in the file of an address, by what readelf says of the executable segments. */
static uint64_t elf_to_offset(uint64_t address)
{
	char command[2 * PATH_MAX];
	uint64_t offset, start, size, found = 0;
	FILE *in;

	snprintf(command, sizeof(command),
		 "readelf -lW '%s' | awk '$1 == \"LOAD\" && / R E / { print $2, $3, $5 }'",
		 elf_library);
	in = popen(command, "r");
	while (in && fscanf(in, "%lx %lx %lx", &offset, &start, &size) == 3)
		if (address >= start && address - start < size)
			found = address - start + offset;
	if (!in || pclose(in) || !found)
		abort();
	return found;
}

/* What nm says of a symbol: its address. */
static uint64_t elf_symbol(const char *name)
{
	char text[100] = "";

	elf_run(text, sizeof(text), "nm '%s' | awk '$3 == \"%s\" { print $1 }'", elf_library, name);
	return strtoull(text, NULL, 16);
}

/* A function's or a label's. What is at a label is an address that the linker has put there as an addend. */
static inline uint64_t elf_offset(const char *name)
{
	char text[200] = "", where[40];

	if (strncmp(name, "mark_", 5) != 0)
		return elf_to_offset(elf_symbol(name));
	snprintf(where, sizeof(where), "%016lx", elf_symbol(name));
	elf_run(text, sizeof(text), "readelf -rW '%s' | awk '$1 == \"%s\" { print $NF }'",
		elf_library, where);
	return elf_to_offset(strtoull(text, NULL, 16));
}

#endif
