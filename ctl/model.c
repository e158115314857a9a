// SPDX-License-Identifier: GPL-2.0
/* Processes and tags. A reader adds them and finishes the snapshot, which is then read-only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "model.h"

struct proc *snap_add_proc(struct snap *snap, pid_t pid, const char *comm)
{
	struct proc *proc = array_grow(snap->procs, snap->n_procs, &snap->room, sizeof(*proc));

	if (!proc)
		return NULL;
	snap->procs = proc;
	proc += snap->n_procs;
	*proc = (struct proc){.pid = pid, .comm = strdup(comm)};
	if (!proc->comm)
		return NULL;
	snap->n_procs++;
	return proc;
}

struct proc *snap_move_proc(struct snap *snap, struct proc *proc)
{
	struct proc *procs = array_grow(snap->procs, snap->n_procs, &snap->room, sizeof(*procs));

	if (!procs)
		return NULL;
	snap->procs = procs;
	procs[snap->n_procs] = *proc;
	*proc = (struct proc){.pid = proc->pid};
	return &procs[snap->n_procs++];
}

struct proc *snap_proc(struct snap *snap, pid_t pid, const char *comm)
{
	/* The messages of one process follow each other. */
	if (snap->n_procs && snap->procs[snap->n_procs - 1].pid == pid)
		return &snap->procs[snap->n_procs - 1];
	return snap_add_proc(snap, pid, comm);
}

int proc_set_cgroup(struct proc *proc, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(proc->cgroup);
	proc->cgroup = copy;
	return 0;
}

const char *proc_cgroup(const struct proc *proc)
{
	return proc->cgroup ? proc->cgroup : "";
}

struct stacks *proc_stacks(struct proc *proc)
{
	if (!proc->stacks)
		proc->stacks = calloc(1, sizeof(*proc->stacks));
	return proc->stacks;
}

struct heap_view *proc_heap(struct proc *proc)
{
	if (!proc->heap)
		proc->heap = calloc(1, sizeof(*proc->heap));
	return proc->heap;
}

struct tag *proc_add_tag(struct proc *proc, uint16_t id, uint16_t parent, const char *name)
{
	struct tag *tag = array_grow(proc->tags, proc->n_tags, &proc->room, sizeof(*tag));

	if (!tag)
		return NULL;
	proc->tags = tag;
	tag += proc->n_tags;
	*tag = (struct tag){.id = id, .parent_id = parent, .parent = -1, .name = strdup(name)};
	if (!tag->name)
		return NULL;
	proc->n_tags++;
	return tag;
}

static void tag_clear(struct tag *tag)
{
	free(tag->name);
	free(tag->path);
	free(tag->file);
	free(tag->module);
	free(tag->build_id);
}

static void proc_clear(struct proc *proc)
{
	for (size_t j = 0; j < proc->n_tags; j++)
		tag_clear(&proc->tags[j]);
	free(proc->tags);
	free(proc->order);
	free(proc->comm);
	free(proc->cgroup);
	if (proc->stacks)
		stacks_clear(proc->stacks);
	free(proc->stacks);
	if (proc->heap)
		heap_view_clear(proc->heap);
	free(proc->heap);
}

void snap_clear(struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		proc_clear(&snap->procs[i]);
	free(snap->procs);
	*snap = (struct snap){0};
}

uint64_t tag_rss(const struct tag *tag)
{
	return tag->c[MTAG_C_ANON] + tag->c[MTAG_C_FILE] + tag->c[MTAG_C_SHMEM];
}

bool tag_is_shown(const struct tag *tag)
{
	if (tag->id != MTAG_ID_KSM)
		return true;
	for (size_t i = 0; i < MTAG_C_NR; i++)
		if (tag->c[i])
			return true;
	return false;
}

void proc_sum(const struct proc *proc, uint64_t sum[MTAG_C_NR])
{
	memset(sum, 0, MTAG_C_NR * sizeof(*sum));
	for (size_t i = 0; i < proc->n_tags; i++)
		for (size_t c = 0; c < MTAG_C_NR; c++)
			sum[c] += proc->tags[i].c[c];
}

