// SPDX-License-Identifier: GPL-2.0
/* What a picture is of, in words: how much, when and where. */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "format/text.h"
#include "picture/markup.h"
#include "picture/subject.h"

void subject_summary(FILE *out, const struct snap *snap)
{
	uint64_t rss = 0, swap = 0, lost = 0, overflow = 0, sum[MTAG_C_NR];
	char buf[16];

	for (size_t i = 0; i < snap->n_procs; i++) {
		proc_sum(&snap->procs[i], sum);
		rss += snap->procs[i].rss;
		swap += sum[MTAG_C_SWAP];
		lost += snap->procs[i].lost;
		overflow += snap->procs[i].overflow;
	}
	fprintf(out, "%zu process%s, %s resident", snap->n_procs, snap->n_procs == 1 ? "" : "es",
		text_size(buf, rss));
	if (swap)
		fprintf(out, ", %s in swap", text_size(buf, swap));
	if (lost || overflow)
		fprintf(out, ", lost events %" PRIu64 ", tags refused %" PRIu64, lost, overflow);
}

const char *subject_title(const struct subject *subject)
{
	return snap_has_frames(subject->snap) ? "Anonymous memory by tag and stack"
					      : "Resident memory by tag";
}

const char *subject_time(char buf[64], uint64_t time_ms, const char *format)
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buf, 64, format, &tm))
		snprintf(buf, 64, "?");
	return buf;
}

int subject_origin(FILE *out, const struct origin *origin)
{
	char buf[64];

	if (*origin->host) {
		if (markup_name(out, origin->host))
			return -ENOMEM;
		fputs(", ", out);
	}
	return markup_name(out, subject_time(buf, origin->time_ms, "%Y-%m-%d %H:%M:%S %Z"));
}
