// SPDX-License-Identifier: GPL-2.0
/* The compiler has checked the layout when this runs. */
#include "layout.h"

#include <stdio.h>

int main(void)
{
	puts("1..1\nok 1 - the structs of linux/mtag.h and linux/mtag_unwind.h have their sizes and offsets");
	return 0;
}
