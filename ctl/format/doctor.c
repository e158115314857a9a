// SPDX-License-Identifier: GPL-2.0
/* What doctor prints: each check, how it went, and what to do about it. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/doctor.h"
#include "format/json.h"
#include "utf8.h"

#define INDENT 5

static const char *const words[] = {"ok", "warn", "FAIL"};

/* Wraps @text at the width of the line; each line except the first is indented by @indent. */
static void print_wrapped(const struct fmt *fmt, const char *text, unsigned int column,
			  unsigned int indent)
{
	_cleanup_(freep) char *clean = utf8_clean(text, fmt->utf8);
	char *save = NULL;
	bool first = true;

	if (!clean)
		return;
	for (char *word = strtok_r(clean, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned int width = utf8_width(word);

		if (!first && column + 1 + width > fmt->width) {
			fprintf(fmt->out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		fprintf(fmt->out, "%s%s", first ? "" : " ", word);
		column += width + !first;
		first = false;
	}
	fputc('\n', fmt->out);
}

void doctor_text(const struct fmt *fmt, const struct check *checks, size_t n)
{
	static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};

	for (size_t i = 0; i < n; i++) {
		const struct check *check = &checks[i];

		fprintf(fmt->out, "%s%-*s%s%s: ", fmt->colour ? colours[check->status] : "", INDENT,
			words[check->status], fmt->colour ? "\033[0m" : "", check->name);
		print_wrapped(fmt, check->detail, INDENT + (unsigned int)strlen(check->name) + 2,
			      INDENT);
		if (check->advice && check->status != CHECK_OK) {
			fprintf(fmt->out, "%*s", INDENT, "");
			print_wrapped(fmt, check->advice, INDENT, INDENT);
		}
	}
}

int doctor_json(const struct fmt *fmt, const struct check *checks, size_t n)
{
	static const char *const statuses[] = {"ok", "warn", "fail"};
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct check *check = &checks[i];
		struct json_object *object = json_add_object(array);

		json_add_string(object, "check", check->name);
		json_add_string(object, "status", statuses[check->status]);
		json_add_string(object, "detail", check->detail);
		json_add_string(object, "advice",
				check->advice && check->status != CHECK_OK ? check->advice : "");
	}
	return json_print(fmt, array);
}
