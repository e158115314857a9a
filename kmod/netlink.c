// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "mtag": docs/netlink/mtag.yaml describes it.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "access.h"
#include "account.h"
#include "count.h"
#include "dump.h"
#include "dump_stacks.h"
#include "history.h"
#include "hook.h"
#include "message.h"
#include "mtag.h"
#include "netlink.h"
#include "notify.h"
#include "recall.h"
#include "report.h"
#include "request.h"
#include "resolve.h"
#include "stat.h"
#include "start_stacks.h"
#include "state.h"
#include "track.h"
#include "tree.h"
#include "walk.h"
#include "watch.h"

/* ---- messages ---- */

/* Sends the requester a reply, which @fill fills in. */
static int send_reply(struct net *net, u32 portid, const struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack,
		      int (*fill)(struct sk_buff *skb, const void *data), const void *data)
{
	const struct genlmsghdr *genl = nlmsg_data(nlh);
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return mtag_message_explain(extack, -ENOMEM);
	hdr = mtag_message_begin(skb, portid, nlh->nlmsg_seq, 0, genl->cmd);
	if (!hdr || fill(skb, data)) {
		nlmsg_free(skb);
		return mtag_message_explain(extack, -EMSGSIZE);
	}
	genlmsg_end(skb, hdr);
	return genlmsg_unicast(net, skb, portid);
}

static int request_reply(struct mtag_request *r,
			 int (*fill)(struct sk_buff *skb, const void *data), const void *data)
{
	return send_reply(sock_net(r->sk), r->portid, r->nlh, &r->extack, fill, data);
}

/* ---- do ---- */

static int fill_info(struct sk_buff *skb, const void *unused)
{
	if (nla_put_string(skb, MTAG_A_INFO_VERSION, THIS_MODULE->version ?: "") ||
	    nla_put_string(skb, MTAG_A_INFO_MODE, mtag_hook_mode()) ||
	    nla_put_u32(skb, MTAG_A_INFO_INSTALLED, mtag_hook_installed()) ||
	    nla_put_u32(skb, MTAG_A_INFO_PROCS, atomic_read(&mtag_stat.tracked)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_ENDED, atomic64_read(&mtag_stat.ended)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_DRIFT, atomic64_read(&mtag_stat.drift)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_LOST, atomic64_read(&mtag_stat.lost)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_OVERFLOW, atomic64_read(&mtag_stat.overflow)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_REPAIRS, atomic64_read(&mtag_stat.repairs)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_MEMORY, atomic64_read(&mtag_stat.memory)) ||
	    nla_put_u32(skb, MTAG_A_INFO_HISTORY, atomic64_read(&mtag_stat.history)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_HISTORY_DROPPED,
				 atomic64_read(&mtag_stat.history_dropped)) ||
	    mtag_message_put_u64(skb, MTAG_A_INFO_HISTORY_LOST,
				 atomic64_read(&mtag_stat.history_lost)))
		return -EMSGSIZE;
	return 0;
}

static int info_get(struct sk_buff *skb, struct genl_info *info)
{
	return send_reply(genl_info_net(info), info->snd_portid, info->nlhdr, info->extack,
			  fill_info, NULL);
}

