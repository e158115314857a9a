// SPDX-License-Identifier: GPL-2.0
/*
 * Whose rights count when files and sockets are passed on, what relatives of different users learn of each other's
 * tags, which listeners get events, and that no output has an address of the kernel.
 */
/* vm: timeout=300 */
#include "lib/addresses.h"
#include "lib/handed.h"
#include "lib/keepers.h"
#include "lib/netlink.h"
#include "lib/users.h"

/* ---- /dev/mtag: the file is nobody's ---- */
static void device(void)
{
	char path[64];
	int fd, tag, status;
	pid_t pid;

	in_child {
		user(ALICE);
		fd = must(open(MTAG_DEVICE, O_RDWR));
		must0(fd_attach(fd));
		tag = fd_make(fd, 0, "alice-secret");
		hand_over(fd);
		is(fd_path(fd, tag, path, sizeof(path)), 0, "the opener of the file has her tag");
	}
	fd = taken();
	in_child {
		is(fd_path(fd, 2, path, sizeof(path)), (uint64_t)-ESRCH,
		   "a file that alice opened and attached by: root, who was handed it, is not attached");
		is(fd_attach(fd), 0, "he may attach himself by it");
		is(fd_path(fd, 2, path, sizeof(path)), (uint64_t)-ENOENT,
		   "and finds none of her tags");
		tag = fd_make(fd, 0, "root-secret");
		user(BOB);
		is(fd_path(fd, tag, path, sizeof(path)), 0,
		   "kept over setuid it is about the same process, and so are the tags");
	}
	close(fd);
	fd = must(open(MTAG_DEVICE, O_RDWR));
	pid = child();
	if (!pid) {
		char number[16];

		snprintf(number, sizeof(number), "%d", fd);
		must0(fd_attach(fd));
		fd_make(fd, 0, "parent-secret");
		execl("/proc/self/exe", "t_access_fd", "inherited", number, NULL);
		bail("exec");
	}
	must(waitpid(pid, &status, 0));
	is(status, 0, "kept over exec it is about the new program, which has none of the old tags");
	close(fd);
}

/* The new program of device(). */
static int inherited(int fd)
{
	char path[64];

	return fd_path(fd, 0, path, sizeof(path)) || fd_path(fd, 2, path, sizeof(path)) != -ENOENT;
}

/* ---- sockets: both the opener and the user of one must have the right ---- */
#define CROWD 10

static struct gate *crowd;

/* CROWD processes. The first has so many tags that each process fills a message. */
static pid_t gather(uid_t uid, const char *secret, int step)
{
	pid_t pid = child();
	char name[64];
	int fd;

	if (pid) {
		pass_gate(crowd, step);
		return pid;
	}
	if (uid)
		user(uid);
	fd = must(open(MTAG_DEVICE, O_RDWR));
	must0(fd_attach(fd));
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%s-%d", secret, i);
		fd_make(fd, 0, name);
	}
	for (int i = 1; i < CROWD; i++) {
		if (!child()) {
			must(prctl(PR_SET_PDEATHSIG, SIGKILL));
			pass_gate(crowd, 100);
			_exit(0);
		}
	}
	open_gate(crowd, step);
	pass_gate(crowd, 100);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void refused(int fd, pid_t pid, const char *what)
{
	static const int commands[] = {MTAG_CMD_PROC_GET, MTAG_CMD_AUDIT, MTAG_CMD_RESET,
				       MTAG_CMD_TRACK, MTAG_CMD_UNTRACK};
	struct heard *heard;

	for (size_t i = 0; i < COUNT(commands); i++) {
		heard = nl_ask(fd, commands[i], 0, pid);
		if ((heard->error != -EACCES && heard->error != -EPERM) || heard->messages) {
			ok(false, "%s: command %d", what, commands[i]);
			diag("  error %d", heard->error);
		}
	}
	heard = nl_ask(fd, MTAG_CMD_TAG_GET, NLM_F_DUMP, pid);
	ok(heard->error == -EACCES && !heard->messages, "%s: refused", what);
}

/* A pid namespace hides processes that its user may read outside of it. */
static void contained(void)
{
	pid_t pid = child();
	struct heard *heard;
	int fd;

	if (!pid) {
		user(ALICE);
		must(unshare(CLONE_NEWUSER | CLONE_NEWPID));
		in_child {
			gather(0, "inner-secret", 3);
			fd = nl_open();
			hand_over(fd);
			nl_send(fd, nl_family, MTAG_CMD_TAG_GET, NLM_F_ACK | NLM_F_DUMP, 0, NULL,
				0);
			pass_gate(crowd, 4);
		}
		_exit(0);
	}
	fd = taken();
	heard = nl_hear(fd);
	ok(nl_holds(heard, "inner-secret") && !nl_holds(heard, "alice-secret"),
	   "a list asked for in a pid namespace is of that namespace, whoever reads on (%u messages)",
	   heard->messages);
	close(fd);
	open_gate(crowd, 4);
	reap(pid);
}

