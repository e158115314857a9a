/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample in JSON, with the keys of mtagctl. */
#ifndef MTAG_LIB_JSON_H
#define MTAG_LIB_JSON_H

#include "out.h"
#include "sample.h"

/* One array, as `mtagctl -j show` prints it. */
void mtag__json_print(struct mtag__out *out, struct mtag__sample *sample);
/* A snapshot file, as `mtagctl snapshot` writes it: docs/snapshot.md. */
void mtag__json_snapshot(struct mtag__out *out, struct mtag__sample *sample);

#endif
