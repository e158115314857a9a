/* SPDX-License-Identifier: GPL-2.0 */
/* Checks how the loaded module is doing. */
#ifndef MTAGCTL_LIVE_H
#define MTAGCTL_LIVE_H

#include "doctor/check.h"

check_run check_family, check_device, check_hooks, check_health;

#endif
