// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of drivers that do not tell their place in the mapping. Those of a socket's ring of packets are there at once,
 * and the kernel may split their mapping: all belong to one tag. Those of a virtual CPU of KVM come at a fault, and the
 * kernel may merge their mappings: they belong to no tag.
 */
/* vm: group=parallel mem=1G timeout=120 */
#include "lib/test.h"
#include <linux/if_packet.h>
#include <linux/kvm.h>
#include <sys/socket.h>

#define N 4

static mtag_t a, b;

/* Maps a driver's pages at @at, under @as. */
static void map_under(mtag_t as, char *at, size_t len, int fd, size_t offset)
{
	mtag_t before = mtag_enter(as);

	must(mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset));
	mtag_leave(before);
}

static uint64_t of(mtag_t tag)
{
	struct usage u = usage(tag);

	return u.c[MTAG_C_FILE] + u.c[MTAG_C_SHMEM] + u.c[MTAG_C_ANON];
}

/* How many mappings there are in [@p, @p + @len). */
static unsigned int mappings(const char *p, size_t len)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	unsigned int found = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2)
			found += start < (unsigned long)p + len && end > (unsigned long)p;
	if (maps)
		fclose(maps);
	return found;
}

/* ---- a ring of packets ---- */

static int ring_socket(size_t len)
{
	struct tpacket_req ring = {
		.tp_block_size = PG,
		.tp_block_nr = len / PG,
		.tp_frame_size = PG,
		.tp_frame_nr = len / PG,
	};
	int fd = must(socket(AF_PACKET, SOCK_RAW, 0));

	must(setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)));
	return fd;
}

/* A ring takes the place of two areas of different tags, and goes one half after the other. */
static void ring(void)
{
	char *p = area(2 * N * PG);
	int fd = ring_socket(2 * N * PG);

	must0(mtag_range(p, N * PG, a, 0));
	must0(mtag_range(p + N * PG, N * PG, b, 0));
	map_under(a, p, 2 * N * PG, fd, 0);
	is(smaps(p, 2 * N * PG).rss, 2 * N * PG, "a ring over areas of two tags is resident");
	is(of(a) + of(b), 2 * N * PG, "it is theirs");
	exact("exact");
	must(munmap(p + N * PG, N * PG));
	is(of(a) + of(b), smaps(p, N * PG).rss, "half of it unmapped, they have the other half");
	exact("exact");
	must(munmap(p, N * PG));
	is(of(a), 0, "unmapped, it is not the first tag's");
	is(of(b), 0, "nor the other's");
	exact("exact");
	close(fd);
}

/* ---- a virtual CPU ---- */

/* A virtual CPU and the size of its mapping. */
static int vcpu(int kvm, size_t *len)
{
	int vm = must(ioctl(kvm, KVM_CREATE_VM, 0));

	*len = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0));
	return must(ioctl(vm, KVM_CREATE_VCPU, 0));
}

static void virtual_cpu(int kvm)
{
	size_t len;
	int cpu = vcpu(kvm, &len);
	char *p = must(mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	map_under(a, p, PG, cpu, 0);
	map_under(b, p + PG, len - PG, cpu, PG);
	is(mappings(p, len), 1, "two mappings, made under two tags, are one");
	read_all(a, p, len);
	is(smaps(p, len).rss, len, "its pages are resident");
	is(of(a) + of(b), 0, "and have no tag");
	exact("exact");
	is(mtag_range(p + PG, PG, b, 0), (uint64_t)-EINVAL, "one of them cannot be given away");
	is(mtag_range(p, len, b, 0), (uint64_t)-EINVAL, "nor can all");
	must(munmap(p, PG));
	exact("when the first has gone: exact");
	must(munmap(p + PG, len - PG));
	is(of(a), 0, "unmapped, they are not counted as the first tag's");
	is(of(b), 0, "nor as the other's");
	exact("exact");
}

int main(void)
{
	int kvm;

	begin_test();
	sh("modprobe -aq kvm_amd kvm_intel 2>/dev/null");
	begin();
	a = tag("a");
	b = tag("b");
	ring();
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm >= 0)
		virtual_cpu(kvm);
	else
		skip("pages of a virtual CPU have no tag (no KVM here)");
	return end_test();
}
