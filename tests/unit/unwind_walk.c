// SPDX-License-Identifier: GPL-2.0
/* sources: kmod/rows.c ctl/unwind/image.c ctl/unwind/recipe.c ctl/unwind/cfi.c ctl/unwind/ranges.c */
/* sources: ctl/unwind/table.c */
/*
 * The module's walk of a user stack, with the tables that mtagctl makes, against those of elfutils and of
 * libgcc. The process that is walked is unwind/calls, instruction by instruction.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kmod/unwind.c"
#include "ctl.h"
#include "ctl_tap.h"
#include "unwind/calls.h"
#include "unwind/table.h"

/* libelf never frees some of what it reads from a file that it has not mapped. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so";
}

#define MAPS 64

int unit_user_access;
static pid_t child;

static inline bool unit_user_word(const u64 *addr, u64 *value)
{
	struct iovec to = {value, sizeof(*value)}, from = {(void *)addr, sizeof(*value)};

	return process_vm_readv(child, &to, 1, &from, 1, 0) == sizeof(*value);
}

/* ---- the mappings of the process ---- */

static struct mtag_unwind_map map[MAPS];
static struct mtag_rows rows[MAPS];
static struct table tables[MAPS];
static struct mtag_unwind_cache found;
static struct mtag_unwind_maps maps = {map, 0, &found};

static void clear_maps(void)
{
	for (unsigned int i = 0; i < maps.nr; i++)
		free(tables[i].data);
	memset(tables, 0, sizeof(tables));
	maps.nr = 0;
}

/* The table of a file, or of [vdso]. */
static const struct mtag_rows *load(unsigned int i, const char *path)
{
	struct image image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = strcmp(path, "[vdso]") ? image_open(&image, fd) : image_open_vdso(&image);

	if (!err) {
		err = table_make(&image, &tables[i]);
		image_close(&image);
	}
	close(fd);
	return !err && !mtag_rows_set(&rows[i], tables[i].data, tables[i].size) ? &rows[i] : NULL;
}

static void read_maps(void)
{
	char name[64], line[PATH_MAX + 100], path[PATH_MAX];
	FILE *file;

	clear_maps();
	snprintf(name, sizeof(name), "/proc/%d/maps", child);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file) && maps.nr < MAPS) {
		struct mtag_unwind_map *m = &map[maps.nr];
		unsigned long start, end, offset;
		char mode[8];

		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, mode, &offset,
			   path) < 4 ||
		    mode[2] != 'x' || !strcmp(path, "[vsyscall]"))
			continue;
		*m = (struct mtag_unwind_map){.start = start, .end = end, .offset = offset};
		m->id = maps.nr;
		m->rows = *path ? load(maps.nr, path) : NULL;
		maps.nr++;
	}
	if (file)
		fclose(file);
}

/* ---- the walk, and what it is compared with ---- */

struct stack {
	u64 frame[MTAG_STACK_DEPTH];
	unsigned int count;
	enum mtag_stack_why why;
};

static const struct mtag_unwind_map *map_of(u64 frame)
{
	return &map[frame >> MTAG_FRAME_MAP];
}

static u64 address_of(u64 frame)
{
	return (frame & MTAG_FRAME_OFFSET) - map_of(frame)->offset + map_of(frame)->start;
}

static bool is_exact(u64 frame)
{
	return frame & MTAG_FRAME_EXACT;
}

static void walk_it(const struct user_regs_struct *regs, struct stack *stack)
{
	struct mtag_unwind_place places[MTAG_STACK_DEPTH];

	stack->count = mtag_unwind((const unsigned long *)regs, &maps, stack->frame, places,
				   MTAG_STACK_DEPTH, &stack->why);
}

struct truth {
	u64 address[MTAG_STACK_DEPTH + 1];
	bool exact[MTAG_STACK_DEPTH + 1];
	unsigned int count;
};

static Dwfl *dwfl;

static int add_frame(Dwfl_Frame *frame, void *data)
{
	struct truth *truth = data;
	Dwarf_Addr pc;

	if (truth->count > MTAG_STACK_DEPTH ||
	    !dwfl_frame_pc(frame, &pc, &truth->exact[truth->count]))
		return DWARF_CB_ABORT;
	truth->address[truth->count++] = pc;
	return DWARF_CB_OK;
}

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word sum, char **found)
{
	(void)module, (void)data, (void)name, (void)base;
	(void)file, (void)link, (void)sum, (void)found;
	return -1;
}

