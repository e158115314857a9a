// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/needed.c ctl/file.c */
/* mtagctl: which program a command is, and which files that consists of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "stacks/needed.h"

static void script(const char *name, const char *interpreter)
{
	FILE *out = fopen(name, "w");

	if (!out || fprintf(out, "#!%s\nexit 0\n", interpreter) < 0 || fclose(out) ||
	    chmod(name, 0755))
		abort();
}

static bool is_program(const char *name, const char *want)
{
	_cleanup_(freep) char *path = needed_find(name);

	if (path && !strcmp(path, want))
		return true;
	printf("# %s: %s\n", name, path ? path : "nothing");
	return false;
}

static int is_libc(const char *path, void *data)
{
	(void)data;
	return strstr(path, "/libc.so.") ? 1 : 0;
}

static void test_programs(void)
{
	_cleanup_(freep) char *none = needed_find("no-such-program");

	ok(is_program("/bin/sh", "/bin/sh") && is_program("./x", "./x"), "a path is what it is");
	setenv("PATH", "/no/such:/bin", 1);
	ok(is_program("sh", "/bin/sh") && !none, "a name is looked up in PATH");
}

static void test_scripts(const char *dir)
{
	char name[200];

	script("one", "/bin/sh");
	script("blanks", " \t/bin/sh -e");
	ok(is_program("./one", "/bin/sh") && is_program("./blanks", "/bin/sh"),
	   "a script is its interpreter");
	setenv("PATH", dir, 1);
	ok(is_program("one", "/bin/sh"), "also one that is found in PATH");
	snprintf(name, sizeof(name), "%s/one", dir);
	script("two", name);
	snprintf(name, sizeof(name), "%s/two", dir);
	script("three", name);
	snprintf(name, sizeof(name), "%s/loop", dir);
	script("loop", name);
	ok(is_program("./three", "/bin/sh"), "the interpreter may be a script, too");
	ok(is_program("./loop", name), "but not without end");
	script("empty", "");
	ok(is_program("./empty", "./empty"), "a script without an interpreter is none");
}

static void test_files(void)
{
	_cleanup_(freep) char *program = needed_find("./three");

	ok(program && needed_each(program, is_libc, NULL) == 1,
	   "what a script needs is what its interpreter needs");
}

int main(void)
{
	char dir[] = "/tmp/mtag-needed.XXXXXX", command[64];
	int failed;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	test_programs();
	test_scripts(dir);
	test_files();
	failed = tap_end();
	snprintf(command, sizeof(command), "/bin/rm -rf %s", dir);
	return system(command) || failed;
}
