// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mtag: ioctls that act on the calling process or thread alone, one that serves all processes
 * of its user, and two that read another process. The file holds no state and need not be kept
 * open.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "access.h"
#include "account.h"
#include "bell.h"
#include "bytid.h"
#include "chardev.h"
#include "heap.h"
#include "mtag.h"
#include "owners.h"
#include "path.h"
#include "report.h"
#include "retag.h"
#include "shelf.h"
#include "space.h"
#include "stacks.h"
#include "state.h"
#include "thread.h"
#include "track.h"
#include "tree.h"
#include "watch.h"

union arg {
	struct mtag_ioc_attach attach;
	struct mtag_ioc_thread thread;
	struct mtag_ioc_child child;
	struct mtag_ioc_default def;
	struct mtag_ioc_range range;
	struct mtag_ioc_usage usage;
	struct mtag_ioc_path path;
	struct mtag_ioc_notify notify;
	struct mtag_ioc_stacks stacks;
	struct mtag_ioc_unwind unwind;
	struct mtag_ioc_heap heap;
	struct mtag_ioc_heap_read heap_read;
	struct mtag_ioc_owners owners;
};

/* May pages be charged to @tag in @s? */
static bool has_account(struct mtag_space *s, u32 tag)
{
	if (tag == MTAG_ID_UNTAGGED)
		return true;
	if (tag == MTAG_ID_KSM || !mtag_tree_has(s->tree, tag))
		return false;
	return tag < mtag_account_tags(s);
}

/* May the calling process assign memory to @tag? */
static bool may_use(struct mtag_space *s, u32 tag)
{
	return has_account(s, tag) && mtag_tree_sees(s, tag, current_euid());
}

/* The naming that the flags of an attach ask for, or -EINVAL. */
static int naming_of(u32 flags)
{
	switch (flags) {
	case 0:
		return MTAG_NAMING_NONE;
	case MTAG_ATTACH_BY_THREAD:
		return MTAG_NAMING_THREAD;
	case MTAG_ATTACH_BY_TID:
		return MTAG_NAMING_TID;
	case MTAG_ATTACH_BY_MAP:
		return MTAG_NAMING_MAP;
	default:
		return -EINVAL;
	}
}

static int do_attach(struct mtag_space *unused, union arg *arg)
{
	struct mtag_ioc_attach *a = &arg->attach;
	int err, naming = naming_of(a->flags);
	struct mtag_space *s;

	if (naming < 0 || !current->mm)
		return -EINVAL;
	s = mtag_space_current();
	/* Not live: wait for the first walk, or pages touched during it become untagged. */
	if (!s || !READ_ONCE(s->live)) {
		if (s)
			mtag_space_put(s);
		err = mtag_track_start(current->mm);
		if (err)
			return err;
		s = mtag_space_current();
	}
	if (!s) /* another task untracked it again meanwhile */
		return -EAGAIN;
	if (naming == MTAG_NAMING_MAP)
		mtag_space_change_slow(s, MTAG_SLOW_RANGE, 0);
	if (naming)
		WRITE_ONCE(s->naming, naming);
	a->version = MTAG_ABI_VERSION;
	a->default_tag = READ_ONCE(s->default_tag);
	mtag_space_put(s);
	return 0;
}

static int do_thread(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_thread *t = &arg->thread;

	if (t->flags || t->pad || t->word % sizeof(u32) || t->word != (unsigned long)t->word)
		return -EINVAL;
	if (t->word && !access_ok((u32 __user *)(unsigned long)t->word, sizeof(u32)))
		return -EFAULT;
	t->tag = 0;
	return mtag_thread_register(s, t->word, &t->tag);
}

static int do_child(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_child *c = &arg->child;
	char name[MTAG_NAME_MAX + 1];
	int id;

	if (c->flags || c->pad || !c->name_len)
		return -EINVAL;
	if (c->name_len > MTAG_NAME_MAX)
		return -ENAMETOOLONG;
	if (copy_from_user(name, u64_to_user_ptr(c->name), c->name_len))
		return -EFAULT;
	name[c->name_len] = '\0';
	id = mtag_tree_intern(s, c->parent, name, c->name_len);
	if (id < 0)
		return id;
	c->id = id;
	return 0;
}

static int do_default(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_default *d = &arg->def;

	if (d->flags)
		return -EINVAL;
	if (!may_use(s, d->tag))
		return -ENOENT;
	d->previous = xchg(&s->default_tag, d->tag);
	return 0;
}