static void open_dwfl(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = no_debuginfo,
	};

	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, child) || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, child, true))
		printf("# libdwfl: %s\n", dwfl_errmsg(-1));
}

static void print_stacks(const char *what, const struct stack *stack, const struct truth *truth)
{
	printf("# %s: %u frames and why %d, instead of %u\n", what, stack->count, stack->why,
	       truth->count);
	for (unsigned int i = 0; i < stack->count || i < truth->count; i++) {
		u64 ours = i < stack->count ? address_of(stack->frame[i]) : 0;
		u64 theirs = i < truth->count ? truth->address[i] : 0;

		printf("# %2u %c %lx %lx\n", i, ours == theirs ? ' ' : '!', (unsigned long)ours,
		       (unsigned long)theirs);
	}
}

/* Frames from @first on, as far as there was room for them. */
static bool agree(const struct stack *stack, const struct truth *truth, unsigned int first)
{
	bool deep = truth->count > MTAG_STACK_DEPTH;
	unsigned int count = deep ? MTAG_STACK_DEPTH : truth->count;
	bool good = stack->count == count &&
		    stack->why == (deep ? MTAG_STACK_DEEP : MTAG_STACK_COMPLETE);

	for (unsigned int i = first; i < count && good; i++)
		good = address_of(stack->frame[i]) == truth->address[i] &&
		       is_exact(stack->frame[i]) == truth->exact[i];
	return good;
}

/*
 * libdwfl does not know that RBX is preserved, and ends at the dynamic linker's frame when that binds a
 * function. The frames of the program itself, but for its innermost one, are those of the last agreement.
 */
static bool agree_further(const struct stack *stack, const struct truth *truth,
			  const struct stack *last)
{
	unsigned int same = 0, foreign = 0;

	for (unsigned int i = 0; i < truth->count; i++)
		if (i == stack->count || address_of(stack->frame[i]) != truth->address[i])
			return false;
	for (unsigned int i = 0; i < stack->count; i++)
		foreign += map_of(stack->frame[i]) != map_of(stack->frame[stack->count - 1]);
	while (same < stack->count && same < last->count &&
	       address_of(stack->frame[stack->count - 1 - same]) ==
		       address_of(last->frame[last->count - 1 - same]))
		same++;
	return stack->why == MTAG_STACK_COMPLETE && stack->count > truth->count &&
	       same + foreign + 1 >= stack->count;
}

/* ---- what the process says ---- */

static unsigned long further, steps, step_faults, traces, trace_faults, deep, handled, blind_faults;
static unsigned int section, section_steps;
static bool bare_good;
static u64 jit;

static void compare_elfutils(pid_t tid, const struct user_regs_struct *regs)
{
	struct truth truth = {.count = 0};
	static struct stack last;
	struct stack stack;

	walk_it(regs, &stack);
	dwfl_getthread_frames(dwfl, tid, add_frame, &truth);
	steps++;
	for (unsigned int i = 1; i < stack.count; i++)
		handled += is_exact(stack.frame[i]);
	if (agree(&stack, &truth, 0))
		last = stack;
	else if (agree_further(&stack, &truth, &last))
		further++;
	else if (++step_faults <= 3)
		print_stacks("elfutils", &stack, &truth);
}

