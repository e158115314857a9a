// SPDX-License-Identifier: GPL-2.0
/* The names of C++ and Rust functions as people write them: by libiberty. */
#include <string.h>
#include <libiberty/demangle.h>

#include "stacks/demangle.h"

#define LONGEST 65536 /* of a name that is looked at: demangled, it may be many times as long */

char *demangle(const char *name)
{
	char *text = NULL;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_') &&
	    strlen(name) < LONGEST)
		text = cplus_demangle(name, DMGL_AUTO);
	return text ? text : strndup(name, strcspn(name, "@"));
}
