// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c */
/* sources: ctl/stacks/trace.c ctl/stacks/decode.c ctl/stacks/demangle.c ctl/stacks/perfmap.c ctl/stacks/object.c */
/* sources: ctl/stacks/symbol.c ctl/file.c ctl/kept.c */
/*
 * mtagctl: addresses into functions, as addr2line of binutils finds them, and nothing where the file is not the one
 * that was mapped; the functions of just-in-time compilers; messages with stacks, whole and broken.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "ctl.h"
#include "ctl_stacks.h"
#include "ctl_tap.h"
#include "stacks/decode.h"
#include "stacks/demangle.h"
#include "stacks/perfmap.h"
#include "stacks/symbol.h"

static struct trace_image library = {.id = 1, .path = elf_library};

static void forget(struct symbol *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(found[i].function);
		free(found[i].file);
	}
}

/* ---- addr2line ---- */

/* What it prints of an address: "function\nfile:line\n" for each function, the innermost first. */
static void say(char *text, size_t size, const struct symbol *found, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at += (size_t)snprintf(text + at, size - at, "%s\n%s:", found[i].function,
				       found[i].file ? found[i].file : "??");
		at += (size_t)snprintf(text + at, size - at, found[i].line ? "%u\n" : "?\n",
				       found[i].line);
	}
}

/* Takes the lines of an address off @in, up to the next one's. Without the types of arguments. */
static bool read_truth(FILE *in, char *text, size_t size)
{
	char line[PATH_MAX];
	size_t at = 0;
	long before;

	if (!fgets(line, sizeof(line), in) || strncmp(line, "0x", 2) != 0)
		return false;
	text[0] = '\0';
	for (;;) {
		before = ftell(in);
		if (!fgets(line, sizeof(line), in))
			return true;
		if (!strncmp(line, "0x", 2)) {
			fseek(in, before, SEEK_SET);
			return true;
		}
		if (strstr(line, " (discriminator"))
			strcpy(strstr(line, " (discriminator"), "\n");
		if (line[0] != '/' && strchr(line, '('))
			strcpy(strchr(line, '('), "\n");
		at += (size_t)snprintf(text + at, size - at, "%s", line);
	}
}

/* Compares all addresses that the file @addresses lists. */
static void test_addresses(const char *addresses, const char *truth)
{
	_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(getpid());
	FILE *list = fopen(addresses, "r"), *in = fopen(truth, "r");
	unsigned int n = 0, wrong = 0, inlined = 0;
	uint64_t address;

	while (list && in && fscanf(list, "%lx", &address) == 1) {
		struct symbol found[SYMBOL_INLINES_MOST];
		uint64_t offset = elf_to_offset(address);
		size_t have = symbols_find(symbols, &library, offset, true, found);
		char got[4 * PATH_MAX] = "", want[4 * PATH_MAX];

		say(got, sizeof(got), found, have);
		if (!read_truth(in, want, sizeof(want)) || strcmp(got, want) != 0) {
			printf("# %lx: %s\n# not %s\n", address, got, want);
			wrong++;
		}
		inlined += have > 1;
		forget(found, have);
		n++;
	}
	if (list)
		fclose(list);
	if (in)
		fclose(in);
	ok(n > 50 && inlined && !wrong,
	   "each address of a library is in the functions and lines that addr2line says");
}

static void test_library(void)
{
	char command[5 * PATH_MAX], addresses[PATH_MAX], truth[PATH_MAX];

	snprintf(addresses, sizeof(addresses), "%s/addresses", elf_dir);
	snprintf(truth, sizeof(truth), "%s/truth", elf_dir);
	/* Every byte of every function that was compiled here: others have no lines, of which addr2line thinks otherwise. */
	snprintf(
		command, sizeof(command),
		"nm -S --defined-only '%s' | awk 'NF == 4 && $3 ~ /[tT]/ { print $1, $2 }' | "
		"while read -r a n; do a=$((0x$a)) n=$((0x$n)); "
		"while [ $n -gt 0 ]; do printf '%%x\\n' $a; a=$((a + 1)) n=$((n - 1)); done; done >'%s'",
		elf_library, addresses);
	if (system(command))
		abort();
	snprintf(command, sizeof(command), "addr2line -a -f -i -C -e '%s' <'%s' >'%s'", elf_library,
		 addresses, truth);
	if (system(command))
		abort();
	test_addresses(addresses, truth);
}

/* ---- files ---- */

