// SPDX-License-Identifier: GPL-2.0
/* mtagctl merge: samples with processes and tags folded by rules, as one snapshot file. */
#include <errno.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/snapshot.h"
#include "offline/fold.h"
#include "offline/read.h"
#include "option.h"
#include "output.h"

struct merge {
	const char *rules_path;
	const char *output_path;
	struct rules *rules;
	struct outfile output;
	bool told; /* that stacks are left out */
};

/* Stacks are of one process, and those of several are not one. */
static void tell_stacks(struct merge *merge, const char *path, const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs && !merge->told; i++) {
		if (!snap->procs[i].stacks)
			continue;
		fail_print("merge: %s has stacks, which are left out", path);
		merge->told = true;
	}
}

static int merge_file(struct merge *merge, const char *path)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	int status = reader_open(&reader, path);
	unsigned long number = 0;

	while (!status) {
		_cleanup_(snap_clear) struct snap snap = {0}, folded = {0};
		struct snapshot_left left = {0};
		struct refused refused;
		struct origin origin;
		enum reading found = reader_next(reader, &origin, &snap);
		int err;

		if (found != READ_SAMPLE)
			return found == READ_END ? CTL_OK : CTL_REFUSED;
		number++;
		tell_stacks(merge, path, &snap);
		err = fold(&snap, merge->rules, &folded, &refused);
		if (!err)
			err = snapshot_print(merge->output.file, &origin, &folded, &left);
		if (!err && (left.procs || left.stacks))
			err = -E2BIG;
		if (err == -E2BIG) {
			fail_print(
				"%s: sample %lu: the rules make a name of more than 255 bytes, "
				"a path of more than 32 names, 65,534 tags of a process, or more "
				"than a sample may have",
				path, number);
			return CTL_REFUSED;
		}
		if (err == -EINVAL) {
			fail_print("%s: sample %lu: %s", path, number, refused.text);
			return CTL_REFUSED;
		}
		if (err)
			return fail_memory();
	}
	return status;
}

static int merge_options(struct ctl *ctl, int argc, char **argv, struct merge *merge)
{
	static const struct option longs[] = {
		{"rules", required_argument, NULL, 'r'},
		{"output", required_argument, NULL, 'o'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":r:o:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 'r')
			merge->rules_path = optarg;
		else
			merge->output_path = option_output(optarg);
	}
	if (opt != OPTION_DONE)
		return opt;
	if (!merge->rules_path || argc == optind) {
		fail_print("merge needs --rules FILE and at least one snapshot file");
		return OPTION_BAD;
	}
	return option_one_input("merge", argc - optind, argv + optind, merge->rules_path)
		       ? opt
		       : OPTION_BAD;
}

int cmd_merge(struct ctl *ctl, int argc, char **argv)
{
	struct merge merge = {0};
	int status, opt = merge_options(ctl, argc, argv, &merge);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = rules_open(&merge.rules, merge.rules_path);
	if (!status)
		status = output_open(&merge.output, merge.output_path, 0600);
	if (!status) {
		for (int i = optind; i < argc && !status; i++)
			status = merge_file(&merge, argv[i]);
		status = output_close(&merge.output, status);
	}
	rules_close(merge.rules);
	return status;
}
