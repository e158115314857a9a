// SPDX-License-Identifier: GPL-2.0
/* UTF-8: which bytes are characters, which may be printed, and how many columns they take. */
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ctl.h"
#include "utf8.h"

bool utf8_in_locale(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

unsigned int utf8_decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4 || !n || n > len)
		return 0;
	*cp = n == 1 ? s[0] : s[0] & (0x7fU >> n);
	for (unsigned int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000)))
		return 0;
	return n;
}

bool utf8_may_print(uint32_t cp)
{
	static const uint32_t bad[][2] = {
		{0, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	     {0x61c, 0x61c},
		{0x180e, 0x180e},   {0x200b, 0x200f},	{0x2028, 0x202e},    {0x2060, 0x206f},
		{0xfdd0, 0xfdef},   {0xfeff, 0xfeff},	{0xfff0, 0xfffb},    {0x13430, 0x1343f},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad) && cp >= bad[i][0]; i++)
		if (cp <= bad[i][1])
			return false;
	return (cp & 0xfffe) != 0xfffe;
}

bool utf8_is_printable(const char *s, size_t len)
{
	uint32_t cp;

	for (unsigned int n; len; s += n, len -= n) {
		n = utf8_decode((const unsigned char *)s, len, &cp);
		if (!n || !utf8_may_print(cp))
			return false;
	}
	return true;
}

/* Which characters are kept, besides those of ASCII. */
enum keep { KEEP_NONE, KEEP_LOCALE, KEEP_ALL };

static bool keeps(enum keep keep, uint32_t cp)
{
	return keep == KEEP_ALL || (keep == KEEP_LOCALE && wcwidth((wchar_t)cp) >= 0);
}

static char *escape_text(const char *s, enum keep keep, bool backslashes)
{
	size_t len = strlen(s);
	char *copy = malloc(len * 4 + 1), *p = copy;
	uint32_t cp;

	if (!copy)
		return NULL;
	while (len) {
		unsigned int n = utf8_decode((const unsigned char *)s, len, &cp);
		bool fine = n && utf8_may_print(cp) && (n == 1 || keeps(keep, cp));

		if (fine && !(backslashes && *s == '\\')) {
			p = mempcpy(p, s, n);
		} else if (fine) {
			p = mempcpy(p, "\\\\", 2);
		} else {
			n = 1;
			p += sprintf(p, "\\x%02x", (unsigned char)*s);
		}
		s += n;
		len -= n;
	}
	*p = '\0';
	return copy;
}

char *utf8_clean(const char *s, bool utf8)
{
	return escape_text(s, utf8 ? KEEP_LOCALE : KEEP_NONE, true);
}

char *utf8_clean_export(const char *s)
{
	return escape_text(s, KEEP_ALL, true);
}

char *utf8_clean_message(const char *s)
{
	return escape_text(s, utf8_in_locale() ? KEEP_LOCALE : KEEP_NONE, false);
}

char *utf8_repair(const char *s)
{
	size_t len = strlen(s);
	char *copy = malloc(len * 3 + 1), *p = copy;
	uint32_t cp;

	if (!copy)
		return NULL;
	while (len) {
		unsigned int n = utf8_decode((const unsigned char *)s, len, &cp);

		p = n ? mempcpy(p, s, n) : mempcpy(p, "\xef\xbf\xbd", 3);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
	*p = '\0';
	return copy;
}

unsigned int utf8_char_width(const char *s, size_t *bytes)
{
	uint32_t cp = 0;
	unsigned int n = utf8_decode((const unsigned char *)s, 4, &cp); /* ends at the NUL */
	int width = n > 1 ? wcwidth((wchar_t)cp) : 1;

	*bytes = n ? n : 1;
	return width < 0 ? 1 : (unsigned int)width;
}

unsigned int utf8_width(const char *clean)
{
	unsigned int width = 0;
	size_t bytes;

	for (; *clean; clean += bytes)
		width += utf8_char_width(clean, &bytes);
	return width;
}