static void sockets(void)
{
	pid_t of_root, of_alice;
	struct heard *heard;
	int fd, own;

	crowd = gate();
	of_root = gather(0, "root-secret", 1);
	of_alice = gather(ALICE, "alice-secret", 2);
	in_child {
		user(ALICE);
		fd = nl_open();
		hand_over(fd);
		/* The dump begins here; another process reads the rest. */
		nl_send(fd, nl_family, MTAG_CMD_TAG_GET, NLM_F_ACK | NLM_F_DUMP, 0, NULL, 0);
	}
	fd = taken();
	heard = nl_hear(fd);
	ok(!heard->error && heard->messages > 1 && nl_holds(heard, "alice-secret"),
	   "a list that alice asked for goes on when root reads it (%u messages)", heard->messages);
	ok(!nl_holds(heard, "root-secret"), "and holds nothing but what she may read");
	refused(fd, of_root, "root asks for root's process by a socket of alice's");
	in_child {
		own = must(open(MTAG_DEVICE, O_RDWR));
		must0(fd_attach(own));
		refused(fd, getpid(), "root asks for himself by a socket of alice's");
	}
	is(nl_ask(fd, MTAG_CMD_PROC_GET, 0, of_alice)->error, 0, "for her process he may");
	close(fd);
	contained();
	fd = nl_open();
	in_child {
		user(ALICE);
		refused(fd, of_root, "alice asks for root's process by a socket of root's");
		is(nl_ask(fd, MTAG_CMD_PROC_GET, 0, of_alice)->error, 0, "for her own she may");
	}
	close(fd);
	open_gate(crowd, 100);
	reap(of_root);
	reap(of_alice);
}

/* ---- a service whose children become other users: one tree, but not all of its names ---- */
static struct gate *service;

/* The ids of the others' tags: shared memory. */
static struct ids {
	uint32_t before, alice, later;
} * ids;

static bool knows(int fd, uint32_t tag)
{
	char path[256];

	return !fd_path(fd, tag, path, sizeof(path));
}

static bool told(const char *name)
{
	int fd = nl_open();
	struct heard *heard = nl_ask(fd, MTAG_CMD_TAG_GET, NLM_F_DUMP, getpid());

	close(fd);
	if (heard->error)
		bail("TAG_GET of oneself: %s", strerror(-heard->error));
	return nl_holds(heard, name);
}

static void as_alice(int fd)
{
	int tag = fd_make(fd, 0, "made-as-root");

	user(ALICE);
	ok(knows(fd, tag) && told("made-as-root"), "what a process made before is its own");
	ok(knows(fd, ids->before), "and what its parent had made");
	ids->alice = fd_make(fd, ids->before, "alice-only");
	ok(knows(fd, ids->alice) && told("alice-only"), "what it makes afterwards as well");
	open_gate(service, 1);
	pass_gate(service, 2);
	in_child {
		ok(knows(fd, ids->alice), "a child of alice's knows what she made");
		ok(!knows(fd, ids->later) && !told("root-later"), "but not what root made later");
	}
}

static void as_bob(int fd)
{
	struct mtag_ioc_thread t = {.size = sizeof(t)};
	char *word = area(PG), *data = area(16 * PG);

	pass_gate(service, 2);
	user(BOB);
	ok(knows(fd, ids->before) && told("before"),
	   "bob knows what was made before he was forked");
	ok(!knows(fd, ids->alice) && !told("alice-only"), "but not what alice made");
	ok(!knows(fd, ids->later) && !told("root-later"), "nor what root made later");
	is(fd_make(fd, ids->alice, "below"), (uint64_t)-ENOENT, "and makes no tags below hers");
	is(fd_default(fd, ids->alice), (uint64_t)-ENOENT, "nor is hers his default");
	in_child {
		ok(!knows(fd, ids->alice) && !told("alice-only"), "his children learn no more");
	}
	/* A number is but a number: pages are charged to it, under no name. */
	t.word = (uintptr_t)word;
	*(volatile uint32_t *)word = 0;
	must0(fd_call(fd, MTAG_IOC_THREAD, &t));
	*(volatile uint32_t *)word = ids->alice;
	for (int i = 0; i < 16; i++)
		((volatile char *)data)[i * PG] = 1;
	*(volatile uint32_t *)word = 0;
	ok(!told("alice-only") && told("[hidden]"),
	   "pages under her number are shown without name");
	exact("and all is counted");
}