/* Finds the function at an address of @path. NULL if there is none; caller frees it. */
static char *function_at(const struct trace_image *image, uint64_t offset, bool exact)
{
	_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(getpid());
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t n = symbols_find(symbols, image, offset, exact, found);
	char *name = n ? strdup(found[0].function) : NULL;

	forget(found, n);
	return name;
}

static bool is_at(const struct trace_image *image, uint64_t offset, bool exact, const char *want)
{
	_cleanup_(freep) char *name = function_at(image, offset, exact);

	if (want ? name && !strcmp(name, want) : !name)
		return true;
	printf("# %s\n", name ? name : "nothing");
	return false;
}

static void test_files(void)
{
	struct trace_image image = library, stripped = {.id = 2, .path = elf_stripped};
	uint64_t main_loop = elf_offset("main_loop"), legacy = elf_offset(ELF_LEGACY);
	char path[PATH_MAX];

	ok(is_at(&image, legacy, true, "example::arena::alloc"),
	   "a function begins at its address");
	ok(!is_at(&image, legacy, false, "example::arena::alloc"),
	   "a return address belongs to the function before it");
	memcpy(image.build_id, elf_build_id, sizeof(elf_build_id));
	image.build_id_length = sizeof(elf_build_id);
	ok(is_at(&image, legacy, true, "example::arena::alloc"),
	   "the build-id is that of the file");
	image.build_id[0] ^= 1;
	ok(is_at(&image, legacy, true, NULL), "a file with another build-id is not asked");
	ok(is_at(&stripped, main_loop, true, "main_loop") && is_at(&stripped, legacy, true, NULL),
	   "a stripped library knows what it exports, and nothing else");
	ok(is_at(&library, 0, false, NULL) && is_at(&library, 1ULL << 60, true, NULL),
	   "there is nothing before the file, nor behind it");
	snprintf(path, sizeof(path), "%s/fifo", elf_dir);
	image = (struct trace_image){.id = 1, .path = path};
	ok(!mkfifo(path, 0600) && is_at(&image, main_loop, true, NULL),
	   "a pipe that took the place of a file does not keep us waiting");
	snprintf(path, sizeof(path), "%s/pool.c", elf_dir);
	ok(is_at(&image, main_loop, true, NULL), "a file that is no ELF file has no functions");
	image.path = elf_dir;
	ok(is_at(&image, main_loop, true, NULL), "nor has a directory");
	image.path = strcpy(path, "[heap]");
	ok(is_at(&image, main_loop, true, NULL), "nor has what is no file");
}

/* The C library finds it there, too. */
static void test_vdso(void)
{
	struct trace_image image = {.id = 1, .path = strdup("[vdso]")};
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)base;
	bool found = !base;

	for (uint64_t offset = 0; base && !found && offset < header->e_shoff; offset += 16) {
		_cleanup_(freep) char *name = function_at(&image, offset, true);

		found = name && strstr(name, "clock_gettime");
	}
	ok(found, "the vdso has functions");
	free(image.path);
}

/* ---- names ---- */