static int history_clear(struct sk_buff *skb, struct genl_info *info)
{
	if (!netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(info->extack, "forgetting the history needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	mtag_history_clear();
	return 0;
}

struct proc_reply {
	struct mtag_target target;
	struct mtag_report *report;
};

static int fill_proc(struct sk_buff *skb, const void *data)
{
	const struct proc_reply *p = data;

	return mtag_message_put_sums(skb, &p->target.process, p->report);
}

static int proc_get(struct mtag_request *r)
{
	struct proc_reply p;
	int err = mtag_request_target(&p.target, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	p.report = mtag_report_totals(p.target.space);
	if (IS_ERR(p.report)) {
		err = mtag_message_explain(&r->extack, PTR_ERR(p.report));
	} else {
		err = request_reply(r, fill_proc, &p);
		mtag_report_put(p.report);
	}
	mtag_access_put(&p.target);
	return err;
}

static int do_track(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_request_process(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	err = mtag_message_explain(&r->extack, t.space ? 0 : mtag_track_start(t.mm));
	mtag_access_put(&t);
	return err;
}

static int do_untrack(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_request_target(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	err = mtag_track_stop(t.mm);
	if (err == -ESRCH) /* another task was faster */
		err = -ENOENT;
	mtag_access_put(&t);
	return mtag_message_explain(&r->extack, err);
}

struct audit_reply {
	struct mtag_target target;
	struct mtag_audit audit;
};

static int fill_audit(struct sk_buff *skb, const void *data)
{
	const struct audit_reply *a = data;
	const struct mtag_space *s = a->target.space;

	if (mtag_message_put_process(skb, &a->target.process) ||
	    mtag_message_put_pages(skb, MTAG_A_AUDIT_KERNEL_RSS, a->audit.kernel) ||
	    mtag_message_put_pages(skb, MTAG_A_AUDIT_WALKED, a->audit.walked) ||
	    mtag_message_put_pages(skb, MTAG_A_AUDIT_ACCOUNTED, a->audit.accounted) ||
	    mtag_message_put_u64(skb, MTAG_A_AUDIT_DRIFT, a->audit.drift) ||
	    mtag_message_put_u64(skb, MTAG_A_AUDIT_MIGRATING, a->audit.migrating) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_LOST, atomic64_read(&s->lost)) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_OVERFLOW, atomic64_read(&s->overflow)))
		return -EMSGSIZE;
	return 0;
}

static int do_audit(struct mtag_request *r)
{
	struct audit_reply a = {};
	int err = mtag_request_target(&a.target, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	err = mtag_walk_audit(a.target.space, a.target.mm, &a.audit);
	err = mtag_message_explain(&r->extack, err);
	if (!err)
		err = request_reply(r, fill_audit, &a);
	mtag_access_put(&a.target);
	return err;
}

static int do_reset(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_request_target(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	mtag_account_reset_peaks(t.space);
	mtag_access_put(&t);
	return 0;
}

/* The attribute @type of a request, whose op has it in its policy; NULL if it is missing. */
static const struct nlattr *get_attribute(struct mtag_request *r, int type)
{
	const struct nlattr *attr = nlmsg_find_attr(r->nlh, GENL_HDRLEN, type);

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(&r->extack, NULL, type);
		NL_SET_ERR_MSG(&r->extack, "one of tag-id, limit-bytes, limit-fd is missing");
	}
	return attr;
}

static int do_limit(struct mtag_request *r)
{
	const struct nlattr *tag = get_attribute(r, MTAG_A_TAG_ID);
	const struct nlattr *bytes = get_attribute(r, MTAG_A_LIMIT_BYTES);
	const struct nlattr *fd = get_attribute(r, MTAG_A_LIMIT_FD);
	struct mtag_target t;
	struct pid *pid;
	int err;

	if (!tag || !bytes || !fd)
		return -EINVAL;
	err = mtag_request_target(&t, MTAG_ACCESS_READ, r);
	if (err)
		return err;
	/* The task may be reaped meanwhile: then it has none, and its pid goes. */
	pid = get_task_pid(t.task, PIDTYPE_TGID);
	if (nla_get_u16(tag) <= MTAG_ID_KSM || mtag_tree_has(t.space->tree, nla_get_u16(tag)))
		err = mtag_watch_set(t.space, nla_get_u16(tag), nla_get_u64(bytes),
				     nla_get_u32(fd), pid);
	else
		err = -ENOENT;
	put_pid(pid);
	mtag_access_put(&t);
	if (err)
		r->extack._msg = mtag_watch_why(err);
	return err;
}

/* ---- requests that may wait go through request.c ---- */

static int request_do(struct sk_buff *skb, struct genl_info *info, mtag_request_t *run)
{
	return mtag_request(skb, info->nlhdr, info->attrs[MTAG_A_PROC_PID], run);
}

#define LATER(_run)							\
	static int _run##_later(struct sk_buff *skb, struct genl_info *info) \
	{								\
		return request_do(skb, info, _run);			\
	}

LATER(proc_get)
LATER(do_track)
LATER(do_untrack)
LATER(do_audit)
LATER(do_reset)
LATER(do_limit)
LATER(mtag_start_stacks)

/* Never returns 0, so that the core does not begin a dump of its own. */
static int request_dump(struct netlink_callback *cb, mtag_request_t *run)
{
	return mtag_request(cb->skb, cb->nlh,
			    nlmsg_find_attr(cb->nlh, GENL_HDRLEN, MTAG_A_PROC_PID), run);
}

static int dump_procs_start(struct netlink_callback *cb)
{
	return request_dump(cb, mtag_dump_procs);
}

static int dump_tags_start(struct netlink_callback *cb)
{
	return request_dump(cb, mtag_dump_tags);
}

static int dump_shares_start(struct netlink_callback *cb)
{
	return request_dump(cb, mtag_dump_shares);
}

static int dump_stacks_start(struct netlink_callback *cb)
{
	return request_dump(cb, mtag_dump_stacks);
}

static int dump_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	return 0;
}

/* ---- the family ---- */

/* Not const: nla_policy points to a non-const range in 6.1. */
static struct netlink_range_validation pid_range = { .min = 1, .max = INT_MAX };

static const struct nla_policy pid_policy[MTAG_A_PROC_PID + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
};

static const struct nla_policy tags_policy[MTAG_A_TAG_BRIEF + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
	[MTAG_A_TAG_BRIEF] = { .type = NLA_FLAG },
};

static const struct nla_policy limit_policy[MTAG_A_LIMIT_FD + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
	[MTAG_A_TAG_ID] = { .type = NLA_U16 },
	[MTAG_A_LIMIT_BYTES] = { .type = NLA_U64 },
	[MTAG_A_LIMIT_FD] = { .type = NLA_U32 },
};

static const struct nla_policy stack_start_policy[MTAG_A_STACK_FD + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
	[MTAG_A_STACK_ONE_IN] = { .type = NLA_U32 },
	[MTAG_A_STACK_FD] = { .type = NLA_U32 },
};

static const struct nla_policy stack_policy[MTAG_A_STACK_NAMED + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
	[MTAG_A_STACK_OLDER] = { .type = NLA_U32 },
	[MTAG_A_STACK_NAMED] = { .type = NLA_FLAG },
};

/*
 * Accepts no attribute. For an op without a policy, 7.2 uses one of its own that
 * rejects all, but reads it up to the family's last attribute.
 */
static const struct nla_policy no_policy[] = {
	{ .type = NLA_REJECT },
	{ .type = NLA_REJECT },
};

#define WITH_PID	.policy = pid_policy, .maxattr = ARRAY_SIZE(pid_policy) - 1
#define WITH_BRIEF	.policy = tags_policy, .maxattr = ARRAY_SIZE(tags_policy) - 1
#define WITH_LIMIT	.policy = limit_policy, .maxattr = ARRAY_SIZE(limit_policy) - 1
#define WITH_START	.policy = stack_start_policy, .maxattr = ARRAY_SIZE(stack_start_policy) - 1
#define WITH_OLDER	.policy = stack_policy, .maxattr = ARRAY_SIZE(stack_policy) - 1
#define WITH_NOTHING	.policy = no_policy, .maxattr = ARRAY_SIZE(no_policy) - 1
#define DUMP(_start)	.start = _start, .dumpit = dump_nothing

static const struct genl_ops mtag_ops[] = {
	{ .cmd = MTAG_CMD_INFO_GET, WITH_NOTHING, .doit = info_get },
	{ .cmd = MTAG_CMD_PROC_GET, WITH_PID, .doit = proc_get_later, DUMP(dump_procs_start) },
	{ .cmd = MTAG_CMD_TAG_GET, WITH_BRIEF, DUMP(dump_tags_start) },
	{ .cmd = MTAG_CMD_TRACK, WITH_PID, .doit = do_track_later },
	{ .cmd = MTAG_CMD_UNTRACK, WITH_PID, .doit = do_untrack_later },
	{ .cmd = MTAG_CMD_AUDIT, WITH_PID, .doit = do_audit_later },
	{ .cmd = MTAG_CMD_RESET, WITH_PID, .doit = do_reset_later },
	{ .cmd = MTAG_CMD_LIMIT, WITH_LIMIT, .doit = do_limit_later },
	{ .cmd = MTAG_CMD_PSS_GET, WITH_BRIEF, DUMP(dump_shares_start) },
	{ .cmd = MTAG_CMD_HISTORY_GET, WITH_NOTHING, .start = mtag_recall_start,
	  .dumpit = mtag_recall_dump, .done = mtag_recall_done },
	{ .cmd = MTAG_CMD_HISTORY_CLEAR, WITH_NOTHING, .doit = history_clear },
	{ .cmd = MTAG_CMD_STACK_START, WITH_START, .doit = mtag_start_stacks_later },
	{ .cmd = MTAG_CMD_STACK_GET, WITH_OLDER, DUMP(dump_stacks_start) },
};

static const struct genl_multicast_group mtag_groups[] = {
	[MTAG_NETLINK_EVENTS] = {
		.name = MTAG_GENL_MCGRP_EVENTS,
		.flags = GENL_MCAST_CAP_SYS_ADMIN,
	},
};

static struct genl_family family __ro_after_init = {
	.name		= MTAG_GENL_NAME,
	.version	= MTAG_GENL_VERSION,
	.maxattr	= MTAG_A_MAX,
	.module		= THIS_MODULE,
	.ops		= mtag_ops,
	.n_ops		= ARRAY_SIZE(mtag_ops),
	.mcgrps		= mtag_groups,
	.n_mcgrps	= ARRAY_SIZE(mtag_groups),
	.netnsok	= true,
	.parallel_ops	= true,
	/* resv_start_op 0: all ops are validated strictly */
};

/* ---- sockets that joined the group before it was ours ---- */

static void no_table(void)
{
}

static void no_users(struct sock *sk, unsigned int group)
{
}

/* Functions of the kernel's that are not exported. */
DEFINE_STATIC_CALL(mtag_table_grab, no_table);
DEFINE_STATIC_CALL(mtag_table_ungrab, no_table);
DEFINE_STATIC_CALL(mtag_clear_users, no_users);

static int __init resolve_clear(void)
{
	return mtag_resolve_call(mtag_table_grab, "netlink_table_grab") ?:
	       mtag_resolve_call(mtag_table_ungrab, "netlink_table_ungrab") ?:
	       mtag_resolve_call(mtag_clear_users, "__netlink_clear_multicast_users");
}

/*
 * Anybody may join a multicast group number that no family owns: the core checks capabilities only
 * for registered groups. A socket that joined our number earlier would receive all events, so
 * remove all members now. A join that passed the check just before registration has completed when
 * the grace period ends, because joining does not sleep in between.
 */
static void __init clear_group(void)
{
	synchronize_rcu_tasks();
	static_call(mtag_table_grab)();
	static_call(mtag_clear_users)(init_net.genl_sock,
				      family.mcgrp_offset + MTAG_NETLINK_EVENTS);
	static_call(mtag_table_ungrab)();
}

/**
 * mtag_netlink_init() - register the family, and let events be raised
 *
 * Context: module load. May sleep.
 * Return: 0; -ENOENT if a function of the kernel is missing; -ENOMEM; or another error from
 * registering.
 */
int __init mtag_netlink_init(void)
{
	int ret;

	mtag_message_init(&family);
	ret = resolve_clear() ?: genl_register_family(&family);
	if (ret)
		return ret;
	clear_group();
	mtag_notify_open();
	return 0;
}

/* Context: events are no longer raised. */
void mtag_netlink_exit(void)
{
	mtag_notify_flush();
	genl_unregister_family(&family);
}
