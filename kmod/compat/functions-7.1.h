/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 7.1 has the functions and the callers of 7.2.
 */
#include "functions-7.2.h"
