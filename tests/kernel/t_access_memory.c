// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the module allocates on behalf of users is charged to their cgroup. The cgroup's limit makes calls fail
 * and kills nothing, and everything has a limit even without a cgroup.
 */
/* vm: short=6.1 because="requests that wait take memory in the same code on all" timeout=300 repairs=2 */
#include "lib/keepers.h"
#include "lib/netlink.h"
#include "lib/users.h"
#include <sys/mount.h>
#include <sys/resource.h>

#define LIMIT (8 * MIB)

static char cgroup[] = "/tmp/cgroup.XXXXXX";

static int attach(void)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};

	return mtag_ioctl(MTAG_IOC_ATTACH, &a);
}

static int make(const char *name)
{
	struct mtag_ioc_child c = {.size = sizeof(c), .name_len = strlen(name)};
	int error;

	c.name = (uintptr_t)name;
	error = mtag_ioctl(MTAG_IOC_CHILD, &c);
	return error ? error : (int)c.id;
}

/* ---- a cgroup with little memory ---- */
static uint64_t of_group(const char *file, const char *key)
{
	char path[96], *text;

	snprintf(path, sizeof(path), "%s/t/%s", cgroup, file);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	return key ? field(text, key) : strtoull(text, NULL, 10);
}

/* The kernel's memory of the group: slabs, per-CPU memory, and larger allocations. */
static uint64_t kernel_memory(void)
{
	return of_group("memory.stat", "slab") + of_group("memory.stat", "percpu") +
	       of_group("memory.stat", "vmalloc");
}

static void group_limit(uint64_t bytes)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/t/memory.max", cgroup);
	must0(spew(path, "%" PRIu64, bytes));
}

static bool group_begin(void)
{
	char path[96];

	must(mkdtemp(cgroup) ? 0 : -1);
	if (mount("cgroup2", cgroup, "cgroup2", 0, NULL))
		return false;
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", cgroup);
	if (spew(path, "+memory"))
		return false;
	snprintf(path, sizeof(path), "%s/t", cgroup);
	must(mkdir(path, 0755));
	group_limit(LIMIT);
	return true;
}

static void group_enter(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/t/cgroup.procs", cgroup);
	must0(spew(path, "%d", getpid()));
}

static struct gate *g;

/* The results, in memory that is already there: at the limit no page can be touched. */
static struct {
	int id, made;
} * result;

static void many_tags(void)
{
	char name[64], *p = area(64 * PG);
	int id = 0, n;

	group_enter();
	mtag_fd();
	user(ALICE);
	must0(attach());
	for (size_t at = 0; at < 64 * PG; at += PG)
		((volatile char *)p)[at] = 1;
	result->made = 0;
	open_gate(g, 1);
	pass_gate(g, 2);
	for (n = 0; n < 65533; n++) {
		snprintf(name, sizeof(name), "some name that is neither long nor short %d", n);
		id = make(name);
		if (id < 0)
			break;
	}
	result->id = id;
	result->made = n;
	open_gate(g, 3);
	pass_gate(g, 4);
	ok(make("some name that is neither long nor short 7") > 0, "a tag that there is, is found");
	ok(make("another") > 0, "with a higher limit there may be more");
	exact("all has been counted");
	open_gate(g, 5);
	pass_gate(g, 6);
	_exit(0);
}

