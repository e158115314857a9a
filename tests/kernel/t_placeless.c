// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that a driver hands out at a fault and that do not tell their place in the mapping: those of a virtual CPU of
 * KVM. The kernel may merge such mappings: they belong to no tag.
 */
/* vm: group=parallel mem=1G timeout=120 */
#include "lib/test.h"
#include <linux/kvm.h>

static mtag_t a, b;

/* A virtual CPU and the size of its mapping. */
static int vcpu(size_t *len)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm;

	if (kvm < 0)
		skip_all("no KVM here");
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0));
	*len = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0));
	return must(ioctl(vm, KVM_CREATE_VCPU, 0));
}

/* Maps pages of it at @at, under @as. */
static void map_under(mtag_t as, char *at, size_t len, int cpu, size_t offset)
{
	mtag_t before = mtag_enter(as);

	must(mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, cpu, (off_t)offset));
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

int main(void)
{
	size_t len;
	char *p;
	int cpu;

	begin_test();
	sh("modprobe -aq kvm_amd kvm_intel 2>/dev/null");
	begin();
	cpu = vcpu(&len);
	a = tag("a");
	b = tag("b");
	p = must(mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
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
	return end_test();
}
