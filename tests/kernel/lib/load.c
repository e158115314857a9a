// SPDX-License-Identifier: GPL-2.0
/*
 * For tests under load: compares the module's counters and memory before with those after, and checks that times grow
 * linearly.
 */
#include "load.h"

/* Pages pinned in this guest: only mtag keeps any. */
static int64_t pinned_pages(void)
{
	spew("/proc/sys/vm/stat_refresh", "1");
	return vmstat("nr_foll_pin_acquired") - vmstat("nr_foll_pin_released");
}

static void load_read(struct load *l)
{
	l->memory = health("memory");
	l->ended = health("ended");
	l->drift = health("drift");
	l->dirty_ended = health("dirty_ended");
	l->lost = health("lost");
	l->overflow = health("overflow");
	l->bad_word = health("bad_word");
	l->pins = pinned_pages();
}

struct load load_begin(void)
{
	struct load l;

	khugepaged_goes_on();
	if (!idle())
		bail("mtag does not become idle");
	load_read(&l);
	return l;
}

void no_loss(const struct load *before, const char *what)
{
	struct load l;

	if (!until((visit_cpus(), !health("tracked")), 120))
		diag("%" PRIu64 " processes are tracked", health("tracked"));
	load_read(&l);
	is(l.dirty_ended, before->dirty_ended, "%s: no process ended with pending repairs", what);
	is(l.lost, before->lost, "%s: nothing was lost", what);
	is(l.overflow, before->overflow, "%s: no limit was hit", what);
}

struct load load_end(const struct load *before)
{
	struct load l;

	ok(idle(), "nothing stays tracked, and the hooks go out");
	until(pinned_pages() <= before->pins && health("memory") <= before->memory, 30);
	load_read(&l);
	is(l.memory, before->memory, "the module's memory is what it was at the start");
	is(l.pins, before->pins, "no page stays pinned");
	is(l.drift, before->drift, "every process that ended left all its counters at 0");
	is(l.bad_word, before->bad_word, "no tag was a wrong number");
	return l;
}

bool is_linear(size_t few, double took_few, size_t many, double took_many)
{
	return took_many <= 2.5 * took_few * many / few + 1;
}

void linear(const char *what, size_t few, double took_few, size_t many, double took_many)
{
	ok(is_linear(few, took_few, many, took_many),
	   "%s: %zu take %.2f s, %zu take %.2f s: not the square", what, few, took_few, many,
	   took_many);
}

_Noreturn void rest(void)
{
	for (;;)
		pause();
}

struct audit audit_all(void)
{
	struct audit a = {0};
	int status;
	char *text = ctl(&status, "-j audit"), *object;

	while ((object = json_next(&text))) {
		a.rows++;
		a.drift += json_u64(object, "drift_pages");
		a.lost += json_u64(object, "lost");
		a.overflow += json_u64(object, "overflow");
	}
	return a;
}

unsigned int random_below(unsigned int n)
{
	static _Thread_local unsigned int seed;

	if (!seed)
		seed = gettid() * 2654435761u + 1;
	return rand_r(&seed) % n;
}
