/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 6.18 has the functions and the callers of 6.16.
 */
#include "functions-6.16.h"
