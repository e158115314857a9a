/* SPDX-License-Identifier: GPL-2.0 */
/* The names of C++ and Rust functions as people write them. */
#ifndef MTAGCTL_STACKS_DEMANGLE_H
#define MTAGCTL_STACKS_DEMANGLE_H

/*
 * A name that is not mangled stays, but for the version behind an @. NULL without memory; caller frees it.
 * Without the types of arguments: "pool::grow", not "pool::grow(unsigned long)".
 */
char *demangle(const char *name);

#endif
