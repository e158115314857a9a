// SPDX-License-Identifier: GPL-2.0
/* The forms in which processes and tags can be printed, by their names. */
#include <string.h>

#include "ctl.h"
#include "format/dot.h"
#include "format/folded.h"
#include "format/form.h"
#include "format/show.h"
#include "format/tree.h"

struct form {
	const char *name;
	int (*print)(const struct fmt *fmt, const struct snap *snap);
};

const char form_names[] = "table, tree, json, dot or folded";

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
	{"table", print_table}, {"tree", print_tree},	  {"json", show_json},
	{"dot", dot_print},	{"folded", folded_print},
};

const struct form *form_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

bool form_is_json(const struct form *form)
{
	return form->print == show_json;
}

int form_print(const struct form *form, const struct fmt *fmt, const struct snap *snap)
{
	return form->print(fmt, snap);
}
