/* SPDX-License-Identifier: GPL-2.0 */
/* Checks what an administrator may have switched off or not mounted. */
#ifndef MTAGCTL_SWITCH_H
#define MTAGCTL_SWITCH_H

#include "doctor/check.h"

check_run check_ftrace_switch, check_kprobes_switch, check_tracefs, check_debugfs;

#endif
