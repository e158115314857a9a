// SPDX-License-Identifier: GPL-2.0
/*
 * Which files a program consists of when it begins. Its own loader knows, and is asked as ldd(1)
 * asks it, by the user who is about to run the program anyway.
 */
#include <fcntl.h>
#include <gelf.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "file.h"
#include "stacks/needed.h"

/* As the kernel does it. */
#define LINE_MOST    255
#define SCRIPTS_MOST 4 /* each of which is the interpreter of the one before */

extern char **environ;

/* The file that execvp(3) looks for. */
static char *find_file(const char *name)
{
	const char *path = getenv("PATH");
	char *file;

	if (strchr(name, '/'))
		return strdup(name);
	for (size_t n; path && *path; path += n + !!path[n]) {
		n = strcspn(path, ":");
		if (asprintf(&file, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name) < 0)
			return NULL;
		if (!access(file, X_OK))
			return file;
		free(file);
	}
	return NULL;
}

/* The path in the first line "#!PATH…" of a script; NULL if it is none. The caller frees it. */
static char *interpreter_of(const char *path)
{
	char line[LINE_MOST + 1] = "", *name = line + 2;
	int fd = file_open_regular(path);

	if (fd < 0)
		return NULL;
	if (pread(fd, line, LINE_MOST, 0) < 2)
		line[0] = '\0';
	close(fd);
	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	name += strspn(name, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return *name ? strdup(name) : NULL;
}

char *needed_find(const char *name)
{
	char *file = find_file(name);

	for (int i = 0; file && i < SCRIPTS_MOST; i++) {
		char *interpreter = interpreter_of(file);

		if (!interpreter)
			break;
		free(file);
		file = interpreter;
	}
	return file;
}

/* The path of the program's loader; NULL if it has none. The caller frees it. */
static char *loader_in(Elf *elf)
{
	GElf_Phdr phdr;
	size_t n, size;
	char *file;

	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_INTERP)
			continue;
		file = elf_rawfile(elf, &size);
		if (!file || phdr.p_offset > size || phdr.p_filesz > size - phdr.p_offset)
			return NULL;
		return strndup(file + phdr.p_offset, phdr.p_filesz);
	}
	return NULL;
}

static char *loader_of(const char *path)
{
	char *loader = NULL;
	Elf *elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		loader = loader_in(elf);
	elf_end(elf);
	close(fd);
	return loader;
}

/* Starts `LOADER --list PATH`, of whose output *@out is the end to read from. */
static pid_t ask(char *loader, char *path, int *out)
{
	char list[] = "--list", *argv[] = {loader, list, path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	if (!posix_spawn_file_actions_init(&actions)) {
		if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
		    posix_spawn_file_actions_adddup2(&actions, ends[1], 1) ||
		    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
		    posix_spawn(&pid, loader, &actions, NULL, argv, environ))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*out = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/* The path in a line "	NAME => PATH (ADDRESS)" or "	PATH (ADDRESS)"; NULL if there is none. */
static char *path_in(char *line)
{
	char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return path;
}

int needed_each(const char *path, int (*each)(const char *path, void *data), void *data)
{
	_cleanup_(freep) char *loader = loader_of(path), *line = NULL;
	char *file;
	size_t size = 0;
	int out, ret = 0;
	FILE *lines;
	pid_t pid;

	if (!loader)
		return 0;
	pid = ask(loader, (char *)path, &out);
	if (pid < 0)
		return 0;
	lines = fdopen(out, "r");
	while (lines && !ret && getline(&line, &size, lines) > 0) {
		file = path_in(line);
		ret = file ? each(file, data) : 0;
	}
	if (lines)
		fclose(lines);
	else
		close(out);
	waitpid(pid, NULL, 0);
	return ret;
}
