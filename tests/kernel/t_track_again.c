// SPDX-License-Identifier: GPL-2.0
/*
 * A process is untracked and tracked again while it forks all the time: its children begin untagged, and what
 * an older child shares with them stays that child's.
 */
/* vm: group=parallel thread=multi mem=1G timeout=300 */
// link: -Wl,-z,now
#include "lib.h"

#define N      256
#define ROUNDS 8

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

int main(void)
{
	uint64_t drift = health("drift");
	struct gate *g = gate();
	struct shared *s = (struct shared *)gate();
	int status;
	pid_t pid;

	need_root();
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
