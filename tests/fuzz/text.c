// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/parse.c ctl/utf8.c ctl/format/text.c */
/*
 * Names and numbers of the command line, and whatever is printed of a name, against second opinions:
 * the C library's of characters and widths, and the plainest possible reading of the grammars.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "ctl.h"
#include "format/text.h"
#include "fuzz.h"
#include "parse.h"
#include "uapi/linux/mtag.h"
#include "utf8.h"

/* ---- what is printed of a name ---- */

/* The name that utf8_clean() made @clean of, which must be only one. */
static void check_clean(const char *name, const char *clean)
{
	for (; *clean; name++) {
		char byte = *clean++;
		unsigned int hex;

		if (byte == '\\' && *clean == 'x') {
			must(sscanf(clean, "x%2x", &hex) == 1);
			byte = (char)hex;
			clean += 3;
		} else if (byte == '\\') {
			must(*clean++ == '\\');
		}
		must(byte == *name);
	}
	must(!*name);
}

/* The C library takes more than Unicode has. */
static bool is_utf8(const char *s)
{
	mbstate_t state = {0};
	wchar_t c = L'\0';

	for (size_t n; *s; s += n) {
		n = mbrtowc(&c, s, 4, &state);
		if (n > 4 || c > 0x10ffff)
			return false;
	}
	return true;
}

static void check_cell(const char *name, bool utf8, unsigned int width)
{
	struct fmt fmt = {.utf8 = utf8};
	char *text;
	size_t len;

	fmt.out = open_memstream(&text, &len);
	text_cell(&fmt, name, width, width & 1 ? CUT_END : CUT_BEGINNING);
	fclose(fmt.out);
	must_be_harmless(text, len, TEXT);
	must(columns_of(text, len) == width);
	must(!strchr(text, '\n'));
	free(text);
}

static void check_name(const char *name, unsigned int width)
{
	char *clean = utf8_clean(name, true), *plain = utf8_clean(name, false);
	char *valid = utf8_repair(name), *safe = utf8_clean_message(name);

	check_clean(name, clean);
	check_clean(name, plain);
	must_be_harmless(clean, strlen(clean), TEXT);
	must_be_harmless(safe, strlen(safe), TEXT);
	must(columns_of(clean, strlen(clean)) == utf8_width(clean));
	for (const char *p = plain; *p; p++)
		must(*p >= 0x20 && *p < 0x7f);
	must(is_utf8(valid) && (!is_utf8(name) || !strcmp(name, valid)));
	must(!utf8_is_printable(name, strlen(name)) || is_utf8(name));
	check_cell(name, width & 0x80, 1 + width % 0x80);
	free(clean);
	free(plain);
	free(valid);
	free(safe);
}

/* ---- what is read ---- */

/* Digits only: their value, or that of more than fits. */
static bool number(const char *text, uint64_t *value)
{
	*value = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		*value = *value > UINT64_MAX / 10 - 9 ? UINT64_MAX
						      : *value * 10 + (uint64_t)(*text - '0');
	}
	return true;
}

/* D, D.D, .D or D., and perhaps eD. */
static bool decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789"), part = 0;

	text += whole;
	if (*text == '.') {
		part = strspn(++text, "0123456789");
		text += part;
	}
	if (!whole && !part)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '+' || *text == '-';
		if (!isdigit((unsigned char)*text))
			return false;
		text += strspn(text, "0123456789");
	}
	return !*text;
}

static void check_numbers(const char *text)
{
	uint64_t value, ns = 0;
	unsigned long count = 0;
	pid_t pid = 0;
	bool is_number = number(text, &value);
	int err = parse_pid(text, &pid);

	must(!err == (is_number && value && value <= INT_MAX));
	must(err ? err == -EINVAL || err == -ERANGE : (uint64_t)pid == value);
	err = parse_count(text, &count);
	must(!err ? is_number && value : !is_number || !value || value >= UINT64_MAX / 10 - 9);
	must(err || count == value || value == UINT64_MAX);
	err = parse_seconds(text, &ns);
	must(err || decimal(text));
	must(err || (ns >= 10000000 && ns <= 86400ULL * 365 * 1000000000));
}

static void check_path(const char *path)
{
	int n = parse_path(path), parts = 0, len;
	const char *p = path, *name;

	while ((len = parse_component(&p, &name)) > 0) {
		must(len <= MTAG_NAME_MAX && !memchr(name, '/', (size_t)len));
		must(name >= path && name + len <= path + strlen(path));
		parts++;
	}
	must(n < 0 || (n == parts && !len && n <= MTAG_DEPTH_MAX && strlen(path) < MTAG_PATH_MAX));
	if (n > 0)
		must(*path != '/' && path[strlen(path) - 1] != '/' && !strstr(path, "//") &&
		     is_utf8(path));
}

/* ---- numbers that are printed ---- */

static void check_values(uint64_t a, uint64_t b)
{
	char buf[24];

	must(strlen(text_size(buf, a)) <= 8);
	must(strlen(text_delta(buf, a, b)) <= 9);
	must(strlen(text_count(buf, a)) <= 8);
	must(a > b || strlen(text_percent(buf, a, b)) <= 6);
}

static size_t built_text(struct input *in, char *buf, size_t size)
{
	static const char digits[] = "0123456789.eE+-x/ ";
	size_t len = 0;

	switch (in_below(in, 4)) {
	case 0:
		for (unsigned int n = in_below(in, in_rarely(in) ? 24 : 6); n; n--)
			buf[len++] = digits[in_u8(in) & 1 ? in_below(in, 10)
							  : in_below(in, sizeof(digits) - 1)];
		break;
	case 1:
		return (size_t)snprintf(buf, size, "%llu", (unsigned long long)in_number(in));
	case 2:
		for (unsigned int n = in_below(in, in_rarely(in) ? 40 : 5); n && size - len > 130;
		     n--) {
			len += in_name(in, buf + len, 80);
			buf[len++] = '/';
		}
		len -= len && !in_rarely(in);
		break;
	case 3:
		return in_name(in, buf, size);
	}
	buf[len] = '\0';
	return len;
}

static void check(const char *text, unsigned int width)
{
	check_name(text, width);
	check_numbers(text);
	check_path(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int width = in_u8(&in);
	char built[4096], *text;
	uint64_t a, b;

	if (fuzz_built) {
		a = in_number(&in);
		b = in_number(&in);
		built_text(&in, built, sizeof(built));
		text = strdup(built);
	} else {
		text = strndup((const char *)in.p, in.left);
		a = in_bytes(&in, 8);
		b = in_bytes(&in, 8);
	}
	check(text, width);
	check_values(a, b);
	free(text);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	buf[0] = (uint8_t)in_u8(in);
	return 1 + built_text(in, (char *)buf + 1, size < 4096 ? size - 1 : 4095);
}

FUZZ_BEGIN(make, (void)0)
