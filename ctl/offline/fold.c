// SPDX-License-Identifier: GPL-2.0
/*
 * Folds processes and tags that have the same name after the rules. All tags are sorted by process and
 * path, a parent before its children, so that each tree is built in one pass.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "heaps/sum.h"
#include "offline/fold.h"
#include "utf8.h"

#define NAME_LENGTH 255
#define NAMES_MOST  (256 << 20) /* bytes of all paths */
#define FIRST_ID    2		/* behind the untagged and [ksm] */

/*
 * A process, the first one of those that it is folded with, and of a first one the place of all of them
 * in the result, from 1; 0 if they have no tags; and whether one of them has no heap.
 */
struct member {
	const struct proc *proc;
	char *comm;
	unsigned long line; /* of the rule that made the name, or 0 */
	size_t first;
	size_t place;
	bool heapless;
};

struct item {
	size_t first;
	uint16_t fixed; /* the untagged and [ksm] have their ids */
	char *path;
	const struct tag *tag;
	const struct heap_tag *heap;
};

struct work {
	struct refused *refused;
	struct member *members;
	size_t n_members;
	struct item *items;
	size_t n_items;
};

static void work_clear(struct work *work)
{
	for (size_t i = 0; i < work->n_members; i++)
		free(work->members[i].comm);
	for (size_t i = 0; i < work->n_items; i++)
		free(work->items[i].path);
	free(work->members);
	free(work->items);
}

/* Says what the rule in @line makes. */
static int refuse(const struct work *work, unsigned long line, const char *of, const char *made,
		  const char *why)
{
	snprintf(work->refused->text, sizeof(work->refused->text),
		 "line %lu of the rules makes '%.80s' of '%.80s', %s", line, made, of, why);
	return -EINVAL;
}

static int by_comm(const void *a, const void *b, void *arg)
{
	const struct member *members = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = strcmp(members[i].comm, members[j].comm);

	return order ? order : (i > j) - (i < j);
}

/* Processes whose name a rule matched are one with those of the same name that a rule matched. */
static int group(struct work *work, const struct snap *snap, const struct rules *rules)
{
	_cleanup_(freep) size_t *order = calloc(snap->n_procs + 1, sizeof(*order));
	struct member *m = calloc(snap->n_procs + 1, sizeof(*m)), *last = NULL;
	size_t n = 0;

	work->members = m;
	if (!m || !order)
		return -ENOMEM;
	for (size_t i = 0; i < snap->n_procs; i++) {
		m[i].proc = &snap->procs[i];
		m[i].first = i;
		m[i].comm = rules_apply(rules, RULE_COMM, m[i].proc->comm, &m[i].line);
		if (!m[i].comm)
			return -errno;
		work->n_members++;
		if (strlen(m[i].comm) > NAME_LENGTH)
			return -E2BIG;
		if (m[i].line && !*m[i].comm)
			return refuse(work, m[i].line, m[i].proc->comm, m[i].comm,
				      "but a process has a name");
		if (m[i].line)
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), by_comm, m);
	for (size_t k = 0; k < n; k++) {
		if (last && !strcmp(last->comm, m[order[k]].comm))
			m[order[k]].first = last->first;
		else
			last = &m[order[k]];
	}
	return 0;
}

/* As strcmp(), but a / is before all else, so that what is below a path follows it. */
static int compare_paths(const char *a, const char *b)
{
	int x, y;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
	y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
	return x - y;
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->fixed != y->fixed)
		return x->fixed < y->fixed ? -1 : 1;
	return compare_paths(x->path, y->path);
}

/* Takes empty names out of a path: rules can make /a//b/, which is a/b. */
static void squeeze(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++)
		if (*from != '/' || (to != path && to[-1] != '/'))
			*to++ = *from;
	to -= to != path && to[-1] == '/';
	*to = '\0';
}

