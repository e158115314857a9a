// SPDX-License-Identifier: GPL-2.0
/*
 * The request of the netlink family to take the stacks of a process and of its relatives.
 */
#include <linux/cred.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <net/sock.h>
#include "access.h"
#include "bell.h"
#include "message.h"
#include "mtag.h"
#include "request.h"
#include "space.h"
#include "stacks.h"
#include "start_stacks.h"
#include "state.h"

/*
 * Begins in @s, which has the tree of @of, if the sender may: who is told of files of the one is
 * told of those of the other. Return: whether, or an error.
 */
static int start_relative(struct mtag_space *s, struct mtag_space *of, unsigned int one_in,
			  const struct cred *opener)
{
	struct task_struct *task = mtag_access_owner(s);
	const struct cred *cred;
	struct mm_struct *mm;
	int err = 0;

	if (!task)
		return 0;
	mm = mtag_access_mm(task, MTAG_ACCESS_TRACK, opener, &cred);
	put_task_struct(task);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	if (!mtag_space_stacks(s))
		err = mtag_stacks_start(s, mm, cred, one_in, mtag_bell_of(of)) ?:
		      mtag_space_stacks(s);
	put_cred(cred);
	mmput(mm);
	return err;
}

/*
 * One pass over the tree of @of: begins in every space that the sender may track. Processes that
 * end meanwhile are left out. Return: whether it has begun in any, or an error.
 */
static int start_pass(struct mtag_space *of, unsigned int one_in, const struct cred *opener)
{
	struct mtag_space *s = NULL;
	unsigned int bucket = 0;
	int begun = 0, err = 0;

	while ((s = mtag_space_next(s, &bucket))) {
		if (s->tree == of->tree && !mtag_space_parked(s))
			err = start_relative(s, of, one_in, opener);
		begun |= err > 0;
		if (err == -EINTR || err == -ENOMEM) {
			mtag_space_put(s);
			return err;
		}
		cond_resched();
	}
	return begun;
}

/*
 * Repeat: a relative may fork before we reach it, and its child may be in a bucket that we have
 * passed. Relatives that go on doing so, or that begin to be tracked anew, keep us here.
 */
static int start_tree(struct mtag_space *of, unsigned int one_in, const struct cred *opener)
{
	int ret;

	do
		ret = start_pass(of, one_in, opener);
	while (ret > 0 && !fatal_signal_pending(current));
	return ret > 0 ? -EINTR : ret;
}

/**
 * mtag_start_stacks() - take the stacks of a process and its tree
 * @r:		the request
 *
 * Return: as an answer of request.c.
 */
int mtag_start_stacks(struct mtag_request *r)
{
	const struct nlattr *one_in = nlmsg_find_attr(r->nlh, GENL_HDRLEN, MTAG_A_STACK_ONE_IN);
	const struct nlattr *fd = nlmsg_find_attr(r->nlh, GENL_HDRLEN, MTAG_A_STACK_FD);
	struct mtag_bell *bell = NULL;
	struct mtag_target t;
	int err;

	if (!one_in || !nla_get_u32(one_in)) {
		NL_SET_ERR_MSG(&r->extack, "stack-one-in is missing, or 0");
		return -EINVAL;
	}
	err = mtag_request_target(&t, MTAG_ACCESS_TRACK, r);
	if (err)
		return err;
	if (fd)
		bell = mtag_bell_get(nla_get_u32(fd));
	if (IS_ERR(bell)) {
		NL_SET_ERR_MSG(&r->extack, "stack-fd is not an eventfd");
		err = PTR_ERR(bell);
	} else {
		err = mtag_stacks_start(t.space, t.mm, t.cred, nla_get_u32(one_in), bell);
		if (!err)
			err = start_tree(t.space, nla_get_u32(one_in), r->opener);
		err = mtag_message_explain(&r->extack, err);
	}
	mtag_access_put(&t);
	return err;
}
