// SPDX-License-Identifier: GPL-2.0
/* What show prints: processes and the counters of each of their tags. */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/label.h"
#include "format/show.h"
#include "format/text.h"
#include "utf8.h"

enum { RSS = -1, USS = -2, PSS = -3 };
enum group { MEMORY, SHARES, SIZES, CALLS, CALL_BYTES, GROUPS };

/* One description for JSON and text. The keys, and their order, are part of the contract. */
static const struct field {
	const char *key;
	const char *head;
	int counter;
	enum group group;
} fields[] = {
	{"rss_bytes", "RSS", RSS, MEMORY},
	{"anon_bytes", "ANON", MTAG_C_ANON, MEMORY},
	{"file_bytes", "FILE", MTAG_C_FILE, MEMORY},
	{"shmem_bytes", "SHMEM", MTAG_C_SHMEM, MEMORY},
	{"swap_bytes", "SWAP", MTAG_C_SWAP, MEMORY},
	{"peak_rss_bytes", "PEAK", MTAG_C_PEAK, MEMORY},
	{"virt_bytes", "VIRT", MTAG_C_VIRT, SIZES},
	{"touched_bytes", "TOUCHED", MTAG_C_TOUCHED, SIZES},
	{"mmaps", "MMAP", MTAG_C_MMAPS, CALLS},
	{"munmaps", "MUNMAP", MTAG_C_MUNMAPS, CALLS},
	{"mremaps", "MREMAP", MTAG_C_MREMAPS, CALLS},
	{"brks", "BRK", MTAG_C_BRKS, CALLS},
	{"shmats", "SHMAT", MTAG_C_SHMATS, CALLS},
	{"shmdts", "SHMDT", MTAG_C_SHMDTS, CALLS},
	{"mmap_bytes", "MMAP", MTAG_C_MMAP_BYTES, CALL_BYTES},
	{"munmap_bytes", "MUNMAP", MTAG_C_MUNMAP_BYTES, CALL_BYTES},
	{"mremap_bytes", "MREMAP", MTAG_C_MREMAP_BYTES, CALL_BYTES},
	{"brk_bytes", "BRK", MTAG_C_BRK_BYTES, CALL_BYTES},
	{"shmat_bytes", "SHMAT", MTAG_C_SHMAT_BYTES, CALL_BYTES},
	{"shmdt_bytes", "SHMDT", MTAG_C_SHMDT_BYTES, CALL_BYTES},
	{"uss_bytes", "USS", USS, SHARES},
	{"pss_bytes", "PSS", PSS, SHARES},
};

static const char *const group_heads[GROUPS] = {"TAG", "TAG: SHARED", "TAG: SIZE", "TAG: CALLS",
						"TAG: BYTES"};

/* Shares are parts of the RSS, which stands beside them. */
static bool in_group(const struct field *field, enum group group)
{
	return field->group == group || (group == SHARES && field->counter == RSS);
}

static uint64_t *place_of(const struct field *field, uint64_t *c, uint64_t *s)
{
	if (field->counter == USS || field->counter == PSS)
		return &s[field->counter == USS ? MTAG_S_USS : MTAG_S_PSS];
	return &c[field->counter];
}

static uint64_t value_of(const struct field *field, const uint64_t *c, const uint64_t *s)
{
	if (field->counter == RSS)
		return c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM];
	return *place_of(field, (uint64_t *)c, (uint64_t *)s);
}

static void print_values(const struct fmt *fmt, enum group group, const uint64_t *c,
			 const uint64_t *s, bool total)
{
	char buf[24];

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *field = &fields[i];

		if (!in_group(field, group))
			continue;
		if (total && field->counter == MTAG_C_PEAK)
			text_right(fmt, COL_SIZE, "-"); /* tags peak at different times */
		else if (group == CALLS)
			text_right(fmt, COL_SIZE, text_count(buf, value_of(field, c, s)));
		else
			text_right(fmt, COL_SIZE, text_size(buf, value_of(field, c, s)));
	}
	fputc('\n', fmt->out);
}

static void print_group(const struct fmt *fmt, const struct proc *proc, enum group group,
			unsigned int width)
{
	uint64_t sum[MTAG_C_NR];

	text_cell(fmt, group_heads[group], width, CUT_END);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (in_group(&fields[i], group))
			text_right(fmt, COL_SIZE, fields[i].head);
	fputc('\n', fmt->out);
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];

		if (!tag_is_shown(tag))
			continue;
		text_cell(fmt, label_of(tag), width, CUT_BEGINNING);
		print_values(fmt, group, tag->c, tag->s, false);
	}
	proc_sum(proc, sum);
	text_cell(fmt, "total", width, CUT_END);
	print_values(fmt, group, sum, proc->s, true);
}

