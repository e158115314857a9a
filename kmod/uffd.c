// SPDX-License-Identifier: GPL-2.0
/*
 * Follows UFFDIO_MOVE, by which userfaultfd moves pages within a process
 * without an rmap event.
 */
#include <linux/slab.h>
#include "charge.h"
#include "compat/compat.h"
#include "hooked.h"
#include "later.h"
#include "mtag.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "uffd.h"

/**
 * struct moving - a call under way that moves pages
 * @later:	runs when the call returns
 * @s:		the space; reference
 */
struct moving {
	struct mtag_later later;
	struct mtag_space *s;
};

static void moving_done(struct mtag_later *later, bool runs)
{
	struct moving *m = container_of(later, struct moving, later);

	atomic_dec(&m->s->migration.movers);
	mtag_space_put(m->s);
	kfree(m);
}

/*
 * userfaultfd_ioctl(file, cmd, arg): UFFDIO_MOVE moves pages within its own
 * process under only a read lock. The owners go with the page frames and swap
 * slots; only a walk under way might miss pages, or count them twice.
 */
MTAG_HOOK_FUNC(mtag_uffd_ioctl)
{
	struct mtag_space *s;
	struct moving *m;
	bool sleeps;
	gfp_t gfp;

	if ((u32)mtag_arg1(fregs) != MTAG_UFFDIO_MOVE)
		return;
	s = mtag_space_mine();
	if (!s)
		return;
	gfp = mtag_sleep_gfp(&sleeps);
	m = gfp ? kmalloc(sizeof(*m), gfp) : NULL;
	if (m) {
		m->s = mtag_space_get(s);
		atomic_inc(&s->migration.movers);
		mtag_charge_spoil(s);
		if (!mtag_later(current, &m->later, moving_done)) {
			atomic_dec(&s->migration.movers);
			mtag_space_put(s);
			kfree(m);
		}
	} else {
		mtag_space_add_lost(s, 1);
		/* The end of the call will go unnoticed. */
		WRITE_ONCE(s->unsure, true);
		mtag_charge_spoil(s);
		mtag_space_mark_dirty(s);
	}
	if (sleeps)
		mtag_sleep_end();
	mtag_space_put(s);
}
