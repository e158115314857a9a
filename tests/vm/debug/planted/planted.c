// SPDX-License-Identifier: GPL-2.0
/*
 * Bugs to be caught: part of throw-away builds of the module only, see
 * tests/vm/planted.sh. Writing a bug's name to the parameter "plant" lets it
 * happen, on the module's own objects, locks and hooks.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "hook.h"
#include "mtag.h"

MTAG_HOOK_FUNC(planted_new_anon);

static bool hook_sleeps;
static unsigned long events;

/* Takes the place of mtag_rmap_new_anon() in the table of hooks; a page-table lock is held. */
notrace MTAG_HOOK_FUNC(planted_new_anon)
{
	if (READ_ONCE(hook_sleeps)) {
		WRITE_ONCE(hook_sleeps, false);
		kfree(kmalloc(64, GFP_KERNEL));
	}
	mtag_rmap_new_anon(ip, parent_ip, op, fregs);
}

static void use_after_free(struct mtag_tree *tree)
{
	kfree(tree);
	mtag_tree_get(tree);
}

/* A walk takes them the other way round. */
static void lock_inversion(struct mtag_tree *tree)
{
	mutex_lock(&tree->lock);
	mutex_lock(&tree->build_lock);
	mutex_unlock(&tree->build_lock);
	mutex_unlock(&tree->lock);
	mtag_tree_put(tree);
}

static void leak(struct mtag_tree *tree)
{
}

static void sleeping_hook(struct mtag_tree *tree)
{
	mtag_tree_put(tree);
	WRITE_ONCE(hook_sleeps, true);
}

/* With another that does the same. */
static void race(struct mtag_tree *tree)
{
	unsigned long end = jiffies + 5 * HZ;

	mtag_tree_put(tree);
	while (time_before(jiffies, end)) {
		events++;
		barrier();
		cond_resched();
	}
}

static const struct {
	const char *name;
	void (*plant)(struct mtag_tree *tree);
} bugs[] = {
	{"use_after_free", use_after_free},
	{"lock_inversion", lock_inversion},
	{"leak", leak},
	{"sleeping_hook", sleeping_hook},
	{"data_race", race},
};

static int plant_set(const char *value, const struct kernel_param *kp)
{
	struct mtag_tree *tree;
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!sysfs_streq(value, bugs[i].name))
			continue;
		tree = mtag_tree_create(GFP_KERNEL);
		if (!tree)
			return -ENOMEM;
		/* The data race needs two at once. */
		kernel_param_unlock(THIS_MODULE);
		bugs[i].plant(tree);
		kernel_param_lock(THIS_MODULE);
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops plant_ops = {.set = plant_set};
module_param_cb(plant, &plant_ops, NULL, 0200);
