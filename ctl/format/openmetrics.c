// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics as OpenMetrics 1.0 and Prometheus's older text format both read them: the former by HTTP, the
 * latter in node_exporter's files. They name the type of a counter differently, so that none is said.
 */
#include <inttypes.h>
#include <stddef.h>

#include "ctl.h"
#include "format/openmetrics.h"
#include "format/rollup.h"

static void print_labels(const struct fmt *fmt, const char *name, const struct group *group)
{
	fprintf(fmt->out, "%s{comm=\"%s\",cgroup=\"%s\"", name, group->comm, group->cgroup);
	if (group->pid)
		fprintf(fmt->out, ",pid=\"%d\"", (int)group->pid);
}

static void print_tag(const struct fmt *fmt, const char *name, const struct group *group,
		      const struct total *total, int counter)
{
	print_labels(fmt, name, group);
	fprintf(fmt->out, ",tag=\"%s\"} %" PRIu64 "\n", total->tag, total->c[counter]);
}

static void print_rss(const struct fmt *fmt, const struct rollup *rollup)
{
	static const struct {
		const char *name;
		int counter;
	} classes[] = {{"anon", MTAG_C_ANON}, {"file", MTAG_C_FILE}, {"shmem", MTAG_C_SHMEM}};

	fputs("# TYPE mtag_rss_bytes gauge\n"
	      "# UNIT mtag_rss_bytes bytes\n"
	      "# HELP mtag_rss_bytes Resident memory that a tag itself owns, without the tags below it.\n",
	      fmt->out);
	for (size_t i = 0; i < rollup->n; i++) {
		const struct group *group = &rollup->groups[i];

		for (size_t j = 0; j < group->n; j++) {
			for (size_t k = 0; k < ARRAY_SIZE(classes); k++) {
				print_labels(fmt, "mtag_rss_bytes", group);
				fprintf(fmt->out, ",tag=\"%s\",class=\"%s\"} %" PRIu64 "\n",
					group->totals[j].tag, classes[k].name,
					group->totals[j].c[classes[k].counter]);
			}
		}
	}
}

static void print_swap(const struct fmt *fmt, const struct rollup *rollup)
{
	fputs("# TYPE mtag_swap_bytes gauge\n"
	      "# UNIT mtag_swap_bytes bytes\n"
	      "# HELP mtag_swap_bytes Swapped memory that a tag itself owns.\n",
	      fmt->out);
	for (size_t i = 0; i < rollup->n; i++)
		for (size_t j = 0; j < rollup->groups[i].n; j++)
			print_tag(fmt, "mtag_swap_bytes", &rollup->groups[i],
				  &rollup->groups[i].totals[j], MTAG_C_SWAP);
}

static void print_peak(const struct fmt *fmt, const struct rollup *rollup)
{
	fputs("# TYPE mtag_peak_rss_bytes gauge\n"
	      "# UNIT mtag_peak_rss_bytes bytes\n"
	      "# HELP mtag_peak_rss_bytes Most resident memory that a tag has owned in any one process.\n",
	      fmt->out);
	for (size_t i = 0; i < rollup->n; i++)
		for (size_t j = 0; j < rollup->groups[i].n; j++)
			if (!rollup->groups[i].totals[j].rest)
				print_tag(fmt, "mtag_peak_rss_bytes", &rollup->groups[i],
					  &rollup->groups[i].totals[j], MTAG_C_PEAK);
}

/* What should be 0 of every process. */
static void print_health(const struct fmt *fmt, const struct rollup *rollup)
{
	static const struct {
		const char *name, *help;
		size_t offset;
	} counters[] = {
		{"mtag_lost_total", "Events that could not be recorded.",
		 offsetof(struct group, lost)},
		{"mtag_overflow_total", "Tags refused because of a limit.",
		 offsetof(struct group, overflow)},
		{"mtag_repairs_total", "Walks that corrected the counters of a process.",
		 offsetof(struct group, repairs)},
	};

	for (size_t c = 0; c < ARRAY_SIZE(counters); c++) {
		fprintf(fmt->out, "# HELP %s %s\n", counters[c].name, counters[c].help);
		for (size_t i = 0; i < rollup->n; i++) {
			const struct group *group = &rollup->groups[i];
			const char *base = (const char *)group;

			print_labels(fmt, counters[c].name, group);
			fprintf(fmt->out, "} %" PRIu64 "\n",
				*(const uint64_t *)(base + counters[c].offset));
		}
	}
}

int openmetrics_print(const struct fmt *fmt, const struct snap *snap)
{
	_cleanup_(rollup_clear) struct rollup rollup = {0};
	int err = rollup_sum(&rollup, snap, fmt->by_pid);

	if (err)
		return err;
	print_rss(fmt, &rollup);
	print_swap(fmt, &rollup);
	print_peak(fmt, &rollup);
	print_health(fmt, &rollup);
	fputs("# EOF\n", fmt->out);
	return 0;
}