static void relatives(void)
{
	int fd = must(open(MTAG_DEVICE, O_RDWR)), status;
	pid_t pid = child(), alice, bob;

	if (pid) {
		reap(pid);
		return;
	}
	service = gate();
	ids = (void *)gate();
	must0(fd_attach(fd));
	ids->before = fd_make(fd, 0, "before");
	alice = child();
	if (!alice) {
		as_alice(fd);
		_exit(0);
	}
	bob = child();
	if (!bob) {
		as_bob(fd);
		_exit(0);
	}
	pass_gate(service, 1);
	ids->later = fd_make(fd, 0, "root-later");
	ok(knows(fd, ids->later) && !knows(fd, ids->alice),
	   "root has his own, and hers are not his");
	is(strstr(ctl(&status, "-j show %d", alice), "alice-only") != NULL, 1,
	   "a reader of alice's process sees her tags");
	open_gate(service, 2);
	reap(alice);
	reap(bob);
	_exit(0);
}

/* ---- events ---- */
static void something_happens(void)
{
	in_child
		must0(fd_attach(must(open(MTAG_DEVICE, O_RDWR))));
}

static void events(void)
{
	char buf[4096];
	ssize_t n;
	int fd;

	in_child {
		user(ALICE);
		is(nl_listen(0), (uint64_t)-EPERM, "a user hears no events");
		must(unshare(CLONE_NEWUSER));
		is(nl_listen(0), (uint64_t)-EPERM, "nor as root of a user namespace");
		must(unshare(CLONE_NEWNET));
		fd = nl_listen(0);
		ok(fd >= 0, "in a network namespace of her own she may join");
		something_happens();
		usleep(200000);
		is(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), (uint64_t)-1, "and hears nothing");
	}
	fd = nl_listen(0);
	ok(fd >= 0, "root may");
	something_happens();
	n = recv(fd, buf, sizeof(buf), 0);
	if (!ok(n > 0, "and hears"))
		diag("  errno %d, group %u", errno, nl_events);
	close(fd);
}

/* ---- what users can read must not hold addresses ---- */
static void addresses(void)
{
	static const char *const files[] = {
		"/sys/kernel/debug/mtag/stats",
		"/sys/kernel/debug/mtag/hooks",
		"/sys/kernel/debug/mtag/health",
		"/sys/class/misc/mtag/uevent",
	};
	static const int dumps[] = {MTAG_CMD_PROC_GET, MTAG_CMD_TAG_GET};
	static const int asks[] = {MTAG_CMD_INFO_GET, MTAG_CMD_PROC_GET, MTAG_CMD_AUDIT};
	struct heard *heard;
	int fd = nl_open();

	is(has_address("0xffffffff81000000", 18) && has_address("FFFF888012345678", 16) &&
		   !has_address("aaaaffff12345678 ffff1234", 25),
	   1, "an address would be noticed");
	must0(fd_attach(mtag_fd()));
	fd_make(mtag_fd(), 0, "some");
	for (size_t i = 0; i < COUNT(dumps); i++) {
		heard = nl_ask(fd, dumps[i], NLM_F_DUMP, 0);
		ok(heard->messages && !has_address(heard->buf, heard->len),
		   "a dump by command %d holds none", dumps[i]);
	}
	for (size_t i = 0; i < COUNT(asks); i++) {
		heard = nl_ask(fd, asks[i], 0, asks[i] == MTAG_CMD_INFO_GET ? 0 : getpid());
		ok(heard->messages && !has_address(heard->buf, heard->len),
		   "an answer to command %d holds none", asks[i]);
	}
	for (size_t i = 0; i < COUNT(files); i++)
		clean_text(files[i]);
	clean_log();
	close(fd);
}

/* The module's memory, once all deferred frees are done. */
static uint64_t settled_memory(void)
{
	uint64_t memory, before;

	do {
		before = health("memory");
		visit_cpus();
		usleep(300000);
		memory = health("memory");
	} while (memory != before);
	return memory;
}

/* Everyone may read the totals, so they must not reveal what one process has. */
static void totals(void)
{
	static const char *const names[] = {
		"x", "a name of as many bytes as there may be, which is sixty-three bytes"};
	uint64_t grown[COUNT(names)];
	int fd = mtag_fd();
	char name[64];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "filler %d", i);
		fd_make(fd, 0, name);
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		uint64_t before = settled_memory();

		snprintf(name, sizeof(name), "%s", names[i]);
		must(fd_make(fd, 0, name) < 0 ? -1 : 0);
		grown[i] = health("memory") - before;
	}
	is(grown[0], grown[1], "the total of memory does not tell how long a name is");
	in_child {
		user(ALICE);
		is(nl_ask(nl_open(), MTAG_CMD_INFO_GET, 0, 0)->error, 0,
		   "all users may read the totals");
		ok(!slurp("/sys/kernel/debug/mtag/health") &&
			   !slurp("/sys/kernel/debug/mtag/stats") &&
			   !slurp("/sys/kernel/debug/mtag/hooks"),
		   "only root may read debugfs");
	}
}

int main(int argc, char *argv[])
{
	if (argc > 2 && !strcmp(argv[1], "inherited"))
		return inherited(atoi(argv[2]));
	begin_test();
	nl_begin();
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	device();
	sockets();
	relatives();
	events();
	addresses();
	totals();
	return end_test();
}
