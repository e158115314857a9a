// SPDX-License-Identifier: GPL-2.0
/* Netlink: a brief dump (MTAG_A_TAG_BRIEF) says the same as another, without the zeros at the end of counters. */
/* vm: short=6.1 because="answers are written by the same code on all" timeout=120 */
#include "lib/netlink.h"

#define TAGS 600
#define SIZE (3 * PG)

struct row {
	uint16_t id, parent;
	char name[MTAG_NAME_MAX + 1];
	uint64_t counters[MTAG_C_NR], shares[MTAG_S_NR];
	size_t nr_counters, nr_shares;
};

struct rows {
	size_t nr, bytes, messages;
	struct row row[TAGS + 16];
};

static void read_row(struct row *row, const struct nlattr *nest)
{
	const char *at = (const char *)(nest + 1), *end = (const char *)nest + nest->nla_len;

	for (const struct nlattr *a; at < end; at += NL_ALIGN(a->nla_len)) {
		size_t len;

		a = (const void *)at;
		len = a->nla_len - NLA_HDRLEN;
		if (a->nla_type == MTAG_A_TAG_ID)
			memcpy(&row->id, a + 1, sizeof(row->id));
		else if (a->nla_type == MTAG_A_TAG_PARENT)
			memcpy(&row->parent, a + 1, sizeof(row->parent));
		else if (a->nla_type == MTAG_A_TAG_NAME)
			memcpy(row->name, a + 1, len);
		else if (a->nla_type == MTAG_A_TAG_COUNTERS)
			memcpy(row->counters, a + 1, (row->nr_counters = len / 8) * 8);
		else if (a->nla_type == MTAG_A_TAG_SHARES)
			memcpy(row->shares, a + 1, (row->nr_shares = len / 8) * 8);
		else
			bail("attribute %u in a tag", a->nla_type);
	}
}

/* All rows of a process in a dump of all, which is brief or not. */
static struct rows *ask(int command, bool brief, pid_t pid)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	struct heard *heard;
	int fd = nl_open();

	nl_send(fd, nl_family, command, NLM_F_DUMP, brief ? MTAG_A_TAG_BRIEF : 0, NULL, 0);
	heard = nl_hear(fd);
	if (heard->error)
		bail("a dump: %s", strerror(-heard->error));
	nl_each(h, heard)
	{
		const char *at = (const char *)h + NLMSG_LENGTH(GENL_HDRLEN);

		if (nl_u32(nl_attr(h, MTAG_A_PROC_PID)) != (uint32_t)pid)
			continue;
		rows->messages++;
		rows->bytes += h->nlmsg_len;
		for (const struct nlattr *a; at < (const char *)h + h->nlmsg_len;
		     at += NL_ALIGN(a->nla_len)) {
			a = (const void *)at;
			if ((a->nla_type & NLA_TYPE_MASK) == MTAG_A_TAG)
				read_row(&rows->row[rows->nr++], a);
		}
	}
	close(fd);
	return rows;
}

/* Rows that differ in more than zeros at the end. */
static size_t others(const struct rows *full, const struct rows *brief)
{
	size_t other = 0;

	for (size_t i = 0; i < full->nr && i < brief->nr; i++) {
		const struct row *f = &full->row[i], *b = &brief->row[i];

		other += f->id != b->id || f->parent != b->parent || strcmp(f->name, b->name) ||
			 memcmp(f->counters, b->counters, sizeof(f->counters)) ||
			 f->nr_shares != b->nr_shares ||
			 memcmp(f->shares, b->shares, sizeof(f->shares));
	}
	return other;
}

static void same(int command, pid_t pid, const char *what)
{
	struct rows *full = ask(command, false, pid), *brief = ask(command, true, pid);
	size_t short_of_all = 0, zero_at_end = 0;

	/* Shares change when others map the same files meanwhile. */
	for (int i = 0; command == MTAG_CMD_PSS_GET && i < 10 && others(full, brief); i++) {
		full = ask(command, false, pid);
		brief = ask(command, true, pid);
	}
	for (size_t i = 0; i < full->nr && i < brief->nr; i++) {
		const struct row *f = &full->row[i], *b = &brief->row[i];

		short_of_all += f->nr_counters != MTAG_C_NR;
		zero_at_end += b->nr_counters && !b->counters[b->nr_counters - 1];
	}
	diag("%s: %zu bytes in %zu messages, brief %zu in %zu", what, full->bytes, full->messages,
	     brief->bytes, brief->messages);
	ok(full->nr > TAGS, "%s: all tags come, in %zu rows", what, full->nr);
	is(brief->nr, full->nr, "as many are in a brief dump");
	is(short_of_all, 0, "without the flag each has all counters");
	is(zero_at_end, 0, "with it none has a zero at the end");
	is(others(full, brief), 0, "and in all else they are the same");
	ok(brief->bytes < full->bytes / 2, "a brief dump is less than half as long");
	is(full->row[1].nr_shares, command == MTAG_CMD_PSS_GET ? MTAG_S_NR : 0,
	   "there are shares where they are asked for");
}

/* Deep ones and flat ones, with memory, with calls alone, with both and with nothing. */
static void make_tags(void)
{
	mtag_t deep = MTAG_UNTAGGED;
	char name[MTAG_NAME_MAX + 1];

	begin();
	for (int i = 0; i < TAGS; i++) {
		mtag_t t;

		snprintf(name, sizeof(name), "%0*d", 1 + i % MTAG_NAME_MAX, i);
		t = mtag_child(i % 3 ? MTAG_UNTAGGED : deep, name);
		if (t == MTAG_UNTAGGED)
			bail("mtag_child: %s", name);
		deep = i % 30 ? t : MTAG_UNTAGGED;
		if (i % 5 == 0)
			touch(t, area(SIZE), SIZE);
		if (i % 7 == 0) {
			mtag_t before = mtag_enter(t);

			area(PG);
			mtag_leave(before);
		}
	}
}

int main(void)
{
	struct heard *heard;
	pid_t pid;
	int fd;

	begin_test();
	nl_begin();
	frozen_child(pid)
	{
		make_tags();
	}
	same(MTAG_CMD_TAG_GET, pid, "tags");
	same(MTAG_CMD_PSS_GET, pid, "shares");
	end_child(pid);
	fd = nl_open();
	nl_send(fd, nl_family, MTAG_CMD_PROC_GET, NLM_F_DUMP, MTAG_A_TAG_BRIEF, NULL, 0);
	heard = nl_hear(fd);
	is(-heard->error, EINVAL, "sums cannot be brief");
	return end_test();
}
