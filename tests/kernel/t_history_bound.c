// SPDX-License-Identifier: GPL-2.0
/*
 * The bounds of the history: its memory, which history_kb limits at any time; what is dropped, and that this is counted;
 * processes with more tags than there is room for; and pid namespaces, which it may not keep alive for long.
 */
/* vm: short=6.1 because="what is kept of the past, and its bound, is the same on all" timeout=600 */
#include "lib/keepers.h"
#include "lib/netlink.h"
#include "lib/past.h"
#include "lib/users.h"

#define ENTRY	      512 /* bytes of the smallest */
#define TAGS	      3000
#define CONFINED_MOST 512 /* of processes in other namespaces; fixed */

static int sock;

static void limit(unsigned int kb)
{
	set_limit("history_kb", kb);
}

/*
 * @n children of a tracked process end one after the other, by @signal or by themselves; then that does. The test is not
 * tracked, so that what it runs besides does not count. Returns the pid of the last child.
 */
static pid_t short_processes(int n, int signal)
{
	pid_t *last =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	in_child {
		begin();
		for (int i = 0; i < n; i++) {
			pid_t pid = child();

			if (!pid) {
				if (signal)
					kill(getpid(), signal);
				_exit(0);
			}
			*last = pid;
			must(waitpid(pid, NULL, 0));
		}
	}
	return *last;
}

static bool is_there(pid_t pid)
{
	struct heard *heard = nl_ask(sock, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0);

	nl_each(h, heard) if (nl_u32(nl_attr(h, MTAG_A_PROC_PID)) == (uint32_t)pid) return true;
	return false;
}

static void many(int n)
{
	uint64_t dropped = health("history_dropped"), memory = health("memory"),
		 lost = health("history_lost");
	pid_t killed = short_processes(1, SIGKILL), last = short_processes(n, 0);

	ok(health("history") <= MIB / ENTRY, "%d processes ended, and the bound holds", n);
	until(health("memory") <= memory, 10);
	is(health("memory"), memory, "the module's memory is what it was");
	is(health("history_dropped") - dropped + health("history"), n + 3,
	   "those that were dropped are counted, and no other is missing");
	is(health("history_lost") - lost, 0, "none was lost");
	ok(is_there(last), "the last of them is there");
	ok(is_there(killed),
	   "so is one that was killed before them: those that exit do not displace it");
	ok(strstr(ctl(NULL, "history -n 1"), "older processes forgotten"), "mtagctl says so");
}

static void changed(void)
{
	uint64_t memory = health("memory"), lost = health("history_lost");
	pid_t last;

	limit(4);
	ok(health("history") <= 4 * KIB / ENTRY && health("history"),
	   "a smaller bound holds at once");
	is(memory - health("memory"), (1024 - 4) * KIB, "and gives memory back");
	limit(0);
	is(health("history"), 0, "a bound of 0 empties the history");
	last = short_processes(1, 0);
	ok(!health("history") && !is_there(last), "and nothing is kept");
	is(health("history_lost") - lost, 0, "which is no loss");
	ok(spew(PARAMETER("history_kb"), "%llu", 1ULL << 32), "a bound beyond 32 bits is refused");
	limit(1024);
	ok(is_there(short_processes(1, 0)), "until there is a bound again");
}

/* ---- readers that stop ---- */

#define STALLED 64

/* Each keeps the entry that it has come to, also when the ledger has dropped it. The history is full. */
static void readers(void)
{
	uint64_t memory = health("memory");
	int fd[STALLED], error = 0, refusing;

	for (int i = 0; i < STALLED; i++) {
		fd[i] = nl_open();
		nl_send(fd[i], nl_family, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0, NULL, 0);
	}
	ok(health("memory") >= memory + STALLED * 32 * KIB,
	   "%d readers that stop count with the largest entry each", STALLED);
	set_limit("max_memory_kb", 1);
	refusing = nl_open();
	error = nl_ask(refusing, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0)->error;
	close(refusing);
	set_limit("max_memory_kb", 0);
	is((uint64_t)-error, ENOMEM, "at the limit of memory another is refused");
	for (int i = 0; i < STALLED; i++)
		close(fd[i]);
	ok(until(health("memory") <= memory, 30), "nothing stays charged when they have gone");
	is(nl_ask(sock, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0)->error, 0,
	   "and the history can be read");
}

/* ---- more tags than there is room for ---- */

/* What tag i has, in no order. */
static size_t size_of(int i)
{
	return (i * 7919 % TAGS / 256 + 1) * PG;
}

static void with_tags(void)
{
	char name[64];
	mtag_t t;

	begin();
	for (int i = 0; i < TAGS; i++) {
		snprintf(name, sizeof(name), "tag-%04d-with-a-name-of-some-length", i);
		t = tag(name);
		touch(t, area(size_of(i)), size_of(i));
	}
	_exit(0);
}

static void many_tags(void)
{
	uint64_t smallest = UINT64_MAX, other = 0, tags = 0, has = 0, had = 0, rows = 0;
	pid_t pid = child();
	char *text, *object;

	if (!pid)
		with_tags();
	reap(pid);
	text = ctl(NULL, "-j history %d", pid);
	while ((object = json_next(&text))) {
		uint64_t peak = json_u64(object, "peak_rss_bytes");

		rows++;
		tags += json_u64(object, "tags");
		if (!strcmp(json_string(object, "tag"), "[other]"))
			other = peak;
		else if (peak < smallest)
			smallest = peak;
		if (strcmp(json_string(object, "tag"), ""))
			has += json_u64(object, "anon_bytes");
	}
	for (int i = 0; i < TAGS; i++)
		had += size_of(i);
	ok(rows > 300 && rows < TAGS, "of %d tags, some are kept (%" PRIu64 ")", TAGS, rows - 1);
	is(tags, TAGS + 1, "the others are counted");
	ok(other && other <= smallest, "the largest by their peaks are kept");
	is(has, had, "and the sum of all is the sum of what they had");
}

/* ---- namespaces ---- */

static void container(void)
{
	in_child {
		char *text;
		pid_t pid;

		must(unshare(CLONE_NEWPID));
		pidns();
		sock = nl_open();
		pid = short_processes(1, 0);
		ok(pid < 10 && is_there(pid),
		   "a process of a pid namespace is shown there by its pid");
		text = ctl(NULL, "-j history %d", getppid());
		ok(!json_next(&text), "and those outside are not shown");
	}
}

static void namespaces(int n)
{
	uint64_t dropped;

	ctl(NULL, "history --clear");
	dropped = health("history_dropped");
	in_child {
		begin();
		for (int i = 0; i < n; i++)
			in_child {
				pid_t pid;

				must(unshare(CLONE_NEWPID));
				pid = child();
				if (!pid)
					_exit(0);
				reap(pid);
			}
	}
	is(health("history_dropped") - dropped, n - CONFINED_MOST,
	   "of processes in other namespaces only the last %d are kept, with their namespaces",
	   CONFINED_MOST);
	is(health("history"), n + 1 + CONFINED_MOST, "others are not dropped for them");
}

int main(void)
{
	begin_test();
	nl_begin();
	sock = nl_open();
	ctl(NULL, "history --clear");
	/* What an earlier test tracked is freed only now, perhaps. */
	until((visit_cpus(), !health("tracked")), 60);
	/* More than the 2,048 for which there is room. */
	many(more(2200, 100000));
	readers();
	changed();
	container();
	namespaces(CONFINED_MOST + more(20, 100));
	many_tags();
	return end_test();
}
