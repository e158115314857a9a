/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers share. Each is one program with two ways to read its input, as MTAG_FUZZ says:
 * "raw", where the bytes are what is parsed, and "built", where they are the decisions of a
 * generator that knows the grammar, and mostly keeps to it. MTAG_FUZZ_SEEDS=DIR has a program
 * write inputs for "raw" into DIR, generated likewise, and end.
 */
#ifndef MTAG_FUZZ_H
#define MTAG_FUZZ_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define FUZZ_ROOM 65536

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* stderr may be what the program under test prints to. */
static FILE *fuzz_log;

#define must(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(fuzz_log, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);       \
			fflush(fuzz_log);                                                          \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* ---- the input as a source of decisions; all 0 at its end ---- */

struct input {
	const uint8_t *p;
	size_t left;
};

static inline uint64_t in_bytes(struct input *in, unsigned int n)
{
	uint64_t value = 0;

	for (; n-- && in->left; in->left--)
		value = value << 8 | *in->p++;
	return value;
}

static inline unsigned int in_u8(struct input *in)
{
	return (unsigned int)in_bytes(in, 1);
}

/* Less than @n. */
static inline unsigned int in_below(struct input *in, unsigned int n)
{
	return (unsigned int)in_bytes(in, n > 256 ? 4 : 1) % n;
}

/* Now and then. */
static inline bool in_rarely(struct input *in)
{
	return in_u8(in) >= 0xf8;
}

/* Numbers at which code goes wrong, or any. */
static inline uint64_t in_number(struct input *in)
{
	static const uint64_t odd[] = {0,	   1,	       0xff,	   0xffff,     0x7fffffff,
				       0x80000000, 0xffffffff, 1ULL << 32, 1ULL << 62, UINT64_MAX};
	unsigned int n = in_below(in, 32);

	return n < 10 ? odd[n] : in_bytes(in, n % 8 + 1);
}

/* A name as nasty people would choose it, NUL-terminated; at most @size with the NUL. */
static inline size_t in_name(struct input *in, char *buf, size_t size)
{
	static const char *const parts[] = {"\033[2J",
					    "\033]0;x\a",
					    "\x9b\x32J", /* clear, title; C1 as a byte */
					    "\xc2\x9b\x32J",
					    "\xc2\x85",
					    "\x7f", /* C1 in UTF-8, next line, delete */
					    "\xe2\x80\xae",
					    "\xe2\x80\x8f",
					    "\xd8\x9c", /* what reorders */
					    "\xe2\x80\xa8",
					    "\xef\xbb\xbf",
					    "\xc2\xad", /* separators, invisible */
					    "\xe1\xa0\x8e",
					    "\xf3\xa0\x81\x81",
					    "e\xcc\x81", /* the same, combining */
					    "\xe6\xbc\xa2",
					    "\xf0\x9f\x98\x80",
					    "\xc3\xbc", /* wide, letters */
					    "\xed\xa0\x80",
					    "\xc0\xaf",
					    "\xf5\x80", /* no UTF-8 */
					    "\\",
					    "\\x1b",
					    "\"",
					    "\n",
					    "\r\n",
					    "\t",
					    "/",
					    "[untagged]",
					    "%s%n",
					    "a",
					    "db",
					    " ",
					    "cache",
					    "kworker/0:1",
					    "",
					    "0",
					    "'; rm -rf ~"};
	const size_t count = sizeof(parts) / sizeof(*parts);
	size_t len = 0;

	for (unsigned int n = in_below(in, 6); n; n--) {
		unsigned int pick = in_below(in, 64);
		const char one[] = {(char)in_u8(in), '\0'};
		const char *part = pick < count ? parts[pick] : one;

		if (len + strlen(part) >= size)
			break;
		memcpy(buf + len, part, strlen(part));
		len += strlen(part);
	}
	if (in_rarely(in))
		for (char c = (char)('a' + in_below(in, 26)); len + 1 < size;)
			buf[len++] = c;
	buf[len] = '\0';
	return len;
}

/* ---- what output must be ---- */

