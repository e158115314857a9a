// SPDX-License-Identifier: GPL-2.0
/* What audit prints: the kernel's numbers, the page tables' and the counters, side by side. */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/audit.h"
#include "format/json.h"
#include "format/text.h"

#define PID_WIDTH  7
#define COMM_WIDTH 15

static void print_audit(const struct fmt *fmt, const struct audit *audit)
{
	char buf[24];

	fprintf(fmt->out, "%*d ", PID_WIDTH, (int)audit->pid);
	text_cell(fmt, audit->comm, COMM_WIDTH, CUT_END);
	text_right(fmt, COL_SIZE, text_size(buf, audit->kernel_rss));
	text_right(fmt, COL_SIZE, text_size(buf, audit->walked));
	text_right(fmt, 10, text_size(buf, audit->accounted));
	text_right(fmt, 7, text_count(buf, audit->drift));
	text_right(fmt, 7, text_count(buf, audit->migrating));
	text_right(fmt, 6, text_count(buf, audit->lost));
	text_right(fmt, 9, text_count(buf, audit->overflow));
	fputc('\n', fmt->out);
}

void audit_text(const struct fmt *fmt, const struct audit *audits, size_t n)
{
	uint64_t drift = 0, lost = 0;

	if (n)
		fprintf(fmt->out, "%*s %-*s%*s%*s%10s%7s%7s%6s%9s\n", PID_WIDTH, "PID", COMM_WIDTH,
			"COMM", COL_SIZE, "KERNEL", COL_SIZE, "WALKED", "COUNTED", "DRIFT",
			"MOVING", "LOST", "OVERFLOW");
	for (size_t i = 0; i < n; i++) {
		print_audit(fmt, &audits[i]);
		drift += audits[i].drift;
		lost += audits[i].lost;
	}
	fprintf(fmt->out, "%zu process%s audited, drift %" PRIu64 " page%s, lost %" PRIu64 "\n", n,
		n == 1 ? "" : "es", drift, drift == 1 ? "" : "s", lost);
}

int audit_json(const struct fmt *fmt, const struct audit *audits, size_t n)
{
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *object = json_add_object(array);

		json_add_u64(object, "pid", (uint64_t)audits[i].pid);
		json_add_string(object, "comm", audits[i].comm);
		json_add_u64(object, "kernel_rss_bytes", audits[i].kernel_rss);
		json_add_u64(object, "walked_bytes", audits[i].walked);
		json_add_u64(object, "accounted_bytes", audits[i].accounted);
		json_add_u64(object, "drift_pages", audits[i].drift);
		json_add_u64(object, "migrating_pages", audits[i].migrating);
		json_add_u64(object, "lost", audits[i].lost);
		json_add_u64(object, "overflow", audits[i].overflow);
	}
	return json_print(fmt, array);
}
