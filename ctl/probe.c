// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "probe.h"

#define READ_MAX (16 << 20)

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static void pclosep(FILE **file)
{
	if (*file)
		pclose(*file);
}

/* Files of /proc and /sys do not know their size. */
static char *slurp(FILE *file)
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

char *probe_read(const char *path)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");

	return file ? slurp(file) : NULL;
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

char *probe_config(const char *release)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config",
					     "/usr/lib/modules/%s/config",
					     "/lib/modules/%s/build/.config"};
	_cleanup_(pclosep) FILE *pipe = NULL;
	char path[256], *text;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], release);
		text = probe_read(path);
		if (text)
			return text;
	}
	pipe = popen("exec gzip -dc /proc/config.gz 2>/dev/null", "re");
	text = pipe ? slurp(pipe) : NULL;
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

static bool is_one_of(const char *word, size_t len, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, "|");

		if (n == len && !strncmp(word, names, n))
			return true;
		names += n + (names[n] == '|');
	}
	return false;
}

int probe_symbols(const char *path, unsigned int skip, const char *const *names, size_t n,
		  uint64_t *found)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	size_t room = 0;

	*found = 0;
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
		for (size_t i = 0; i < n; i++)
			if (is_one_of(word, len, names[i]))
				*found |= 1ULL << i;
	}
	return ferror(file) ? -EIO : 0;
}
