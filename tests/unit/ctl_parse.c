// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/parse.c ctl/utf8.c ctl/format/text.c */
/* mtagctl: text of the command line, and names that may hold anything. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "format/text.h"
#include "parse.h"
#include "utf8.h"

static void test_numbers(void)
{
	pid_t pid = 0;
	unsigned long count = 0;
	uint64_t ns = 0;

	ok(!parse_pid("1", &pid) && pid == 1, "1 is a pid");
	ok(!parse_pid("2147483647", &pid) && pid == 2147483647, "the largest pid");
	ok(parse_pid("2147483648", &pid) == -ERANGE, "a pid too large");
	ok(parse_pid("99999999999999999999999", &pid) == -ERANGE, "a pid larger than any number");
	ok(parse_pid("0", &pid) == -EINVAL, "0 is no pid");
	ok(parse_pid("-1", &pid) && parse_pid("+1", &pid) && parse_pid(" 1", &pid) &&
		   parse_pid("1 ", &pid) && parse_pid("", &pid) && parse_pid("0x1", &pid),
	   "signs, blanks, nothing and hexadecimal are no pids");
	ok(!parse_count("12", &count) && count == 12, "a count");
	ok(parse_count("99999999999999999999999999999", &count) == -ERANGE, "one too large");
	ok(parse_count("0", &count) && parse_count("1.5", &count), "0 and 1.5 are no counts");
	ok(!parse_seconds("0.25", &ns) && ns == 250000000, "a fraction of a second");
	ok(!parse_seconds(".5", &ns) && ns == 500000000, "a fraction without its 0");
	ok(parse_seconds("0", &ns) && parse_seconds("-1", &ns) && parse_seconds("1s", &ns) &&
		   parse_seconds("nan", &ns) && parse_seconds("inf", &ns) &&
		   parse_seconds("1e99", &ns) && parse_seconds("", &ns) &&
		   parse_seconds("0x10", &ns),
	   "what is no delay");
}

static void test_bytes(void)
{
	uint64_t bytes = 0;

	ok(!parse_size("4096", &bytes) && bytes == 4096, "a number of bytes");
	ok(!parse_size("8589934591G", &bytes) && bytes == 8589934591ULL << 30, "the most GiB");
	ok(parse_size("8589934592G", &bytes) == -ERANGE, "one more is too large");
	ok(parse_size("99999999999999999999999999999999", &bytes) == -ERANGE &&
		   parse_size("99999999999999999999999999999999M", &bytes) == -ERANGE,
	   "so is any number of digits");
	ok(parse_size("99999999999999999999999999999999x", &bytes) == -EINVAL &&
		   parse_size("1KK", &bytes) == -EINVAL && parse_size("K", &bytes) == -EINVAL &&
		   parse_size("", &bytes) == -EINVAL && parse_size(" 1", &bytes) == -EINVAL &&
		   parse_size("1.5M", &bytes) == -EINVAL && parse_size("0M", &bytes) == -EINVAL,
	   "what is no size");
}

static void test_paths(void)
{
	const char *path = "db/cache", *name;
	char name63[65], deep[128] = "";

	ok(parse_component(&path, &name) == 2 && !strncmp(name, "db", 2), "the first component");
	ok(parse_component(&path, &name) == 5 && !strcmp(name, "cache"), "the second component");
	ok(parse_component(&path, &name) == 0, "the end of a path");
	ok(parse_path("a b/ü/[x]") == 3, "a path with blanks, UTF-8 and brackets");
	ok(parse_path("") < 0 && parse_path("/") < 0 && parse_path("/a") < 0 &&
		   parse_path("a/") < 0 && parse_path("a//b") < 0,
	   "no empty components");
	ok(parse_path("a\nb") < 0 && parse_path("a\x1b") < 0 && parse_path("\xff") < 0 &&
		   parse_path("\xc0\xaf") < 0 && parse_path("\xed\xa0\x80") < 0,
	   "no control characters, no malformed UTF-8");
	memset(name63, 'x', 64);
	name63[64] = '\0';
	ok(parse_path(name63) == -ENAMETOOLONG, "64 bytes are too long a component");
	name63[63] = '\0';
	ok(parse_path(name63) == 1, "63 bytes are not");
	for (int i = 0; i < 32; i++)
		strcat(deep, i ? "/a" : "a");
	ok(parse_path(deep) == 32, "32 components");
	strcat(deep, "/a");
	ok(parse_path(deep) == -ENAMETOOLONG, "33 are too many");
}

static bool clean_is(const char *s, bool utf8, const char *expected)
{
	char *clean = utf8_clean(s, utf8);
	bool same = clean && !strcmp(clean, expected);

	free(clean);
	return same;
}

static void test_names(void)
{
	char *text;

	ok(clean_is("a b", true, "a b"), "plain names stay");
	ok(clean_is("a\nb\x1b[31m\x7f", true, "a\\x0ab\\x1b[31m\\x7f"), "controls are escaped");
	ok(clean_is("a\\n", true, "a\\\\n"), "a backslash cannot forge an escape");
	ok(clean_is("ü", true, "ü"), "UTF-8 stays in a UTF-8 locale");
	ok(clean_is("ü", false, "\\xc3\\xbc"), "and is escaped in another");
	ok(clean_is("\xc3", true, "\\xc3") && clean_is("\xe2\x80", true, "\\xe2\\x80"),
	   "a character cut short is escaped");
	ok(clean_is("\xc2\x9b", true, "\\xc2\\x9b"), "C1 controls are escaped");
	ok(clean_is("\xe2\x80\xae", true, "\\xe2\\x80\\xae"), "bidirectional overrides as well");
	ok(utf8_width("日本") == 4 && utf8_width("a\xcc\x88") == 1, "widths of wide and combining");
	text = utf8_repair("a\xff\xc3\xbc\xe2\x80");
	ok(text && !strcmp(text, "a\xef\xbf\xbd\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd"),
	   "JSON gets valid UTF-8");
	free(text);
}

static bool size_is(uint64_t bytes, const char *expected)
{
	char buf[16];

	return !strcmp(text_size(buf, bytes), expected) && strlen(buf) < COL_SIZE;
}

static void test_sizes(void)
{
	char buf[24];

	ok(size_is(0, "0") && size_is(4096, "4.0KiB"), "small sizes");
	ok(size_is(512, "512B") && size_is(1023, "1023B"), "less than a KiB");
	ok(size_is(999 * 1024, "999.0KiB") && size_is(1000 * 1024, "1.0MiB"),
	   "the next unit from 1000 on");
	ok(size_is(1ULL << 20, "1.0MiB") && size_is(3ULL << 29, "1.5GiB"), "MiB and GiB");
	ok(size_is(128ULL << 40, "128.0TiB") && size_is(UINT64_MAX, "16.0EiB"),
	   "the largest sizes");
	ok(!strcmp(text_delta(buf, 8192, 4096), "+4.0KiB"), "growth");
	ok(!strcmp(text_delta(buf, 0, 1 << 20), "-1.0MiB"), "shrinking");
	ok(!strcmp(text_delta(buf, 5, 5), "0"), "no change");
	ok(strlen(text_count(buf, UINT64_MAX)) <= 8, "the largest count fits its column");
	ok(!strcmp(text_percent(buf, 1, 0), "0.0%"), "a part of nothing");
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	test_numbers();
	test_bytes();
	test_paths();
	test_names();
	test_sizes();
	return tap_end();
}
