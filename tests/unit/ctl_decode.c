// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/decode.c ctl/stacks/stack.c ctl/model.c ctl/past.c */
/* mtagctl: messages of the netlink family into the model, whole and broken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "decode.h"

static struct nl_msg *message(uint32_t pid, const char *comm)
{
	struct nl_msg *msg = nlmsg_alloc_size(65536);

	nlmsg_put(msg, 0, 0, 0, 0, 0);
	nla_put_u32(msg, MTAG_A_PROC_PID, pid);
	if (comm)
		nla_put_string(msg, MTAG_A_PROC_COMM, comm);
	return msg;
}

static void put_tag(struct nl_msg *msg, uint16_t id, int parent, const char *name,
		    const uint64_t *counters, size_t bytes)
{
	struct nlattr *nest = nla_nest_start(msg, MTAG_A_TAG);

	nla_put_u16(msg, MTAG_A_TAG_ID, id);
	if (parent >= 0)
		nla_put_u16(msg, MTAG_A_TAG_PARENT, (uint16_t)parent);
	nla_put_string(msg, MTAG_A_TAG_NAME, name);
	nla_put(msg, MTAG_A_TAG_COUNTERS, (int)bytes, counters);
	nla_nest_end(msg, nest);
}

static void put_shared(struct nl_msg *msg, uint16_t id, const uint64_t *shares, size_t bytes)
{
	struct nlattr *nest = nla_nest_start(msg, MTAG_A_TAG);

	nla_put_u16(msg, MTAG_A_TAG_ID, id);
	nla_put_string(msg, MTAG_A_TAG_NAME, "name");
	nla_put(msg, MTAG_A_TAG_SHARES, (int)bytes, shares);
	nla_nest_end(msg, nest);
}

static int feed(struct nl_msg *msg, struct snap *snap)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	int err = decode_tags(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), snap);

	nlmsg_free(msg);
	return err;
}

static void test_several_messages(void)
{
	uint64_t c[MTAG_C_NR + 3] = {4096, 8192, 0, 12288};
	struct snap snap = {0};
	struct nl_msg *msg = message(7, "late");

	c[MTAG_C_SHMDT_BYTES] = 99;
	put_tag(msg, 0, -1, "", c, sizeof(c));
	ok(!feed(msg, &snap), "a message is understood");
	msg = message(3, "early");
	put_tag(msg, 0, -1, "", c, 0);
	put_tag(msg, 2, -1, "db", c, 16);
	feed(msg, &snap);
	msg = message(3, "early");
	put_tag(msg, 3, 2, "cache", c, 21);
	feed(msg, &snap);
	ok(!snap_finish(&snap) && snap.n_procs == 2, "messages of one process are one process");
	ok(snap.procs[0].pid == 3 && snap.procs[0].n_tags == 3, "in the order of pids");
	ok(snap.procs[1].tags[0].c[MTAG_C_SHMDT_BYTES] == 99, "more counters than known");
	ok(snap.procs[0].tags[1].c[MTAG_C_FILE] == 8192 && !snap.procs[0].tags[1].c[MTAG_C_SWAP],
	   "fewer counters than known are zero");
	ok(!strcmp(snap.procs[0].tags[2].path, "db/cache"), "a path over two messages");
	ok(snap.procs[0].tags[2].c[MTAG_C_FILE] == 8192 && !snap.procs[0].tags[2].c[MTAG_C_SHMEM],
	   "half a counter is none");
	ok(snap.procs[0].tags[1].total_rss == 24576 && snap.procs[0].rss == 24576, "totals");
	snap_clear(&snap);
}

static void test_shares(void)
{
	uint64_t s[MTAG_S_NR + 1] = {4096, 5461, 9};
	struct snap snap = {0};
	struct nl_msg *msg = message(1, "some");

	put_shared(msg, 0, s, sizeof(s));
	put_shared(msg, 2, s, 2 * sizeof(*s));
	ok(!feed(msg, &snap) && !snap_finish(&snap) && snap.procs[0].shares, "shares of all tags");
	ok(snap.procs[0].s[MTAG_S_USS] == 8192 && snap.procs[0].s[MTAG_S_PSS] == 10922,
	   "their sums, whatever a later version adds");
	snap_clear(&snap);
	msg = message(1, "some");
	put_shared(msg, 0, s, sizeof(s));
	put_shared(msg, 2, s, 2 * sizeof(*s) - 1);
	ok(!feed(msg, &snap) && !snap_finish(&snap), "half a share is taken");
	ok(!snap.procs[0].tags[1].shares && !snap.procs[0].shares, "but is none");
	snap_clear(&snap);
}

static void test_broken_trees(void)
{
	struct snap snap = {0};
	struct nl_msg *msg = message(1, NULL);

	put_tag(msg, 5, 9, "orphan", NULL, 0);
	put_tag(msg, 6, 6, "own parent", NULL, 0);
	put_tag(msg, 7, 8, "loop", NULL, 0);
	put_tag(msg, 8, 7, "loop", NULL, 0);
	put_tag(msg, 8, 7, "twice", NULL, 0);
	for (int i = 0; i < 40; i++)
		put_tag(msg, (uint16_t)(100 + i), i ? 99 + i : 0, "deep", NULL, 0);
	ok(!feed(msg, &snap) && !snap_finish(&snap), "a senseless tree is taken");
	ok(snap.procs[0].n_tags == 44, "an id that comes twice is one tag");
	ok(!strcmp(snap.procs[0].tags[0].path, "orphan"), "an orphan is a top-level tag");
	ok(!strcmp(snap.procs[0].tags[1].path, "own parent"), "so is one that is its own parent");
	ok(!strcmp(snap.procs[0].tags[3].path, "loop/loop"), "a loop is cut");
	ok(snap.procs[0].tags[4 + 31].depth == 32 && snap.procs[0].tags[4 + 32].depth == 1,
	   "what is too deep begins anew");
	snap_clear(&snap);
}

static void test_missing(void)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct snap snap = {0};
	struct nlattr *nest;

	nlmsg_put(msg, 0, 0, 0, 0, 0);
	ok(feed(msg, &snap) == -EBADMSG, "a message without a pid is refused");
	ok(feed(message(0, "x"), &snap) == -EBADMSG, "nor has a process the pid 0");
	msg = message(1, "x");
	nest = nla_nest_start(msg, MTAG_A_TAG);
	nla_put_string(msg, MTAG_A_TAG_NAME, "no id");
	nla_nest_end(msg, nest);
	ok(feed(msg, &snap) == -EBADMSG, "a tag without an id is refused");
	msg = message(1, "x");
	nla_put(msg, MTAG_A_TAG, 3, "abc");
	ok(feed(msg, &snap) == -EBADMSG, "a nest too short is refused");
	msg = nlmsg_alloc();
	nlmsg_put(msg, 0, 0, 0, 0, 0);
	nla_put_u16(msg, MTAG_A_PROC_PID, 1);
	ok(feed(msg, &snap) == -EBADMSG, "a pid of two bytes is refused");
	snap_clear(&snap);
}

static void test_audit(void)
{
	struct nl_msg *msg = message(42, NULL);
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct audit audit = {0};

	nla_put(msg, MTAG_A_PROC_COMM, 4, "abcd"); /* not terminated */
	ok(decode_audit(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), &audit) == -EBADMSG,
	   "an audit without drift is refused");
	nla_put_u64(msg, MTAG_A_AUDIT_DRIFT, 5);
	nla_put_u64(msg, MTAG_A_AUDIT_WALKED, 1ULL << 40);
	ok(!decode_audit(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), &audit), "an audit");
	ok(audit.pid == 42 && audit.drift == 5 && audit.walked == 1ULL << 40, "its numbers");
	ok(!strcmp(audit.comm, "abcd"), "a string that is not terminated");
	nlmsg_free(msg);
}

