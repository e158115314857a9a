// SPDX-License-Identifier: GPL-2.0
/* A tagged program: 8 MiB of the tag "index", shown by mtagctl. */
#include <mtag.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	size_t size = 8 << 20;
	char *index = aligned_alloc(4096, size);

	if (!index)
		return 1;
	MTAG_SCOPE("index");
	memset(index, 1, size);
	return system("mtagctl show") != 0 || index[size - 1] != 1;
}
