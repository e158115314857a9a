// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "mtag": docs/netlink/mtag.yaml describes it.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "hook.h"
#include "netlink.h"
#include "present.h"

/* ---- the process that a request names ---- */

/* Says in words why a request ended with @err, which it returns. */
int mtag_netlink_explain(struct netlink_ext_ack *extack, int err)
{
	switch (err) {
	case -EINVAL:
		NL_SET_ERR_MSG(extack, "a kernel thread has no memory of its own");
		break;
	case -EACCES:
		NL_SET_ERR_MSG(extack, "reading this process needs ptrace read access to it");
		break;
	case -EPERM:
		NL_SET_ERR_MSG(extack, "this needs CAP_SYS_PTRACE over the process");
		break;
	case -ESRCH:
		NL_SET_ERR_MSG(extack, "no such process");
		break;
	case -ENOENT:
		NL_SET_ERR_MSG(extack, "this process is not tracked");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack, "too many processes are tracked (max_processes)");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG(extack, "out of memory, or of what mtag may use (max_memory_kb)");
		break;
	case -EAGAIN:
		NL_SET_ERR_MSG(extack, "the process is too busy to be counted; try again");
		break;
	case -EINTR:
		NL_SET_ERR_MSG(extack, "interrupted");
		break;
	default:
		if (err < 0)
			NL_SET_ERR_MSG(extack, "it failed; the kernel's log may tell more");
	}
	return err;
}

/* Fills @t, to be given back with mtag_access_put(), or says why not. */
static int target_get(struct mtag_target *t, enum mtag_access access, struct mtag_request *r)
{
	int err;

	if (!r->pid) {
		NL_SET_ERR_ATTR_MISS(&r->extack, NULL, MTAG_A_PROC_PID);
		NL_SET_ERR_MSG(&r->extack, "which process? proc-pid is missing");
		return -EINVAL;
	}
	err = mtag_access_get(t, nla_get_u32(r->pid), access, r->opener);
	return mtag_netlink_explain(&r->extack, err);
}

/* The same, for a process that has to be tracked. */
int mtag_netlink_target(struct mtag_target *t, enum mtag_access access, struct mtag_request *r)
{
	int err = target_get(t, access, r);

	if (!err && !t->space) {
		mtag_access_put(t);
		err = mtag_netlink_explain(&r->extack, -ENOENT);
	}
	return err;
}

/* ---- messages ---- */

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, MTAG_A_PAD);
}

static int put_pages(struct sk_buff *skb, int type, u64 pages)
{
	return put_u64(skb, type, pages << PAGE_SHIFT);
}

int mtag_netlink_put_process(struct sk_buff *skb, const struct mtag_process *p)
{
	return nla_put_u32(skb, MTAG_A_PROC_PID, p->pid) ||
	       nla_put_string(skb, MTAG_A_PROC_COMM, p->comm) ? -EMSGSIZE : 0;
}

/* What a reader should know beside the numbers. */
int mtag_netlink_put_health(struct sk_buff *skb, const struct mtag_report *r)
{
	return put_u64(skb, MTAG_A_PROC_LOST, r->lost) ||
	       put_u64(skb, MTAG_A_PROC_OVERFLOW, r->overflow) ||
	       put_u64(skb, MTAG_A_PROC_REPAIRS, r->repairs) ? -EMSGSIZE : 0;
}

int mtag_netlink_put_sums(struct sk_buff *skb, const struct mtag_process *p,
			  const struct mtag_report *r)
{
	const s64 *nr = r->total.nr;

	if (mtag_netlink_put_process(skb, p) ||
	    nla_put_u32(skb, MTAG_A_PROC_TAGS, r->nr_tags) ||
	    put_pages(skb, MTAG_A_PROC_ANON, nr[MTAG_ANON]) ||
	    put_pages(skb, MTAG_A_PROC_FILE, nr[MTAG_FILE]) ||
	    put_pages(skb, MTAG_A_PROC_SHMEM, nr[MTAG_SHMEM]) ||
	    put_pages(skb, MTAG_A_PROC_SWAP, nr[MTAG_SWAP]) ||
	    put_u64(skb, MTAG_A_PROC_VIRT, r->total_virt) ||
	    mtag_netlink_put_health(skb, r))
		return -EMSGSIZE;
	return 0;
}

