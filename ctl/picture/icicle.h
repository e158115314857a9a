/* SPDX-License-Identifier: GPL-2.0 */
/* The form svg: an icicle, all processes at the top, below each block its parts. */
#ifndef MTAGCTL_PICTURE_ICICLE_H
#define MTAGCTL_PICTURE_ICICLE_H

#include "format/fmt.h"
#include "picture/subject.h"

/* A width is a block's resident bytes. 0 or -ENOMEM. */
int icicle_print(const struct fmt *fmt, const struct subject *subject);

#endif
