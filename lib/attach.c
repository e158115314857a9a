// SPDX-License-Identifier: LGPL-2.1-or-later
/* Is this process tracked? Attaches it, once, and notices when the module is gone. */
#include "internal.h"

#include <errno.h>
#include <stdatomic.h>

#include "environment.h"
#include "uapi/linux/mtag.h"

/*
 * UNTRIED -> ATTACHED -> LOST, or UNTRIED -> ABSENT, which mtag_init() may yet
 * turn into ATTACHED. LOST is final: tags that the program still holds mean
 * nothing to a module loaded later, or in another tree.
 */
enum { UNTRIED, ATTACHED, ABSENT, LOST };

static atomic_int state;

static bool change_state(int from, int to)
{
	return atomic_compare_exchange_strong(&state, &from, to);
}

int mtag_init(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	bool gone = false;
	int err;

	switch (atomic_load_explicit(&state, memory_order_acquire)) {
	case ATTACHED:
		return 0;
	case LOST:
		return -ESRCH;
	}
	err = mtag__call_device(MTAG_IOC_ATTACH, &arg, &gone);
	/* Another thread may have succeeded meanwhile: only UNTRIED becomes ABSENT. */
	if (err)
		change_state(UNTRIED, ABSENT);
	else if (change_state(UNTRIED, ATTACHED) || change_state(ABSENT, ATTACHED))
		mtag__environment_attached();
	return err;
}

bool mtag_active(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == ATTACHED;
}

int mtag__attached(void)
{
	switch (atomic_load_explicit(&state, memory_order_acquire)) {
	case ATTACHED:
		return 0;
	case ABSENT:
		return -ENOENT;
	case LOST:
		return -ESRCH;
	}
	return mtag_init();
}

int mtag__ioctl(unsigned long cmd, void *arg)
{
	bool gone = false;
	int err = mtag__attached();

	if (err)
		return err;
	err = mtag__call_device(cmd, arg, &gone);
	if (gone)
		change_state(ATTACHED, LOST);
	return err;
}
