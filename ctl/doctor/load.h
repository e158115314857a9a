/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether the module is built for this kernel and whether the kernel accepts it. */
#ifndef MTAGCTL_LOAD_H
#define MTAGCTL_LOAD_H

#include "doctor/check.h"

check_run check_kernel, check_module, check_headers, check_signature, check_lockdown;

#endif
