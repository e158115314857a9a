// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads whose first call frees what another allocated, and was a sample: that does not make a sample of the next object.
 * With libmtag-heap preloaded, sampling.
 *
 * link: -pthread
 */
#include <errno.h>
#include <pthread.h>

#include "truth.h"

#define THREADS 1500
#define TAG	10

struct job {
	void *result;
	struct object *kept;
};

static void *work(void *arg)
{
	struct job *job = arg;

	enter(TAG);
	free(job->result);
	hold(job->kept, malloc(32), 32);
	return NULL;
}

static void test_first(void)
{
	struct truth kept = truth_of(THREADS);
	pthread_t thread;
	size_t i;

	enter(0);
	for (i = 0; i < THREADS; i++) {
		struct job job = {malloc(1 << 20), &kept.objects[i]};

		CHECK(job.result);
		CHECK(!pthread_create(&thread, NULL, work, &job));
		pthread_join(thread, NULL);
	}
	compare(TAG, &kept);
	drop_all(&kept);
	compare(TAG, &kept);
}

int main(void)
{
	static const struct tap_test tests[] = {{"threads that begin with free()", test_first}};

	reader.mem = -1;
	return tap_run(tests, 1);
}
