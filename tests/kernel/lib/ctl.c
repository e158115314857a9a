// SPDX-License-Identifier: GPL-2.0
/* What mtagctl says about any process, and what its audit finds in page tables. */
#include "ctl.h"
#include "files.h"
#include "netlink.h"
#include "truth.h"

/* Its output, in a buffer of ours that the next call reuses; *status: its exit status. */
char *ctl(int *status, const char *format, ...)
{
	static char *buf;
	char command[512] = "mtagctl ";
	size_t n = 0, got;
	va_list args;
	FILE *out;
	int s;

	if (!buf)
		buf = text_room();
	va_start(args, format);
	vsnprintf(command + 8, sizeof(command) - 8, format, args);
	va_end(args);
	out = popen(command, "r");
	if (!out)
		bail("popen %s", command);
	while ((got = fread(buf + n, 1, SLURP_MAX - 1 - n, out)) > 0)
		n += got;
	buf[n] = '\0';
	s = pclose(out);
	s = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
	if (status)
		*status = s;
	else if (s)
		bail("%s: exit status %d", command, s);
	return buf;
}

char *json_next(char **text)
{
	char *start = strchr(*text, '{'), *end = start ? strchr(start, '}') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return start;
}

static const char *json_value(const char *object, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	at = strstr(object, quoted);
	if (!at)
		bail("no key %s in %s", key, object);
	at += strlen(quoted);
	return at + strspn(at, " \t\n:");
}

uint64_t json_u64(const char *object, const char *key)
{
	return strtoull(json_value(object, key), NULL, 10);
}

const char *json_string(const char *object, const char *key)
{
	static char text[2048];
	const char *at = json_value(object, key);

	if (sscanf(at, "\"%2047[^\"]\"", text) != 1)
		text[0] = '\0';
	return text;
}

/*
 * Asks the module without mtagctl, which takes millions of instructions to start. On a socket of its own, and for the
 * family's number, as that is another one once the module has been loaded anew.
 */
static struct heard *asked(int command, int flags, pid_t pid)
{
	struct heard *heard;
	int fd;

	nl_begin();
	fd = nl_open();
	heard = nl_ask(fd, command, flags, pid);
	close(fd);
	return heard;
}

static const struct nlattr *next(const struct nlattr *attr)
{
	return (const void *)((const char *)attr + NL_ALIGN(attr->nla_len));
}

static void add_tag(struct shown *sum, const struct nlattr *nest)
{
	const char *end = (const char *)nest + nest->nla_len;
	uint64_t value[MTAG_C_NR] = {0};
	bool told = false;

	for (const struct nlattr *a = nest + 1; (const char *)a < end; a = next(a)) {
		size_t len = a->nla_len - NLA_HDRLEN;

		if ((a->nla_type & NLA_TYPE_MASK) != MTAG_A_TAG_COUNTERS)
			continue;
		memcpy(value, a + 1, len < sizeof(value) ? len : sizeof(value));
		told = true;
	}
	if (!told)
		bail("a tag without counters");
	sum->rows++;
	sum->rss += value[MTAG_C_ANON] + value[MTAG_C_FILE] + value[MTAG_C_SHMEM];
	sum->anon += value[MTAG_C_ANON];
	sum->file += value[MTAG_C_FILE];
	sum->shmem += value[MTAG_C_SHMEM];
	sum->swap += value[MTAG_C_SWAP];
	sum->virt += value[MTAG_C_VIRT];
}

static struct shown show_all(pid_t pid)
{
	struct heard *heard = asked(MTAG_CMD_TAG_GET, NLM_F_DUMP, pid);
	struct shown sum = {0};

	if (heard->error)
		return sum;
	nl_each(h, heard)
	{
		const char *end = (const char *)h + h->nlmsg_len;
		const struct nlattr *a =
			(const void *)((const char *)h + NLMSG_LENGTH(GENL_HDRLEN));

		if ((pid_t)nl_u32(nl_attr(h, MTAG_A_PROC_PID)) != pid)
			continue;
		for (; (const char *)a < end; a = next(a))
			if ((a->nla_type & NLA_TYPE_MASK) == MTAG_A_TAG)
				add_tag(&sum, a);
	}
	return sum;
}

struct shown show_by_mtagctl(pid_t pid, const char *path)
{
	struct shown sum = {0};
	int status;
	char *text = ctl(&status, "-j show %d 2>/dev/null", pid), *object;

