// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * First calls, with libmtag-heap preloaded. Threads begin by freeing what another allocated, and was a sample: that does
 * not make a sample of the next object. And what the library never gave is freed, such as a plugin's own calloc().
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

void *__libc_calloc(size_t n, size_t size);

/* Zeros are no note of an object; other contents may look like one. */
static void test_foreign(void)
{
	struct mtag_heap_cell before, after;

	if (!exact)
		return;
	CHECK(reader_open(&reader, getpid()));
	before = reader_cell(&reader, 0);
	free(__libc_calloc(1, 100));
	after = reader_cell(&reader, 0);
	CHECK(reader_head(&reader) && reader.head.damaged == 1);
	CHECK(before.objects_out == after.objects_out &&
	      before.allocated_out == after.allocated_out);
}

int main(void)
{
	static const struct tap_test tests[] = {{"threads that begin with free()", test_first},
						{"what is another's is freed", test_foreign}};

	return truth_run(tests, 2);
}
