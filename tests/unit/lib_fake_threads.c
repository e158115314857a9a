// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libmtag against the module of lib_fake.h: threads that come and go, forks and
 * signals; each thread has a word that the kernel may read at any time.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/time.h>

#include "lib_fake.h"

/* ---- threads ---- */

static sem_t ready, go;
static uint32_t *thread_words[300];

static void *hold_a_word(void *arg)
{
	mtag_enter((mtag_t)(uintptr_t)arg);
	thread_words[(uintptr_t)arg] = atomic_load(&words[my_tid()]);
	sem_post(&ready);
	sem_wait(&go);
	CHECK(charged() == (mtag_t)(uintptr_t)arg);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t threads[300];
	int i;

	for (i = 0; i < n; i++)
		CHECK(!pthread_create(&threads[i], NULL, hold_a_word, (void *)(uintptr_t)i));
	for (i = 0; i < n; i++)
		sem_wait(&ready);
	for (i = 0; i < n; i++)
		sem_post(&go);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void test_threads(void)
{
	uintptr_t pages[900];
	int i, j, round, npages = 0;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (round = 0; round < 3; round++) {
		run_threads(300);
		for (i = 0; i < 300; i++) {
			uintptr_t word = (uintptr_t)thread_words[i];

			CHECK(word && word % 64 == 0);
			for (j = 0; j < i; j++)
				CHECK((uintptr_t)thread_words[j] != word);
			for (j = 0; j < npages && pages[j] != word / 4096; j++)
				;
			if (j == npages)
				pages[npages++] = word / 4096;
		}
	}
	/* Each took its registration back, so that later threads had the same slots. */
	for (i = 0; i < TIDS; i++)
		CHECK(!words[i]);
	CHECK(npages == 5);
	CHECK(count(MTAG_IOC_THREAD) == 2 * 3 * 300 && nothing_open());
}

static void leave_at_exit(void *before)
{
	/* The word is this thread's still, though libmtag's key is the older one. */
	CHECK(atomic_load(&words[my_tid()]));
	mtag_leave(*(mtag_t *)before);
	CHECK(charged() == *(mtag_t *)before);
}

static void *end_in_scope(void *key)
{
	static mtag_t before;

	before = mtag_enter(2);
	CHECK(!pthread_setspecific(*(pthread_key_t *)key, &before));
	return NULL;
}

static void test_scope_ends_with_thread(void)
{
	pthread_key_t key;
	pthread_t thread;
	int i;

	mtag_leave(mtag_enter(1));
	CHECK(!pthread_key_create(&key, leave_at_exit));
	CHECK(!pthread_create(&thread, NULL, end_in_scope, &key));
	pthread_join(thread, NULL);
	for (i = 0; i < TIDS; i++)
		CHECK(!words[i] || i == my_tid());
}

static void *inherit(void *arg)
{
	/* The kernel knows the creator's tag; here its stand-in is the default. */
	CHECK(mtag_current() == (mtag_t)(uintptr_t)arg);
	return NULL;
}

static void test_inherit(void)
{
	pthread_t thread;
	mtag_t a = mtag_child(0, "a");

	mtag_default(a);
	CHECK(!pthread_create(&thread, NULL, inherit, (void *)(uintptr_t)a));
	pthread_join(thread, NULL);
}

/* ---- fork ---- */

static void *stay(void *arg)
{
	mtag_enter(1);
	sem_post(&ready);
	pause();
	return arg;
}

static void test_fork(void)
{
	pthread_t thread;
	uint32_t *mine;
	pid_t pid;
	int i;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	for (i = 0; i < 63; i++) {
		CHECK(!pthread_create(&thread, NULL, stay, NULL));
		sem_wait(&ready);
	}
	mtag_enter(5);
	mine = atomic_load(&words[my_tid()]);
	pid = fork();
	if (!pid) {
		/* The kernel registers the child's only thread with the same word. */
		atomic_store(&words[my_tid()], mine);
		CHECK(mtag_current() == 5 && charged() == 5);
		run_threads(63);
		for (i = 0; i < 63; i++) {
			CHECK(thread_words[i] != mine);
			CHECK((uintptr_t)thread_words[i] / 4096 == (uintptr_t)mine / 4096);
		}
		CHECK(mtag_current() == 5 && *mine == 5);
		tap_end();
	}
	CHECK(tap_reap(pid));
	CHECK(charged() == 5);
}

static void test_raw_fork(void)
{
	uint32_t *mine;
	pid_t pid;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	mtag_enter(5);
	mine = atomic_load(&words[my_tid()]);
	pid = (pid_t)real_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		mtag_t previous = mtag_enter(6);

		/* No pthread_atfork() here: the slot must not become another's. */
		if (*mine != 6 || mtag_current() != 6)
			_exit(1);
		mtag_leave(previous);
		_exit(*mine != 5);
	}
	CHECK(tap_reap(pid));
	CHECK(*mine == 5);
}

