/* SPDX-License-Identifier: GPL-2.0 */
/* What a tag or a frame of a stack is in, from the outermost: what exports call a stack. */
#ifndef MTAGCTL_FORMAT_CHAIN_H
#define MTAGCTL_FORMAT_CHAIN_H

#include "model.h"

/* The tag that a frame is beneath, NULL if there is none; a tag itself. */
const struct tag *chain_tag(const struct proc *proc, const struct tag *tag);
/*
 * The frames from the outermost to @tag. Returns how many there are, 0 for a tag, or -ENOMEM. Caller frees *@frames.
 */
ssize_t chain_frames(const struct proc *proc, const struct tag *tag, const struct tag ***frames);
/* "db/cache", or of a frame "db/cache: main; serve; grow". NULL without memory; caller frees it. */
char *chain_text(const struct proc *proc, const struct tag *tag);

#endif
