// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the calling process, irrevocably, into that of another user, one with fewer capabilities, root of a
 * namespace, or one whose system calls are filtered.
 */
#include "users.h"
#include <grp.h>
#include <linux/filter.h>
#include <sys/mount.h>

void caps(uint64_t set)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.effective = set, .permitted = set},
		{.effective = set >> 32, .permitted = set >> 32},
	};

	must(syscall(SYS_capset, &header, data));
}

uint64_t all_caps(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	must(syscall(SYS_capget, &header, data));
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

void user(uid_t uid)
{
	must(setgroups(0, NULL));
	must(setresgid(uid, uid, uid));
	must(setresuid(uid, uid, uid));
	must(prctl(PR_SET_DUMPABLE, 1));
}

void user_with(uid_t uid, int cap)
{
	must(prctl(PR_SET_KEEPCAPS, 1));
	user(uid);
	caps(1ULL << cap);
}

void userns(uid_t uid, int flags)
{
	user(uid);
	must(unshare(CLONE_NEWUSER | flags));
	must0(spew("/proc/self/setgroups", "deny"));
	must0(spew("/proc/self/uid_map", "0 %d 1", uid));
	must0(spew("/proc/self/gid_map", "0 %d 1", uid));
}

void pidns(void)
{
	int status;
	pid_t pid = child();

	if (!pid)
		return;
	must(waitpid(pid, &status, 0));
	_exit(status ? 1 : 0);
}

void own_proc(void)
{
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	must(mount("proc", "/proc", "proc", 0, NULL));
}

void filtered(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
