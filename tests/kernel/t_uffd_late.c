// SPDX-License-Identifier: GPL-2.0
/*
 * Becoming tracked while a UFFDIO_MOVE waits for its argument, which comes when the first walk is under way: the pages
 * that it moves from behind the walk to before it are counted once.
 */
/* vm: group=parallel thread=multi mem=1G timeout=400 since=6.8 because="no UFFDIO_MOVE" */
#include "lib/uffd_move.h"
#include <poll.h>
#include <pthread.h>

#define MOVED  4096
#define WALKED 32768
#define ROUNDS more(4, 16)

static int mover, waiter;
static struct uffdio_move *argument, *later_argument;
static unsigned int later;

static void *move(void *arg)
{
	(void)arg;
	return ioctl(mover, UFFDIO_MOVE, argument) ? "" : NULL;
}

static void *give_argument(void *arg)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)argument, .src = (uintptr_t)later_argument, .len = PG};

	(void)arg;
	usleep(later);
	must(ioctl(waiter, UFFDIO_COPY, &copy));
	return NULL;
}

static void *page_at(size_t len)
{
	void *p = must(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	/* Some kernels have no huge pages. */
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

static pthread_t thread_of(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		bail("no thread");
	return thread;
}

/* Reports whether it is exact after it has attached with the call in the kernel. */
static int moving_process(void)
{
	char *to = page_at((2 * MOVED + WALKED) * PG), *from = to + (MOVED + WALKED) * PG;
	struct pollfd asked = {.events = POLLIN};
	pthread_t moving, giving;
	void *failed;

	argument = page_at(PG);
	later_argument = page_at(PG);
	*later_argument = (struct uffdio_move){
		.dst = (uintptr_t)to, .src = (uintptr_t)from, .len = MOVED * PG};
	mover = uffd_open();
	waiter = asked.fd = uffd_open();
	uffd_register(mover, to, MOVED * PG);
	uffd_register(waiter, argument, PG);
	for (size_t at = MOVED; at < 2 * MOVED + WALKED; at++)
		to[at * PG] = 1;
	moving = thread_of(move);
	if (poll(&asked, 1, 60000) != 1)
		bail("the call does not ask for its argument");
	giving = thread_of(give_argument);
	begin();
	pthread_join(giving, NULL);
	pthread_join(moving, &failed);
	if (failed)
		bail("UFFDIO_MOVE moved %lld", (long long)argument->move);
	return !compares_equal();
}

int main(void)
{
	pid_t keeper;
	int wrong = 0;

	begin_test();
	/* The hooks are in. */
	frozen_child(keeper) begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		int status;
		pid_t pid;

		later = i * 40000 / ROUNDS;
		pid = child();
		if (!pid)
			_exit(moving_process());
		must(waitpid(pid, &status, 0));
		wrong += status != 0;
	}
	is(wrong, 0, "of %d processes with a late UFFDIO_MOVE all are exact", ROUNDS);
	end_child(keeper);
	return end_test();
}
