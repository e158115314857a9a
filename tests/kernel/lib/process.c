// SPDX-License-Identifier: GPL-2.0
/* Children, threads, and gates that they wait at. */
#include "process.h"

pid_t child(void)
{
	return must(fork());
}

void reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0));
	if (status)
		ok(false, "child %d ends well (status %#x)", pid, status);
}

struct gate *gate(void)
{
	return must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

void open_gate(struct gate *g, int step)
{
	atomic_store(&g->step, step);
}

void pass_gate(struct gate *g, int step)
{
	if (!until(atomic_load(&g->step) >= step, 120))
		bail("step %d did not come", step);
}

void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
		bail("thread");
}
