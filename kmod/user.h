/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users, and how much each has of what all stacks have in common; user.c.
 */
#ifndef MTAG_USER_H
#define MTAG_USER_H

#include <linux/cred.h>
#include <linux/gfp_types.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * struct mtag_user - a user for whom stacks are taken, or that has handed in unwind tables
 * @next:	the next in the list; constant once it is in there
 * @uid:	who; constant
 * @stacks:	stacks that were added for it; of stack.c, under stack_lock
 * @images:	images, likewise; of image.c, under images_lock
 * @table_bytes: of unwind tables that it has handed in, or hands in now; likewise
 */
struct mtag_user {
	struct mtag_user *next;
	kuid_t uid;
	unsigned int stacks;
	unsigned int images;
	size_t table_bytes;
};

struct mtag_user *mtag_user_of(const struct cred *cred, gfp_t gfp);
struct mtag_user *mtag_user_heir(struct mtag_user *user, gfp_t gfp);
void mtag_user_end(void);

/**
 * mtag_user_may() - may a user have more of something?
 * @user:	who
 * @has:	how much it has
 * @left:	how much is left for all
 * @more:	how much more it asks for
 *
 * No user except root has more than it leaves to others. So the first may have a half, the next one
 * half of the rest, and something is left for whoever comes last.
 */
static inline bool mtag_user_may(const struct mtag_user *user, size_t has, size_t left, size_t more)
{
	if (more > left)
		return false;
	return uid_eq(user->uid, GLOBAL_ROOT_UID) || has + more <= left - more;
}

#endif /* MTAG_USER_H */