static void charged(void)
{
	uint64_t before, module, kernel, grown;
	pid_t pid;

	g = gate();
	result = (void *)gate();
	pid = child();
	if (!pid)
		many_tags();
	pass_gate(g, 1);
	module = health("memory");
	before = kernel_memory();
	open_gate(g, 2);
	pass_gate(g, 3);
	kernel = kernel_memory() - before;
	grown = health("memory") - module;
	is(result->id, (uint64_t)-ENOMEM, "at the limit of the cgroup a tag cannot be made");
	ok(result->made > 1000, "there are %d", result->made);
	/*
	 * The rest: slabs round sizes up, and what is charged may be spread over CPUs. On kernels of our own
	 * each object has more around it to find bad accesses.
	 */
	ok(kernel > grown * 8 / 10 && kernel < grown * (slowness() > 1 ? 30 : 16) / 10,
	   "what the module took, the cgroup was charged");
	diag("module %" PRIu64 " KiB, cgroup's kernel memory %" PRIu64 " KiB", grown / KIB,
	     kernel / KIB);
	is(of_group("memory.events", "oom_kill"), 0, "nobody was killed");
	group_limit(8 * LIMIT);
	open_gate(g, 4);
	pass_gate(g, 5);
	clean(pid, "audit agrees");
	open_gate(g, 6);
	reap(pid);
	ok(until(health("memory") < module, 60), "at the end all is given back");
}

/* ---- pinned words ---- */
struct worker {
	uint32_t *word;
	int error;
	struct gate *g;
};

static int set_word(uint32_t *word)
{
	struct mtag_ioc_thread t = {.size = sizeof(t), .word = (uintptr_t)word};

	return mtag_ioctl(MTAG_IOC_THREAD, &t);
}

static void *worker(void *arg)
{
	struct worker *w = arg;

	w->error = set_word(w->word);
	atomic_fetch_add(&w->g->step, 1);
	if (!until(atomic_load(&w->g->step) >= 1000, 120))
		bail("a worker waits");
	return NULL;
}

static uint64_t pinned(void)
{
	return file_field("/proc/self/status", "VmPin") * KIB;
}

/* Eight threads with words in a page each, and eight with words in the first of these pages. */
static unsigned int registered(char *pages)
{
	struct worker w[16];
	pthread_t thread[16];
	struct gate *mine = gate();
	unsigned int got = 0;

	for (int i = 0; i < 16; i++) {
		w[i] = (struct worker){(uint32_t *)(pages + (i < 8 ? i * (int)PG : i * 64)), 0,
				       mine};
		must0(pthread_create(&thread[i], NULL, worker, &w[i]));
		pass_gate(mine, i + 1);
		if (w[i].error && w[i].error != -ENOMEM)
			ok(false, "thread %d: %s", i, strerror(-w[i].error));
		got += !w[i].error;
	}
	is(pinned(), (got - 8) * PG, "VmPin has the pages of words, each once");
	open_gate(mine, 1000);
	for (int i = 0; i < 16; i++)
		must0(pthread_join(thread[i], NULL));
	ok(until(!pinned(), 30), "and none when the threads have ended");
	return got;
}

static void words(void)
{
	struct rlimit three = {3 * PG, 3 * PG};

	in_child {
		char *pages = area(8 * PG);
		uint32_t *word = (uint32_t *)(pages + 7 * PG);

		/* By hand: the library would register this thread. */
		for (size_t at = 0; at < 8 * PG; at += PG)
			((volatile char *)pages)[at] = 0;
		mtag_fd();
		must(setrlimit(RLIMIT_MEMLOCK, &three));
		must0(attach());
		is(registered(pages), 16, "with CAP_IPC_LOCK all threads get their word");
		user(ALICE);
		is(registered(pages), 3 + 8, "with RLIMIT_MEMLOCK of 3 pages, those in 3 pages");
		must0(set_word(word));
		is(pinned(), PG, "a word");
		must0(set_word(word + 16));
		ok(until(pinned() == PG, 30), "another in the same page");
		in_child {
			ok(until(pinned() == PG, 30), "a forked child has its own page of it");
		}
		must0(set_word(NULL));
		ok(until(!pinned(), 30), "none");
		must0(set_word(word));
		is(nl_ask(nl_open(), MTAG_CMD_UNTRACK, 0, getpid())->error, 0, "untracked");
		ok(until(!pinned(), 30), "nothing stays pinned");
	}
}

