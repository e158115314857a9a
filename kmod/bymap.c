// SPDX-License-Identifier: GPL-2.0
/*
 * Tags of mappings, named after what is mapped. Each mapping's range is given to its tag when it
 * is made, so that its anonymous pages, too, are charged by their address.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "bymap.h"
#include "mtag.h"
#include "name.h"
#include "range.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "tree.h"

/**
 * struct map_name - the name of a mapping's tag: one component or two
 * @group:	the first
 * @name:	the second; empty: there is none
 */
struct map_name {
	const char *group;
	char name[MTAG_NAME_MAX + 1];
};

static bool is_kernel_mount(const struct file *file)
{
	return file_inode(file)->i_sb->s_flags & SB_KERNMOUNT;
}

/* SysV shared memory is a file "SYSV…" of the kernel's own mount. */
bool mtag_bymap_sysv(const struct file *file)
{
	return file && is_kernel_mount(file) &&
	       !strncmp(file->f_path.dentry->d_name.name, "SYSV", 4);
}

/* A shared mapping of /dev/zero is anonymous memory. */
static bool is_zero(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISCHR(inode->i_mode) && inode->i_rdev == MKDEV(MEM_MAJOR, 5);
}

/* Is @file in /dev/shm? Only for files of tmpfs the path is looked at. */
static bool is_posix_shm(const struct file *file, gfp_t gfp)
{
	char *buf, *path;
	bool is;

	if (file_inode(file)->i_sb->s_magic != TMPFS_MAGIC || is_kernel_mount(file))
		return false;
	buf = kmalloc(PATH_MAX, gfp);
	if (!buf)
		return false;
	path = d_path(&file->f_path, buf, PATH_MAX);
	is = !IS_ERR(path) && str_has_prefix(path, "/dev/shm/");
	kfree(buf);
	return is;
}

static void name_file(struct map_name *m, const struct file *file, gfp_t gfp)
{
	size_t prefix;

	/* The last component of its path, whether or not the file is deleted. */
	snprintf(m->name, sizeof(m->name), "%pD", file);
	prefix = str_has_prefix(m->name, "memfd:");
	if (prefix && is_kernel_mount(file)) {
		m->group = "memfd";
		/* With the prefix gone there is room for more of the name. */
		snprintf(m->name, sizeof(m->name), "%s",
			 file->f_path.dentry->d_name.name + prefix);
	} else if (mtag_bymap_sysv(file) || is_posix_shm(file, gfp)) {
		m->group = "shm";
	} else {
		m->group = "file";
	}
	if (!mtag_name_component(m->name))
		strscpy(m->name, "_", sizeof(m->name));
}

/* Finds or creates the tag @m. A tag that cannot be had is replaced by the one above. */
static u32 map_tag(struct mtag_space *s, const struct map_name *m, gfp_t gfp)
{
	int tag = mtag_tree_make(s, s->base_tag, m->group, strlen(m->group), gfp), below = tag;

	if (tag >= 0 && *m->name)
		below = mtag_tree_make(s, tag, m->name, strlen(m->name), gfp);
	/* At a limit this is counted as overflow. */
	if (below == -EBUSY)
		mtag_space_add_lost(s, 1);
	if (below >= 0)
		return below;
	return tag >= 0 ? tag : s->base_tag;
}

static u32 make_in_hook(struct mtag_space *s, struct map_name *m, const struct file *file)
{
	u32 tag = s->base_tag;
	bool sleeps;
	gfp_t gfp = mtag_sleep_gfp(&sleeps);

	if (gfp) {
		if (file)
			name_file(m, file, gfp);
		tag = map_tag(s, m, gfp);
	} else {
		mtag_space_add_lost(s, 1);
	}
	if (sleeps)
		mtag_sleep_end();
	return tag;
}

/**
 * mtag_bymap_tag() - the tag of a mapping that the current process makes
 * @s:		its space
 * @file:	NULL: anonymous memory
 * @shared:	as by MAP_SHARED
 *
 * Return: the tag; if it cannot be created, the one above it.
 */
u32 mtag_bymap_tag(struct mtag_space *s, const struct file *file, bool shared)
{
	struct map_name m = { .group = shared ? "[anon_shmem]" : "[anon]" };

	return make_in_hook(s, &m, shared && file && is_zero(file) ? NULL : file);
}

/* The tag of memory that brk() adds at @addr, or exec for the bss of a program. */
u32 mtag_bymap_brk(struct mtag_space *s, unsigned long addr)
{
	const struct mm_struct *mm = current->mm;
	struct map_name m = { .group = "[anon]" };

	if (mm->start_brk && addr == PAGE_ALIGN(mm->brk))
		m.group = "[heap]";
	return make_in_hook(s, &m, NULL);
}

/**
 * mtag_bymap_special() - give a mapping of the kernel's own to its tag
 * @vma:	new mapping of the current process; others than the kernel's are ignored
 */
void mtag_bymap_special(const struct vm_area_struct *vma)
{
	struct map_name m = {};
	struct mtag_space *s;

	if (!vma->vm_ops || !vma->vm_ops->name || vma->vm_mm != current->mm)
		return;
	m.group = vma->vm_ops->name((struct vm_area_struct *)vma);
	s = m.group && !mtag_name_check(m.group, strlen(m.group)) ? mtag_space_current() : NULL;
	if (!s)
		return;
	if (READ_ONCE(s->naming) == MTAG_NAMING_MAP)
		mtag_range_map(s, vma->vm_start, vma->vm_end - vma->vm_start,
			       make_in_hook(s, &m, NULL));
	mtag_space_put(s);
}

/**
 * mtag_bymap_begin() - begin a new program, whose mappings may have tags of their own
 * @s:		its space, which no page event has reached yet
 * @stack:	the only mapping so far
 */
void mtag_bymap_begin(struct mtag_space *s, const struct vm_area_struct *stack)
{
	struct map_name m = { .group = "[stack]" };

	if (s->naming != MTAG_NAMING_MAP)
		return;
	s->slow |= MTAG_SLOW_RANGE;
	mtag_range_map(s, stack->vm_start, stack->vm_end - stack->vm_start,
		       make_in_hook(s, &m, NULL));
}