	while ((object = json_next(&text))) {
		if ((pid_t)json_u64(object, "pid") != pid ||
		    (path && strcmp(json_string(object, "tag"), path)))
			continue;
		sum.rows++;
		sum.rss += json_u64(object, "rss_bytes");
		sum.anon += json_u64(object, "anon_bytes");
		sum.file += json_u64(object, "file_bytes");
		sum.shmem += json_u64(object, "shmem_bytes");
		sum.swap += json_u64(object, "swap_bytes");
		sum.virt += json_u64(object, "virt_bytes");
	}
	return sum;
}

struct shown show(pid_t pid, const char *path)
{
	/* Paths are made of many messages, which mtagctl does. */
	return path ? show_by_mtagctl(pid, path) : show_all(pid);
}

bool exact_of(pid_t pid, const char *format, ...)
{
	struct truth before, after;
	struct shown s;
	va_list args;
	bool good;
	int tries = 0;

	do {
		before = truth_of(pid);
		s = show(pid, NULL);
		after = truth_of(pid);
	} while (memcmp(&before, &after, sizeof(after)) && ++tries < 20);
	good = s.rows && s.rss == after.rss && s.anon == after.anon && s.virt == after.virt &&
	       s.swap == after.swap;
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  pid %d, %" PRIu64 " rows, mtag/kernel: rss %" PRIu64 "/%" PRIu64
		     " anon %" PRIu64 "/%" PRIu64 " virt %" PRIu64 "/%" PRIu64 " swap %" PRIu64
		     "/%" PRIu64,
		     pid, s.rows, s.rss, after.rss, s.anon, after.anon, s.virt, after.virt, s.swap,
		     after.swap);
	return good;
}

bool counted_of(pid_t pid, const char *when)
{
	uint64_t before, after, told;
	int tries = 0;

	do {
		before = statm_rss(pid);
		told = show(pid, NULL).rss;
		after = statm_rss(pid);
	} while (before != after && ++tries < 20);
	return is(told, after, "%s: RSS is what the kernel counts", when);
}

static uint64_t nl_u64(const struct nlmsghdr *h, int type)
{
	const struct nlattr *attr = nl_attr(h, type);
	uint64_t value = 0;

	if (attr)
		memcpy(&value, attr + 1, sizeof(value));
	return value;
}

struct audit audit(pid_t pid)
{
	struct heard *heard = asked(MTAG_CMD_AUDIT, 0, pid);
	struct audit a = {0};

	if (heard->error)
		return a;
	nl_each(h, heard)
	{
		if ((pid_t)nl_u32(nl_attr(h, MTAG_A_PROC_PID)) != pid ||
		    !nl_attr(h, MTAG_A_AUDIT_DRIFT))
			continue;
		a.rows++;
		a.kernel = nl_u64(h, MTAG_A_AUDIT_KERNEL_RSS);
		a.walked = nl_u64(h, MTAG_A_AUDIT_WALKED);
		a.accounted = nl_u64(h, MTAG_A_AUDIT_ACCOUNTED);
		a.drift = nl_u64(h, MTAG_A_AUDIT_DRIFT);
		a.migrating = nl_u64(h, MTAG_A_AUDIT_MIGRATING);
		a.lost = nl_u64(h, MTAG_A_PROC_LOST);
		a.overflow = nl_u64(h, MTAG_A_PROC_OVERFLOW);
	}
	return a;
}

struct audit audit_by_mtagctl(pid_t pid)
{
	struct audit a = {0};
	int status;
	char *text = ctl(&status, "-j audit %d", pid), *object;

	while ((object = json_next(&text))) {
		if ((pid_t)json_u64(object, "pid") != pid)
			continue;
		a.rows++;
		a.kernel = json_u64(object, "kernel_rss_bytes");
		a.walked = json_u64(object, "walked_bytes");
		a.accounted = json_u64(object, "accounted_bytes");
		a.drift = json_u64(object, "drift_pages");
		a.migrating = json_u64(object, "migrating_pages");
		a.lost = json_u64(object, "lost");
		a.overflow = json_u64(object, "overflow");
	}
	return a;
}

bool clean(pid_t pid, const char *format, ...)
{
	struct audit a = audit(pid);
	va_list args;
	bool good = a.rows == 1 && !a.drift && !a.lost;

	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  audit: %" PRIu64 " rows, kernel %" PRIu64 " walked %" PRIu64
		     " accounted %" PRIu64 " drift %" PRIu64 " lost %" PRIu64,
		     a.rows, a.kernel, a.walked, a.accounted, a.drift, a.lost);
	return good;
}
