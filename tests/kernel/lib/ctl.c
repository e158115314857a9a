// SPDX-License-Identifier: GPL-2.0
/* What mtagctl says about any process, and what its audit finds in page tables. */
#include "ctl.h"
#include "files.h"
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

struct shown show(pid_t pid, const char *path)
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

struct audit audit(pid_t pid)
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
