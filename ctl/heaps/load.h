/* SPDX-License-Identifier: GPL-2.0 */
/* Heap views from the module: the areas of processes, and whose their pages are. */
#ifndef MTAGCTL_HEAPS_LOAD_H
#define MTAGCTL_HEAPS_LOAD_H

#include "heaps/view.h"

/* What a heap view is made of, and that. Initially all 0; it must not move while the view is made. */
struct heap_loaded {
	struct heap_objects objects;
	struct heap_maps maps;
	struct heap_view view;
};

/* Both return -1 or a descriptor of the device, 0 or a negative errno: -ENODATA if @proc has no heap view. */
int heap_open(void);
int heap_load(int device, const struct proc *proc, struct heap_loaded *loaded);
void heap_unload(struct heap_loaded *loaded);
/* Only the objects, which heap_objects_clear() clears, also after an error; likewise. */
int heap_load_objects(int device, const struct proc *proc, struct heap_objects *objects);

/* How much is read: the sums of its tags, which is quick; or all, for which its page tables are walked. */
enum heap_depth { HEAP_SUMS, HEAP_PAGES };
/* The same into the model, as its heap. After an error it has none. */
int heap_load_into(int device, struct proc *proc, enum heap_depth depth);
/* The heaps of all processes of @snap that have one, as far as they can be read now. 0 or -ENOMEM. */
int heap_load_all(struct snap *snap, enum heap_depth depth);

/*
 * Why a process has no heap view, a clause: "it was not started …". Looks at its program and its environment, as far as
 * the caller may.
 */
const char *heap_why_not(pid_t pid);
/* The program is linked without a dynamic linker, so that nothing can be preloaded. False if that is not known. */
bool heap_is_static(const char *path);

#endif
