// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: for t_bpf.sh, a BPF program on a function of the kernel's, that does nothing but be run.
 *   bpf KIND FUNCTION   KIND: fentry, fexit, kprobe or kretprobe. Says "attached", or why it is not; after a line of
 *                       standard input, how often it was run
 *
 * link: -Wl,-Bstatic -lbpf -Wl,-Bdynamic -lelf -lz
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include "lib/tap.h"

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/"

static const struct bpf_insn nothing[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0}, /* r0 = 0 */
	{.code = BPF_JMP | BPF_EXIT},
};

_Noreturn static void refused(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static int loaded(int type, const struct bpf_prog_load_opts *opts)
{
	int program = bpf_prog_load(type, "mtag_test", "GPL", nothing, COUNT(nothing), opts);

	if (program < 0)
		refused("loading");
	return program;
}

/* By a trampoline, as bpftrace's kfunc does. */
static int attach_tracing(const char *function, enum bpf_attach_type where)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = where);
	int program;

	opts.attach_btf_id = libbpf_find_vmlinux_btf_id(function, where);
	if ((int)opts.attach_btf_id <= 0)
		refused("BTF");
	program = loaded(BPF_PROG_TYPE_TRACING, &opts);
	if (bpf_raw_tracepoint_open(NULL, program) < 0)
		refused("attaching");
	return program;
}

/* As bpftrace's kprobe and kretprobe do. It runs on all CPUs, although the event is of the first. */
static int attach_kprobe(const char *function, bool at_return)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .config = at_return};
	int program = loaded(BPF_PROG_TYPE_KPROBE, NULL), event;
	FILE *type = fopen(KPROBE_PMU "type", "re");

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		refused(KPROBE_PMU "type");
	fclose(type);
	attr.kprobe_func = (uintptr_t)function;
	event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		refused("attaching");
	return program;
}

static uint64_t runs(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size))
		refused("asking");
	return info.run_cnt;
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	int program;

	/* Runs are counted while this is open, which is until the end. */
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		refused("counting runs");
	if (!strcmp(kind, "fentry")) {
		program = attach_tracing(argv[2], BPF_TRACE_FENTRY);
	} else if (!strcmp(kind, "fexit")) {
		program = attach_tracing(argv[2], BPF_TRACE_FEXIT);
	} else if (!strcmp(kind, "kprobe") || !strcmp(kind, "kretprobe")) {
		program = attach_kprobe(argv[2], !strcmp(kind, "kretprobe"));
	} else {
		fprintf(stderr, "usage: bpf fentry|fexit|kprobe|kretprobe FUNCTION\n");
		return 2;
	}
	puts("attached");
	fflush(stdout);
	getchar();
	printf("%" PRIu64 "\n", runs(program));
	return 0;
}