static int by_tag_id(const void *a, const void *b)
{
	const struct tag *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

const struct tag *proc_find_tag(const struct proc *proc, uint16_t id)
{
	struct tag key = {.id = id};

	if (!proc->n_tags)
		return NULL;
	return bsearch(&key, proc->tags, proc->n_tags, sizeof(key), by_tag_id);
}

const struct tag *proc_find_path(const struct proc *proc, const char *path)
{
	for (size_t i = 0; i < proc->n_tags; i++)
		if (!strcmp(proc->tags[i].path, path))
			return &proc->tags[i];
	return NULL;
}

/* Sorts by id. Of tags with the same id, which a sane kernel does not send, one is kept. */
static void sort_tags(struct proc *proc)
{
	size_t n = 0;

	if (proc->n_tags)
		qsort(proc->tags, proc->n_tags, sizeof(*proc->tags), by_tag_id);
	for (size_t i = 0; i < proc->n_tags; i++) {
		if (n && proc->tags[n - 1].id == proc->tags[i].id)
			tag_clear(&proc->tags[i]);
		else
			proc->tags[n++] = proc->tags[i];
	}
	proc->n_tags = n;
}

/*
 * A parent has the smaller id, so it is complete before its children. A tag that breaks this rule,
 * exceeds the depth limit or lacks its parent becomes a top-level tag.
 */
static int link_tag(struct proc *proc, struct tag *tag)
{
	const struct tag *parent = NULL;

	if (tag->parent_id != MTAG_ID_UNTAGGED && tag->parent_id < tag->id)
		parent = proc_find_tag(proc, tag->parent_id);
	if (parent && parent->depth < MTAG_DEPTH_MAX) {
		tag->parent = (int)(parent - proc->tags);
		tag->depth = parent->depth + 1;
		if (asprintf(&tag->path, "%s/%s", parent->path, tag->name) < 0)
			tag->path = NULL;
	} else {
		tag->parent = -1;
		tag->depth = tag->id != MTAG_ID_UNTAGGED;
		tag->path = strdup(tag->id == MTAG_ID_UNTAGGED ? "" : tag->name);
	}
	return tag->path ? 0 : -ENOMEM;
}

struct order {
	const struct tag *tags;
	bool by_size;
};

static int by_parent(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	const struct tag *x = &order->tags[*(const size_t *)a];
	const struct tag *y = &order->tags[*(const size_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (order->by_size && x->total_rss != y->total_rss)
		return x->total_rss > y->total_rss ? -1 : 1;
	if (by_tag_id(x, y))
		return by_tag_id(x, y);
	return (x > y) - (x < y); /* frames have no id */
}

/*
 * The children of @parent begin at kids[first[parent + 1]]. MTAG_DEPTH_MAX bounds the recursion, and the length of
 * a stack.
 */
static size_t put_below(const struct proc *proc, const size_t *kids, const size_t *first,
			int parent, size_t *out)
{
	size_t n = 0;

	for (size_t k = first[parent + 1]; k < proc->n_tags; k++) {
		if (proc->tags[kids[k]].parent != parent)
			break;
		out[n++] = kids[k];
		n += put_below(proc, kids, first, (int)kids[k], out + n);
	}
	return n;
}

static int put_order(const struct proc *proc, bool by_size, size_t *out)
{
	struct order order = {proc->tags, by_size};
	size_t n = proc->n_tags;
	_cleanup_(freep) size_t *kids = calloc(n + 1, sizeof(*kids));
	_cleanup_(freep) size_t *first = calloc(n + 1, sizeof(*first));

	if (!kids || !first)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		kids[i] = i;
	qsort_r(kids, n, sizeof(*kids), by_parent, &order);
	for (size_t i = 0; i <= n; i++)
		first[i] = n;
	for (size_t k = n; k-- > 0;)
		first[proc->tags[kids[k]].parent + 1] = k;
	put_below(proc, kids, first, -1, out);
	return 0;
}

int proc_order_by_size(const struct proc *proc, size_t *out)
{
	return put_order(proc, true, out);
}

/* Sums. A parent has a lower index than its children. */
static void proc_total(struct proc *proc)
{
	proc->shares = proc->n_tags;
	proc->rss = 0;
	memset(proc->s, 0, sizeof(proc->s));
	for (size_t i = 0; i < proc->n_tags; i++) {
		struct tag *tag = &proc->tags[i];

		tag->total_rss = tag_rss(tag);
		memcpy(tag->total_s, tag->s, sizeof(tag->total_s));
	}
	for (size_t i = proc->n_tags; i-- > 0;) {
		const struct tag *tag = &proc->tags[i];
		struct tag *parent = tag->parent >= 0 ? &proc->tags[tag->parent] : NULL;

		if (parent)
			parent->total_rss += tag->total_rss;
		for (size_t s = 0; s < MTAG_S_NR; s++) {
			if (parent)
				parent->total_s[s] += tag->total_s[s];
			proc->s[s] += tag->s[s];
		}
		proc->rss += tag_rss(tag);
		proc->shares &= tag->shares;
	}
}

static int proc_order(struct proc *proc, bool by_size)
{
	free(proc->order);
	proc->order = calloc(proc->n_tags + 1, sizeof(*proc->order));
	return proc->order ? put_order(proc, by_size, proc->order) : -ENOMEM;
}

static int proc_finish(struct proc *proc)
{
	sort_tags(proc);
	if (proc->heap)
		heap_sort(proc->heap);
	for (size_t i = 0; i < proc->n_tags; i++)
		if (link_tag(proc, &proc->tags[i]))
			return -ENOMEM;
	proc_total(proc);
	return proc_order(proc, false);
}

struct tag *proc_add_frame(struct proc *proc, int parent, const char *name)
{
	struct tag *tag = proc_add_tag(proc, MTAG_ID_MAX + 1, MTAG_ID_UNTAGGED, name);

	if (!tag)
		return NULL;
	tag->frame = true;
	tag->parent = parent;
	tag->depth = parent < 0 ? 1 : proc->tags[parent].depth + 1;
	tag->path = strdup(name);
	return tag->path ? tag : NULL;
}

bool snap_has_frames(const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		if (snap->procs[i].n_tags && snap->procs[i].tags[snap->procs[i].n_tags - 1].frame)
			return true;
	return false;
}

int proc_finish_frames(struct proc *proc)
{
	proc_total(proc);
	return proc_order(proc, true);
}

static int by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Sorts by pid. A process that executes another program meanwhile may come twice: one is kept. */
static void sort_procs(struct snap *snap)
{
	size_t n = 0;

	if (snap->n_procs)
		qsort(snap->procs, snap->n_procs, sizeof(*snap->procs), by_pid);
	for (size_t i = 0; i < snap->n_procs; i++) {
		if (n && snap->procs[n - 1].pid == snap->procs[i].pid)
			proc_clear(&snap->procs[i]);
		else
			snap->procs[n++] = snap->procs[i];
	}
	snap->n_procs = n;
}

int snap_finish(struct snap *snap)
{
	sort_procs(snap);
	for (size_t i = 0; i < snap->n_procs; i++) {
		int err = proc_finish(&snap->procs[i]);

		if (err)
			return err;
	}
	return 0;
}
