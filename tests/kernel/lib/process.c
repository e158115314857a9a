// SPDX-License-Identifier: GPL-2.0
/* Children, those that stand still or are talked to, threads, and gates that they wait at. */
#include "process.h"
#include <limits.h>
#include <linux/futex.h>

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

void freeze(void)
{
	raise(SIGSTOP);
	_exit(0);
}

void await_frozen(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		bail("process %d does not stop", pid);
}

void end_child(pid_t pid)
{
	must(kill(pid, SIGKILL));
	must(waitpid(pid, NULL, 0));
}

struct spoken speak_to(char *const argv[])
{
	struct spoken p;
	int in[2], out[2];

	must(pipe2(in, O_CLOEXEC));
	must(pipe2(out, O_CLOEXEC));
	p.pid = child();
	if (!p.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execvp(argv[0], argv);
		bail("exec %s", argv[0]);
	}
	close(in[0]);
	close(out[1]);
	p.in = fdopen(in[1], "w");
	p.out = fdopen(out[0], "r");
	setvbuf(p.in, NULL, _IONBF, 0);
	return p;
}

void run_on_first_cpu(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	must0(sched_setaffinity(0, sizeof(cpu), &cpu));
}

struct gate *gate(void)
{
	return must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

void open_gate(struct gate *g, int step)
{
	atomic_store(&g->step, step);
	syscall(SYS_futex, &g->step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * Many may wait at once, and looking each 2 ms they would take all of an emulated processor. Not all that change a step
 * open the gate by the function above, so they look again, but less and less often.
 */
void pass_gate(struct gate *g, int step)
{
	struct timespec wait = {.tv_nsec = 2000000};
	double end = now() + 3 * slowness() * 120;
	int at;

	while ((at = atomic_load(&g->step)) < step) {
		if (now() >= end)
			bail("step %d did not come", step);
		syscall(SYS_futex, &g->step, FUTEX_WAIT, at, &wait, NULL, 0);
		if (wait.tv_nsec < 128000000)
			wait.tv_nsec *= 2;
	}
}

void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
		bail("thread");
}
