// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/decode.c ctl/stacks/stack.c ctl/model.c ctl/utf8.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/folded.c ctl/format/dot.c ctl/format/strings.c ctl/format/chain.c ctl/format/gzip.c ctl/format/rollup.c */
/* sources: ctl/format/pairs.c ctl/format/pprof.c ctl/format/speedscope.c ctl/format/openmetrics.c */
/* sources: ctl/past.c ctl/format/history.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/show.c ctl/format/tree.c */
/* sources: ctl/format/spark.c ctl/format/watch.c ctl/format/audit.c */
/*
 * Attributes of the netlink family into the model, and every form in which mtagctl prints that:
 * the model is what it promises to be, JSON is JSON, and no name does anything to a terminal.
 */
#include <zlib.h>

#include "ctl.h"
#include "decode.h"
#include "format/audit.h"
#include "format/dot.h"
#include "format/folded.h"
#include "format/history.h"
#include "format/openmetrics.h"
#include "format/pprof.h"
#include "format/show.h"
#include "format/speedscope.h"
#include "format/tree.h"
#include "format/watch.h"
#include "message.h"
#include "profile.pb-c.h"

/* What model.h says of a finished snapshot. */
static void check_proc(const struct proc *proc)
{
	_cleanup_(freep) bool *seen = calloc(proc->n_tags + 1, sizeof(*seen));
	uint64_t rss = 0, top = 0;

	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		uint64_t below = tag_rss(tag);

		must(!i || tag[-1].id < tag->id);
		must(tag->parent >= -1 && tag->parent < (int)i);
		must(tag->depth <= MTAG_DEPTH_MAX + 1 && proc_find_tag(proc, tag->id) == tag);
		must(tag->parent < 0 || tag->depth == proc->tags[tag->parent].depth + 1);
		for (size_t j = i + 1; j < proc->n_tags; j++)
			if (proc->tags[j].parent == (int)i)
				below += proc->tags[j].total_rss;
		must(tag->total_rss == below);
		must(proc->order[i] < proc->n_tags && !seen[proc->order[i]]);
		seen[proc->order[i]] = true;
		rss += tag_rss(tag);
		top += tag->parent < 0 ? tag->total_rss : 0;
	}
	must(proc->rss == rss && top == rss);
}

/* What is printed, known once it is closed. */
static char *text;
static size_t length;

static struct fmt *begin(struct fmt *fmt)
{
	fmt->out = open_memstream(&text, &length);
	must(fmt->out);
	return fmt;
}

/* A table's lines fit the terminal, whatever the names in it. */
static void end_text(struct fmt *fmt, bool table)
{
	fclose(fmt->out);
	must_be_harmless(text, length, fmt->colour ? COLOURED : TEXT);
	for (const char *line = text; table && *line;) {
		size_t n = strcspn(line, "\n");

		if (strncmp(line, "process ", 8) != 0 && strncmp(line, "lost events ", 12) != 0)
			must(columns_of(line, n) <= (fmt->width < 80 ? 80 : fmt->width));
		line += n + 1;
	}
	free(text);
}

static void end_json(struct fmt *fmt, int err)
{
	fclose(fmt->out);
	must(!err);
	must_be_json(text, length);
	free(text);
}

/* Its characters may be any that do nothing. */
static void end_data(struct fmt *fmt)
{
	fclose(fmt->out);
	must_be_harmless(text, length, JSON);
	free(text);
}

static void check_profile(const Pprof__Profile *profile, const struct snap *snap)
{
	uint64_t rss = 0;

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];

		must(sample->n_value == profile->n_sample_type && sample->n_location_id);
		for (size_t j = 0; j < sample->n_location_id; j++)
			must(sample->location_id[j] - 1 < profile->n_location);
		rss += (uint64_t)sample->value[1];
	}
	for (size_t i = 0; i < profile->n_location; i++) {
		must(profile->location[i]->id == i + 1 && profile->function[i]->id == i + 1);
		must((uint64_t)profile->function[i]->name < profile->n_string_table);
	}
	for (size_t i = 0; i < profile->n_string_table; i++)
		must_be_harmless(profile->string_table[i], strlen(profile->string_table[i]), JSON);
	for (size_t i = 0; i < snap->n_procs; i++)
		rss -= snap->procs[i].rss;
	must(!rss);
}

static void end_profile(struct fmt *fmt, const struct snap *snap)
{
	static unsigned char packed[1 << 20];
	z_stream stream = {.next_out = packed, .avail_out = sizeof(packed)};
	Pprof__Profile *profile;

	fclose(fmt->out);
	stream.next_in = (unsigned char *)text;
	stream.avail_in = (unsigned int)length;
	must(inflateInit2(&stream, 15 + 16) == Z_OK);
	must(inflate(&stream, Z_FINISH) == Z_STREAM_END && !stream.avail_in);
	profile = pprof__profile__unpack(NULL, stream.total_out, packed);
	must(profile);
	check_profile(profile, snap);
	pprof__profile__free_unpacked(profile, NULL);
	inflateEnd(&stream);
	free(text);
}

