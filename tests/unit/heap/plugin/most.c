// SPDX-License-Identifier: LGPL-2.1-or-later
/* How many MiB the program can allocate. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	unsigned n = 0;

	while (malloc(1 << 20))
		n++;
	printf("%u\n", n);
	return 0;
}
