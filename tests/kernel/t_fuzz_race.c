// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: a thread makes calls, one unmaps, moves and replaces the pages of the tag words, one writes
 * random values into the words and touches memory, one starts threads and processes, and readers audit, reset, untrack and
 * track the process. It must be exact afterwards. As root, as nobody, and as root of a user namespace.
 */
/* vm: repairs=any because="a child that is forked while its parent becomes tracked is counted by its first reader" core=1 group=parallel thread=multi mem=1G timeout=1800 */
#include "lib/fuzz.h"
#include "lib/fuzz_netlink.h"
#include "lib/keepers.h"
#include <setjmp.h>

#define SLOTS 8
#define PAGES 128

static char *slots, *ground;
static atomic_bool stop;
static atomic_ullong *inputs;
static const struct fuzz *fuzz;
static uint64_t stream;

/* ---- accesses that may fail ---- */
static __thread sigjmp_buf out;
static __thread volatile sig_atomic_t armed;

static void faulted(int signal)
{
	if (!armed)
		bail("signal %d outside of an access that may fail", signal);
	siglongjmp(out, 1);
}

static void catch_faults(void)
{
	struct sigaction action = {.sa_handler = faulted, .sa_flags = SA_NODEFER};

	must(sigaction(SIGSEGV, &action, NULL));
	must(sigaction(SIGBUS, &action, NULL));
}

static bool store(void *at, uint32_t value)
{
	if (sigsetjmp(out, 0)) {
		armed = 0;
		return false;
	}
	armed = 1;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint32_t *)at = value;
	atomic_signal_fence(memory_order_seq_cst);
	armed = 0;
	return true;
}

static void *some_word(struct random *r)
{
	return slots + below(r, SLOTS) * PG + below(r, PG / 4) * 4;
}

/* ---- the calls ---- */
static bool documented(int error)
{
	static const int errors[] = {0,	     EINVAL, EFAULT,	   ENOENT, ESRCH,
				     ENOMEM, ENOSPC, ENAMETOOLONG, EAGAIN, EBUSY};

	for (size_t i = 0; i < COUNT(errors); i++)
		if (error == errors[i])
			return true;
	return false;
}

static int range_call(struct random *r, uint32_t tag)
{
	struct mtag_ioc_range range = {.size = sizeof(range),
				       .tag = tag,
				       .flags = below(r, 2),
				       .addr = (uintptr_t)ground + below(r, PAGES) * PG,
				       .len = (1 + below(r, PAGES)) * PG};

	return mtag_ioctl(MTAG_IOC_RANGE, &range);
}

static void some_call(struct random *r)
{
	char name[2] = {'a' + below(r, 20), 'a' + below(r, 20)}, path[MTAG_PATH_MAX];
	union {
		struct mtag_ioc_attach attach;
		struct mtag_ioc_thread thread;
		struct mtag_ioc_child child;
		struct mtag_ioc_default def;
		struct mtag_ioc_usage usage;
		struct mtag_ioc_path path;
	} arg;
	uint32_t tag = one_in(r, 8) ? odd_number(r) : below(r, 300);
	int error = 0;

	memset(&arg, 0, sizeof(arg));
	switch (below(r, 32)) {
	case 0:
		arg.attach = (struct mtag_ioc_attach){sizeof(arg.attach), one_in(r, 4), 0, 0};
		error = mtag_ioctl(MTAG_IOC_ATTACH, &arg);
		break;
	case 1 ... 9:
		arg.thread.size = sizeof(arg.thread);
		arg.thread.word = one_in(r, 8) ? 0 : (uintptr_t)some_word(r);
		error = mtag_ioctl(MTAG_IOC_THREAD, &arg);
		break;
	case 10 ... 16:
		arg.child = (struct mtag_ioc_child){.size = sizeof(arg.child),
						    .parent = one_in(r, 2) ? 0 : tag,
						    .name_len = 1 + one_in(r, 4),
						    .name = (uintptr_t)name};
		error = mtag_ioctl(MTAG_IOC_CHILD, &arg);
		break;
	case 17 ... 20:
		arg.def = (struct mtag_ioc_default){.size = sizeof(arg.def), .tag = tag};
		error = mtag_ioctl(MTAG_IOC_DEFAULT, &arg);
		break;
	case 21:
		if (one_in(r, 4))
			error = range_call(r, tag);
		break;
	case 22 ... 26:
		arg.usage = (struct mtag_ioc_usage){.size = sizeof(arg.usage), .tag = tag};
		error = mtag_ioctl(MTAG_IOC_USAGE, &arg);
		break;
	default:
		arg.path = (struct mtag_ioc_path){.size = sizeof(arg.path),
						  .tag = tag,
						  .buf_len = sizeof(path),
						  .buf = (uintptr_t)path};
		error = mtag_ioctl(MTAG_IOC_PATH, &arg);
	}
	if (!documented(-error))
		ok(false, "a call gives only documented errors, not %s", strerror(-error));
}