/* Names a tag by the rules, if that is a path that a tag can have. */
static int name_item(struct work *work, const struct rules *rules, struct item *item)
{
	const struct tag *tag = item->tag;
	unsigned long line;

	item->path = tag->id < FIRST_ID ? strdup(tag->path)
					: rules_apply(rules, RULE_TAG, tag->path, &line);
	if (!item->path)
		return -errno;
	if (tag->id < FIRST_ID)
		return 0;
	squeeze(item->path);
	item->fixed = *item->path ? FIRST_ID : MTAG_ID_UNTAGGED;
	if (line && label_is_reserved(item->path))
		return refuse(work, line, tag->path, item->path,
			      "which mtagctl itself calls pages that are no tag's");
	if (line && !utf8_is_printable(item->path, strlen(item->path)))
		return refuse(work, line, tag->path, item->path,
			      "but a tag's name is printable UTF-8");
	return 0;
}

static int list_items(struct work *work, const struct rules *rules)
{
	size_t n = 0, names = 0;
	int err;

	for (size_t i = 0; i < work->n_members; i++)
		n += work->members[i].proc->n_tags;
	work->items = calloc(n + 1, sizeof(*work->items));
	if (!work->items)
		return -ENOMEM;
	for (size_t i = 0; i < work->n_members; i++) {
		const struct member *member = &work->members[i];

		for (size_t j = 0; j < member->proc->n_tags; j++) {
			const struct tag *tag = &member->proc->tags[j];
			struct item *item = &work->items[work->n_items++];

			*item = (struct item){member->first, tag->id, NULL, tag,
					      heap_find(member->proc->heap, tag->id)};
			err = name_item(work, rules, item);
			if (err)
				return err;
			names += strlen(item->path);
			if (names > NAMES_MOST)
				return -E2BIG;
		}
	}
	if (n)
		qsort(work->items, n, sizeof(*work->items), by_place);
	return 0;
}

/* The path of the tag that was added last, and the ids of it and of those above it. */
struct place {
	const char *path;
	uint16_t ids[MTAG_DEPTH_MAX + 1];
	unsigned int depth, next;
};

/* Adds the components that the tag before does not have. */
static int add_below(struct proc *proc, struct place *place, const char *path)
{
	const char *rest = path, *old = place->path;
	unsigned int depth = 0;

	for (;; depth++) {
		size_t length = strcspn(rest, "/");

		if (depth >= place->depth || strcspn(old, "/") != length ||
		    strncmp(old, rest, length) != 0)
			break;
		old += length + (old[length] == '/');
		rest += length;
		if (!*rest++)
			return 0; /* the same path */
	}
	for (;; depth++) {
		size_t length = strcspn(rest, "/");
		char name[NAME_LENGTH + 1];

		if (length > NAME_LENGTH || depth == MTAG_DEPTH_MAX || place->next > UINT16_MAX)
			return -E2BIG;
		memcpy(name, rest, length);
		name[length] = '\0';
		place->ids[depth + 1] = (uint16_t)place->next++;
		if (!proc_add_tag(proc, place->ids[depth + 1], place->ids[depth], name))
			return -ENOMEM;
		place->depth = depth + 1;
		rest += length;
		if (!*rest++)
			return 0;
	}
}

/* To the tag that was added last. */
static int add_heap(struct heap_view *heap, uint16_t id, const struct heap_tag *from)
{
	struct heap_tag *tags = array_grow(heap->tags, heap->n, &heap->room, sizeof(*tags));

	if (!tags)
		return -ENOMEM;
	heap->tags = tags;
	if (!heap->n || tags[heap->n - 1].id != id)
		tags[heap->n++] = (struct heap_tag){.id = id};
	heap_sum_tag(&tags[heap->n - 1], from);
	return 0;
}

