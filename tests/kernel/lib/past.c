// SPDX-License-Identifier: GPL-2.0
/* What `mtagctl history` says about processes that ended, and processes whose end can be looked at. */
#include "past.h"

const char *const last_names[PAST_TAGS] = {"small", "middle", "large"};

struct past past_of(pid_t pid, const char *path)
{
	struct past past = {0};
	char *text = ctl(NULL, "-j history %d", pid), *object;
	uint64_t newest = 0, biggest = 0;

	while ((object = json_next(&text))) {
		uint64_t ended = json_u64(object, "ended"), rss = json_u64(object, "rss_bytes");

		if (!past.rows || ended != newest)
			past.entries++;
		if (past.rows && ended != newest)
			continue;
		newest = ended;
		if (rss > biggest) {
			biggest = rss;
			snprintf(past.largest, sizeof(past.largest), "%s",
				 json_string(object, "tag"));
		}
		if (path && strcmp(json_string(object, "tag"), path))
			continue;
		past.rows++;
		past.rss += rss;
		past.anon += json_u64(object, "anon_bytes");
		past.file += json_u64(object, "file_bytes");
		past.shmem += json_u64(object, "shmem_bytes");
		past.swap += json_u64(object, "swap_bytes");
		past.peak += json_u64(object, "peak_rss_bytes");
		snprintf(past.comm, sizeof(past.comm), "%s", json_string(object, "comm"));
		snprintf(past.how, sizeof(past.how), "%s", json_string(object, "how"));
		past.status = json_u64(object, "status");
		past.signal = json_u64(object, "signal");
		past.ended = ended;
		past.ran = json_u64(object, "ran_ms");
		past.complete = strstr(object, "\"complete\":true");
		past.reaped = strstr(object, "\"reaped\":true");
	}
	return past;
}

void last_begin(struct last *l, const size_t pages[PAST_TAGS])
{
	mtag_t tags[PAST_TAGS];

	begin();
	for (int i = 0; i < PAST_TAGS; i++)
		tags[i] = tag(last_names[i]);
	for (int i = 0; i < PAST_TAGS; i++) {
		l->len[i] = pages[i] * PG;
		l->area[i] = area(l->len[i]);
		touch(tags[i], l->area[i], l->len[i]);
	}
}

pid_t last_child(struct last *l, const size_t pages[PAST_TAGS], void (*end)(void))
{
	pid_t pid = child();
	int status;

	if (!pid) {
		raise(SIGSTOP);
		last_begin(l, pages);
		end();
		_exit(99);
	}
	must(waitpid(pid, &status, WUNTRACED));
	must(ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT));
	kill(pid, SIGCONT);
	return pid;
}

void until_exit(pid_t pid)
{
	int status;

	for (;;) {
		must(waitpid(pid, &status, __WALL));
		if (!WIFSTOPPED(status))
			bail("it ended unseen: %#x", status);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8))
			return;
		/* A group stop goes on; any other signal is delivered. */
		must(ptrace(PTRACE_CONT, pid, NULL, status >> 16 ? 0 : WSTOPSIG(status)));
	}
}

int last_is_exact(pid_t pid, const struct last *l, const char *what)
{
	struct truth truth = truth_of(pid);
	struct smaps of[PAST_TAGS];
	struct past past;
	int status;

	for (int i = 0; i < PAST_TAGS; i++)
		of[i] = smaps_of(pid, l->area[i], l->area[i] + l->len[i]);
	must(ptrace(PTRACE_CONT, pid, NULL, 0));
	must(waitpid(pid, &status, __WALL));
	past = past_of(pid, NULL);
	is(past.entries, 1, "%s: it is in the history once", what);
	ok(past.complete && !past.reaped, "%s: with numbers that are complete", what);
	is(past.rss, truth.rss, "%s: its last RSS is that of smaps", what);
	is(past.anon, truth.anon, "%s: its anonymous memory, too", what);
	ok(!strcmp(past.largest, "large"), "%s: its largest tag is that of the largest area", what);
	is(past.swap, truth.swap, "%s: its swap, too", what);
	for (int i = 0; i < PAST_TAGS; i++)
		is(past_of(pid, last_names[i]).anon, of[i].anon,
		   "%s: the tag %s had what smaps showed in its area", what, last_names[i]);
	return status;
}
