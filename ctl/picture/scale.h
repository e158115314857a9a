/* SPDX-License-Identifier: GPL-2.0 */
/* Where an axis has its ticks. */
#ifndef MTAGCTL_PICTURE_SCALE_H
#define MTAGCTL_PICTURE_SCALE_H

#include <stdint.h>

/* A round number of bytes, KiB, MiB, … of which @most is at most @ticks. */
double scale_bytes(uint64_t most, unsigned int ticks);
/* Likewise a time in milliseconds, for a clock. */
double scale_time(uint64_t span_ms, unsigned int ticks);
/* "150 MiB", for a multiple of a round number. */
const char *scale_label_bytes(char buf[32], double bytes);
/* The format of strftime(3) for a tick at the local @time if they are @step apart: a day begins with its date. */
const char *scale_time_format(double time, double step);

#endif
