// SPDX-License-Identifier: GPL-2.0
/* Text of the command line into values. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "uapi/linux/mtag.h"
#include "utf8.h"

/* Digits up to @end. 0, -EINVAL if there is none, or -ERANGE if they do not fit. */
static int parse_digits(const char *text, char **end, unsigned long *value)
{
	/* strtoul() would accept blanks and signs. */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoul(text, end, 10);
	return errno ? -ERANGE : 0;
}

static int parse_number(const char *text, unsigned long max, unsigned long *value)
{
	char *end;
	int err = parse_digits(text, &end, value);

	if (err == -EINVAL || *end)
		return -EINVAL;
	return err || *value > max ? -ERANGE : 0;
}

int parse_pid(const char *text, pid_t *pid)
{
	unsigned long value;
	int err = parse_number(text, INT_MAX, &value);

	if (err)
		return err;
	if (!value)
		return -EINVAL;
	*pid = (pid_t)value;
	return 0;
}

int parse_count(const char *text, unsigned long *count)
{
	int err = parse_number(text, ULONG_MAX, count);

	return err ? err : *count ? 0 : -EINVAL;
}

int parse_one_in(const char *text, uint32_t *n)
{
	unsigned long value;
	int err;

	if (strncmp(text, "1/", 2) != 0)
		return -EINVAL;
	err = parse_number(text + 2, UINT32_MAX, &value);
	if (err)
		return err;
	*n = (uint32_t)value;
	return value ? 0 : -EINVAL;
}

int parse_seconds(const char *text, uint64_t *nanoseconds)
{
	char *end;
	double value;

	/* strtod() would accept signs, blanks, names and hexadecimal. */
	if (((*text < '0' || *text > '9') && *text != '.') || text[strspn(text, "0123456789.eE+-")])
		return -EINVAL;
	value = strtod(text, &end);
	if (*end || end == text || !isfinite(value))
		return -EINVAL;
	if (value < 0.01 || value > 86400.0 * 365)
		return -ERANGE;
	*nanoseconds = (uint64_t)(value * 1e9);
	return 0;
}

int parse_component(const char **path, const char **name)
{
	size_t len = strcspn(*path, "/");

	if (!**path)
		return 0;
	*name = *path;
	*path += len;
	if (**path == '/') {
		(*path)++;
		if (!**path) /* "a/" */
			return -EINVAL;
	}
	if (!len)
		return -EINVAL;
	if (len > MTAG_NAME_MAX)
		return -ENAMETOOLONG;
	return utf8_is_printable(*name, len) ? (int)len : -EINVAL;
}

int parse_path(const char *path)
{
	const char *name;
	int len, n = 0;

	if (strlen(path) >= MTAG_PATH_MAX)
		return -ENAMETOOLONG;
	while ((len = parse_component(&path, &name)) > 0)
		n++;
	if (len < 0)
		return len;
	return n > MTAG_DEPTH_MAX ? -ENAMETOOLONG : n ? n : -EINVAL;
}

int parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit = NULL;
	char *end;
	unsigned long value;
	int err = parse_digits(text, &end, &value), shift = 0;

	if (err == -EINVAL)
		return err;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return -EINVAL;
		shift = 10 * (int)(unit - units + 1);
	}
	if (err || value > (uint64_t)INT64_MAX >> shift)
		return -ERANGE;
	*size = (uint64_t)value << shift;
	return value ? 0 : -EINVAL;
}
