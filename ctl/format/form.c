// SPDX-License-Identifier: GPL-2.0
/* The forms in which processes and tags can be printed, by their names. */
#include <string.h>

#include "ctl.h"
#include "format/dot.h"
#include "format/folded.h"
#include "format/form.h"
#include "format/openmetrics.h"
#include "format/pprof.h"
#include "format/show.h"
#include "format/speedscope.h"
#include "format/tree.h"
#include "picture/icicle.h"
#include "picture/page.h"

/* Either prints processes and tags, or draws them with when and where. */
struct form {
	const char *name;
	int (*print)(const struct fmt *fmt, const struct snap *snap);
	int (*draw)(const struct fmt *fmt, const struct subject *subject);
	bool series;
};

const char form_names[] =
	"table, tree, json, dot, folded, pprof, speedscope, openmetrics, svg or html";

static int print_table(const struct fmt *fmt, const struct snap *snap)
{
	show_text(fmt, snap);
	return 0;
}

static int print_tree(const struct fmt *fmt, const struct snap *snap)
{
	int err = 0;

	for (size_t i = 0; i < snap->n_procs && !err; i++) {
		if (i)
			fputc('\n', fmt->out);
		err = tree_text(fmt, &snap->procs[i]);
	}
	return err;
}

static const struct form forms[] = {
	{.name = "table", .print = print_table},
	{.name = "tree", .print = print_tree},
	{.name = "json", .print = show_json},
	{.name = "dot", .print = dot_print},
	{.name = "folded", .print = folded_print},
	{.name = "pprof", .print = pprof_print},
	{.name = "speedscope", .print = speedscope_print},
	{.name = "openmetrics", .print = openmetrics_print},
	{.name = "svg", .draw = icicle_print},
	{.name = "html", .draw = page_print, .series = true},
};

const struct form *form_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

const char *form_name(size_t nth)
{
	return nth < ARRAY_SIZE(forms) ? forms[nth].name : NULL;
}

bool form_is_json(const struct form *form)
{
	return form->print == show_json;
}

bool form_is_binary(const struct form *form)
{
	return form->print == pprof_print;
}

bool form_has_lines(const struct form *form)
{
	return form->print == pprof_print || form->print == speedscope_print;
}

bool form_sums_processes(const struct form *form)
{
	return form->print == openmetrics_print;
}

bool form_has_shares(const struct form *form)
{
	return form->print == print_table || form->print == print_tree || form->print == show_json;
}

bool form_has_statistics(const struct form *form)
{
	return form->print == print_table || form->print == show_json;
}

bool form_takes_series(const struct form *form)
{
	return form->series;
}

int form_print(const struct form *form, const struct fmt *fmt, const struct subject *subject)
{
	return form->draw ? form->draw(fmt, subject) : form->print(fmt, subject->snap);
}