static void print_health(const struct fmt *fmt, const struct proc *proc)
{
	if (!fmt->stats && !proc->lost && !proc->overflow)
		return;
	fprintf(fmt->out,
		"lost events %" PRIu64 ", tags refused %" PRIu64 ", repairs %" PRIu64 "\n",
		proc->lost, proc->overflow, proc->repairs);
}

/* What is shared is counted once here, which no sum of RSS is. */
static void print_all(const struct fmt *fmt, const struct snap *snap)
{
	uint64_t rss = 0, s[MTAG_S_NR] = {0};
	char all[16], unique[16], part[16];

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		if (!proc->shares)
			return;
		rss += proc->rss;
		for (size_t j = 0; j < MTAG_S_NR; j++)
			s[j] += proc->s[j];
	}
	if (snap->n_procs > 1)
		fprintf(fmt->out, "\nall %zu processes: RSS %s, USS %s, PSS %s\n", snap->n_procs,
			text_size(all, rss), text_size(unique, s[MTAG_S_USS]),
			text_size(part, s[MTAG_S_PSS]));
}

void show_text(const struct fmt *fmt, const struct snap *snap)
{
	enum group last = fmt->stats ? CALL_BYTES : SHARES;

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];
		unsigned int width = label_width(fmt, proc, 6 * COL_SIZE);

		if (i)
			fputc('\n', fmt->out);
		label_proc(fmt, proc, "\n");
		for (enum group group = MEMORY; group <= last; group++) {
			if (group == SHARES && !proc->shares)
				continue;
			if (group != MEMORY)
				fputc('\n', fmt->out);
			print_group(fmt, proc, group, width);
		}
		print_health(fmt, proc);
	}
	print_all(fmt, snap);
}

/* Whether an object has this field: some are there on request only. */
static bool is_added(const struct field *field, const struct tag *tag, bool stats)
{
	if (field->group == SHARES)
		return tag->shares;
	return stats || field->group != CALL_BYTES;
}

void show_add_counters(struct json_object *object, const struct tag *tag, bool stats)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (is_added(&fields[i], tag, stats))
			json_add_u64(object, fields[i].key, value_of(&fields[i], tag->c, tag->s));
}

const char *show_read_counters(struct json_object *object, struct tag *tag)
{
	uint64_t rss = 0;

	tag->shares = json_object_object_get_ex(object, "uss_bytes", NULL) ||
		      json_object_object_get_ex(object, "pss_bytes", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *field = &fields[i];
		bool there = json_object_object_get_ex(object, field->key, NULL);

		if (!there && field->group != MEMORY && (field->group != SHARES || !tag->shares))
			continue;
		if (!json_get_u64(object, field->key,
				  field->counter == RSS ? &rss : place_of(field, tag->c, tag->s)))
			return field->key;
	}
	return rss == tag_rss(tag) ? NULL : fields[0].key;
}

const char *show_read_health(struct json_object *object, struct proc *proc)
{
	const struct {
		const char *key;
		uint64_t *value;
	} counters[] = {
		{"lost", &proc->lost},
		{"overflow", &proc->overflow},
		{"repairs", &proc->repairs},
	};

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (json_object_object_get_ex(object, counters[i].key, NULL) &&
		    !json_get_u64(object, counters[i].key, counters[i].value))
			return counters[i].key;
	return NULL;
}

/* These are the process's, so they are the same in all of its tags. */
void show_add_health(struct json_object *object, const struct proc *proc)
{
	json_add_u64(object, "lost", proc->lost);
	json_add_u64(object, "overflow", proc->overflow);
	json_add_u64(object, "repairs", proc->repairs);
}

int show_json(const struct fmt *fmt, const struct snap *snap)
{
	struct json_list list = {.fmt = fmt};

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		for (size_t j = 0; j < proc->n_tags; j++) {
			const struct tag *tag = &proc->tags[proc->order[j]];
			struct json_object *object;

			if (!tag_is_shown(tag))
				continue;
			object = json_object_new_object();
			label_json(object, proc, tag);
			show_add_counters(object, tag, fmt->stats);
			show_add_health(object, proc);
			if (json_list_add(&list, object))
				return -ENOMEM;
		}
	}
	json_list_end(&list);
	return 0;
}