static void test_names(void)
{
	static const char *const names[][2] = {
		{"main", "main"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"_ZN4pool4growEPVc", "pool::grow"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back"},
		{"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
		{"_ZN7example5arena5alloc17h05af221e174051e9E", "example::arena::alloc"},
		{"_Znot_a_mangled_name", "_Znot_a_mangled_name"},
		{"", ""},
	};
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *name = demangle(names[i][0]);

		if (strcmp(name, names[i][1]) != 0)
			printf("# %s: %s\n", names[i][0], name);
		good &= !strcmp(name, names[i][1]);
	}
	ok(good, "names of C, C++ and Rust are as people write them");
}

static bool is_in(const struct perfmap *map, uint64_t address, const char *want)
{
	const char *name = perfmap_find(map, address);

	return want ? name && !strcmp(name, want) : !name;
}

static void test_perfmap(void)
{
	static char text[] = "2000 10 second\n1000 20 first@1.2 of all\nnonsense\n3000 zz none\n"
			     "4000 10\n1000 8 first again\n5000 0 empty\nffffffffffffff00 ff last";
	struct perfmap map = {0};
	FILE *in = fmemopen(text, sizeof(text) - 1, "r");

	ok(!perfmap_read(&map, in) && map.n == 4, "lines that are none of a map are skipped");
	fclose(in);
	ok(is_in(&map, 0x2000, "second") && is_in(&map, 0x200f, "second") &&
		   is_in(&map, 0x2010, NULL) && is_in(&map, 0xfff, NULL) && is_in(&map, 0, NULL) &&
		   is_in(&map, 0xfffffffffffffffe, "last"),
	   "a compiled function is found from its first byte to its last");
	ok(is_in(&map, 0x1007, "first again"), "what was compiled there last is what is there");
	perfmap_clear(&map);
}

/* What the lines say of each of 256 addresses, one after the other. */
static void apply(const char *text, int said[256])
{
	for (int n = 0; *text; n++, text = strchr(text, '\n') + 1) {
		unsigned int start, size;

		sscanf(text, "%x %x", &start, &size);
		for (unsigned int i = start; i < start + size && i < 256; i++)
			said[i] = n;
	}
}

/* Random functions, of which many lie over others. */
static bool agrees(void)
{
	char text[60 * 32] = "", want[16];
	struct perfmap map = {0};
	int said[256];
	bool good;
	FILE *in;

	memset(said, -1, sizeof(said));
	for (int i = 0; i < 60; i++)
		sprintf(text + strlen(text), "%x %x f%d\n", (unsigned int)rand() % 256,
			1 + (unsigned int)rand() % (rand() % 4 ? 8 : 128), i);
	apply(text, said);
	in = fmemopen(text, strlen(text), "r");
	good = !perfmap_read(&map, in);
	fclose(in);
	for (uint64_t i = 0; i < 256; i++) {
		snprintf(want, sizeof(want), "f%d", said[i]);
		good &= is_in(&map, i, said[i] < 0 ? NULL : want);
	}
	perfmap_clear(&map);
	return good;
}

static void test_overlaps(void)
{
	static char text[] = "1000 100 old\n1040 10 new\n10f0 20 end\n0 10 gone\n0 20 whole\n";
	struct perfmap map = {0};
	FILE *in = fmemopen(text, sizeof(text) - 1, "r");
	bool good = !perfmap_read(&map, in);

	fclose(in);
	ok(good && is_in(&map, 0x103f, "old") && is_in(&map, 0x1040, "new") &&
		   is_in(&map, 0x104f, "new") && is_in(&map, 0x1050, "old") &&
		   is_in(&map, 0x10ef, "old") && is_in(&map, 0x10f0, "end") &&
		   is_in(&map, 0x110f, "end") && is_in(&map, 0, "whole") &&
		   is_in(&map, 0x1f, "whole") && is_in(&map, 0x20, NULL),
	   "a function that was compiled over a part of another one leaves the rest of it");
	perfmap_clear(&map);
	srand(1);
	for (int i = 0; i < 200; i++)
		good &= agrees();
	ok(good, "so it is with any, as if each line wrote its name on its addresses");
}

static void test_compiled(void)
{
	struct trace_image image = {.id = 1, .path = strdup("[anon]")};
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	out = fopen(path, "w");
	fputs("7f0000001000 100 LazyCompile:~f a@1.js:1\n", out);
	fclose(out);
	ok(is_at(&image, 0x7f0000001100, false, "LazyCompile:~f a@1.js:1") &&
		   is_at(&image, 0x7f0000001100, true, NULL),
	   "anonymous memory has the functions of perf-PID.map");
	if (!geteuid()) {
		if (chown(path, 65534, 65534))
			abort();
		ok(is_at(&image, 0x7f0000001100, false, NULL),
		   "but not if somebody else wrote that");
	}
	unlink(path);
	ok(!symlink(elf_library, path) && is_at(&image, 0x7f0000001100, false, NULL),
	   "nor what a link there leads to");
	unlink(path);
	free(image.path);
}

/* ---- messages ---- */

static struct nl_msg *message(void)
{
	static const struct mtag_stack_frame frames[] = {{0x10, 5, MTAG_STACK_EXACT}, {0x20, 5, 0}};
	struct nl_msg *msg = nlmsg_alloc_size(65536);
	struct nlattr *nest;

	nlmsg_put(msg, 0, 0, 0, 0, 0);
	nla_put_u32(msg, MTAG_A_PROC_PID, 12);
	nest = nla_nest_start(msg, MTAG_A_STACK_IMAGE);
	nla_put_u32(msg, MTAG_A_IMAGE_ID, 5);
	nla_put_string(msg, MTAG_A_IMAGE_PATH, "/bin/true");
	nla_put(msg, MTAG_A_IMAGE_BUILD_ID, sizeof(elf_build_id), elf_build_id);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, MTAG_A_STACK);
	nla_put_u16(msg, MTAG_A_TAG_ID, 3);
	nla_put_u64(msg, MTAG_A_STACK_ANON, 4096);
	nla_put_u64(msg, MTAG_A_STACK_SWAP, 8192);
	nla_put_u64(msg, MTAG_A_STACK_TOUCHED, 12288);
	nla_put_u32(msg, MTAG_A_STACK_KIND, MTAG_STACK_TAKEN);
	nla_put_u32(msg, MTAG_A_STACK_WHY, MTAG_STACK_ABSENT);
	nla_put(msg, MTAG_A_STACK_FRAMES, sizeof(frames), frames);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, MTAG_A_STACK);
	nla_put_u16(msg, MTAG_A_TAG_ID, 0);
	nla_put_u64(msg, MTAG_A_STACK_ANON, 65536);
	nla_put_u32(msg, MTAG_A_STACK_KIND, MTAG_STACK_NONE);
	nla_nest_end(msg, nest);
	nla_put_u32(msg, MTAG_A_STACK_ONE_IN, 7);
	nla_put_u64(msg, MTAG_A_STACK_UNCOUNTED, 20480);
	nla_put_u64(msg, MTAG_A_STACK_LOST, 2);
	return msg;
}

