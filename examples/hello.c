// SPDX-License-Identifier: LGPL-2.1-or-later
/* A minimal C program: names a part, touches memory in it, and reads its counters. */
#include <mtag.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	const size_t size = 8 << 20;
	struct mtag_usage usage;
	char *buffer = malloc(size);

	if (!buffer)
		return 1;
	{
		MTAG_SCOPE("buffer");
		memset(buffer, 'x', size);
	}
	if (mtag_usage(mtag_child(MTAG_UNTAGGED, "buffer"), &usage))
		puts("the mtag module is not loaded; everything else works without it");
	else
		printf("buffer: %llu KiB resident\n", (unsigned long long)usage.rss_bytes / 1024);
	free(buffer);
	return 0;
}
