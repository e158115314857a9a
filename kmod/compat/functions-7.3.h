/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 7.3 has the functions and the callers of 7.1.
 */
#include "functions-7.1.h"