/* ---- ranges ---- */
static void ranges(void)
{
	in_child {
		struct mtag_ioc_range r = {.size = sizeof(r), .len = PG};
		char *p = must(mmap(NULL, 4096 * PG, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
		uint64_t memory, lost;
		int error = 0, n, ids[2];

		set_limit("max_ranges", 100);
		begin();
		ids[0] = tag("even");
		ids[1] = tag("odd");
		for (n = 0; n < 200 && !error; n++) {
			r.addr = (uintptr_t)p + n * PG;
			r.tag = ids[n % 2];
			error = mtag_ioctl(MTAG_IOC_RANGE, &r);
		}
		is(error, (uint64_t)-ENOSPC, "no more ranges than there may be");
		ok(n > 80 && n <= 101, "and that many (%d)", n);
		lost = health("lost");
		/* Neighbours that the kernel merges: its limit of mappings is none here. */
		for (n = 0; n < 2048; n++) {
			mtag_t was = mtag_enter(ids[n % 2]);

			must(mmap(p + (2048 + n) * PG, PG, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED
				     ? -1
				     : 0);
			mtag_leave(was);
		}
		ok(health("lost") > lost + 1000, "a mapping above the limit keeps its former tag");
		exact("but is counted");
		must(munmap(p, 4096 * PG));
		set_limit("max_ranges", 65536);
		memory = health("memory");
		p = must(mmap(NULL, 4096 * PG, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
		for (n = 0; n < 4096; n++) {
			mtag_t was = mtag_enter(ids[n % 2]);

			must(mmap(p + n * PG, PG, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED
				     ? -1
				     : 0);
			mtag_leave(was);
		}
		ok(health("memory") >= memory + 4096 * 16,
		   "ranges are part of the module's memory");
		exact("with 4,096 ranges");
	}
}

/* ---- readers that stop ---- */
#define READERS 64

static void readers(void)
{
	in_child {
		uint64_t memory, held;
		int fd[READERS], error = 0;
		char name[32];

		must0(attach());
		for (int i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "tag %d", i);
			make(name);
		}
		memory = health("memory");
		for (int i = 0; i < READERS; i++) {
			pid_t pid = getpid();

			fd[i] = nl_open();
			nl_send(fd[i], nl_family, MTAG_CMD_TAG_GET, NLM_F_DUMP, MTAG_A_PROC_PID,
				&pid, sizeof(pid));
		}
		held = health("memory") - memory;
		/* 48 bytes of counters a tag, and 8 of its virtual size; see docs/security.md. */
		ok(held > READERS * 1000 * 48UL,
		   "what %d readers hold is counted (%" PRIu64 " KiB)", READERS, held / KIB);
		set_limit("max_memory_kb", 1);
		for (int i = 0; i < READERS && !error; i++)
			error = nl_ask(nl_open(), MTAG_CMD_PROC_GET, 0, getpid())->error;
		is(error, (uint64_t)-ENOMEM, "and limited by max_memory_kb");
		set_limit("max_memory_kb", 0);
		for (int i = 0; i < READERS; i++)
			close(fd[i]);
		ok(until(health("memory") <= memory, 30), "closed, they hold nothing");
		is(nl_ask(nl_open(), MTAG_CMD_PROC_GET, 0, getpid())->error, 0, "others go on");
	}
}

/* ---- processes and tags ---- */
static void counts(void)
{
	in_child {
		must0(attach());
		set_limit("max_processes", 1);
		is(make("a") > 0, 1, "one process may be tracked, and is");
		in_child {
			is(attach(), (uint64_t)-ENOSPC, "a second one is refused");
		}
		set_limit("max_processes", 32768);
		set_limit("max_tags", 2);
		is(make("b") > 0, 1, "two tags");
		is(make("c"), (uint64_t)-ENOSPC, "a third one is refused");
		is(make("a") > 0, 1, "the first is found");
		set_limit("max_tags", 4096);
	}
}

/* ---- what one user's losses cost others ---- */

#define MANY  300 /* strays: more than the module remembers one by one */
#define CROWD 64  /* trees of others: the module must not mix one up with the strays' */

/* A stray that forks without limit; its children are not tracked either. */
static void many(void)
{
	for (int i = 0; i < MANY; i++) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
}

/* A process that attaches and waits. With @loses it forks a child beyond the limit, which attaches later. */
static pid_t waiter(struct gate *mine, int step, bool loses)
{
	pid_t pid = child();

	if (pid) {
		pass_gate(mine, step);
		return pid;
	}
	must0(attach());
	if (loses) {
		pid = stray();
		if (!pid) {
			pass_gate(mine, 40);
			many();
			open_gate(mine, 41);
			pass_gate(mine, 50);
			must0(attach());
			open_gate(mine, 51);
			pause();
			_exit(0);
		}
	}
	open_gate(mine, step);
	pass_gate(mine, 100);
	if (loses) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static uint64_t repairs_by_reading(pid_t pid)
{
	uint64_t before = health("repairs");

	is(nl_ask(nl_open(), MTAG_CMD_PROC_GET, 0, pid)->error, 0, "a process is read");
	return health("repairs") - before;
}

/* How many walks reading each of @n processes takes. */
static uint64_t repairs_of_crowd(const pid_t *crowd, int n)
{
	uint64_t before = health("repairs");
	int failed = 0;

	for (int i = 0; i < n; i++)
		failed += !!nl_ask(nl_open(), MTAG_CMD_PROC_GET, 0, crowd[i])->error;
	is(failed, 0, "%d processes are read", n);
	return health("repairs") - before;
}

static void strays(void)
{
	struct gate *mine = gate(), *theirs = gate();
	pid_t other, loser, newcomer, crowd[CROWD];

	/* A process that ended only now would make room for that child. */
	ok(until((visit_cpus(), !health("tracked")), 60), "nobody is tracked");
	other = waiter(mine, 1, false);
	loser = waiter(mine, 2, true);
	newcomer = waiter(mine, 3, false);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = waiter(theirs, i + 1, false);
	is(repairs_by_reading(other), 0, "a child that was not tracked costs other trees no walk");
	is(repairs_by_reading(loser), 0, "nor its own, while it stays so and others are tracked");
	open_gate(mine, 40);
	pass_gate(mine, 41);
	in_child {
		must0(attach());
	}
	is(repairs_by_reading(other), 0, "nor do %d such cost others one", MANY);
	is(repairs_of_crowd(crowd, CROWD), 0, "whatever their trees are numbered");
	is(repairs_by_reading(loser), 1, "but their own, when anybody is tracked");
	open_gate(mine, 50);
	pass_gate(mine, 51);
	is(repairs_by_reading(loser), 1, "its own costs it one, when it is tracked itself");
	is(repairs_by_reading(loser), 0, "and no more");
	is(repairs_by_reading(other), 0, "others cost it none");
	open_gate(mine, 100);
	reap(other);
	reap(loser);
	reap(newcomer);
	open_gate(theirs, 100);
	for (int i = 0; i < CROWD; i++)
		reap(crowd[i]);
}

static void linger(void)
{
	uint64_t was = strtoull(slurp("/sys/module/mtag/parameters/linger_ms"), NULL, 10);
	int out = 0;

	set_limit("linger_ms", 20000);
	for (int i = 0; i < 10; i++) {
		in_child
			must0(attach());
		out += !health("installed");
	}
	is(out, 0, "the hooks stay in while one process after the other attaches and ends");
	set_limit("linger_ms", was);
}

int main(void)
{
	begin_test();
	nl_begin();
	if (group_begin()) {
		set_limit("max_tags", 65533);
		charged();
		set_limit("max_tags", 4096);
	} else {
		skip("no memory controller in a cgroup hierarchy of its own");
	}
	words();
	ranges();
	readers();
	counts();
	strays();
	linger();
	return end_test();
}
