// SPDX-License-Identifier: GPL-2.0
/*
 * Counting beside threads that map and unmap whole entries of the upper page tables: a huge page's event comes before
 * its entry is written, some kernels take an empty page table away before they tell of its pages, and a driver's pages
 * do not tell where they are.
 */
/* vm: repairs=any because="a retag that meets a page table being taken away cannot tell whose its pages were" core=1 group=parallel thread=multi mem=1G timeout=400 */
#include <linux/if_packet.h>
#include <pthread.h>
#include <sys/socket.h>

#include "lib/netlink.h"

#define N	4
#define AUDITS	more(50, 200)
#define RETAGS	more(50, 200)
#define THREADS 2
/* What runs beside goes on for as many rounds of the work at least. */
#define ROUNDS 4

static char *areas[THREADS];
static atomic_bool stop;
static atomic_ulong rounds;

static void *zap(void *arg)
{
	char *p = areas[(uintptr_t)arg];

	while (!atomic_load(&stop)) {
		memset(p, 1, N * HPAGE);
		must0(madvise(p, N * HPAGE, MADV_DONTNEED));
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* The same with few instructions, so that it comes often. */
static void *zap_huge(void *arg)
{
	char *p = areas[(uintptr_t)arg];

	while (!atomic_load(&stop)) {
		for (size_t i = 0; i < N; i++)
			*(volatile char *)(p + i * HPAGE) = 1;
		must0(madvise(p, N * HPAGE, MADV_DONTNEED));
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* A socket whose ring of packets is as large as an area. */
static int ring_socket(void)
{
	struct tpacket_req ring = {
		.tp_block_size = 16 * PG,
		.tp_block_nr = N * HPAGE / (16 * PG),
		.tp_frame_size = PG,
		.tp_frame_nr = N * HPAGE / PG,
	};
	int fd = must(socket(AF_PACKET, SOCK_RAW, 0));

	must(setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)));
	return fd;
}

/* The ring's pages are there at once, and go one by one, the last ones first. They do not tell where they are. */
static void *zap_ring(void *arg)
{
	int fd = ring_socket();

	(void)arg;
	while (!atomic_load(&stop)) {
		char *p = must(mmap(NULL, N * HPAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));

		for (size_t at = N * HPAGE; at; at -= PG)
			must0(madvise(p + at - PG, PG, MADV_DONTNEED));
		must0(munmap(p, N * HPAGE));
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* What an audit of the calling process finds, or a negative errno. */
static int64_t drift(int fd)
{
	struct heard *heard = nl_ask(fd, MTAG_CMD_AUDIT, 0, getpid());
	const struct nlattr *attr;
	uint64_t found;

	if (heard->error)
		return heard->error;
	nl_each(h, heard)
	{
		attr = nl_attr(h, MTAG_A_AUDIT_DRIFT);
		if (!attr)
			continue;
		memcpy(&found, attr + 1, sizeof(found));
		return (int64_t)found;
	}
	bail("an audit says nothing");
}

static pthread_t thread[THREADS];

static void begin_work(void *(*work)(void *))
{
	for (uintptr_t i = 0; i < THREADS; i++)
		must0(pthread_create(&thread[i], NULL, work, (void *)i));
}

static void end_work(void)
{
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void count_beside(void *(*work)(void *), const char *what)
{
	unsigned int audits = 0, wrong = 0, failed = 0;
	int fd = nl_open();

	begin_work(work);
	for (; audits < AUDITS || atomic_load(&rounds) < ROUNDS; audits++) {
		int64_t found = drift(fd);

		wrong += found > 0;
		failed += found < 0;
	}
	end_work();
	is(wrong, 0, "%s: %u audits beside %lu rounds of it find nothing", what, audits,
	   atomic_load(&rounds));
	is(failed, 0, "%s: each comes to an end", what);
}

/* The areas get another tag again and again. */
static void retag_beside(void)
{
	mtag_t tags[2] = {tag("one"), tag("other")};
	unsigned int retags = 0;

	begin_work(zap);
	for (; retags < RETAGS || atomic_load(&rounds) < ROUNDS; retags++)
		for (int j = 0; j < THREADS; j++)
			must0(-mtag_range(areas[j], N * HPAGE, tags[retags % 2], 0));
	end_work();
	is(drift(nl_open()), 0, "shared memory: %u changes of its tag beside %lu rounds go right",
	   retags, atomic_load(&rounds));
	is(shmem_of(tags[0]) + shmem_of(tags[1]), 0, "and nothing is left of them");
}

static void huge_pages(void)
{
	begin();
	if (!has_huge_pages()) {
		skip("huge pages: audits beside it find nothing (there are none)");
		return;
	}
	for (int i = 0; i < THREADS; i++)
		areas[i] = huge_area(N * HPAGE);
	count_beside(zap_huge, "huge pages");
}

static void count_shared(void)
{
	count_beside(zap, "shared memory");
}

static void rings(void)
{
	begin();
	count_beside(zap_ring, "a driver's pages");
}

static void shared_memory(void (*beside)(void))
{
	begin();
	for (int i = 0; i < THREADS; i++)
		areas[i] = must(mmap(NULL, N * HPAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	beside();
}

int main(void)
{
	begin_test();
	nl_begin();
	in_child
		huge_pages();
	in_child
		rings();
	in_child
		shared_memory(count_shared);
	in_child
		shared_memory(retag_beside);
	return end_test();
}