static void compare_backtrace(const struct user_regs_struct *regs)
{
	struct iovec to, from;
	struct stack stack;
	struct truth truth = {.count = (unsigned int)regs->rsi};

	to = (struct iovec){truth.address, truth.count * sizeof(void *)};
	from = (struct iovec){(void *)regs->rdi, to.iov_len};
	if (process_vm_readv(child, &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
		truth.count = 0;
	walk_it(regs, &stack);
	/* libgcc does not say which frames were interrupted. */
	for (unsigned int i = 1; i < stack.count; i++)
		truth.exact[i] = is_exact(stack.frame[i]);
	traces++;
	deep += stack.why == MTAG_STACK_DEEP;
	if (!agree(&stack, &truth, 1) && ++trace_faults <= 3)
		print_stacks("libgcc", &stack, &truth);
}

/* Without any table, frame pointers are all there is, and here they lead nowhere. */
static void walk_blind(const struct user_regs_struct *regs)
{
	struct mtag_unwind_map blind[MAPS];
	static struct mtag_unwind_cache cache;
	const struct mtag_unwind_maps all = {blind, maps.nr, &cache};
	struct mtag_unwind_place places[MTAG_STACK_DEPTH];
	u64 frames[MTAG_STACK_DEPTH];
	enum mtag_stack_why why;

	memcpy(blind, map, sizeof(blind));
	for (unsigned int i = 0; i < maps.nr; i++)
		blind[i].rows = NULL;
	cache.generation++;
	mtag_unwind((const unsigned long *)regs, &all, frames, places, MTAG_STACK_DEPTH, &why);
	blind_faults += why != MTAG_STACK_NO_TABLE;
}

/* The code without a table has called at its bytes 9 and 10. */
static void check_bare(const struct user_regs_struct *regs)
{
	struct stack stack;

	walk_it(regs, &stack);
	bare_good = stack.count > 10 && stack.why == MTAG_STACK_COMPLETE &&
		    address_of(stack.frame[1]) == jit + 11 && !map_of(stack.frame[1])->rows &&
		    map_of(stack.frame[2]) == map_of(stack.frame[0]);
}

/* Whether to go on step by step. */
static bool said(const struct user_regs_struct *regs)
{
	switch (regs->rax) {
	case SAY_READY:
		read_maps();
		found.generation++;
		open_dwfl();
		return false;
	case SAY_BEGIN:
		section++;
		section_steps = 0;
		return true;
	case SAY_BACKTRACE:
		compare_backtrace(regs);
		walk_blind(regs);
		return false;
	case SAY_JIT:
		jit = regs->rdi;
		read_maps();
		found.generation++;
		return false;
	case SAY_BARE:
		check_bare(regs);
		return false;
	default:
		return false;
	}
}

/* ---- the process ---- */

static void start(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);

	path[length < 0 ? 0 : length] = '\0';
	strcpy(strrchr(path, '/'), "/unwind/calls");
	fflush(stdout);
	child = fork();
	if (!child) {
		unsetenv("LD_BIND_NOW");
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
}

/* @tid has stopped for a SIGTRAP. Returns whether it is stepped. */
static bool trapped(pid_t tid, bool stepping)
{
	struct user_regs_struct regs;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return false;
	if (info.si_code == SI_KERNEL)
		return said(&regs);
	/* The dynamic linker takes long. */
	if (stepping && (section_steps++ < 1500 || section_steps % 17 == 0))
		compare_elfutils(tid, &regs);
	return stepping;
}

static int trace(void)
{
	bool stepping = false;
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!WIFSTOPPED(status)) {
			if (tid == child)
				break;
			continue;
		}
		if (status >> 16)
			signal = 0;
		else if (signal == SIGTRAP && !dwfl && !maps.nr)
			ptrace(PTRACE_SETOPTIONS, tid, NULL,
			       (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
		if (signal == SIGTRAP)
			stepping = trapped(tid, stepping);
		if (signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
		ptrace(stepping && tid == child ? PTRACE_SINGLESTEP : PTRACE_CONT, tid, NULL,
		       (void *)(long)signal);
	}
	return status;
}

int main(void)
{
	int status;

	start();
	status = trace();
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "the process runs to its end");
	printf("# sections=%u steps=%lu further=%lu interrupted=%lu\n", section, steps, further,
	       handled);
	ok(section == 6 && steps > 3000 && !step_faults,
	   "at each instruction, through PLT, dynamic linker, vdso, callbacks and signals, the frames are "
	   "those of elfutils");
	ok(handled > 100, "frames below a signal's were among them");
	ok(traces == 4 && !trace_faults,
	   "on a thread's stack, on a signal's, and anywhere, the frames are those of libgcc");
	ok(deep == 1, "a stack that is too deep is cut, and says so");
	ok(bare_good, "code without a table is passed by its frame pointer");
	ok(!blind_faults, "without tables, what is in RBP leads nowhere");
	ok(!unit_user_access, "user memory is not left readable");
	clear_maps();
	dwfl_end(dwfl);
	return tap_end();
}
