/* SPDX-License-Identifier: GPL-2.0 */
/* What the netlink family may say: to those who may not hear of a secret, nothing of it. */
#ifndef MTAG_TESTS_FUZZ_LOOK_H
#define MTAG_TESTS_FUZZ_LOOK_H

#include "fuzz.h"
#include "fuzz_netlink.h"

#define SECRET "secret" /* what names begin with that root alone may be told */

extern enum user fuzz_user; /* who asks */

/* Checks an attribute; *(uint64_t *)@data, if there is one, becomes the drift. */
void check_attr(const struct nlattr *attr, int depth, void *data);

#endif
