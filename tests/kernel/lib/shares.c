// SPDX-License-Identifier: GPL-2.0
/* USS and PSS by tag, asked for by netlink, and how they compare with smaps. */
#include "shares.h"

#define TRIES 50

static const struct nlattr *next(const struct nlattr *attr)
{
	return (const void *)((const char *)attr + NL_ALIGN(attr->nla_len));
}

static void take_tag(const struct nlattr *nest, struct shares *s)
{
	const char *end = (const char *)nest + nest->nla_len;
	uint64_t value[MTAG_S_NR] = {0};
	uint16_t id = 0;
	bool told = false;

	for (const struct nlattr *a = nest + 1; (const char *)a < end; a = next(a)) {
		if (a->nla_type == MTAG_A_TAG_ID)
			memcpy(&id, a + 1, sizeof(id));
		if (a->nla_type != MTAG_A_TAG_SHARES || a->nla_len < NLA_HDRLEN + sizeof(value))
			continue;
		memcpy(value, a + 1, sizeof(value));
		told = true;
	}
	if (!told || id >= SHARES_MAX)
		bail("tag %u has %s", id, told ? "too large an id" : "no shares");
	s->rows++;
	s->tag[id] = (struct share){.uss = value[MTAG_S_USS], .pss = value[MTAG_S_PSS]};
	s->sum.uss += value[MTAG_S_USS];
	s->sum.pss += value[MTAG_S_PSS];
}

struct shares shares(pid_t pid)
{
	static int fd = -1;
	struct shares s = {0};
	struct heard *heard;

	if (fd < 0) {
		nl_begin();
		fd = nl_open();
	}
	heard = nl_ask(fd, MTAG_CMD_PSS_GET, NLM_F_DUMP, pid);
	s.error = heard->error;
	nl_each(h, heard)
	{
		const char *end = (const char *)h + h->nlmsg_len;
		const struct nlattr *a =
			(const void *)((const char *)h + NLMSG_LENGTH(GENL_HDRLEN));

		for (; (const char *)a < end; a = next(a))
			if ((a->nla_type & NLA_TYPE_MASK) == MTAG_A_TAG)
				take_tag(a, &s);
	}
	return s;
}

/* Both round down what may be the same number: the one to bytes, once a tag, the other to KiB, once a line. */
static bool same(uint64_t told, unsigned int tags, const struct share *truth)
{
	return told + tags > truth->pss && truth->pss + truth->vmas * KIB > told;
}

bool shares_exact(pid_t pid, const char *format, ...)
{
	struct share before, after, roll;
	struct shares s;
	va_list args;
	bool good;
	int tries = 0;

	do {
		before = share_of(pid, NULL, SIZE_MAX);
		s = shares(pid);
		roll = rollup_of(pid);
		after = share_of(pid, NULL, SIZE_MAX);
	} while (memcmp(&before, &after, sizeof(after)) && ++tries < TRIES);
	good = !s.error && s.rows && s.sum.uss == after.uss && s.sum.uss == roll.uss &&
	       same(s.sum.pss, s.rows, &after) && same(s.sum.pss, s.rows, &roll);
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  pid %d, error %d, %u tags, mtag/rollup/smaps: uss %" PRIu64 "/%" PRIu64
		     "/%" PRIu64 " pss %" PRIu64 "/%" PRIu64 "/%" PRIu64 " (%" PRIu64 " lines)%s",
		     pid, s.error, s.rows, s.sum.uss, roll.uss, after.uss, s.sum.pss, roll.pss,
		     after.pss, after.vmas, tries == TRIES ? ", never quiet" : "");
	return good;
}

bool shares_own(pid_t pid, mtag_t tag, const void *start, size_t len, const char *format, ...)
{
	struct share before, after;
	struct shares s;
	va_list args;
	bool good;
	int tries = 0;

	do {
		before = share_of(pid, start, len);
		s = shares(pid);
		after = share_of(pid, start, len);
	} while (memcmp(&before, &after, sizeof(after)) && ++tries < TRIES);
	good = !s.error && s.tag[tag].uss == after.uss && same(s.tag[tag].pss, 1, &after);
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  pid %d, tag %u, error %d, mtag/smaps: uss %" PRIu64 "/%" PRIu64
		     " pss %" PRIu64 "/%" PRIu64 " (%" PRIu64 " lines)",
		     pid, tag, s.error, s.tag[tag].uss, after.uss, s.tag[tag].pss, after.pss,
		     after.vmas);
	return good;
}

void shares_family(const char *what, const pid_t *pid, mtag_t as, char *p, size_t len)
{
	for (int i = 0; pid[i]; i++) {
		shares_own(pid[i], as, p, len, "%s: process %d has what smaps says there", what, i);
		shares_exact(pid[i], "%s: process %d is exact", what, i);
	}
}
