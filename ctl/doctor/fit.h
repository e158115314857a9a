/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether the kernel has what the module needs. */
#ifndef MTAGCTL_FIT_H
#define MTAGCTL_FIT_H

#include "doctor/check.h"

check_run check_config, check_symbols, check_tracer;

#endif
