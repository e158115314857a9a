// SPDX-License-Identifier: GPL-2.0
/*
 * A process is untracked and tracked again while it keeps forking: its children begin untagged, and memory that an
 * older child shares with them stays with that child. A child is tracked later than its parent, which ends.
 */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=300 repairs=any because="a reader starts again when a relative becomes untagged meanwhile" */
#include "lib/keepers.h"

#define N      256
#define ROUNDS 8

/* Walking it takes an emulated CPU far longer than the delays below. */
#define BIG (more(512, 2048) * MIB)

struct shared {
	atomic_bool stop;
	atomic_int forks, counted;
};

/* Asks for its numbers, which has it counted, and ends. */
static void count_yourself(struct shared *s)
{
	struct usage u;

	atomic_fetch_add(&s->forks, 1);
	if (!usage_get(MTAG_UNTAGGED, &u))
		atomic_fetch_add(&s->counted, 1);
	_exit(0);
}

static void program(struct shared *s, struct gate *g)
{
	char *p = area(N * PG);
	pid_t pid;
	mtag_t t;

	begin();
	t = tag("t");
	touch(t, p, N * PG);
	pid = child();
	if (!pid) {
		begin();
		owns(t, p, N * PG, "a child has what its parent's tag has");
		open_gate(g, 1);
		pass_gate(g, 2);
		owns(t, p, N * PG, "that stays so when its parent is tracked again");
		clean(getpid(), "and no other total is wrong");
		exact("it is exact");
		_exit(0);
	}
	while (!atomic_load(&s->stop)) {
		pid_t other = child();

		if (!other)
			count_yourself(s);
		reap(other);
	}
	open_gate(g, 2);
	reap(pid);
}

/* Tracked; what its child, which was one too many and is tracked now, shares with it goes @delay later. */
static void loser(char *big, useconds_t delay)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	struct gate *g = gate();
	char *p = area(N * PG);
	mtag_t t;
	pid_t pid;

	begin();
	t = tag("t");
	touch(t, p, N * PG);
	pid = stray();
	if (!pid) {
		pass_gate(g, 1);
		open_gate(g, 2);
		/* What is big is above, and so walked after that: in the meantime the parent ends. */
		must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
		is(audit(getpid()).drift, 0, "a child that is tracked later is exact");
		_exit(0);
	}
	must(munmap(big, BIG));
	open_gate(g, 1);
	pass_gate(g, 2);
	usleep(delay);
	/* Unlike the exit of a process, which a CPU may be late to notice, this ends its memory at once. */
	execl("/bin/true", "true", NULL);
	bail("exec");
}

/* A parent ends while pages that it shares with its child become untagged. */
static void ends_meanwhile(void)
{
	char *big = must(mmap(NULL, BIG, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

	/* Zero pages by themselves, of which walking a lot takes a while. */
	no_huge(big, BIG);
	*(volatile char *)big = 1;
	must(madvise(big, BIG, MADV_POPULATE_READ));
	for (int i = 0; i < more(3, 6); i++) {
		in_child
			loser(big, i * 1000);
		if (!until((visit_cpus(), !health("tracked")), 60))
			bail("somebody stays tracked");
	}
	must(munmap(big, BIG));
}

int main(void)
{
	uint64_t drift = health("drift");
	struct gate *g = gate();
	struct shared *s = (struct shared *)gate();
	int status;
	pid_t pid;

	need_root();
	ends_meanwhile();
	no_drift(drift);
	pid = child();
	if (!pid) {
		program(s, g);
		_exit(0);
	}
	pass_gate(g, 1);
	for (int i = 0; i < ROUNDS; i++) {
		ctl(&status, "untrack %d", pid);
		if (status)
			ok(false, "untrack: %d", status);
		ctl(&status, "track %d", pid);
		if (status)
			ok(false, "track: %d", status);
	}
	atomic_store(&s->stop, true);
	reap(pid);
	ok(s->counted > 0, "%d children came meanwhile, %d of them while it was tracked", s->forks,
	   s->counted);
	no_drift(drift);
	return done();
}