static struct nl_msg *past_message(uint64_t id, const char *const *paths, size_t n)
{
	struct nl_msg *msg = message(7, "gone");

	nla_put_u64(msg, MTAG_A_HISTORY_ID, id);
	nla_put_u64(msg, MTAG_A_HISTORY_ENDED, 1700000000123456789);
	nla_put_u32(msg, MTAG_A_HISTORY_STATUS, 9);
	nla_put_flag(msg, MTAG_A_HISTORY_OOM);
	for (size_t i = 0; i < n; i++) {
		struct nlattr *nest = nla_nest_start(msg, MTAG_A_TAG);
		uint64_t c[7] = {4096 * (i + 1), 0, 0, 0, 4096 * (9 - i)};

		nla_put_u16(msg, MTAG_A_TAG_ID, (uint16_t)i);
		nla_put_string(msg, MTAG_A_TAG_PATH, paths[i]);
		nla_put(msg, MTAG_A_TAG_COUNTERS, (int)(i ? sizeof(c) : 8), c);
		nla_nest_end(msg, nest);
	}
	return msg;
}

static int feed_past(struct nl_msg *msg, struct ledger *ledger)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	int err = decode_past(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), ledger);

	nlmsg_free(msg);
	return err;
}

static void test_past(void)
{
	static const char *const paths[] = {"", "a", "a/b"};
	struct ledger ledger = {0};
	const struct past *past;
	struct nl_msg *msg;

	ok(!feed_past(past_message(1, paths, 2), &ledger), "an ended process");
	feed_past(past_message(1, paths, 3), &ledger);
	msg = past_message(2, paths, 0);
	nla_put_flag(msg, MTAG_A_HISTORY_REAPED);
	nla_put_u32(msg, MTAG_A_HISTORY_OTHERS, 3);
	feed_past(msg, &ledger);
	ledger_finish(&ledger);
	past = ledger.pasts;
	ok(ledger.n == 2 && past->n_tags == 5, "messages with one id are one process");
	ok(past->pid == 7 && past->status == 9 && past->oom && past->complete && !past->reaped,
	   "how it ended");
	ok(!strcmp(past->tags[0].path, "a/b") && past->tags[0].c[MTAG_C_PEAK] == 7 * 4096,
	   "the largest tag comes first");
	ok(past->tags[4].c[MTAG_C_PEAK] == 0, "counters that an older module lacks are 0");
	ok(past[1].reaped && past[1].n_others == 3 && !past[1].n_tags, "tags that were left out");
	msg = message(1, "no id");
	ok(feed_past(msg, &ledger) == -EBADMSG, "a process without an id is refused");
	ledger_clear(&ledger);
}

