// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the process of a space or a pid, and checks whether the caller may see
 * or change it.
 *
 * ptrace_may_access() guards /proc/PID/smaps, but is not exported to modules:
 * its address is looked up, and a static call makes it a direct call.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ptrace.h>
#include <linux/rwsem.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include "access.h"
#include "compat/compat.h"
#include "history.h"
#include "mtag.h"
#include "resolve.h"
#include "space.h"
#include "state.h"

/* Stands in for the kernel's own check, if that is not found: stricter than that. */
static bool only_capable(struct task_struct *task, unsigned int mode)
{
	return capable(CAP_SYS_PTRACE);
}

DEFINE_STATIC_CALL(mtag_ptrace_may_access, only_capable);

/**
 * mtag_access_init() - find the kernel's own check
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 * Return: 0, also if there is none: reading other processes then needs CAP_SYS_PTRACE.
 */
int mtag_access_init(void)
{
	unsigned long addr = mtag_resolve("ptrace_may_access");

	if (addr)
		static_call_update(mtag_ptrace_may_access, (void *)addr);
	else
		pr_warn("no ptrace_may_access: reading other processes needs CAP_SYS_PTRACE\n");
	return 0;
}

/* Only compares: @task->mm may change or go away, that of another thread too, as it exits. */
static bool is_own(struct task_struct *task)
{
	return current->mm &&
	       (READ_ONCE(task->mm) == current->mm || same_thread_group(task, current));
}

/* May the caller monitor the system? Newer kernels then let it read smaps. */
static bool may_monitor(unsigned int mode)
{
	if (!MTAG_PERFMON_READS)
		return false;
	return mode & PTRACE_MODE_NOAUDIT ? ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
					    ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) :
					    perfmon_capable();
}

static bool may_read(struct task_struct *task, unsigned int mode)
{
	return is_own(task) || static_call(mtag_ptrace_may_access)(task, mode) ||
	       may_monitor(mode);
}

/* May the caller read @task as it may read /proc/PID/smaps? */
static bool may_read_maps(struct task_struct *task)
{
	return may_read(task, PTRACE_MODE_READ_FSCREDS);
}

static bool capable_over(struct task_struct *task)
{
	bool dumpable, may;
	struct user_namespace *ns = mtag_task_user_ns(task, &dumpable);

	if (!ns)
		return false;
	may = ns_capable(ns, CAP_SYS_PTRACE);
	put_user_ns(ns);
	return may;
}

/* May the caller start or stop tracking @task, or reset its peaks? */
static bool may_track(struct task_struct *task)
{
	return is_own(task) || (capable_over(task) && may_read_maps(task));
}

static bool access_permitted(struct task_struct *task, enum mtag_access access)
{
	if (access == MTAG_ACCESS_LIST)
		return may_read(task, PTRACE_MODE_READ_FSCREDS | PTRACE_MODE_NOAUDIT);
	return access == MTAG_ACCESS_TRACK ? may_track(task) : may_read_maps(task);
}

/* May the user of the current credentials read a process with those of @of, if it is dumpable? */
static bool covers(const struct cred *of)
{
	const struct cred *cred = current_cred();

	return uid_eq(of->uid, cred->fsuid) && uid_eq(of->euid, cred->fsuid) &&
	       uid_eq(of->suid, cred->fsuid) && gid_eq(of->gid, cred->fsgid) &&
	       gid_eq(of->egid, cred->fsgid) && gid_eq(of->sgid, cred->fsgid) &&
	       of->user_ns == cred->user_ns &&
	       cap_issubset(of->cap_permitted, cred->cap_effective);
}

/*
 * ptrace_may_access() lets a process read itself, whatever the credentials. These are its rules for
 * reading another, for the process of the caller; no security module is asked.
 */
static bool may_read_as_other(struct task_struct *task)
{
	struct user_namespace *ns;
	const struct cred *of;
	bool dumpable, may;

	ns = mtag_task_user_ns(task, &dumpable);
	if (!ns)
		return false;
	of = get_task_cred(task);
	may = (dumpable && covers(of)) || ns_capable(ns, CAP_SYS_PTRACE);
	put_cred(of);
	put_user_ns(ns);
	return may;
}

