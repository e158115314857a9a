// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of tags over processes, bounded for a metrics database: tags beyond a limit are summed into
 * one. Names are turned into labels first, because two names may become the same label.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "format/rollup.h"
#include "utf8.h"

#define REST "[other]"

/* A name as it stands between quotes. U+FFFD stands for what is not UTF-8 and for what a terminal would obey. */
static char *label_text(const char *name)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = strlen(name);
	char *text = malloc(length * 3 + 1), *p = text;
	uint32_t cp;

	if (!text)
		return NULL;
	while (length) {
		unsigned int n = utf8_decode((const unsigned char *)name, length, &cp);

		if (*name == '\n')
			p = mempcpy(p, "\\n", 2);
		else if (!n || !utf8_may_print(cp))
			p = mempcpy(p, replacement, 3);
		else if (*name == '"' || *name == '\\')
			p = mempcpy(p, (char[]){'\\', *name}, 2);
		else
			p = mempcpy(p, name, n);
		n = n ? n : 1;
		name += n;
		length -= n;
	}
	*p = '\0';
	return text;
}

/* ---- the tags of a group ---- */

static int by_tag(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return strcmp(x->tag, y->tag);
}

static uint64_t size_of(const struct total *total)
{
	return total->c[MTAG_C_ANON] + total->c[MTAG_C_FILE] + total->c[MTAG_C_SHMEM] +
	       total->c[MTAG_C_SWAP];
}

/* A program's own tag may have the name of the rest; it is part of that if there is one. */
static int by_size(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	bool x_last = !strcmp(x->tag, REST), y_last = !strcmp(y->tag, REST);

	if (x_last != y_last)
		return x_last ? 1 : -1;
	if (size_of(x) != size_of(y))
		return size_of(x) > size_of(y) ? -1 : 1;
	return strcmp(x->tag, y->tag);
}

static void add_counters(struct total *to, const struct total *from)
{
	uint64_t peak = to->c[MTAG_C_PEAK];

	if (peak < from->c[MTAG_C_PEAK])
		peak = from->c[MTAG_C_PEAK];
	for (size_t i = 0; i < MTAG_C_NR; i++)
		to->c[i] += from->c[i];
	to->c[MTAG_C_PEAK] = peak;
}

static void add_up_equal(struct group *group)
{
	size_t n = 0;

	qsort(group->totals, group->n, sizeof(*group->totals), by_tag);
	for (size_t i = 0; i < group->n; i++) {
		struct total *total = &group->totals[i];

		if (n && !by_tag(&group->totals[n - 1], total)) {
			add_counters(&group->totals[n - 1], total);
			free(total->tag);
		} else {
			group->totals[n++] = *total;
		}
	}
	group->n = n;
}

static int add_up_rest(struct group *group)
{
	struct total *rest;
	char *name;

	qsort(group->totals, group->n, sizeof(*group->totals), by_size);
	if (group->n <= ROLLUP_TAGS)
		return 0;
	rest = &group->totals[ROLLUP_TAGS];
	if (group->n == ROLLUP_TAGS + 1 && !strcmp(rest->tag, REST))
		return 0;
	name = strdup(REST);
	if (!name)
		return -ENOMEM;
	for (size_t i = ROLLUP_TAGS + 1; i < group->n; i++) {
		add_counters(rest, &group->totals[i]);
		free(group->totals[i].tag);
	}
	free(rest->tag);
	rest->tag = name;
	rest->rest = true;
	group->n = ROLLUP_TAGS + 1;
	return 0;
}

/* ---- the processes of a group ---- */

/* A process, by the labels that decide which group it is in. */
struct member {
	char *comm, *cgroup;
	pid_t pid;
	const struct proc *proc;
};

static int by_group(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	order = order ? order : strcmp(x->cgroup, y->cgroup);
	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static int add_member(struct group *group, const struct proc *proc)
{
	group->lost += proc->lost;
	group->overflow += proc->overflow;
	group->repairs += proc->repairs;
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		struct total *total = &group->totals[group->n];

		if (!tag_is_shown(tag))
			continue;
		*total = (struct total){.tag = label_text(label_of(tag))};
		if (!total->tag)
			return -ENOMEM;
		memcpy(total->c, tag->c, sizeof(total->c));
		group->n++;
	}
	return 0;
}

/* Takes the names of the first of its @n members. */
static int add_group(struct rollup *rollup, struct member *members, size_t n)
{
	struct group *group = &rollup->groups[rollup->n++];
	size_t tags = 0;
	int err = 0;

	*group = (struct group){
		.comm = members->comm, .cgroup = members->cgroup, .pid = members->pid};
	members->comm = NULL;
	members->cgroup = NULL;
	for (size_t i = 0; i < n; i++)
		tags += members[i].proc->n_tags;
	group->totals = calloc(tags + 1, sizeof(*group->totals));
	if (!group->totals)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = add_member(group, members[i].proc);
	if (err)
		return err;
	add_up_equal(group);
	return add_up_rest(group);
}

static int list_members(struct member *members, const struct snap *snap, bool by_pid)
{
	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		members[i] = (struct member){
			.comm = label_text(proc->comm),
			.cgroup = label_text(proc_cgroup(proc)),
			.pid = by_pid ? proc->pid : 0,
			.proc = proc,
		};
		if (!members[i].comm || !members[i].cgroup)
			return -ENOMEM;
	}
	if (snap->n_procs)
		qsort(members, snap->n_procs, sizeof(*members), by_group);
	return 0;
}

int rollup_sum(struct rollup *rollup, const struct snap *snap, bool by_pid)
{
	_cleanup_(freep) struct member *members = calloc(snap->n_procs + 1, sizeof(*members));
	int err;

	*rollup = (struct rollup){.groups = calloc(snap->n_procs + 1, sizeof(*rollup->groups))};
	if (!members || !rollup->groups)
		return -ENOMEM;
	err = list_members(members, snap, by_pid);
	for (size_t i = 0, n; i < snap->n_procs && !err; i += n) {
		for (n = 1; i + n < snap->n_procs; n++)
			if (by_group(&members[i], &members[i + n]))
				break;
		err = add_group(rollup, &members[i], n);
	}
	for (size_t i = 0; i < snap->n_procs; i++) {
		free(members[i].comm);
		free(members[i].cgroup);
	}
	return err;
}

void rollup_clear(struct rollup *rollup)
{
	for (size_t i = 0; i < rollup->n; i++) {
		struct group *group = &rollup->groups[i];

		for (size_t j = 0; j < group->n; j++)
			free(group->totals[j].tag);
		free(group->totals);
		free(group->comm);
		free(group->cgroup);
	}
	free(rollup->groups);
}
