// SPDX-License-Identifier: GPL-2.0
/* Memory made of folios of the size under test, each owned by a known tag. */
#include "mthp.h"

mtag_t a, b, d, w, third[3];
size_t size, pages_each;
char kb[32];

struct model *empty(int n, size_t len)
{
	return model_of(n, area_prot(len, HPAGE, PROT_READ | PROT_WRITE), len);
}

size_t some_folios(void)
{
	return size * 8 < MIB ? MIB : size * 4;
}

struct model *folios(int n, size_t len)
{
	struct model *m = NULL;

	for (int tries = 0; tries < 10; tries++) {
		model_end(n);
		m = empty(n, len);
		for (size_t i = 0; i < len / size; i++)
			touch_pages(m, third[i % 3], i * pages_each + i % pages_each, 1, 1);
		if (in_folios(m->p, len, size) == len)
			return m;
		compact_memory();
	}
	diag("%s: only %zu bytes of %zu are in such folios", kb, in_folios(m->p, len, size), len);
	ok(false, "%s: memory is made of such folios", kb);
	return m;
}

void unmap_pages(struct model *m, size_t from, size_t n)
{
	must(munmap(m->p + from * PG, n * PG));
}