/*
 * A socket can be passed on. A privileged program may be made to write another's request to it. A
 * dump also continues with the credentials of the task that reads the last message, while the next
 * message goes to whoever kept the socket. So the opener must be allowed, too.
 *
 * An exec installs new credentials: those of the opener are the caller's own only if this program
 * opened the socket. Otherwise the opener's rights count even if the users are the same. A user may
 * start programs that the kernel does not let that user read.
 */
static bool opener_may(struct task_struct *task, enum mtag_access access,
		       const struct cred *opener)
{
	const struct cred *old;
	bool allowed;

	if (opener == current_cred())
		return true;
	old = override_creds(opener);
	allowed = is_own(task) ? may_read_as_other(task) : access_permitted(task, access);
	revert_creds(old);
	return allowed;
}

static bool both_may(struct task_struct *task, enum mtag_access access, const struct cred *opener)
{
	return access_permitted(task, access) && opener_may(task, access, opener);
}

static struct mm_struct *refused_access(enum mtag_access access)
{
	return ERR_PTR(access == MTAG_ACCESS_TRACK ? -EPERM : -EACCES);
}

/**
 * mtag_access_mm() - the mm of a process, and its credentials, if the caller may have it
 * @task:	a thread of the process
 * @access:	what the caller wants
 * @opener:	credentials of the opener of the caller's socket
 * @cred:	filled with the credentials of @task, for put_cred(), unless there is an error;
 *		NULL: they are not wanted
 *
 * The check, the mm and the credentials belong to the same program: exec_update_lock keeps exec
 * out. An exec may hold it for as long as somebody holds the mmap_lock of the old program. So only
 * those wait for it that may access that.
 * Context: may sleep. The caller must mmput() the mm.
 * Return: the mm; -ESRCH if the process has none, or no longer; -EACCES or
 * -EPERM if the caller may not have it; -EINTR if killed while waiting.
 */
struct mm_struct *mtag_access_mm(struct task_struct *task, enum mtag_access access,
				 const struct cred *opener, const struct cred **cred)
{
	struct rw_semaphore *lock = &task->signal->exec_update_lock;
	struct mm_struct *mm;

	if (!down_read_trylock(lock)) {
		if (!both_may(task, access, opener))
			return refused_access(access);
		if (down_read_killable(lock))
			return ERR_PTR(-EINTR);
	}
	mm = get_task_mm(task);
	if (!mm) {
		mm = ERR_PTR(-ESRCH);
	} else if (!both_may(task, access, opener)) {
		mmput(mm);
		mm = refused_access(access);
	} else if (cred) {
		*cred = get_task_cred(task);
	}
	up_read(lock);
	return mm;
}

/* The effective user of the process of @mm. Context: caller has a reference on @mm. */
kuid_t mtag_access_uid(struct mm_struct *mm)
{
	struct task_struct *task;
	const struct cred *cred;
	kuid_t uid = INVALID_UID;

	rcu_read_lock();
	task = mtag_mm_owner(mm);
	/* A fork that fails takes the credentials away first. */
	cred = task ? rcu_dereference(task->real_cred) : NULL;
	if (cred)
		uid = cred->euid;
	rcu_read_unlock();
	return uid;
}

/**
 * mtag_access_owner() - a task that runs in the memory of a space
 * @s:		the space
 *
 * Context: may sleep. The caller must put_task_struct() it.
 * Return: NULL if no task runs there: fork or exec is still building the process, or the program
 * has ended.
 */
struct task_struct *mtag_access_owner(struct mtag_space *s)
{
	struct task_struct *task;
	struct mm_struct *mm;

	/*
	 * A fork that fails frees its task and signal_struct even if others refer to them. Pairs
	 * with mtag_life_thread_begin(), after which the fork cannot fail.
	 */
	if (smp_load_acquire(&s->birth.forking))
		return NULL;
	mm = mtag_space_mmget(s);
	if (!mm)
		return NULL;
	rcu_read_lock();
	task = mtag_mm_owner(mm);
	if (task && READ_ONCE(task->mm) == mm)
		get_task_struct(task);
	else
		task = NULL;
	rcu_read_unlock();
	mmput(mm);
	return task;
}