static bool is_whole(const struct traces *t)
{
	const struct trace *trace = t->traces;
	const struct trace_image *image = traces_image(t, 5);
	char id[TRACE_BUILD_ID_TEXT];

	return t->pid == 12 && t->one_in == 7 && t->lost == 2 && t->uncounted == 20480 &&
	       t->n == 2 && t->n_images == 1 && image && !strcmp(image->path, "/bin/true") &&
	       !strcmp(trace_image_name(image), "true") &&
	       !strcmp(trace_build_id(image, id), "feedface") && !traces_image(t, 6) &&
	       trace->tag == 3 && trace->anon == 4096 && trace->swap == 8192 &&
	       trace->knows_touched && trace->touched == 12288 && trace->n == 2 &&
	       trace->frames[0].offset == 0x10 && trace->frames[0].flags == MTAG_STACK_EXACT &&
	       trace->why == MTAG_STACK_ABSENT && trace[1].kind == MTAG_STACK_NONE &&
	       !trace[1].knows_touched;
}

static void test_messages(void)
{
	struct nl_msg *msg = message();
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	int length = nlmsg_attrlen(hdr, 0), bad = 0;
	struct traces traces = {0};

	ok(!decode_traces(nlmsg_attrdata(hdr, 0), length, &traces) && is_whole(&traces),
	   "images and stacks are what the message says");
	traces_clear(&traces);
	/* A copy of the exact length: the sanitizer sees what is read beyond it. */
	for (int n = 0; n < length; n++) {
		_cleanup_(freep) char *part = malloc((size_t)n + 1);
		int err;

		memcpy(part, nlmsg_attrdata(hdr, 0), (size_t)n);
		err = decode_traces((struct nlattr *)part, n, &traces);
		bad += err && err != -EBADMSG;
		traces_clear(&traces);
	}
	ok(!bad, "a message that is cut off is bad, or ends earlier");
	nlmsg_free(msg);
	msg = nlmsg_alloc_size(4096);
	hdr = nlmsg_put(msg, 0, 0, 0, 0, 0);
	ok(decode_traces(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), &traces) == -EBADMSG,
	   "a message without a process is bad");
	nlmsg_free(msg);
	traces_clear(&traces);
}

/* For tests/unit/ctl_debuginfod.sh: what is found at an instruction of a file, as addr2line -i -f prints it. */
static int print_one(char *path, const char *offset)
{
	const struct trace_image image = {.id = 1, .path = path};
	struct symbols *symbols = symbols_open(getpid());
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t n = symbols_find(symbols, &image, strtoull(offset, NULL, 0), true, found);
	char text[4 * PATH_MAX] = "";

	say(text, sizeof(text), found, n);
	fputs(text, stdout);
	forget(found, n);
	symbols_close(symbols);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return print_one(argv[1], argv[2]);
	if (elf_build()) {
		test_library();
		test_files();
	} else {
		printf("ok %d # SKIP no C compiler, nm, readelf and objcopy here\n", ++tap_run);
	}
	test_vdso();
	test_names();
	test_perfmap();
	test_overlaps();
	test_compiled();
	test_messages();
	elf_remove();
	return tap_end();
}
