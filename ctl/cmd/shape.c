// SPDX-License-Identifier: GPL-2.0
/* -f and -o of commands with more formats than a table and JSON, and printing in one of them. */
#include <string.h>
#include <unistd.h>

#include "cmd/shape.h"
#include "fail.h"
#include "format/form.h"
#include "option.h"
#include "output.h"
#include "synopsis.h"
#include "utf8.h"

static bool is_form(const char *forms, const char *name)
{
	struct span choices = {forms, strlen(forms)}, word;

	while (synopsis_choice(&choices, &word))
		if (span_is(word, name))
			return true;
	return false;
}

bool shape_option(struct ctl *ctl, struct shape *shape, int opt, const char *value)
{
	_cleanup_(freep) char *text = NULL;

	if (opt == 'o') {
		shape->output = option_output(value);
		return true;
	}
	if (!is_form(shape->forms, value)) {
		text = utf8_clean(value, false);
		fail_print("%s: unknown format '%s' (%s)", ctl->command->name, text ? text : "?",
			   shape->forms);
		return false;
	}
	shape->form = value;
	/* Of -f and -j, the last one counts. */
	ctl->json = shape_is(shape, "json");
	return true;
}

bool shape_is(const struct shape *shape, const char *form)
{
	return !strcmp(shape->form, form);
}

bool shape_fits(const char *command, bool binary, const char *output)
{
	if (!binary || output || !isatty(STDOUT_FILENO))
		return true;
	fail_print("%s: this format is binary and not for a terminal; name a file: -o FILE",
		   command);
	return false;
}

bool shape_settle(const struct ctl *ctl, struct shape *shape)
{
	if (ctl->json || !shape->form)
		shape->form = ctl->json ? "json" : "table";
	return shape_fits(ctl->command->name, form_is_binary(form_find(shape->form)),
			  shape->output);
}

int shape_print(const struct ctl *ctl, const char *output,
		int (*print)(const struct fmt *fmt, const void *what), const void *what)
{
	struct outfile file;
	struct fmt fmt;
	int err = output_open(&file, output, 0666);

	if (err)
		return err;
	fmt_init(&fmt, ctl);
	fmt_redirect(&fmt, file.file);
	return output_close(&file, print(&fmt, what) ? fail_memory() : CTL_OK);
}