static int do_range(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_range *r = &arg->range;
	u64 moved = 0, kept = 0;
	int err;

	if (r->flags & ~MTAG_RANGE_PRESENT || r->pad)
		return -EINVAL;
	if (!PAGE_ALIGNED(r->addr) || !r->len)
		return -EINVAL;
	if (r->len > TASK_SIZE || PAGE_ALIGN(r->len) > TASK_SIZE ||
	    r->addr > TASK_SIZE - PAGE_ALIGN(r->len))
		return -EINVAL;
	if (!may_use(s, r->tag))
		return -ENOENT;
	err = mtag_retag(s, r->addr, PAGE_ALIGN(r->len), r->tag, r->flags, &moved, &kept);
	r->moved = moved;
	r->kept = kept;
	return err;
}

static int do_usage(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_usage *u = &arg->usage;

	BUILD_BUG_ON(ARRAY_SIZE(u->counters) != MTAG_C_NR);
	if (u->flags || u->pad)
		return -EINVAL;
	memset(u->counters, 0, sizeof(u->counters));
	if (u->tag != MTAG_ID_KSM && !has_account(s, u->tag))
		return -ENOENT;
	return mtag_report_one(s, u->tag, u->counters);
}

static int do_path(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_path *p = &arg->path;
	u32 room = p->buf_len;
	char *buf;
	int err;

	if (p->flags)
		return -EINVAL;
	if (!mtag_tree_sees(s, p->tag, current_euid()))
		return -ENOENT;
	buf = kzalloc(MTAG_PATH_MAX, MTAG_GFP);
	if (!buf)
		return -ENOMEM;
	err = mtag_path_write(s->tree, p->tag, buf, MTAG_PATH_MAX);
	if (err >= 0) {
		p->buf_len = err;
		err = 0;
		if (p->buf_len > room)
			err = -ERANGE;
		else if (copy_to_user(u64_to_user_ptr(p->buf), buf, p->buf_len))
			err = -EFAULT;
	}
	kfree(buf);
	return err;
}

static int do_notify(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_notify *n = &arg->notify;

	if (n->flags)
		return -EINVAL;
	if (n->tag != MTAG_ID_KSM && !has_account(s, n->tag))
		return -ENOENT;
	return mtag_watch_set(s, n->tag, n->rss_bytes, n->fd, task_tgid(current));
}

static int do_stacks(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_stacks *st = &arg->stacks;
	struct mtag_bell *bell = NULL;

	if (!st->one_in || st->pad)
		return -EINVAL;
	if (st->fd != -1)
		bell = mtag_bell_get(st->fd);
	if (IS_ERR(bell))
		return PTR_ERR(bell);
	return mtag_stacks_start(s, current->mm, current_cred(), st->one_in, bell);
}

static int do_unwind(struct mtag_space *s, union arg *arg)
{
	const struct mtag_ioc_unwind *u = &arg->unwind;

	return mtag_shelf_add(u->fd, u64_to_user_ptr(u->table), u->bytes);
}

static int do_heap(struct mtag_space *s, union arg *arg)
{
	struct mtag_ioc_heap *h = &arg->heap;

	if (h->flags & ~(MTAG_HEAP_ASK | MTAG_HEAP_STACK) || h->stack)
		return -EINVAL;
	h->tag = mtag_thread_tag(s);
	mtag_bytid_keep(s->tree, h->tag);
	if (!h->flags)
		return mtag_heap_set(s, h->address, h->length);
	if (!(h->flags & MTAG_HEAP_ASK) || h->address || h->length)
		return -EINVAL;
	h->address = mtag_thread_word(s);
	if (h->flags & MTAG_HEAP_STACK)
		h->stack = mtag_heap_stack(s);
	return 0;
}

/*
 * The process that a call reads: @pid, or the caller's own if that is 0. The caller must
 * mtag_access_put() it. It makes the call itself, so its credentials are those that count.
 */
static int reads_process(struct mtag_target *t, u32 pid)
{
	int err;

	if (pid > INT_MAX)
		return -ESRCH;
	err = mtag_access_get(t, pid ? pid : task_tgid_vnr(current), MTAG_ACCESS_READ,
			      current_cred());
	if (!err && !t->space) {
		mtag_access_put(t);
		err = -ESRCH;
	}
	return err;
}