/* A reply with what @fill puts into it, to who asked for it. */
static int reply(struct net *net, u32 portid, const struct nlmsghdr *nlh,
		 struct netlink_ext_ack *extack,
		 int (*fill)(struct sk_buff *skb, const void *data), const void *data)
{
	const struct genlmsghdr *genl = nlmsg_data(nlh);
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return mtag_netlink_explain(extack, -ENOMEM);
	hdr = genlmsg_put(skb, portid, nlh->nlmsg_seq, &mtag_family, 0, genl->cmd);
	if (!hdr || fill(skb, data)) {
		nlmsg_free(skb);
		return mtag_netlink_explain(extack, -EMSGSIZE);
	}
	genlmsg_end(skb, hdr);
	return genlmsg_unicast(net, skb, portid);
}

static int request_reply(struct mtag_request *r,
			 int (*fill)(struct sk_buff *skb, const void *data), const void *data)
{
	return reply(sock_net(r->sk), r->portid, r->nlh, &r->extack, fill, data);
}

/* ---- do ---- */

static int fill_info(struct sk_buff *skb, const void *unused)
{
	if (nla_put_string(skb, MTAG_A_INFO_VERSION, THIS_MODULE->version ?: "") ||
	    nla_put_string(skb, MTAG_A_INFO_MODE, mtag_hook_mode()) ||
	    nla_put_u32(skb, MTAG_A_INFO_INSTALLED, mtag_hook_installed()) ||
	    nla_put_u32(skb, MTAG_A_INFO_PROCS, atomic_read(&mtag_stat.tracked)) ||
	    put_u64(skb, MTAG_A_INFO_ENDED, atomic64_read(&mtag_stat.ended)) ||
	    put_u64(skb, MTAG_A_INFO_DRIFT, atomic64_read(&mtag_stat.drift)) ||
	    put_u64(skb, MTAG_A_INFO_LOST, atomic64_read(&mtag_stat.lost)) ||
	    put_u64(skb, MTAG_A_INFO_OVERFLOW, atomic64_read(&mtag_stat.overflow)) ||
	    put_u64(skb, MTAG_A_INFO_REPAIRS, atomic64_read(&mtag_stat.repairs)) ||
	    put_u64(skb, MTAG_A_INFO_MEMORY, atomic64_read(&mtag_stat.memory)))
		return -EMSGSIZE;
	return 0;
}

static int info_get(struct sk_buff *skb, struct genl_info *info)
{
	return reply(genl_info_net(info), info->snd_portid, info->nlhdr, info->extack, fill_info,
		     NULL);
}

struct proc_reply {
	struct mtag_target target;
	struct mtag_report *report;
};

static int fill_proc(struct sk_buff *skb, const void *data)
{
	const struct proc_reply *p = data;

	return mtag_netlink_put_sums(skb, &p->target.process, p->report);
}

