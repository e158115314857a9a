// SPDX-License-Identifier: GPL-2.0
/*
 * The users for whom stacks are taken: each is known until stacks are no longer kept, so that its
 * share of their tables can be counted.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include "memory.h"
#include "user.h"

static struct mtag_user *users;
static DEFINE_SPINLOCK(users_lock);	/* serializes insertion at the head; readers take no lock */

/*
 * Returns the user to charge for a process's stacks. Inside a user namespace a user may have any
 * number of ids, so charge the namespace's owner. If root owns it (a container), charge the host id
 * of the container's root. If that is the host's root too (a service with PrivateUsers=), ignore
 * the namespace.
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

/*
 * Adds *@user, and takes it from the caller, unless its id is in the list already. Return: the one
 * in the list.
 */
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
 * mtag_user_of() - the user to charge for a process
 * @cred:	of the process
 * @gfp:	allocation flags of the caller's context
 *
 * Context: may take spinlocks; stacks are kept.
 * Return: the user, which stays as long as stacks are kept; NULL without memory.
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
 * mtag_user_heir() - the user to charge for what the current process goes on with
 * @user:	the one charged for it so far
 * @gfp:	allocation flags of the caller's context
 *
 * A user whose stacks are taken is also charged for the setuid programs that it executes. What root
 * began is charged to whichever user the process becomes.
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
