// SPDX-License-Identifier: GPL-2.0
/* What events and limit print: one line for each event. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "format/event.h"
#include "format/json.h"
#include "format/text.h"

#define COMM_WIDTH 15

void event_head(const struct fmt *fmt)
{
	fprintf(fmt->out, "%-12s %-8s %7s %-*s %s\n", "TIME", "EVENT", "PID", COMM_WIDTH, "COMM",
		"DETAIL");
}

static void print_time(const struct fmt *fmt, uint64_t time_ms)
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;
	char buf[16] = "";

	if (localtime_r(&seconds, &tm))
		strftime(buf, sizeof(buf), "%H:%M:%S", &tm);
	fprintf(fmt->out, "%8s.%03u ", buf, (unsigned int)(time_ms % 1000));
}

static void print_detail(const struct fmt *fmt, const struct event *event)
{
	char buf[16];

	if (event->caught_up)
		fputs(" since before", fmt->out);
	if (!event->limit)
		return;
	fprintf(fmt->out, " %s ", text_size(buf, event->limit));
	text_cell(fmt, *event->tag ? event->tag : "[untagged]",
		  fmt->width > 60 ? fmt->width - 60 : 20, CUT_BEGINNING);
}

void event_text(const struct fmt *fmt, const struct event *event, uint64_t time_ms)
{
	print_time(fmt, time_ms);
	if (!event->pid) {
		fprintf(fmt->out, "%-8s events were missed\n", event->kind);
		return;
	}
	fprintf(fmt->out, "%-8s %7d ", event->kind, (int)event->pid);
	text_cell(fmt, event->comm, COMM_WIDTH, CUT_END);
	print_detail(fmt, event);
	fputc('\n', fmt->out);
}

int event_json(const struct fmt *fmt, const struct event *event, uint64_t time_ms)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();

	if (!object)
		return -ENOMEM;
	json_add_u64(object, "time_ms", time_ms);
	json_add_string(object, "event", event->kind);
	if (event->pid) {
		json_add_u64(object, "pid", (uint64_t)event->pid);
		json_add_string(object, "comm", event->comm);
	}
	if (event->limit) {
		json_add_string(object, "tag", event->tag);
		json_add_u64(object, "limit_bytes", event->limit);
	}
	if (event->caught_up)
		json_object_object_add(object, "caught_up", json_object_new_boolean(true));
	return json_print(fmt, object);
}
