// SPDX-License-Identifier: GPL-2.0
/*
 * What users can do to the module while it comes and goes: who joined the group of its events before it was there hears
 * nothing, and neither a task that sleeps on its way back to user space nor a request that comes too late keeps it from
 * being unloaded.
 */
/* vm: group=plain mem=2G module=linger_ms=2000 timeout=300 */
#include "lib/fail.h"
#include "lib/netlink.h"
#include "lib/users.h"
#include <arpa/inet.h>
#include <netinet/in.h>

#define GROUPS	 1024
#define ENDLESS	 100000 /* seconds */
#define STALL_MS 30000

/* What a child found. */
struct found {
	atomic_int joined, heard;
};

static int generic_netlink(void)
{
	const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int fd = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC));

	/* A socket without an address is sent nothing. */
	must(bind(fd, (const struct sockaddr *)&any, sizeof(any)));
	return fd;
}

/* Joins all groups that it may. Returns how many. */
static int join_all(int fd)
{
	int joined = 0;

	for (int group = 1; group <= GROUPS; group++)
		joined +=
			!setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
	return joined;
}

/* How many messages have come that are not the controller's, which tells of families. */
static int hear(int fd)
{
	char buf[16384];
	int heard = 0;

	while (recv(fd, buf, sizeof(buf), 0) > 0)
		heard += ((struct nlmsghdr *)buf)->nlmsg_type != GENL_ID_CTRL;
	return heard;
}

/* Not by the library, which keeps the device open and so the module. */
static void attach(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	int fd = must(open(MTAG_DEVICE, O_RDONLY | O_CLOEXEC));

	must(ioctl(fd, MTAG_IOC_ATTACH, &arg));
	close(fd);
}

static void load(void)
{
	must0(module_load(module_path(), getenv("MTAG_MODULE_ARGS") ?: ""));
	ok(until(!access(MTAG_DEVICE, F_OK), 30), "the module is loaded");
}

static void joined_early(void)
{
	struct found *found =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	struct gate *g = gate();
	pid_t early;
	int root;

	is(module_unload_soon("mtag"), 0, "the module is unloaded");
	early = child();
	if (!early) {
		int fd;

		user(ALICE);
		fd = generic_netlink();
		found->joined = join_all(fd);
		open_gate(g, 1);
		pass_gate(g, 2);
		found->heard = hear(fd);
		_exit(0);
	}
	pass_gate(g, 1);
	ok(found->joined > 0, "a user joins groups that are nobody's");
	load();
	root = generic_netlink();
	join_all(root);
	/* A process that begins to be tracked, and ends, makes events. */
	in_child
		attach();
	ok(until(hear(root) > 0, 30), "root hears events");
	open_gate(g, 2);
	reap(early);
	is(found->heard, 0, "who joined before they were mtag's hears none");
	close(root);
}

/* A connection whose last data its peer does not take. The socket is closed with its last mapping, and waits for that. */
static void stick(const struct sockaddr_in *to)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = ENDLESS};
	int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	static char data[65536];
	void *p;

	must(connect(fd, (const struct sockaddr *)to, sizeof(*to)));
	while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	p = must(mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, 0));
	close(fd);
	must(munmap(p, PG));
	pause();
}

static bool is_in_file(const char *path, const char *word)
{
	const char *text = slurp(path);

	return text && strstr(text, word);
}

/* Is what it does now beneath that function? */
static bool is_in(pid_t pid, const char *function)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	return is_in_file(path, function);
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

static void asleep_on_its_way_back(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(here);
	int peer = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	pid_t stuck, unloader;

	must(bind(peer, (struct sockaddr *)&here, sizeof(here)));
	must(listen(peer, 1));
	must(getsockname(peer, (struct sockaddr *)&here, &len));
	stuck = child();
	if (!stuck) {
		attach();
		stick(&here);
	}
	ok(until(is_in(stuck, "sk_stream_wait_close"), 30), "a task sleeps on its way back");
	unloader = child();
	if (!unloader)
		_exit(-module_unload_soon("mtag"));
	ok(until(has_ended(unloader), 60), "the module can be unloaded");
	ok(access(MTAG_DEVICE, F_OK), "and is");
	ok(!is_in(stuck, "sk_stream_wait_close"), "the task does not sleep any longer");
	kill(stuck, SIGKILL);
	must(waitpid(stuck, NULL, 0));
	close(peer);
	load();
}

/* rmmod takes long, and its other parts have yet to go. It would have to wait for a request that waits for a process. */
static void asked_meanwhile(void)
{
	int fd, status = -1, error;
	pid_t tracked, unloader;

	nl_begin();
	fd = nl_open();
	is(nl_ask(fd, MTAG_CMD_PROC_GET, 0, getpid())->error, -ENOENT,
	   "a process that is not tracked is asked for");
	frozen_child(tracked) attach();
	fail_begin();
	fail_set("harmless", 1);
	fail_set("stall", STALL_MS);
	fail_beneath_function("mtag_exit");
	fail_arm(-1, 1);
	unloader = child();
	if (!unloader)
		_exit(-module_unload_soon("mtag"));
	ok(until(fail_count() > 0, 30), "rmmod has begun");
	is(is_in_file("/sys/module/mtag/initstate", "going"), 1, "and the module is going");
	error = nl_ask(fd, MTAG_CMD_PROC_GET, 0, getpid())->error;
	is(error, -EOPNOTSUPP, "then it is not asked for any more");
	fail_set("stall", 0);
	ok(until(waitpid(unloader, &status, WNOHANG) == unloader, 60) && !status,
	   "rmmod comes to its end");
	fail_disarm(NULL);
	fail_end();
	end_child(tracked);
	close(fd);
	load();
}

int main(void)
{
	need_root();
	joined_early();
	asleep_on_its_way_back();
	asked_meanwhile();
	return done();
}