static int proc_get(struct mtag_request *r)
{
	struct proc_reply p;
	int err = mtag_netlink_target(&p.target, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	p.report = mtag_report_get(p.target.space);
	if (IS_ERR(p.report)) {
		err = mtag_netlink_explain(&r->extack, PTR_ERR(p.report));
	} else {
		err = request_reply(r, fill_proc, &p);
		mtag_report_put(p.report);
	}
	mtag_access_put(&p.target);
	return err;
}

static int track(struct mtag_request *r)
{
	struct mtag_target t;
	int err = target_get(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	err = mtag_netlink_explain(&r->extack, t.space ? 0 : mtag_track_start(t.mm));
	mtag_access_put(&t);
	return err;
}

static int untrack(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_netlink_target(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	err = mtag_track_stop(t.mm);
	if (err == -ESRCH) /* somebody else was faster */
		err = -ENOENT;
	mtag_access_put(&t);
	return mtag_netlink_explain(&r->extack, err);
}

struct audit_reply {
	struct mtag_target target;
	struct mtag_audit audit;
};

static int fill_audit(struct sk_buff *skb, const void *data)
{
	const struct audit_reply *a = data;
	const struct mtag_space *s = a->target.space;

	if (mtag_netlink_put_process(skb, &a->target.process) ||
	    put_pages(skb, MTAG_A_AUDIT_KERNEL_RSS, a->audit.kernel) ||
	    put_pages(skb, MTAG_A_AUDIT_WALKED, a->audit.walked) ||
	    put_pages(skb, MTAG_A_AUDIT_ACCOUNTED, a->audit.accounted) ||
	    put_u64(skb, MTAG_A_AUDIT_DRIFT, a->audit.drift) ||
	    put_u64(skb, MTAG_A_AUDIT_MIGRATING, a->audit.migrating) ||
	    put_u64(skb, MTAG_A_PROC_LOST, atomic64_read(&s->lost)) ||
	    put_u64(skb, MTAG_A_PROC_OVERFLOW, atomic64_read(&s->overflow)))
		return -EMSGSIZE;
	return 0;
}

static int audit(struct mtag_request *r)
{
	struct audit_reply a = {};
	int err = mtag_netlink_target(&a.target, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	err = mtag_walk_audit(a.target.space, a.target.mm, &a.audit);
	err = mtag_netlink_explain(&r->extack, err);
	if (!err)
		err = request_reply(r, fill_audit, &a);
	mtag_access_put(&a.target);
	return err;
}

static int reset(struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_netlink_target(&t, MTAG_ACCESS_TRACK, r);

	if (err)
		return err;
	mtag_account_reset_peaks(t.space);
	mtag_access_put(&t);
	return 0;
}

/* ---- what may wait is left to request.c ---- */

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
LATER(track)
LATER(untrack)
LATER(audit)
LATER(reset)

/* The core's own dump never begins. */
static int dump_start(struct netlink_callback *cb, mtag_request_t *run)
{
	return mtag_request(cb->skb, cb->nlh,
			    nlmsg_find_attr(cb->nlh, GENL_HDRLEN, MTAG_A_PROC_PID), run);
}

static int dump_procs_start(struct netlink_callback *cb)
{
	return dump_start(cb, mtag_dump_procs);
}

static int dump_tags_start(struct netlink_callback *cb)
{
	return dump_start(cb, mtag_dump_tags);
}

static int dump_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	return 0;
}

/* ---- the family ---- */

/* Not const: 6.1 would mind. */
static struct netlink_range_validation pid_range = { .min = 1, .max = INT_MAX };

static const struct nla_policy pid_policy[MTAG_A_PROC_PID + 1] = {
	[MTAG_A_PROC_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
};

/*
 * No attribute is accepted. Where an op has no policy, 7.2 takes one of its own
 * that rejects all, but reads it up to the family's last attribute.
 */
static const struct nla_policy no_policy[] = {
	{ .type = NLA_REJECT },
	{ .type = NLA_REJECT },
};

#define WITH_PID	.policy = pid_policy, .maxattr = ARRAY_SIZE(pid_policy) - 1
#define WITH_NOTHING	.policy = no_policy, .maxattr = ARRAY_SIZE(no_policy) - 1
#define DUMP(_start)	.start = _start, .dumpit = dump_nothing

static const struct genl_ops mtag_ops[] = {
	{ .cmd = MTAG_CMD_INFO_GET, WITH_NOTHING, .doit = info_get },
	{ .cmd = MTAG_CMD_PROC_GET, WITH_PID, .doit = proc_get_later, DUMP(dump_procs_start) },
	{ .cmd = MTAG_CMD_TAG_GET, WITH_PID, DUMP(dump_tags_start) },
	{ .cmd = MTAG_CMD_TRACK, WITH_PID, .doit = track_later },
	{ .cmd = MTAG_CMD_UNTRACK, WITH_PID, .doit = untrack_later },
	{ .cmd = MTAG_CMD_AUDIT, WITH_PID, .doit = audit_later },
	{ .cmd = MTAG_CMD_RESET, WITH_PID, .doit = reset_later },
};

static const struct genl_multicast_group mtag_groups[] = {
	[MTAG_NETLINK_EVENTS] = {
		.name = MTAG_GENL_MCGRP_EVENTS,
		.flags = GENL_MCAST_CAP_SYS_ADMIN,
	},
};

struct genl_family mtag_family __ro_after_init = {
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
	/* resv_start_op 0: all of it is validated strictly */
};

int __init mtag_netlink_init(void)
{
	int ret = genl_register_family(&mtag_family);

	if (!ret)
		mtag_notify_open();
	return ret;
}

/* Context: nothing calls mtag_notify_event() any more. */
void mtag_netlink_exit(void)
{
	mtag_notify_flush();
	genl_unregister_family(&mtag_family);
}
