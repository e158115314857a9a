/* SPDX-License-Identifier: GPL-2.0 */
/* What DWARF says of a frame, as a recipe of an unwind table. */
#ifndef MTAGCTL_UNWIND_RECIPE_H
#define MTAGCTL_UNWIND_RECIPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "uapi/linux/mtag_unwind.h"

/* The recipe for @frame, which is a signal's if @signal. What no recipe can say becomes MTAG_UNWIND_STOP. */
struct mtag_unwind_recipe recipe_of(Dwarf_Frame *frame, bool signal);
/* A recipe that consists of its kind. */
struct mtag_unwind_recipe recipe_plain(enum mtag_unwind_kind kind);

#endif
