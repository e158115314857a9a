// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses in files into functions and lines, by elfutils: debug information where there is some, which also knows
 * what was inlined; otherwise the table of symbols. Anonymous memory has what a just-in-time compiler says of it.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdw.h>

#include "ctl.h"
#include "stacks/demangle.h"
#include "stacks/object.h"
#include "stacks/perfmap.h"
#include "stacks/symbol.h"

/* An image that was asked for. */
struct opened {
	uint32_t id;
	struct object object;
};

struct symbols {
	pid_t pid;
	int root; /* the process's directory of that name: later we may not be allowed to look it up */
	void *images; /* struct opened by id */
	struct perfmap map;
	bool map_read;
};

struct symbols *symbols_open(pid_t pid)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	char path[32];

	if (!symbols)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	symbols->pid = pid;
	symbols->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return symbols;
}

static void opened_free(void *node)
{
	struct opened *opened = node;

	object_close(&opened->object);
	free(opened);
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	tdestroy(symbols->images, opened_free);
	perfmap_clear(&symbols->map);
	if (symbols->root >= 0)
		close(symbols->root);
	free(symbols);
}

static int by_id(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* NULL without memory. */
static struct object *find_object(struct symbols *symbols, const struct trace_image *image)
{
	struct opened *opened = calloc(1, sizeof(*opened)), **place;

	if (!opened)
		return NULL;
	opened->id = image->id;
	place = tsearch(opened, &symbols->images, by_id);
	if (!place || *place != opened) {
		free(opened);
		return place ? &(*place)->object : NULL;
	}
	object_open(&opened->object, symbols->root, image);
	return &opened->object;
}

/* Takes a copy of @file. */
static void set(struct symbol *symbol, const char *function, const char *file, int line)
{
	*symbol = (struct symbol){
		.function = demangle(function),
		.file = file ? strdup(file) : NULL,
		.line = file && line > 0 ? (unsigned int)line : 0,
	};
}

/* ---- debug information ---- */

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* The linkage name says more: it has the namespaces and, in Rust, the package. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static int number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
	    value > INT32_MAX)
		return 0;
	return (int)value;
}

/* Where an inlined function was called. */
static const char *caller_of(Dwarf_Die *cu, Dwarf_Die *inlined, int *line)
{
	int number = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t n;

	*line = number_of(inlined, DW_AT_call_line);
	if (!number || dwarf_getsrcfiles(cu, &files, &n) || (size_t)number >= n)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* The scopes around @address, the innermost first, each within the next. Returns how many; caller frees them. */
static int scopes_at(Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die **scopes)
{
	_cleanup_(freep) Dwarf_Die *lexical = NULL;

	/* Behind the first one these are of where it was defined; from it, those of where it is. */
	if (dwarf_getscopes(cu, address, &lexical) <= 0)
		return 0;
	return dwarf_getscopes_die(&lexical[0], scopes);
}

static size_t find_in_debug(const struct object *object, GElf_Addr address, const char *file,
			    int line, struct symbol found[SYMBOL_INLINES_MOST])
{
	_cleanup_(freep) Dwarf_Die *scopes = NULL;
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(object->module, address, &bias);
	int have = cu ? scopes_at(cu, address - bias, &scopes) : 0;
	size_t n = 0;

	for (int i = 0; i < have && n < SYMBOL_INLINES_MOST; i++) {
		const char *name = is_function(&scopes[i]) ? name_of(&scopes[i]) : NULL;

		if (!name)
			continue;
		set(&found[n], name, file, line);
		found[n].lasting = object->trusted;
		found[n].inlined = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine;
		if (!found[n++].inlined)
			break;
		file = caller_of(cu, &scopes[i], &line);
	}
	return n;
}

static size_t find_in_file(const struct object *object, uint64_t offset, bool exact,
			   struct symbol found[SYMBOL_INLINES_MOST])
{
	const char *file = NULL, *name;
	Dwfl_Line *source;
	GElf_Addr address;
	GElf_Off within;
	GElf_Sym symbol;
	int line = 0;
	size_t n;

	if (!object->module || (!exact && !offset) ||
	    !object_address(object, exact ? offset : offset - 1, &address))
		return 0;
	source = dwfl_module_getsrc(object->module, address);
	if (source)
		file = dwfl_lineinfo(source, NULL, &line, NULL, NULL, NULL);
	n = find_in_debug(object, address, file, line, found);
	if (n)
		return n;
	name = dwfl_module_addrinfo(object->module, address, &within, &symbol, NULL, NULL, NULL);
	/* What lies behind the end of a symbol is not its. */
	if (!name || (symbol.st_size && within >= symbol.st_size))
		return 0;
	set(&found[0], name, file, line);
	return 1;
}

/* ---- anonymous memory ---- */

static size_t find_compiled(struct symbols *symbols, uint64_t address, bool exact,
			    struct symbol *found)
{
	const char *name;

	if (!symbols->map_read) {
		symbols->map_read = true;
		if (perfmap_open(&symbols->map, symbols->pid, symbols->root))
			return 0;
	}
	name = perfmap_find(&symbols->map, exact || !address ? address : address - 1);
	if (name)
		*found = (struct symbol){.function = strdup(name)};
	return name ? 1 : 0;
}

size_t symbols_build_id(struct symbols *symbols, const struct trace_image *image,
			uint8_t id[TRACE_BUILD_ID_MOST])
{
	struct object *object = find_object(symbols, image);

	if (!object)
		return 0;
	object_read(object, image);
	return object_build_id(object, id);
}

uint64_t symbols_address(struct symbols *symbols, const struct trace_image *image, uint64_t offset,
			 bool exact)
{
	struct object *object = image->path[0] == '/' ? find_object(symbols, image) : NULL;
	GElf_Addr address, bias;

	if (!object)
		return 0;
	object_read(object, image);
	if (!object->module || !object_address(object, offset - !exact, &address) ||
	    !dwfl_module_getelf(object->module, &bias))
		return 0;
	return address - bias;
}

bool symbols_trusts(struct symbols *symbols, const struct trace_image *image)
{
	const struct object *object = find_object(symbols, image);

	return object && object->trusted;
}

size_t symbols_find(struct symbols *symbols, const struct trace_image *image, uint64_t offset,
		    bool exact, struct symbol found[SYMBOL_INLINES_MOST])
{
	struct object *object;

	if (!strcmp(image->path, "[anon]"))
		return find_compiled(symbols, offset, exact, found);
	object = find_object(symbols, image);
	if (!object)
		return 0;
	object_read(object, image);
	return find_in_file(object, offset, exact, found);
}