static bool may_recall(const struct mtag_past *p)
{
	const struct cred *cred = current_cred();

	if (uid_eq(p->uid, cred->fsuid) && gid_eq(p->gid, cred->fsgid) &&
	    p->user_ns == cred->user_ns && cap_issubset(p->caps, cred->cap_effective))
		return true;
	return ns_capable_noaudit(p->user_ns, CAP_SYS_PTRACE) || may_monitor(PTRACE_MODE_NOAUDIT);
}

/**
 * mtag_access_may_recall() - may the caller read a process that has ended?
 * @p:		the process
 * @opener:	credentials of the opener of the caller's socket
 *
 * As for /proc/PID/smaps of a process that runs, except that no security module is asked: it
 * knows of processes only as long as they exist.
 * Context: may sleep.
 */
bool mtag_access_may_recall(const struct mtag_past *p, const struct cred *opener)
{
	const struct cred *old;
	bool allowed = may_recall(p);

	if (!allowed || opener == current_cred())
		return allowed;
	old = override_creds(opener);
	allowed = may_recall(p);
	revert_creds(old);
	return allowed;
}

/* Fills @p; false if @task has no pid in @ns. Context: caller has a reference on @task. */
bool mtag_access_name(struct task_struct *task, struct pid_namespace *ns, struct mtag_process *p)
{
	struct task_struct *leader;

	memset(p, 0, sizeof(*p));
	p->pid = task_tgid_nr_ns(task, ns);
	rcu_read_lock();
	leader = pid_task(task_tgid(task), PIDTYPE_TGID);
	strscpy_pad(p->comm, leader ? leader->comm : task->comm, sizeof(p->comm));
	rcu_read_unlock();
	return p->pid > 0;
}

/* A thread of process @nr of the caller's pid namespace, with an mm if any has; a reference. */
static struct task_struct *find_task(pid_t nr)
{
	struct task_struct *leader, *task, *found = NULL;

	rcu_read_lock();
	leader = pid_task(find_vpid(nr), PIDTYPE_TGID);
	if (leader) {
		found = leader;
		for_each_thread(leader, task) {
			if (READ_ONCE(task->mm)) {
				found = task;
				break;
			}
		}
		get_task_struct(found);
	}
	rcu_read_unlock();
	return found;
}

static int target_open(struct mtag_target *t, enum mtag_access access, const struct cred *opener)
{
	struct mm_struct *mm;

	if (t->task->flags & PF_KTHREAD)
		return -EINVAL;
	mm = mtag_access_mm(t->task, access, opener, &t->cred);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	t->mm = mm;
	if (!mtag_access_name(t->task, task_active_pid_ns(current), &t->process))
		return -ESRCH;
	t->space = mtag_space_lookup(mm);
	if (t->space && mtag_space_parked(t->space)) {
		mtag_space_put(t->space);
		t->space = NULL;
	}
	return 0;
}

/**
 * mtag_access_get() - find a process and its space
 * @t:		filled; the caller must mtag_access_put() it
 * @nr:		pid of the process in the caller's pid namespace
 * @access:	what the caller wants
 * @opener:	credentials of the opener of the caller's socket
 *
 * Context: may sleep.
 * Return: 0, with t->space NULL if the process is not tracked; -EINVAL for a
 * kernel thread; -ESRCH, -EACCES, -EPERM, -EINTR as mtag_access_mm().
 */
int mtag_access_get(struct mtag_target *t, pid_t nr, enum mtag_access access,
		    const struct cred *opener)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->task = find_task(nr);
	if (!t->task)
		return -ESRCH;
	err = target_open(t, access, opener);
	if (err)
		mtag_access_put(t);
	return err;
}

/**
 * mtag_access_put() - drop the references of a target
 * @t:		filled by mtag_access_get()
 *
 * Context: may sleep.
 */
void mtag_access_put(struct mtag_target *t)
{
	if (t->space)
		mtag_space_put(t->space);
	if (t->mm) {
		put_cred(t->cred);
		mmput(t->mm);
	}
	put_task_struct(t->task);
}
