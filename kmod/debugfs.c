// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/mtag/: files for people. stats shows every process and its
 * tags as a tree, hooks what is installed and how, health the module's own
 * counters.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>
#include "access.h"
#include "debugfs.h"
#include "hook.h"
#include "memory.h"
#include "mtag.h"
#include "report.h"
#include "request.h"
#include "space.h"
#include "state.h"

/* The tags of a report, linked as a tree; 0, which is never a child, means none. */
struct links {
	u16 parent;
	u16 child;	/* the first */
	u16 next;	/* sibling */
};

/**
 * struct stats - a reader of stats, kept from one read(2) to the next
 * @pos:	next line
 * @bucket:	cursor of mtag_space_next()
 * @space:	of the process being shown
 * @report:	of that process
 * @links:	its tags as a tree, by id
 * @process:	its pid and name
 * @row:	the tag being shown
 * @depth:	of that tag
 * @header:	show the process itself before its first tag
 * @err:	error to return once the lines before it are read
 */
struct stats {
	loff_t pos;
	unsigned int bucket;
	struct mtag_space *space;
	struct mtag_report *report;
	struct links *links;
	struct mtag_process process;
	struct mtag_row row;
	unsigned int depth;
	bool header;
	int err;
};

static void report_drop(struct stats *st)
{
	kvfree(st->links);
	mtag_report_put(st->report);
	st->links = NULL;
	st->report = NULL;
}

static void stats_reset(struct stats *st)
{
	report_drop(st);
	if (st->space)
		mtag_space_put(st->space);
	memset(st, 0, sizeof(*st));
}

static int link_tags(struct stats *st)
{
	struct mtag_report *r = st->report;
	struct links *links;
	u32 tag;

	links = mtag_memory_get(r->nr_tags * sizeof(*links), MTAG_GFP | __GFP_ZERO);
	if (!links)
		return -ENOMEM;
	/* From last to first, so that siblings are in ascending order. */
	for (tag = r->nr_tags; tag-- > MTAG_ID_FIRST;) {
		u32 parent;

		if (!mtag_report_row(r, tag, &st->row) || st->row.parent >= tag)
			continue;
		parent = st->row.parent;
		links[tag].parent = parent;
		links[tag].next = links[parent].child;
		links[parent].child = tag;
	}
	st->links = links;
	return 0;
}

/* Return: 1 if @st->space is shown; 0 if not; or an error. Context: the reader's. */
static int open_space(struct stats *st)
{
	struct task_struct *task;
	bool seen;

	if (mtag_space_parked(st->space))
		return 0;
	task = mtag_access_owner(st->space);
	if (!task)
		return 0;
	seen = mtag_access_name(task, task_active_pid_ns(current), &st->process);
	put_task_struct(task);
	if (!seen)
		return 0;
	st->report = mtag_report_get(st->space);
	if (IS_ERR(st->report)) {
		int err = PTR_ERR(st->report);

		st->report = NULL;
		/* No longer tracked, or not counted yet. */
		return err == -ESRCH || err == -EAGAIN ? 0 : err;
	}
	return link_tags(st) ?: 1;
}

/* Goes on to the next process and its untagged memory, which is always shown. */
static int next_space(struct stats *st)
{
	int shown = 0;

	report_drop(st);
	while (!shown) {
		st->space = mtag_space_next(st->space, &st->bucket);
		if (!st->space)
			return 0;
		shown = open_space(st);
		cond_resched();
	}
	if (shown < 0)
		return shown;
	st->header = true;
	st->depth = 0;
	mtag_report_row(st->report, MTAG_ID_UNTAGGED, &st->row);
	return 1;
}

/* The tag after @tag, depth first; 0 at the end. */
static u32 next_tag(struct stats *st, u32 tag)
{
	const struct links *links = st->links;

	if (links[tag].child) {
		st->depth += tag != MTAG_ID_UNTAGGED;
		return links[tag].child;
	}
	while (tag && !links[tag].next) {
		tag = links[tag].parent;
		if (tag)
			st->depth--;
	}
	return links[tag].next;
}

static int stats_advance(struct stats *st)
{
	u32 tag = st->row.id;

	if (!st->report)
		return next_space(st);
	st->header = false;
	if (tag == MTAG_ID_UNTAGGED && st->report->nr_tags > MTAG_ID_KSM &&
	    mtag_report_row(st->report, MTAG_ID_KSM, &st->row))
		return 1;
	tag = next_tag(st, tag == MTAG_ID_KSM ? MTAG_ID_UNTAGGED : tag);
	if (!tag)
		return next_space(st);
	mtag_report_row(st->report, tag, &st->row);
	return 1;
}

