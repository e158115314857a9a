/* SPDX-License-Identifier: GPL-2.0 */
/* Folds processes and tags that have the same name after the rules. */
#ifndef MTAGCTL_OFFLINE_FOLD_H
#define MTAGCTL_OFFLINE_FOLD_H

#include "model.h"
#include "offline/rules.h"

/* What is wrong with a name that a rule made. */
struct refused {
	char text[512];
};

/*
 * Into @out, which must be empty and is finished. 0, -ENOMEM, -E2BIG if a name or tree gets too large, or
 * -EINVAL if a rule makes no valid name, which is said in @refused.
 */
int fold(const struct snap *snap, const struct rules *rules, struct snap *out,
	 struct refused *refused);

#endif
