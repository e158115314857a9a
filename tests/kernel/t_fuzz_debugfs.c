// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of debugfs of any size at any offset. While nothing changes, reading in pieces gives what reading at once
 * gives. While everything changes, no read fails and none shows an address of the kernel. An open file keeps the
 * module loaded.
 */
/* vm: timeout=900 */
#include "lib/fuzz.h"

#define PROCESSES 4
#define DIR	  "/sys/kernel/debug/mtag/"

static const char *const files[] = {DIR "stats", DIR "hooks", DIR "health"};
static struct random rng;
static atomic_bool *stop;

/* A process with odd names at every depth, which then waits. */
static pid_t still(struct gate *g, int i)
{
	pid_t pid = child();
	mtag_t at = MTAG_UNTAGGED, deeper;

	if (pid) {
		pass_gate(g, i + 1);
		return pid;
	}
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	must(prctl(PR_SET_NAME, i % 2 ? "sp ace\\\n" : "plain"));
	begin();
	for (int n = 0; n < 40 + 30 * i; n++) {
		char name[64];

		snprintf(name, sizeof(name), "%d-%.*s", n, n % 60,
			 "äöü %s %d 0x81000000 \" \\ <&> ..");
		deeper = mtag_child(n % 9 ? at : MTAG_UNTAGGED, name);
		at = deeper ? deeper : at;
		touch(at, area(PG), PG);
	}
	open_gate(g, i + 1);
	while (!atomic_load(stop))
		usleep(20000);
	_exit(0);
}

static pid_t churn(void)
{
	pid_t pid = child();

	if (pid)
		return pid;
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	while (!atomic_load(stop)) {
		in_child {
			begin();
			for (int i = 0; i < 30; i++) {
				char name[16];

				snprintf(name, sizeof(name), "t%d", i);
				touch(tag(name), area(PG), PG);
			}
		}
	}
	_exit(0);
}

static void one_read(int fd, const char *whole, size_t size)
{
	static char buf[128 * KIB + 1];
	size_t len = one_in(&rng, 4) ? below(&rng, 128 * KIB) : below(&rng, 300);
	off_t at = one_in(&rng, 8) ? (off_t)odd_number(&rng) : (off_t)below(&rng, size + 200);
	struct iovec parts[2] = {{buf, len / 3}, {buf + len / 3, len - len / 3}};
	ssize_t n;

	switch (below(&rng, 4)) {
	case 0:
		n = preadv(fd, parts, 2, at);
		break;
	case 1:
		/* From where the last one ended, or from elsewhere. */
		if (one_in(&rng, 2))
			at = lseek(fd, 0, SEEK_CUR);
		else if (lseek(fd, at, SEEK_SET) != at || at < 0)
			return;
		n = read(fd, buf, len);
		break;
	case 2:
		n = pread(fd, one_in(&rng, 2) ? NULL : (void *)(uintptr_t)(1ULL << 63 | rnd(&rng)),
			  len, at);
		expect(n <= 0, "%zd bytes are read to nowhere", n);
		return;
	default:
		n = pread(fd, buf, len, at);
	}
	if (n < 0) {
		expect((at < 0 || at > INT64_MAX - (off_t)len) && errno == EINVAL,
		       "%zu bytes at %#llx: %s", len, (long long)at, strerror(errno));
		return;
	}
	buf[n] = '\0';
	if (!whole)
		return;
	if ((uint64_t)at >= size)
		expect(!n, "%zd bytes behind the end", n);
	else
		expect((size_t)n <= size - at && (n || !len) && !memcmp(buf, whole + at, n),
		       "%zu bytes at %lld are not those of the whole", len, (long long)at);
}