/* Nothing that a terminal takes for a command, or that hides or moves what is around it. */
static inline bool harmless(wchar_t c)
{
	static const struct {
		wchar_t from, to;
	} bad[] = {{0, 9},
		   {11, 31},
		   {0x7f, 0x9f},
		   {0xad, 0xad},
		   {0x61c, 0x61c},
		   {0x180e, 0x180e},
		   {0x200b, 0x200f},
		   {0x2028, 0x202e},
		   {0x2060, 0x206f},
		   {0xfeff, 0xfeff},
		   {0xfff9, 0xfffb},
		   {0x1d173, 0x1d17a},
		   {0xe0000, 0x10ffff}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (c >= bad[i].from && c <= bad[i].to)
			return false;
	return true;
}

enum output { TEXT, COLOURED, JSON };

/*
 * Complete UTF-8 without what a terminal would obey, but for what mtagctl itself has to say to one.
 * Text knows how wide it is; JSON may have characters that nobody knows.
 */
static inline void must_be_harmless(const char *text, size_t len, enum output output)
{
	mbstate_t state = {0};

	while (len) {
		wchar_t c = L'\0';
		size_t n = mbrtowc(&c, text, len, &state);

		must(n && n != (size_t)-1 && n != (size_t)-2);
		if (output == COLOURED && c == '\033') {
			n = 1 + strspn(text + 1, "[?0123456789;");
			must(n < len && strchr("mHJKlh", text[n]));
			n++;
		} else {
			must(harmless(c));
			must(output == JSON || c == '\n' || iswprint((wint_t)c));
		}
		text += n;
		len -= n;
	}
}

static inline unsigned int columns_of(const char *text, size_t len)
{
	mbstate_t state = {0};
	unsigned int columns = 0;

	while (len) {
		wchar_t c = L'\0';
		size_t n = mbrtowc(&c, text, len, &state);

		must(n && n != (size_t)-1 && n != (size_t)-2 && wcwidth(c) >= 0);
		columns += (unsigned int)wcwidth(c);
		text += n;
		len -= n;
	}
	return columns;
}

/* ---- JSON as RFC 8259 has it: behind a value, or NULL ---- */

static inline const char *json_value(const char *p, int depth);

static inline const char *json_blank(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static inline const char *json_string(const char *p)
{
	if (*p++ != '"')
		return NULL;
	for (; *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		p++;
		if (*p == 'u' && strspn(p + 1, "0123456789abcdefABCDEF") >= 4)
			p += 4;
		else if (!*p || !strchr("\"\\/bfnrt", *p))
			return NULL;
	}
	return p + 1;
}

static inline const char *json_number(const char *p)
{
	size_t digits;

	p += *p == '-';
	digits = strspn(p, "0123456789");
	return digits && (*p != '0' || digits == 1) ? p + digits : NULL; /* ours are whole */
}

/* The members of an array or object behind its bracket, to the other one. */
static inline const char *json_members(const char *p, bool object, int depth)
{
	const char end = object ? '}' : ']';

	p = json_blank(p);
	if (*p == end)
		return p + 1;
	for (;;) {
		if (object) {
			p = json_string(json_blank(p));
			p = p ? json_blank(p) : NULL;
			if (!p || *p++ != ':')
				return NULL;
		}
		p = json_value(p, depth + 1);
		if (!p)
			return NULL;
		p = json_blank(p);
		if (*p == end)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static inline const char *json_value(const char *p, int depth)
{
	p = json_blank(p);
	if (depth > 8)
		return NULL;
	if (*p == '{' || *p == '[')
		return json_members(p + 1, *p == '{', depth);
	if (!strncmp(p, "null", 4))
		return p + 4;
	if (!strncmp(p, "true", 4) || !strncmp(p, "false", 5))
		return p + (*p == 't' ? 4 : 5);
	return *p == '"' ? json_string(p) : json_number(p);
}

#define JSON_KEPT (2 << 20)

/* One document, and what a terminal can bear: people look at JSON too. MTAG_FUZZ_JSON: keep some. */
static inline void must_be_json(const char *text, size_t len)
{
	static FILE *keep;
	const char *end;

	must(strlen(text) == len);
	must_be_harmless(text, len, JSON);
	end = json_value(text, 0);
	must(end && *text == '[' && !*json_blank(end));
	if (!keep && getenv("MTAG_FUZZ_JSON"))
		keep = fopen(getenv("MTAG_FUZZ_JSON"), "w");
	if (!keep || ftell(keep) > JSON_KEPT)
		return;
	for (const char *p = text; *p; p++)
		fputc(*p == '\n' ? ' ' : *p, keep);
	fputc('\n', keep);
	fflush(keep);
}

/* ---- the two ways ---- */

static bool fuzz_built;

/* Whatever @make writes, from @tries sequences of decisions, becomes a seed. */
static inline void fuzz_seeds(size_t (*make)(struct input *in, uint8_t *buf, size_t size),
			      unsigned int tries)
{
	static uint8_t decisions[4096], buf[FUZZ_ROOM];
	const char *dir = getenv("MTAG_FUZZ_SEEDS");
	uint32_t x = 1;

	for (unsigned int i = 0; dir && i < tries; i++) {
		struct input in = {decisions, sizeof(decisions)};
		char path[4096];
		FILE *file;

		for (size_t j = 0; j < sizeof(decisions); j++) {
			x = x * 1664525 + 1013904223;
			decisions[j] = (uint8_t)(x >> 24);
		}
		snprintf(path, sizeof(path), "%s/seed-%u", dir, i);
		file = fopen(path, "w");
		must(file);
		fwrite(buf, 1, make(&in, buf, sizeof(buf)), file);
		fclose(file);
	}
	if (dir)
		exit(0);
}

static inline void fuzz_begin(void)
{
	const char *mode = getenv("MTAG_FUZZ");

	fuzz_log = stderr;
	fuzz_built = mode && !strcmp(mode, "built");
	must(setlocale(LC_CTYPE, "C.UTF-8"));
	setenv("TZ", "UTC", 1);
}

/* How each fuzzer begins; @first comes before its seeds. */
#define FUZZ_BEGIN(make, first)                                                                    \
	int LLVMFuzzerInitialize(int *argc, char ***argv)                                          \
	{                                                                                          \
		(void)argc;                                                                        \
		(void)argv;                                                                        \
		fuzz_begin();                                                                      \
		first;                                                                             \
		fuzz_seeds(make, 32);                                                              \
		return 0;                                                                          \
	}

#endif
