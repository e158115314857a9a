/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads all tags of this process from the module, as of one moment. */
#ifndef MTAG_LIB_NETLINK_H
#define MTAG_LIB_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MTAG__MESSAGE_BYTES 32768 /* no message of the module's is longer */

/* Attributes that follow each other: what is left of them. */
struct mtag__attrs {
	const char *at;
	size_t left;
};

struct mtag__attr {
	uint16_t type;
	size_t len;
	const void *data;
};

/* Takes the next attribute. Returns false after the last one, and at a malformed one. */
bool mtag__attr_next(struct mtag__attrs *attrs, struct mtag__attr *attr);

/* Takes one message's attributes. Returns 0, or -errno to end the dump with it. */
typedef int mtag__take_t(struct mtag__attrs attrs, void *arg);

/*
 * Has @take called with each message of the dump; @buf has MTAG__MESSAGE_BYTES, aligned to 8.
 * Returns 0 or -errno: -ENOENT if there is no module, -ESRCH if it does not track this process;
 * errno is kept.
 */
int mtag__dump_tags(void *buf, mtag__take_t *take, void *arg);

#endif
