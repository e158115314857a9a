// SPDX-License-Identifier: GPL-2.0
/*
 * The users for whom stacks are taken: each is known until no stacks are kept any more, so that his
 * share of their tables can be counted.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include "memory.h"
#include "user.h"

static struct mtag_user *users;
static DEFINE_SPINLOCK(users_lock);	/* the list; only the first member of it changes */

/*
 * Who answers for a process. In namespaces below the first one a user may have any number of ids,
 * so all of them are whose namespace it is; or if that is root, whom root's containers call root.
 * But where that is root itself, as in a service with PrivateUsers=, others are not: there it is as
 * if there were no such namespace.
 */
static kuid_t who_answers(const struct cred *cred)
{
	kuid_t who = cred->euid, owner;
	struct user_namespace *ns;

	/* The outermost one that says who it is comes last. */
	for (ns = cred->user_ns; ns->parent; ns = ns->parent) {
		owner = ns->owner;
		if (uid_eq(owner, GLOBAL_ROOT_UID))
			owner = make_kuid(ns, 0);
		if (!uid_eq(owner, GLOBAL_ROOT_UID))
			who = owner;
	}
	return who;
}

/* Context: none; members stay. */
static struct mtag_user *find_member(struct mtag_user *from, kuid_t uid)
{
	while (from && !uid_eq(from->uid, uid))
		from = from->next;
	return from;
}

/* Adds *@user, unless there is one of his; takes it from the caller if so. Return: who is there. */
static struct mtag_user *add_member(struct mtag_user **user)
{
	struct mtag_user *found;

	spin_lock(&users_lock);
	found = find_member(users, (*user)->uid);
	if (!found) {
		found = *user;
		found->next = users;
		/* Pairs with mtag_user_of(). */
		smp_store_release(&users, found);
		*user = NULL;
	}
	spin_unlock(&users_lock);
	return found;
}

/**
 * mtag_user_of() - the user who answers for a process
 * @cred:	of the process
 * @gfp:	allocation flags of the caller's context
 *
 * Context: may take spinlocks; stacks are kept.
 * Return: the user, who stays as long as stacks are kept; NULL without memory.
 */
struct mtag_user *mtag_user_of(const struct cred *cred, gfp_t gfp)
{
	kuid_t uid = who_answers(cred);
	/* Pairs with add_member(). */
	struct mtag_user *found = find_member(smp_load_acquire(&users), uid), *new;

	if (found || mtag_memory_charge(sizeof(*new)))
		return found;
	new = kzalloc(sizeof(*new), gfp);
	if (new) {
		new->uid = uid;
		found = add_member(&new);
	}
	/* Without memory, or if another task was faster. */
	if (new || !found)
		mtag_memory_uncharge(sizeof(*new));
	kfree(new);
	return found;
}

/**
 * mtag_user_heir() - who answers for what the current process goes on with
 * @user:	who answered for it so far
 * @gfp:	allocation flags of the caller's context
 *
 * Who had his stacks taken answers for the setuid programs that he executes, too. Root gives what
 * it has begun to whoever it becomes.
 *
 * Context: as mtag_user_of().
 * Return: likewise.
 */
struct mtag_user *mtag_user_heir(struct mtag_user *user, gfp_t gfp)
{
	return uid_eq(user->uid, GLOBAL_ROOT_UID) ? mtag_user_of(current_cred(), gfp) : user;
}

/* Forgets all users. Context: no stacks are kept. */
void mtag_user_end(void)
{
	struct mtag_user *user;

	while ((user = users)) {
		users = user->next;
		mtag_memory_uncharge(sizeof(*user));
		kfree(user);
	}
}
