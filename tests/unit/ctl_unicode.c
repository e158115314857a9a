// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c */
/*
 * mtagctl: which characters are printed as they are, against what Python knows of Unicode. Some format
 * characters have a shape of their own; the planes behind the first three have none but invisible ones.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "utf8.h"

static const char script[] =
	"python3 -c 'import unicodedata as u\n"
	"seen = {*range(0x600, 0x606), 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}\n"
	"for c in range(0x110000):\n"
	"    k = u.category(chr(c))\n"
	"    bad = k in (\"Cc\", \"Cf\", \"Cs\", \"Zl\", \"Zp\") and c not in seen\n"
	"    print(end=\"-\" if bad or c >= 0xe0000 else \"?\" if k == \"Cn\" else \"+\")'";

static size_t encode(uint32_t c, char *s)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i; i--, c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(first[n] | c);
	return n;
}

int main(void)
{
	FILE *python = popen(script, "r");
	unsigned int shown = 0, hidden = 0, wrong = 0;
	char s[4];

	for (uint32_t c = 0; c < 0x110000; c++) {
		int verdict = fgetc(python);
		bool printable = utf8_is_printable(s, encode(c, s));

		if (verdict == '?')
			continue;
		shown += verdict == '+';
		hidden += verdict == '-';
		if (printable == (verdict == '+'))
			continue;
		if (wrong++ < 20)
			printf("# U+%04X: %s, but Python says '%c'\n", c,
			       printable ? "printed" : "escaped", verdict);
	}
	ok(shown > 100000 && hidden > 2000 && pclose(python) == 0, "Python knows characters");
	ok(!wrong, "mtagctl agrees with it on which may be printed");
	return tap_end();
}
