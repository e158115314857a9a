// SPDX-License-Identifier: GPL-2.0
/*
 * Finds addresses of the kernel, as numbers or as text, in what users can read.
 */
#include "addresses.h"
#include <ctype.h>
#include <sys/klog.h>

bool has_address(const char *text, size_t len)
{
	unsigned int run = 0, ones = 0;
	uint64_t value;

	for (size_t i = 0; i + sizeof(value) <= len; i++) {
		memcpy(&value, text + i, sizeof(value));
		if (value >= 0xffff800000000000 && value != UINT64_MAX)
			return true;
	}
	for (size_t i = 0; i < len; i++) {
		run = isxdigit((unsigned char)text[i]) ? run + 1 : 0;
		ones = !run ? 0 : tolower(text[i]) == 'f' && ones == run - 1 ? run : ones;
		if (run == 16 && ones >= 4)
			return true;
	}
	return false;
}

void clean_text(const char *path)
{
	char *text = slurp(path);

	ok(text && !has_address(text, strlen(text)), "%s holds no kernel address", path);
}

void clean_log(void)
{
	static char log[1 << 20];
	int n = must(klogctl(3, log, sizeof(log) - 1));
	bool bad = false;

	log[n] = '\0';
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		bad |= strstr(line, "mtag") && has_address(line, strlen(line));
	ok(!bad, "what mtag says in the kernel's log holds none");
}