static void print_snap(struct fmt *fmt, const struct snap *snap)
{
	show_text(begin(fmt), snap);
	end_text(fmt, true);
	end_json(fmt, show_json(begin(fmt), snap));
	must(!dot_print(begin(fmt), snap));
	end_data(fmt);
	must(!folded_print(begin(fmt), snap));
	end_data(fmt);
	must(!speedscope_print(begin(fmt), snap));
	end_data(fmt);
	fmt->by_pid = !fmt->by_pid;
	must(!openmetrics_print(begin(fmt), snap));
	end_data(fmt);
	must(!pprof_print(begin(fmt), snap));
	end_profile(fmt, snap);
}

static void print_proc(struct fmt *fmt, const struct proc *proc, const struct proc *before)
{
	struct sparks history = {0};
	struct sample sample = {proc, before, 1700000000123, 7, fmt->colour ? &history : NULL};

	must(!before || !spark_add(&history, before, NULL));
	must(!spark_add(&history, proc, before));
	must(!tree_text(begin(fmt), proc));
	end_text(fmt, false);
	end_json(fmt, tree_json(begin(fmt), proc));
	must(!watch_text(begin(fmt), &sample, fmt->terminal ? fmt->height : 0, "\n"));
	end_text(fmt, false);
	end_json(fmt, watch_json(begin(fmt), &sample));
	spark_clear(&history);
}

static void print_audits(struct fmt *fmt, const struct audit *audits, size_t n)
{
	audit_text(begin(fmt), audits, n);
	end_text(fmt, false);
	end_json(fmt, audit_json(begin(fmt), audits, n));
}

static void print_ledger(struct fmt *fmt, const struct ledger *ledger)
{
	_cleanup_(freep) const struct past **pasts = calloc(ledger->n + 1, sizeof(*pasts));

	for (size_t i = 0; i < ledger->n; i++)
		pasts[i] = &ledger->pasts[i];
	history_text(begin(fmt), pasts, ledger->n);
	end_text(fmt, false);
	end_json(fmt, history_json(begin(fmt), pasts, ledger->n));
}

static struct ledger ledger;

/* One message, in memory of exactly its size. */
static void decode(struct snap *snap, struct snap *procs, struct audit *audit, struct info *info,
		   const uint8_t *data, size_t len, bool fine)
{
	void *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, data, len);
	err = decode_tags(copy, (int)len, snap);
	must(!fine || !err);
	err = decode_proc(copy, (int)len, procs);
	must(!fine || !err);
	decode_audit(copy, (int)len, audit);
	decode_info(copy, (int)len, info);
	decode_past(copy, (int)len, &ledger);
	must(strlen(info->version) < sizeof(info->version));
	must(strlen(info->mode) < sizeof(info->mode));
	free(copy);
}

static void decode_built(struct input *in, struct snap *snap, struct snap *procs,
			 struct audit *audit, struct info *info)
{
	static uint8_t buf[FUZZ_ROOM];

	for (unsigned int n = in_below(in, 4) + 1; n; n--) {
		struct message m = {.buf = buf, .room = sizeof(buf)};

		put_attributes(in, &m);
		spoil(in, &m);
		decode(snap, procs, audit, info, buf, m.len, !m.broken);
	}
}

static void print(struct input *in, struct snap *snap, struct snap *procs, struct audit *audit)
{
	unsigned int bits = in_u8(in);
	struct fmt fmt = {.utf8 = bits & 1,
			  .stats = bits & 2,
			  .pretty = bits & 4,
			  .colour = bits & 8,
			  .terminal = bits & 16,
			  .width = 40 + in_u8(in),
			  .height = 6 + in_below(in, 20)};

	must(!snap_finish(snap) && !snap_finish(procs));
	print_snap(&fmt, snap);
	for (size_t i = 0; i < snap->n_procs; i++) {
		must(!i || snap->procs[i - 1].pid < snap->procs[i].pid);
		check_proc(&snap->procs[i]);
		print_proc(&fmt, &snap->procs[i], i ? &snap->procs[i - 1] : NULL);
	}
	print_audits(&fmt, audit, 1);
	ledger_finish(&ledger);
	print_ledger(&fmt, &ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap snap = {0}, procs = {0};
	struct audit audit = {0};
	struct info info = {0};
	struct input in = {data, size};

	if (fuzz_built) {
		decode_built(&in, &snap, &procs, &audit, &info);
		print(&in, &snap, &procs, &audit);
	} else {
		/* Twice, as what is known is not forgotten. */
		decode(&snap, &procs, &audit, &info, data, size, false);
		decode(&snap, &procs, &audit, &info, data, size, false);
		print(&in, &snap, &procs, &audit);
	}
	snap_clear(&snap);
	snap_clear(&procs);
	ledger_clear(&ledger);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	struct message m = {.buf = buf, .room = size};

	put_attributes(in, &m);
	return m.len;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
