// SPDX-License-Identifier: GPL-2.0
/* Where an axis has its ticks: at numbers that people count in, units of 1,024 and the hours of a clock. */
#include <math.h>
#include <stdio.h>

#include "ctl.h"
#include "picture/scale.h"

#define SECOND 1000.0
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

double scale_bytes(uint64_t most, unsigned int ticks)
{
	static const double steps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};

	for (double unit = 1;; unit *= 1024)
		for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
			if (steps[i] * unit * ticks >= (double)most)
				return steps[i] * unit;
}

double scale_time(uint64_t span_ms, unsigned int ticks)
{
	static const double steps[] = {
		10,	20,	    50,		100,	     200,	  500,
		SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
		MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
		HOUR,	2 * HOUR,   3 * HOUR,	6 * HOUR,    12 * HOUR,	  DAY,
	};
	double step = DAY;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i] * ticks >= (double)span_ms)
			return steps[i];
	while (step * ticks < (double)span_ms)
		step *= 2;
	return step;
}

const char *scale_label_bytes(char buf[32], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;

	while (bytes >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, 32, "%.4g %s", bytes, bytes > 0 ? units[unit] : "");
	return buf;
}

const char *scale_time_format(double time, double step)
{
	if (step >= DAY || (step >= MINUTE && fmod(time, DAY) == 0))
		return "%Y-%m-%d";
	return step >= MINUTE ? "%H:%M" : "%H:%M:%S";
}
