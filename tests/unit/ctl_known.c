// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/stacks/trace.c ctl/stacks/demangle.c */
/* sources: ctl/stacks/perfmap.c ctl/stacks/object.c ctl/stacks/symbol.c ctl/stacks/known.c ctl/file.c ctl/kept.c */
/*
 * mtagctl: functions that were looked up once are known the next time, as addr2line's rule of ctl_symbols.c found them
 * and without the file; nothing is kept that another user could have made up.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_stacks.h"
#include "ctl_tap.h"
#include "stacks/known.h"

#define PLACES 3

static const char *const places[PLACES] = {ELF_INLINED, ELF_RUST_CALL, ELF_LEGACY};
static uint64_t offsets[PLACES];
static struct trace_image library = {.id = 7, .path = elf_library};
static char kept[PATH_MAX];

/* "function file:line, …" of what was found, which is freed. */
static void say(char *text, size_t size, struct symbol *found, size_t n)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		at += (size_t)snprintf(text + at, size - at, "%s%s %s:%u, ",
				       found[i].inlined ? "in " : "", found[i].function,
				       found[i].file ? found[i].file : "?", found[i].line);
		free(found[i].function);
		free(found[i].file);
	}
}

/* How many of the places are known; @text says what is known of them. */
static size_t ask(char text[PLACES][1024])
{
	_cleanup_(known_closep) struct known *known = known_open();
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t hits = 0;

	for (int i = 0; i < PLACES; i++) {
		size_t n = known_find(known, &library, offsets[i], true, found);

		say(text[i], sizeof(text[i]), found, n);
		hits += n > 0;
	}
	return hits;
}

/* Looks the places up in the file, and keeps what lasts. */
static void look_up(char text[PLACES][1024])
{
	_cleanup_(known_closep) struct known *known = known_open();
	_cleanup_(symbols_closep) struct symbols *symbols = symbols_open(getpid());
	struct symbol found[SYMBOL_INLINES_MOST];

	for (int i = 0; i < PLACES; i++) {
		size_t n = symbols_find(symbols, &library, offsets[i], true, found);

		known_add(known, &library, offsets[i], true, found, n);
		say(text[i], sizeof(text[i]), found, n);
	}
}

static void test_trust(void)
{
	char text[PLACES][1024];

	ok(!ask(text), "nothing is known at first");
	chmod(elf_library, 0666);
	look_up(text);
	ok(!ask(text), "what others could have written is not kept");
	chmod(elf_library, 0755);
	library.build_id_length = 0;
	look_up(text);
	library.build_id_length = sizeof(elf_build_id);
	ok(!ask(text), "nor is what has no build-id");
}

static void test_kept(void)
{
	char text[PLACES][1024], again[PLACES][1024];
	struct stat before, after;
	FILE *file;

	look_up(text);
	ok(strstr(text[0], "in touch") && !stat(kept, &before), "what was found is kept");
	ok(!rename(elf_library, elf_stripped) && ask(again) == PLACES &&
		   !strcmp(text[0], again[0]) && !strcmp(text[1], again[1]) &&
		   !strcmp(text[2], again[2]),
	   "it is known without the file, the same to the line");
	ok(!stat(kept, &after) && after.st_ino == before.st_ino, "and not written again");
	ok(!truncate(kept, before.st_size - 3) && !ask(again),
	   "nothing is taken of a file that was cut");
	file = fopen(kept, "w");
	ok(file && fputs("mtagctl symbols 1\n1 e 99\nx\n", file) > 0 && !fclose(file) &&
		   !ask(again),
	   "nor of one that is rubbish");
	ok(!unlink(kept) && !symlink(elf_stripped, kept) && !ask(again), "a link is not followed");
}

/* Makes a file beside what is kept, last used so many days ago. */
static void put_beside(const char *name, int days)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - days * 24 * 60 * 60}, {0}};
	char path[PATH_MAX + 8];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%s", kept, name);
	file = fopen(path, "w");
	times[1] = times[0];
	if (!file || fclose(file) || utimensat(AT_FDCWD, path, times, 0))
		abort();
}

static bool is_beside(const char *name)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s.%s", kept, name);
	return !access(path, F_OK);
}

static void test_unused(void)
{
	const struct timespec week[2] = {{.tv_sec = time(NULL) - 7 * 24 * 60 * 60},
					 {.tv_sec = time(NULL) - 7 * 24 * 60 * 60}};
	char text[PLACES][1024];
	struct stat st;

	unlink(kept);
	put_beside("old", 40);
	put_beside("newer", 20);
	if (rename(elf_stripped, elf_library))
		abort();
	look_up(text);
	ok(!is_beside("old") && is_beside("newer"), "what was not used for a month goes");
	utimensat(AT_FDCWD, kept, week, 0);
	ok(ask(text) == PLACES && !stat(kept, &st) && st.st_mtime > time(NULL) - 60,
	   "and what is read counts as used");
}

int main(void)
{
	if (!elf_build()) {
		printf("ok 1 # SKIP no C compiler, nm, readelf and objcopy here\n1..1\n");
		return 0;
	}
	snprintf(kept, sizeof(kept), "%s/mtag-symbols/feedface", elf_dir);
	memcpy(library.build_id, elf_build_id, sizeof(elf_build_id));
	library.build_id_length = sizeof(elf_build_id);
	for (int i = 0; i < PLACES; i++)
		offsets[i] = elf_offset(places[i]);
	test_trust();
	test_kept();
	test_unused();
	elf_remove();
	return tap_end();
}
