/* SPDX-License-Identifier: GPL-2.0 */
/* Folds processes and tags that have the same name after the rules. */
#ifndef MTAGCTL_OFFLINE_FOLD_H
#define MTAGCTL_OFFLINE_FOLD_H

#include "model.h"
#include "offline/rules.h"

/* Into @out, which must be empty and is finished. 0, -ENOMEM, or -E2BIG if a name or tree gets too large. */
int fold(const struct snap *snap, const struct rules *rules, struct snap *out);

#endif