/* A copy of exactly the message's size, so that the sanitizer sees what is read beyond. */
static void mutate(const void *attrs, int len, unsigned int seed)
{
	struct ledger ledger = {0};
	struct snap snap = {0};
	int cut = seed % 4 ? len : rand_r(&seed) % (len + 1);
	unsigned char *copy = malloc((size_t)cut + !cut);
	struct audit audit;
	struct info info;

	memcpy(copy, attrs, (size_t)cut);
	for (int i = 0; i < 4 && cut; i++)
		copy[rand_r(&seed) % cut] = (unsigned char)rand_r(&seed);
	if (!decode_tags((void *)copy, cut, &snap))
		snap_finish(&snap);
	decode_proc((void *)copy, cut, &snap);
	decode_audit((void *)copy, cut, &audit);
	decode_info((void *)copy, cut, &info);
	decode_past((void *)copy, cut, &ledger);
	ledger_finish(&ledger);
	ledger_clear(&ledger);
	snap_clear(&snap);
	free(copy);
}

static void test_mutated_past(void)
{
	static const char *const paths[] = {"", "a", "a/b"};
	struct nl_msg *msg = past_message(1, paths, 3);
	struct nlmsghdr *hdr = nlmsg_hdr(msg);

	for (unsigned int seed = 1; seed <= 20000; seed++)
		mutate(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), seed);
	nlmsg_free(msg);
	ok(true, "nor do 20000 of ended processes");
}

static void test_mutations(void)
{
	uint64_t c[MTAG_C_NR] = {1, 2, 3};
	struct nl_msg *msg = message(1, "comm");
	struct nlmsghdr *hdr = nlmsg_hdr(msg);

	for (int i = 0; i < 5; i++)
		put_tag(msg, (uint16_t)i, i > 1 ? i - 1 : -1, "name", c, sizeof(c));
	put_shared(msg, 5, c, MTAG_S_NR * sizeof(*c));
	for (unsigned int seed = 1; seed <= 20000; seed++)
		mutate(nlmsg_attrdata(hdr, 0), nlmsg_attrlen(hdr, 0), seed);
	nlmsg_free(msg);
	ok(true, "20000 broken messages do no harm");
}

int main(void)
{
	test_several_messages();
	test_shares();
	test_broken_trees();
	test_missing();
	test_audit();
	test_past();
	test_mutations();
	test_mutated_past();
	return tap_end();
}
