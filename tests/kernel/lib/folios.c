// SPDX-License-Identifier: GPL-2.0
/* Sizes of large folios: lists them, and selects the one that private memory is made of. */
#include "folios.h"
#include "files.h"
#include <glob.h>

size_t folio_sizes(size_t *size, size_t max)
{
	glob_t found;
	size_t n = 0, i, j;

	if (glob(THP "hugepages-*kB/enabled", 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc && n < max; i++) {
		size_t kib = strtoul(found.gl_pathv[i] + strlen(THP "hugepages-"), NULL, 10);

		for (j = n++; j && size[j - 1] > kib * KIB; j--)
			size[j] = size[j - 1];
		size[j] = kib * KIB;
	}
	globfree(&found);
	return n;
}

void use_folios(size_t size)
{
	size_t all[16], n = folio_sizes(all, COUNT(all));
	char path[128];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), THP "hugepages-%lukB/enabled", all[i] / KIB);
		spew(path, all[i] == size ? "always" : "never");
	}
}

uint64_t folio_stat(size_t size, const char *name)
{
	char path[128], *text;

	snprintf(path, sizeof(path), THP "hugepages-%lukB/stats/%s", size / KIB, name);
	text = slurp(path);
	return text ? strtoull(text, NULL, 10) : UINT64_MAX;
}

void folios_end(void)
{
	use_folios(0);
	spew(THP "hugepages-2048kB/enabled", "inherit");
}
