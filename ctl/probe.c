// SPDX-License-Identifier: GPL-2.0
/* Finds out about a machine's kernel without the module. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "probe.h"

#define READ_MAX (16 << 20)

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* Files in /proc and /sys do not tell their size. */
static char *slurp_file(FILE *file)
{
	size_t room = 4096, len = 0;
	char *text = NULL;

	for (;;) {
		char *more = realloc(text, room + 1);

		if (!more)
			break;
		text = more;
		len += fread(text + len, 1, room - len, file);
		if (ferror(file))
			break;
		if (len < room || room >= READ_MAX) {
			text[len] = '\0';
			return text;
		}
		room *= 2;
	}
	free(text);
	return NULL;
}

static const char *root = "";

void probe_set_root(const char *dir)
{
	root = dir;
}

const char *probe_root(void)
{
	return root;
}

static const char *rooted_path(const char *path, char *buf, size_t size)
{
	if (!*root)
		return path;
	snprintf(buf, size, "%s%s", root, path);
	return buf;
}

static FILE *open_file(const char *path)
{
	char buf[PATH_MAX];

	return fopen(rooted_path(path, buf, sizeof(buf)), "re");
}

int probe_access(const char *path, int mode)
{
	char buf[PATH_MAX];

	return access(rooted_path(path, buf, sizeof(buf)), mode);
}

char *probe_read(const char *path)
{
	_cleanup_(fclosep) FILE *file = open_file(path);

	return file ? slurp_file(file) : NULL;
}

bool probe_line(const char *path, char *buf, size_t size)
{
	_cleanup_(freep) char *text = probe_read(path);

	buf[0] = '\0';
	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(buf, size, "%s", text);
	return true;
}

/* Starts @argv with stdout at @fd and stderr at /dev/null. */
static int start_program(const char *const *argv, int fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	char sbin[64];
	int err;

	if (posix_spawn_file_actions_init(&actions))
		return ENOMEM;
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
						       O_WRONLY, 0);
	if (!err)
		err = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	if (err == ENOENT) { /* the PATH of users often lacks it */
		snprintf(sbin, sizeof(sbin), "/sbin/%s", argv[0]);
		err = posix_spawn(pid, sbin, &actions, NULL, (char *const *)argv, environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* The output of a program, or NULL if it cannot be run. @argv[0] is looked up in PATH and /sbin. */
static char *output_of(const char *const *argv)
{
	_cleanup_(fclosep) FILE *out = NULL;
	int ends[2], err, status = -1;
	char *text;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	err = start_program(argv, ends[1], &pid);
	close(ends[1]);
	out = fdopen(ends[0], "r");
	if (err || !out) {
		if (!out)
			close(ends[0]);
		if (!err)
			waitpid(pid, NULL, 0);
		return NULL;
	}
	text = slurp_file(out);
	/* A program with more output than is read ends by SIGPIPE. */
	fclosep(&out);
	out = NULL;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* Whoever started us may ignore the ends of children: then nobody knows. */
	if (status < 0)
		status = 0;
	if (status && text)
		*text = '\0';
	return text;
}

char *probe_config(const char *release)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config",
					     "/usr/lib/modules/%s/config",
					     "/lib/modules/%s/build/.config"};
	char path[256], gz[PATH_MAX], *text;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], release);
		text = probe_read(path);
		if (text)
			return text;
	}
	text = output_of((const char *const[]){
		"gzip", "-dc", rooted_path("/proc/config.gz", gz, sizeof(gz)), NULL});
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

bool probe_config_has(const char *config, const char *name)
{
	char line[128];
	size_t len = (size_t)snprintf(line, sizeof(line), "CONFIG_%s=", name);

	for (const char *p = config; (p = strstr(p, line)); p += len)
		if ((p == config || p[-1] == '\n') && (p[len] == 'y' || p[len] == 'm'))
			return true;
	return false;
}

/* A name without a slash modinfo may take for an option, or for an installed module's. */
static char *modinfo_of_file(const char *file)
{
	_cleanup_(freep) char *path = NULL;

	if (asprintf(&path, "%s%s", *file == '/' ? "" : "./", file) < 0) {
		path = NULL;
		return NULL;
	}
	return output_of((const char *const[]){"modinfo", path, NULL});
}

char *probe_modinfo(const char *release, const char *file)
{
	if (file)
		return modinfo_of_file(file);
	if (!*root)
		return output_of((const char *const[]){"modinfo", "-k", release, "mtag", NULL});
	return output_of((const char *const[]){"modinfo", "-b", root, "-k", release, "mtag", NULL});
}

char *probe_field(const char *modinfo, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = modinfo; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		line += len + 1;
		line += strspn(line, " ");
		return strndup(line, strcspn(line, "\n"));
	}
	return NULL;
}

char *probe_log(void)
{
	enum { READ_ALL = 3, SIZE = 10 };
	int room = *root ? -1 : klogctl(SIZE, NULL, 0), len;
	char *text = room > 0 ? malloc((size_t)room + 1) : NULL;

	if (!text)
		return NULL;
	len = klogctl(READ_ALL, text, room);
	if (len < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

struct symbol *probe_words(const char *names, size_t *n)
{
	struct symbol *symbols = calloc(strlen(names) / 2 + 1, sizeof(*symbols));

	*n = 0;
	if (!symbols)
		return NULL;
	for (names += strspn(names, " "); *names; names += strspn(names, " ")) {
		symbols[*n].name = names;
		symbols[*n].len = strcspn(names, " ");
		names += symbols[(*n)++].len;
	}
	return symbols;
}

static bool ends_with(const char *word, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncmp(word + len - n, end, n);
}

/* "name.cold" proves nothing: it also exists beside the function itself. */
static void match_symbol(const char *word, size_t len, struct symbol *symbol)
{
	if (*word != *symbol->name || len < symbol->len ||
	    strncmp(word, symbol->name, symbol->len) != 0)
		return;
	if (len == symbol->len)
		symbol->found++;
	else if (word[symbol->len] == '.' && !ends_with(word, len, ".cold"))
		snprintf(symbol->variant, sizeof(symbol->variant), "%.*s", (int)len, word);
}

int probe_symbols(const char *path, unsigned int skip, struct symbol *symbols, size_t n)
{
	_cleanup_(fclosep) FILE *file = open_file(path);
	_cleanup_(freep) char *line = NULL;
	size_t room = 0;

	if (!file)
		return -errno;
	while (getline(&line, &room, file) > 0) {
		const char *word = line;
		size_t len;

		for (unsigned int i = 0; i < skip; i++) {
			word += strcspn(word, " \t\n");
			word += strspn(word, " \t");
		}
		len = strcspn(word, " \t\n");
		if (strchr(word + len, '[')) /* of a module */
			continue;
		for (size_t i = 0; i < n; i++)
			match_symbol(word, len, &symbols[i]);
	}
	return ferror(file) ? -EIO : 0;
}