static int add_item(struct proc *proc, struct place *place, const struct item *item)
{
	struct tag *tag;
	int err = 0;

	if (item->fixed == FIRST_ID)
		err = add_below(proc, place, item->path);
	else if (!proc->n_tags || proc->tags[proc->n_tags - 1].id != item->fixed)
		err = proc_add_tag(proc, item->fixed, 0, item->path) ? 0 : -ENOMEM;
	if (err)
		return err;
	if (item->fixed == FIRST_ID)
		place->path = item->path;
	tag = &proc->tags[proc->n_tags - 1];
	for (size_t c = 0; c < MTAG_C_NR; c++)
		tag->c[c] += item->tag->c[c];
	for (size_t s = 0; s < MTAG_S_NR; s++)
		tag->s[s] += item->tag->s[s];
	return proc->heap && item->heap ? add_heap(proc->heap, tag->id, item->heap) : 0;
}

/* Those that are folded into one have a heap if all of them have. */
static void find_heapless(const struct work *work)
{
	for (size_t i = 0; i < work->n_members; i++) {
		const struct member *m = &work->members[i];

		if (m->proc->n_tags && !m->proc->heap)
			work->members[m->first].heapless = true;
	}
}

static int begin_heap(const struct work *work, const struct member *first, struct proc *proc)
{
	bool begins = true;

	if (first->heapless)
		return 0;
	if (!proc_heap(proc))
		return -ENOMEM;
	for (size_t i = 0; i < work->n_members; i++) {
		const struct member *m = &work->members[i];

		if (&work->members[m->first] != first || !m->proc->heap)
			continue;
		heap_sum_process(proc->heap, m->proc->heap, begins);
		begins = false;
	}
	return 0;
}

/* The health of those that were folded into one, and the cgroup if they all have the same. */
static void sum_processes(const struct work *work, struct snap *out)
{
	for (size_t i = 0; i < work->n_members; i++) {
		const struct member *m = &work->members[i];
		size_t place = work->members[m->first].place;
		struct proc *proc;

		if (!place)
			continue;
		proc = &out->procs[place - 1];
		proc->lost += m->proc->lost;
		proc->overflow += m->proc->overflow;
		proc->repairs += m->proc->repairs;
		if (strcmp(proc_cgroup(proc), proc_cgroup(m->proc)) != 0) {
			free(proc->cgroup);
			proc->cgroup = NULL;
		}
	}
}

/* They are known of all tags then: of the folded ones, and of the ones above, which have none. */
static void keep_shares(const struct work *work, struct snap *out)
{
	for (size_t i = 0; i < work->n_items; i++)
		if (!work->items[i].tag->shares)
			return;
	for (size_t i = 0; i < out->n_procs; i++)
		for (size_t j = 0; j < out->procs[i].n_tags; j++)
			out->procs[i].tags[j].shares = true;
}

static int build(const struct work *work, struct snap *out)
{
	struct place place = {0};
	struct proc *proc = NULL;
	int err = 0;

	find_heapless(work);
	for (size_t i = 0; i < work->n_items && !err; i++) {
		const struct item *item = &work->items[i];
		struct member *first = &work->members[item->first];

		if (!i || item[-1].first != item->first) {
			proc = snap_add_proc(out, first->proc->pid, first->comm);
			if (!proc ||
			    (first->proc->cgroup && proc_set_cgroup(proc, first->proc->cgroup)) ||
			    begin_heap(work, first, proc))
				return -ENOMEM;
			first->place = out->n_procs;
			place = (struct place){.path = "", .next = FIRST_ID};
		}
		err = add_item(proc, &place, item);
	}
	sum_processes(work, out);
	keep_shares(work, out);
	return err ? err : snap_finish(out);
}

int fold(const struct snap *snap, const struct rules *rules, struct snap *out,
	 struct refused *refused)
{
	_cleanup_(work_clear) struct work work = {.refused = refused};
	int err = group(&work, snap, rules);

	if (!err)
		err = list_items(&work, rules);
	return err ? err : build(&work, out);
}