/* ---- signals ---- */

static atomic_int handled, wrong;

static void on_signal(int sig)
{
	int saved = errno;
	mtag_t before = mtag_current(), previous = mtag_enter(77);

	(void)sig;
	wrong += mtag_current() != 77 || charged() != 77;
	{
		MTAG_SCOPE("handler");
		wrong += mtag_current() == 77;
	}
	mtag_leave(previous);
	wrong += mtag_current() != before;
	wrong += errno != saved;
	handled++;
}

static void test_signal_in_registration(void)
{
	signal(SIGUSR1, on_signal);
	fake.raise_in_thread = SIGUSR1;
	CHECK(mtag_enter(4) == 0);
	CHECK(handled == 1 && !wrong);
	CHECK(mtag_current() == 4 && charged() == 4);
	CHECK(count(MTAG_IOC_THREAD) == 1);
}

static void *come_and_go(void *arg)
{
	mtag_t previous = mtag_enter(9);

	CHECK(mtag_current() == 9 && charged() == 9);
	mtag_leave(previous);
	return arg;
}

static void test_signal_storm(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	pthread_t thread;
	mtag_t id;
	int i;

	/* The tag is there before: the fake's tree has a lock, the kernel's is its own business. */
	id = mtag_child(77, "handler");
	CHECK(id != 77);
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 500; i++) {
		if (!pthread_create(&thread, NULL, come_and_go, NULL))
			pthread_join(thread, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	CHECK(handled && !wrong);
}

/* ---- the module goes ---- */

static void *enter_late(void *arg)
{
	sem_post(&ready);
	sem_wait(&go);
	CHECK(mtag_enter(3) == 0 && mtag_current() == 3);
	mtag_leave(0);
	return arg;
}

static void test_module_goes_under_threads(void)
{
	pthread_t holder, late;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	CHECK(!pthread_create(&holder, NULL, hold_a_word, (void *)(uintptr_t)2));
	CHECK(!pthread_create(&late, NULL, enter_late, NULL));
	sem_wait(&ready);
	sem_wait(&ready);
	fake.open_error = ENODEV;
	sem_post(&go);
	sem_post(&go);
	pthread_join(holder, NULL);
	pthread_join(late, NULL);
	CHECK(!mtag_active() && nothing_open());
}

static const struct tap_test tests[] = {
	{"threads have words of their own, and give them back", test_threads},
	{"a destructor of a thread's key may leave its scope", test_scope_ends_with_thread},
	{"a thread starts with what the kernel says", test_inherit},
	{"a forked child has the slots of threads that it lacks", test_fork},
	{"a child of a bare clone keeps its slot", test_raw_fork},
	{"a signal may come while a thread is registered", test_signal_in_registration},
	{"signals may come at any time", test_signal_storm},
	{"threads go on when the module goes", test_module_goes_under_threads},
};
TAP_MAIN(tests)