/* @whole: the contents; NULL: they change all the time. */
static void reads(uint64_t inputs, char *const whole[])
{
	int fds[COUNT(files)][3];

	for (size_t f = 0; f < COUNT(files); f++)
		for (int i = 0; i < 3; i++)
			fds[f][i] = must(open(files[f], O_RDONLY | O_CLOEXEC));
	for (uint64_t i = 0; i < inputs; i++) {
		size_t f = one_in(&rng, 4) ? 1 + below(&rng, 2) : 0;
		int *fd = &fds[f][below(&rng, 3)];

		if (one_in(&rng, 50)) {
			close(*fd);
			*fd = must(open(files[f], O_RDONLY | O_CLOEXEC));
		}
		one_read(*fd, whole ? whole[f] : NULL, whole ? strlen(whole[f]) : 20000);
	}
	for (size_t f = 0; f < COUNT(files); f++)
		for (int i = 0; i < 3; i++)
			close(fds[f][i]);
}

/* The first reads may still show processes that have just ended. */
static bool same_after(char *const whole[])
{
	/* Not hooks: it counts the hits of all that runs. */
	for (size_t f = 0; f < COUNT(files); f += 2)
		if (strcmp(whole[f], slurp(files[f])))
			return false;
	return true;
}

static void quiet_reads(uint64_t inputs)
{
	char *whole[COUNT(files)];
	bool still_same;
	int tries = 0;

	do {
		wrong = 0;
		for (size_t f = 0; f < COUNT(files); f++) {
			char *text = slurp(files[f]);

			if (!text)
				bail("read %s", files[f]);
			whole[f] = strdup(text);
			if (has_printed_address(text))
				ok(false, "%s has no address of the kernel", files[f]);
		}
		for (size_t f = 0; f < COUNT(files); f += 2) {
			int fd = must(open(files[f], O_RDONLY | O_CLOEXEC));

			for (uint64_t n = 0; n < inputs / 2; n++)
				one_read(fd, whole[f], strlen(whole[f]));
			close(fd);
		}
		still_same = same_after(whole);
		for (size_t f = 0; f < COUNT(files); f++)
			free(whole[f]);
	} while (!still_same && ++tries < 10);
	ok(still_same, "while nothing runs the files stay the same");
	ok(!wrong, "and what is read in pieces is what is read at once");
}

static void modules_hold(void)
{
	for (size_t f = 0; f < COUNT(files); f++) {
		int fd = must(open(files[f], O_RDONLY | O_CLOEXEC));
		char byte;

		ok(syscall(SYS_delete_module, "mtag", O_NONBLOCK) &&
			   (errno == EAGAIN || errno == EBUSY),
		   "the module stays while %s is open", files[f]);
		is(pread(fd, &byte, 1, 0), 1, "its opener can read it");
		ok(write(fd, "0", 1) < 0, "and not write it");
		ok(ioctl(fd, 0xb640, &byte) < 0, "nor send it ioctls");
		ok(mmap(NULL, PG, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "nor map it");
		close(fd);
	}
}

static void refused_to_others(void)
{
	for (enum user user = NOBODY; user < USERS; user++)
		in_child {
			become(user);
			for (size_t f = 0; f < COUNT(files); f++)
				ok(open(files[f], O_RDONLY) < 0 && errno == EACCES,
				   "%s is not for %s", files[f], user_names[user]);
		}
}

int main(int argc, char **argv)
{
	struct fuzz f = fuzz_arguments(argc, argv, 600, 10000, 1);
	struct gate *g = gate();
	struct remains before;
	pid_t pids[PROCESSES], busy;

	need_root();
	before = remains();
	rng = random_of(f.seed, f.round);
	alarm(600);
	stop = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = still(g, i);
	quiet_reads(f.inputs / 2);
	modules_hold();
	refused_to_others();
	busy = churn();
	wrong = 0;
	reads(f.inputs / 2, NULL);
	ok(!wrong, "no read fails while processes come and go");
	atomic_store(stop, true);
	for (int i = 0; i < PROCESSES; i++)
		reap(pids[i]);
	reap(busy);
	same_remains(before, "after all of it");
	printf("# counts: inputs=%" PRIu64 "\n", f.inputs);
	return done();
}
