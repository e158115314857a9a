// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that a driver hands out at a fault and that do not tell their place in the mapping: those of a virtual CPU of
 * KVM. They belong to their mapper, and move to another tag only all together.
 */
/* vm: group=kvm mem=1G timeout=120 repairs=1 */
#include "lib/test.h"
#include <linux/kvm.h>

static mtag_t a, b;

/* Maps and touches @len bytes of a virtual CPU under @as. */
static char *vcpu(mtag_t as, size_t *len)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, cpu;
	mtag_t before;
	char *p;

	if (kvm < 0)
		skip_all("no KVM here");
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0));
	cpu = must(ioctl(vm, KVM_CREATE_VCPU, 0));
	*len = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0));
	before = mtag_enter(as);
	p = must(mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0));
	mtag_leave(before);
	read_all(as, p, *len);
	return p;
}

static uint64_t of(mtag_t tag)
{
	struct usage u = usage(tag);

	return u.c[MTAG_C_FILE] + u.c[MTAG_C_SHMEM] + u.c[MTAG_C_ANON];
}

int main(void)
{
	size_t len;
	char *p;

	begin_test();
	sh("modprobe -aq kvm_amd kvm_intel 2>/dev/null");
	begin();
	a = tag("a");
	b = tag("b");
	p = vcpu(a, &len);
	is(of(a), smaps(p, len).rss, "they are their mapper's");
	exact("exact");
	is(mtag_range(p + PG, PG, b, 0), (uint64_t)-EINVAL, "one of them cannot be given away");
	is(of(a), smaps(p, len).rss, "and nothing has changed");
	must0(mtag_range(p, len, b, 0));
	is(of(b), smaps(p, len).rss, "all of them can");
	exact("exact");
	must(munmap(p, len));
	is(of(a) + of(b), 0, "unmapped, they belong to no tag");
	exact("exact");
	return end_test();
}