static void *stats_move(struct stats *st)
{
	int more = stats_advance(st);

	st->err = min(more, 0);
	return st->err ? ERR_PTR(st->err) : more ? st : NULL;
}

static void *stats_start(struct seq_file *m, loff_t *pos)
{
	struct stats *st = m->private;

	if (*pos && *pos == st->pos)
		return st->err ? ERR_PTR(st->err) : st->report ? st : NULL;
	stats_reset(st);
	if (*pos)	/* to seek, seq_file counts from the start */
		return NULL;
	return stats_move(st);
}

static void *stats_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct stats *st = m->private;

	st->pos = ++*pos;
	return stats_move(st);
}

static void stats_stop(struct seq_file *m, void *v)
{
}

static void show_header(struct seq_file *m, const struct stats *st)
{
	seq_printf(m, "%s%d ", st->pos ? "\n" : "", st->process.pid);
	seq_escape_str(m, st->process.comm, ESCAPE_SPACE | ESCAPE_SPECIAL, "\n\\");
	seq_printf(m, "\n%-18s %7s %7s %7s %7s %7s %7s %7s %5s\n", "TAG (KiB)", "RSS", "ANON",
		   "FILE", "SHMEM", "SWAP", "PEAK", "VIRT", "CALLS");
}

static int stats_show(struct seq_file *m, void *v)
{
	const struct stats *st = v;
	const u64 *c = st->row.counters;
	int indent = 2 * st->depth;
	u64 calls = 0;
	int i;

	if (st->header)
		show_header(m, st);
	for (i = MTAG_C_MMAPS; i < MTAG_C_MMAP_BYTES; i++)
		calls += c[i];
	seq_printf(m, "%*s%-*s", indent, "", max(18 - indent, 0),
		   st->row.id ? st->row.name : "[untagged]");
	seq_printf(m, " %7llu %7llu %7llu %7llu %7llu %7llu %7llu %5llu\n",
		   (c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM]) >> 10,
		   c[MTAG_C_ANON] >> 10, c[MTAG_C_FILE] >> 10, c[MTAG_C_SHMEM] >> 10,
		   c[MTAG_C_SWAP] >> 10, c[MTAG_C_PEAK] >> 10, c[MTAG_C_VIRT] >> 10, calls);
	return 0;
}

static const struct seq_operations stats_ops = {
	.start	= stats_start,
	.next	= stats_next,
	.stop	= stats_stop,
	.show	= stats_show,
};

static int stats_open(struct inode *inode, struct file *file)
{
	/* An open file would not keep the text of a load that fails. */
	if (!mtag_request_allowed())
		return -ENXIO;
	return seq_open_private(file, &stats_ops, sizeof(struct stats));
}

static int stats_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	stats_reset(m->private);
	return seq_release_private(inode, file);
}

static const struct file_operations stats_fops = {
	.owner		= THIS_MODULE,
	.open		= stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= stats_release,
};

static int health_show(struct seq_file *m, void *v)
{
	const char *name;
	unsigned int i;
	u64 value;

	seq_printf(m, "mode %s\n", mtag_hook_mode());
	for (i = 0; (name = mtag_report_health(i, &value)); i++)
		seq_printf(m, "%s %llu\n", name, value);
	return 0;
}

static int hooks_show(struct seq_file *m, void *v)
{
	return mtag_hook_show(m);
}

/* Of a file with a text without state: its data is the function that shows it. */
static int text_open(struct inode *inode, struct file *file)
{
	if (!mtag_request_allowed())
		return -ENXIO;
	return single_open(file, inode->i_private, NULL);
}

static const struct file_operations text_fops = {
	.owner		= THIS_MODULE,
	.open		= text_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static const struct {
	const char *name;
	const struct file_operations *fops;
	int (*show)(struct seq_file *m, void *v);
} files[] = {
	{ "stats", &stats_fops },
	{ "hooks", &text_fops, hooks_show },
	{ "health", &text_fops, health_show },
};

static struct dentry *debugfs_dir;

/* Nothing depends on debugfs: a kernel may lack it, but lack of memory fails the load. */
int mtag_debugfs_init(void)
{
	struct dentry *file;
	int i;

	debugfs_dir = debugfs_create_dir("mtag", NULL);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		file = debugfs_create_file(files[i].name, 0400, debugfs_dir, files[i].show,
					   files[i].fops);
		if (PTR_ERR(file) == -ENOMEM) {
			debugfs_remove_recursive(debugfs_dir);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Removes the files, and waits for those who are reading. Context: may sleep. */
void mtag_debugfs_exit(void)
{
	debugfs_remove_recursive(debugfs_dir);
}
