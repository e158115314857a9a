// SPDX-License-Identifier: GPL-2.0
/*
 * Validates tag names: printable UTF-8 without a slash, so that no name can
 * change how a terminal or a report shows another.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "mtag.h"
#include "name.h"

/* The length of the UTF-8 sequence that begins with @first, or 0. */
static int utf8_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf5 ? 4 : 0;
}

/*
 * Rejects C0, DEL and C1, line and paragraph separators, characters that reorder or hide text,
 * and noncharacters.
 */
static bool printable(u32 c)
{
	static const u32 bad[][2] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfdd0, 0xfdef },
		{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0x10ffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad) && c >= bad[i][0]; i++)
		if (c <= bad[i][1])
			return false;
	return (c & 0xfffe) != 0xfffe;
}

/* The length of the UTF-8 sequence of one printable character at @p, or 0. */
static int utf8_printable(const unsigned char *p, size_t len)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int i, n = utf8_length(*p);
	u32 c = n == 1 ? *p : *p & (0x7f >> n);

	if (!n || n > len)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return printable(c) ? n : 0;
}

/**
 * mtag_name_check() - check that a tag may have this name
 * @name:	need not be NUL-terminated
 * @len:	in bytes
 *
 * Return: 0; -EINVAL; -ENAMETOOLONG.
 */
int mtag_name_check(const char *name, size_t len)
{
	size_t i;
	int n;

	if (!len)
		return -EINVAL;
	if (len > MTAG_NAME_MAX)
		return -ENAMETOOLONG;
	for (i = 0; i < len; i += n) {
		n = utf8_printable((const unsigned char *)name + i, len - i);
		if (!n || name[i] == '/')
			return -EINVAL;
	}
	return 0;
}

/**
 * mtag_name_component() - turn any string into a valid name, in place
 * @name:	NUL-terminated; bytes beyond MTAG_NAME_MAX are left alone
 *
 * Return: length of the name; 0 if it is empty.
 */
size_t mtag_name_component(char *name)
{
	size_t i, len = strnlen(name, MTAG_NAME_MAX);
	int n;

	for (i = 0; i < len; i += n) {
		n = utf8_printable((const unsigned char *)name + i, len - i);
		if (!n || name[i] == '/') {
			name[i] = '_';
			n = 1;
		}
	}
	return len;
}