static void *calls(void *unused)
{
	struct random r = random_of(fuzz->seed, stream);

	catch_faults();
	for (uint64_t i = 0; i < fuzz->inputs; i++)
		some_call(&r);
	atomic_fetch_add(inputs, fuzz->inputs);
	atomic_store(&stop, true);
	return unused;
}

/* ---- the words ---- */
static int file_fd = -1;

static void mangle(struct random *r)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	size_t n = 1 + one_in(r, 4);
	char *p = slots + below(r, SLOTS - 1) * PG, *q = slots + below(r, SLOTS - 1) * PG;

	switch (below(r, 12)) {
	case 0:
		munmap(p, n * PG);
		break;
	case 1:
		mprotect(p, n * PG, one_in(r, 2) ? PROT_NONE : PROT_READ);
		break;
	case 2:
		madvise(p, n * PG, one_in(r, 2) ? MADV_DONTNEED : MADV_FREE);
		break;
	case 3:
		madvise(p, n * PG, one_in(r, 2) ? MADV_PAGEOUT : MADV_COLD);
		break;
	case 4:
		mmap(p, PG, prot, MAP_FIXED | (one_in(r, 2) ? MAP_SHARED : MAP_PRIVATE), file_fd,
		     0);
		break;
	case 5:
		if (p != q)
			mremap(p, PG, PG,
			       MREMAP_MAYMOVE | MREMAP_FIXED |
				       (one_in(r, 2) ? MREMAP_DONTUNMAP : 0),
			       q);
		break;
	case 6:
		madvise(p, n * PG, one_in(r, 2) ? MADV_DONTFORK : MADV_WIPEONFORK);
		break;
	case 7:
		madvise(p, n * PG, MADV_MERGEABLE);
		break;
	default:
		mmap(p, n * PG, prot, flags, -1, 0);
	}
}

static void *mangler(void *unused)
{
	struct random r = random_of(fuzz->seed, stream + 1);
	uint64_t n = 0;

	for (; !atomic_load(&stop); n++) {
		mangle(&r);
		if (one_in(&r, 8))
			sched_yield();
	}
	atomic_fetch_add(inputs, n);
	return unused;
}

static void *toucher(void *unused)
{
	struct random r = random_of(fuzz->seed, stream + 2);
	struct mtag_ioc_thread own = {.size = sizeof(own)};
	uint64_t n = 0;

	catch_faults();
	for (; !atomic_load(&stop); n++) {
		char *p = ground + below(&r, PAGES) * PG;

		if (one_in(&r, 64)) {
			own.word = (uintptr_t)some_word(&r);
			mtag_ioctl(MTAG_IOC_THREAD, &own);
		}
		store(some_word(&r), one_in(&r, 2) ? odd_number(&r) : below(&r, 300));
		if (one_in(&r, 16))
			madvise(p, below(&r, (ground + PAGES * PG - p) / PG + 1) * PG,
				one_in(&r, 4) ? MADV_PAGEOUT : MADV_DONTNEED);
		else if (one_in(&r, 32))
			mmap(p, PG, PROT_READ | PROT_WRITE,
			     MAP_FIXED | MAP_ANONYMOUS | (one_in(&r, 2) ? MAP_SHARED : MAP_PRIVATE),
			     -1, 0);
		else
			store(p, n);
	}
	atomic_fetch_add(inputs, n);
	return unused;
}

/* ---- threads and processes ---- */
static void *short_thread(void *random)
{
	struct random r = *(struct random *)random;
	char name[16] = {'A' + below(&r, 6)};

	prctl(PR_SET_NAME, name);
	for (int i = below(&r, 20); i > 0; i--) {
		some_call(&r);
		store(ground + below(&r, PAGES) * PG, i);
	}
	return NULL;
}

static void short_process(struct random *r)
{
	bool exec = one_in(r, 3);
	pid_t pid = exec && one_in(r, 2) ? vfork() : fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	if (exec) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	for (int i = below(r, 20); i > 0; i--)
		store(ground + below(r, PAGES) * PG, i);
	if (one_in(r, 3))
		kill(getpid(), SIGKILL);
	_exit(0);
}

static void *spawner(void *unused)
{
	struct random r = random_of(fuzz->seed, stream + 3);
	uint64_t n = 0;

	catch_faults();
	for (; !atomic_load(&stop); n++) {
		struct random each = random_of(rnd(&r), n);
		pthread_t thread;

		if (one_in(&r, 3))
			short_process(&r);
		else if (!pthread_create(&thread, NULL, short_thread, &each))
			pthread_join(thread, NULL);
	}
	atomic_fetch_add(inputs, n);
	return unused;
}