static int do_heap_read(struct mtag_space *unused, union arg *arg)
{
	struct mtag_ioc_heap_read *r = &arg->heap_read;
	struct mtag_target t;
	int err;

	if (r->flags || r->pad)
		return -EINVAL;
	err = reads_process(&t, r->pid);
	if (err)
		return err;
	err = mtag_heap_read(t.space, t.mm, r);
	mtag_access_put(&t);
	return err;
}

static int do_owners(struct mtag_space *unused, union arg *arg)
{
	struct mtag_ioc_owners *o = &arg->owners;
	struct mtag_target t;
	int err;

	if (o->flags || o->pad || o->span > o->nr_spans)
		return -EINVAL;
	err = reads_process(&t, o->pid);
	if (err)
		return err;
	err = mtag_owners_read(t.space, t.mm, o);
	mtag_access_put(&t);
	return err;
}

/**
 * struct ioctl_call - an ioctl
 * @run:	does it; the argument is copied back to user space if it returns
 *		0 or -ERANGE
 * @first:	size of the argument in version 1
 * @size:	size of the argument now
 * @any:	an untracked process may call it; @run finds the space itself
 */
struct ioctl_call {
	int (*run)(struct mtag_space *s, union arg *arg);
	u16 first;
	u16 size;
	bool any;
};

#define CALL(_run, _type, _first)	{ .run = _run, .first = _first, .size = sizeof(_type) }
#define CALL_ANY(_run, _type, _first)	\
	{ .run = _run, .first = _first, .size = sizeof(_type), .any = true }

static const struct ioctl_call calls[] = {	/* by number, from MTAG_IOC_ATTACH */
	CALL_ANY(do_attach, struct mtag_ioc_attach, 16),
	CALL(do_thread, struct mtag_ioc_thread, 24),
	CALL(do_child, struct mtag_ioc_child, 32),
	CALL(do_default, struct mtag_ioc_default, 16),
	CALL(do_range, struct mtag_ioc_range, 48),
	CALL(do_usage, struct mtag_ioc_usage, 168),
	CALL(do_path, struct mtag_ioc_path, 24),
	CALL(do_notify, struct mtag_ioc_notify, 24),
	CALL(do_stacks, struct mtag_ioc_stacks, 16),
	CALL_ANY(do_unwind, struct mtag_ioc_unwind, 24),
	CALL(do_heap, struct mtag_ioc_heap, 32),
	CALL_ANY(do_heap_read, struct mtag_ioc_heap_read, 56),
	CALL_ANY(do_owners, struct mtag_ioc_owners, 56),
};

static const struct ioctl_call *find_call(unsigned int cmd)
{
	unsigned int i = cmd - MTAG_IOC_ATTACH;

	BUILD_BUG_ON(MTAG_IOC_OWNERS - MTAG_IOC_ATTACH != ARRAY_SIZE(calls) - 1);
	if (i >= ARRAY_SIZE(calls))
		return NULL;
	return &calls[array_index_nospec(i, ARRAY_SIZE(calls))];
}

static int run_call(const struct ioctl_call *call, union arg *arg)
{
	struct mtag_space *s;
	int err;

	if (call->any)
		return call->run(NULL, arg);
	s = mtag_space_current();
	if (!s)
		return -ESRCH;
	err = call->run(s, arg);
	mtag_space_put(s);
	return err;
}

static long mtag_ioctl(struct file *file, unsigned int cmd, unsigned long argument)
{
	const struct ioctl_call *call = find_call(cmd);
	void __user *user = (void __user *)argument;
	union arg arg = {};
	u32 size;
	int err;

	if (!call)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < call->first)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&arg, call->size, user, size);
	if (err)
		return err;
	arg.attach.size = size;	/* the size that was checked */
	err = run_call(call, &arg);
	if ((!err || err == -ERANGE) && copy_to_user(user, &arg, min_t(u32, size, call->size)))
		err = -EFAULT;
	return err;
}

static const struct file_operations mtag_fops = {
	.owner		= THIS_MODULE,
	.open		= nonseekable_open,
	.unlocked_ioctl	= mtag_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice mtag_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "mtag",
	.mode	= 0666,
	.fops	= &mtag_fops,
};

/**
 * mtag_chardev_init() - create /dev/mtag, which may be opened at once
 *
 * Context: module load. May sleep.
 * Return: 0, or an error of misc_register().
 */
int mtag_chardev_init(void)
{
	return misc_register(&mtag_device);
}

/* Context: module unload: no file is open. May sleep. */
void mtag_chardev_exit(void)
{
	misc_deregister(&mtag_device);
}
