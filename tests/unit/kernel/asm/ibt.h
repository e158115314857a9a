/* SPDX-License-Identifier: GPL-2.0 */
/* See ../linux/types.h: nobody tracks branches. */
#ifndef UNIT_ASM_IBT_H
#define UNIT_ASM_IBT_H

#define __noendbr

#endif