/* If the round's process has failed, it never gets there. */
static void wait_gate(struct gate *g, int step, pid_t pid)
{
	siginfo_t info = {0};

	until(atomic_load(&g->step) >= step ||
		      (!waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid),
	      900);
}

/* ---- readers in a process of their own ---- */
static pid_t reader(pid_t target, enum user user)
{
	pid_t pid = child();
	struct random r = random_of(fuzz->seed, stream + 4 + user);
	int s;

	if (pid)
		return pid;
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	become(user);
	for (;;) {
		static const int commands[] = {
			MTAG_CMD_PROC_GET, MTAG_CMD_TAG_GET, MTAG_CMD_AUDIT, MTAG_CMD_RESET,
			MTAG_CMD_PROC_GET, MTAG_CMD_PSS_GET, MTAG_CMD_TRACK, MTAG_CMD_UNTRACK};
		int command = commands[below(&r, COUNT(commands) - (user == NOBODY))];
		bool dumps = command == MTAG_CMD_TAG_GET || command == MTAG_CMD_PSS_GET;

		if (command == MTAG_CMD_UNTRACK && !one_in(&r, 4))
			continue;
		s = genl_open();
		genl_ask(s, command, dumps ? NLM_F_DUMP : NLM_F_ACK,
			 dumps && one_in(&r, 2) ? 0 : target, NULL, NULL);
		close(s);
		if (user == ROOT && one_in(&r, 8))
			slurp("/sys/kernel/debug/mtag/stats");
	}
}

static void take_drift(const struct nlattr *attr, int depth, void *data)
{
	if (!depth && attr->nla_type == MTAG_A_AUDIT_DRIFT)
		memcpy(data, attr + 1, 8);
}

static uint64_t genl_drift(pid_t pid)
{
	uint64_t drift = UINT64_MAX;
	int s = genl_open();

	genl_ask(s, MTAG_CMD_AUDIT, NLM_F_ACK, pid, take_drift, &drift);
	close(s);
	return drift;
}

/* ---- rounds ---- */
static void round_of(enum user user, uint64_t round, struct gate *g)
{
	static void *(*const all[])(void *) = {calls, mangler, toucher, spawner};
	struct mtag_ioc_attach attach = {.size = sizeof(attach)};
	struct mtag_ioc_thread own = {.size = sizeof(own)};
	pthread_t threads[COUNT(all)];
	int error;

	become(user);
	alarm(900);
	begin();
	slots = area(SLOTS * PG);
	ground = area(PAGES * PG);
	file_fd = must(memfd_create("word", MFD_CLOEXEC));
	must(ftruncate(file_fd, PG));
	open_gate(g, 1);
	for (size_t i = 0; i < COUNT(all); i++)
		must0(pthread_create(&threads[i], NULL, all[i], NULL));
	for (size_t i = 0; i < COUNT(all); i++)
		must0(pthread_join(threads[i], NULL));
	open_gate(g, 2);
	pass_gate(g, 3);
	/* A reader may have untracked it. */
	error = mtag_ioctl(MTAG_IOC_ATTACH, &attach);
	ok(!error, "as %s, seed=%" PRIu64 " round=%" PRIu64 ": the process lives and is tracked",
	   user_names[user], fuzz->seed, round);
	mtag_ioctl(MTAG_IOC_THREAD, &own);
	exact("and exact");
	is(genl_drift(getpid()), 0, "its page tables say the same");
}

int main(int argc, char **argv)
{
	struct fuzz f = fuzz_arguments(argc, argv, 600, 10000, 1);
	struct remains before;
	struct gate *g = gate();
	pid_t pid, readers[2];

	need_root();
	find_family();
	inputs = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	fuzz = &f;
	/* Its memory also goes to swap, and what mtag holds for that stays until no process is tracked. */
	swap_zram();
	ok(idle(), "the hooks go out");
	before = remains();
	for (uint64_t round = f.round; round < f.round + f.rounds; round++)
		for (enum user user = 0; user < USERS; user++) {
			stream = round * 64 + user * 16 + 1000;
			open_gate(g, 0);
			pid = child();
			if (!pid) {
				round_of(user, round, g);
				_exit(0);
			}
			pass_gate(g, 1);
			readers[0] = reader(pid, ROOT);
			readers[1] = reader(pid, NOBODY);
			wait_gate(g, 2, pid);
			for (int i = 0; i < 2; i++) {
				must(kill(readers[i], SIGKILL));
				must(waitpid(readers[i], NULL, 0));
			}
			open_gate(g, 3);
			reap(pid);
		}
	ok(idle(), "the hooks go out");
	same_remains(before, "after all of it");
	printf("# counts: inputs=%llu\n", atomic_load(inputs));
	return done();
}
