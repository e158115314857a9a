/* SPDX-License-Identifier: GPL-2.0 */
/* What events and limit print: one line for each event. */
#ifndef MTAGCTL_FORMAT_EVENT_H
#define MTAGCTL_FORMAT_EVENT_H

#include "format/fmt.h"
#include "model.h"

void event_head(const struct fmt *fmt);
/* @time_ms: since 1970. */
void event_text(const struct fmt *fmt, const struct event *event, uint64_t time_ms);
/* 0 or -ENOMEM. */
int event_json(const struct fmt *fmt, const struct event *event, uint64_t time_ms);

#endif
