// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks by number, as a heap view notes them with its objects: a number means the stack from which the thread asked, to
 * this process and its later children; a number that was made up means nothing; and without room none is told.
 */
/* vm: group=parallel module=max_stacks=600 timeout=300 mem=1G */
#include "lib/files.h"
#include "lib/keepers.h"
#include "lib/stacks.h"
#include "stacks/branches.h"
#include "stacks/places.h"

#define MOST 600 /* max_stacks */
#define BITS 11

extern const char asked_here[];
static uint32_t number;

static struct mtag_ioc_heap question(uint32_t flags)
{
	return (struct mtag_ioc_heap){.size = sizeof(struct mtag_ioc_heap), .flags = flags};
}

/* Not by ioctl(2): the C library has no frame pointers. */
#define ASK(label)                                                                                 \
	do {                                                                                       \
		struct mtag_ioc_heap q = question(MTAG_HEAP_ASK | MTAG_HEAP_STACK);                \
		long ret;                                                                          \
                                                                                                   \
		__asm__ volatile("syscall\n" label                                                 \
				 : "=a"(ret)                                                       \
				 : "0"(SYS_ioctl), "D"(mtag_fd()), "S"(MTAG_IOC_HEAP), "d"(&q)     \
				 : "rcx", "r11", "memory");                                        \
		if (ret)                                                                           \
			bail("HEAP: %ld", ret);                                                    \
		number = q.stack;                                                                  \
	} while (0)

/* Asks at one known instruction. */
static alone void ask_here(void)
{
	note();
	ASK(".globl asked_here\nasked_here:");
}

/* Asks from place @k, and tells the truth in @s. */
static alone uint32_t ask_from(struct site *s, int k)
{
	*s = (struct site){0};
	current = s;
	place[k](ask_here, k % 8);
	turn(s, asked_here);
	return number;
}

static struct stack_seen *named(struct stacks *s, uint32_t wanted)
{
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->stack[i].number == wanted)
			return &s->stack[i];
	return NULL;
}

static unsigned int nr_named(const struct stacks *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->nr; i++)
		n += !!s->stack[i].number;
	return n;
}

/* ---- what is refused ---- */

static int asks(uint32_t flags, uint64_t address, uint32_t stack)
{
	struct mtag_ioc_heap q = question(flags);

	q.address = address;
	q.stack = stack;
	return mtag_ioctl(MTAG_IOC_HEAP, &q);
}

static void refused(void)
{
	is(asks(MTAG_HEAP_STACK, 0, 0), (uint64_t)-EINVAL, "a stack alone cannot be asked for");
	is(asks(MTAG_HEAP_ASK | MTAG_HEAP_STACK, PG, 0), (uint64_t)-EINVAL, "nor with an address");
	is(asks(MTAG_HEAP_ASK | MTAG_HEAP_STACK, 0, 7), (uint64_t)-EINVAL,
	   "nor with a number of one's own");
	is(asks(MTAG_HEAP_ASK | 4, 0, 0), (uint64_t)-EINVAL, "nor anything unknown");
}

/* ---- what is told ---- */

static struct site sites[SITES];
static uint32_t numbers[SITES];

static void of_sixteen(void)
{
	struct stacks *s;
	unsigned int wrong = 0, same = 0;
	struct site again;

	for (int k = 0; k < SITES; k++)
		numbers[k] = ask_from(&sites[k], k);
	read_code();
	s = stacks_named(getpid());
	must0(s->error);
	ok(s->ended, "the answer ends");
	for (int k = 0; k < SITES; k++) {
		struct stack_seen *e = named(s, numbers[k]);

		wrong += numbers[k] <= MTAG_HEAP_NO_STACK || !e || !same_stack(s, e, &sites[k]) ||
			 e->anon || e->swap || e->touched;
		for (int j = 0; j < k; j++)
			same += numbers[j] == numbers[k];
	}
	is(wrong, 0, "sixteen numbers mean the stacks of the places that asked");
	is(same, 0, "and are different");
	is(nr_named(s), SITES, "nothing else has a number");
	ask_from(&again, 5);
	/* The call of ask_from() is part of the stack. */
	ok(number != numbers[5], "from elsewhere the same place is another stack");
	for (int i = 0; i < 3; i++)
		numbers[i] = ask_from(&again, 9);
	ok(numbers[0] == numbers[1] && numbers[1] == numbers[2],
	   "asked again from one place, it is the same");
	is(nr_named(stacks(getpid())), 0, "who does not ask for numbers is told none");
}

static void of_others(void)
{
	struct gate *g = gate();
	struct site s;
	uint32_t before = ask_from(&s, 3), after;
	uint32_t *theirs =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid_t pid = child();

	if (!pid) {
		pass_gate(g, 1);
		*theirs = ask_from(&s, 12);
		open_gate(g, 2);
		pass_gate(g, 3);
		_exit(0);
	}
	after = ask_from(&s, 11);
	open_gate(g, 1);
	pass_gate(g, 2);
	ok(named(stacks_named(pid), before), "a forked child knows the numbers of before the fork");
	ok(!named(stacks_named(pid), after), "not what its parent was told later");
	ok(named(stacks_named(pid), *theirs) && !named(stacks_named(getpid()), *theirs),
	   "what it is told is not its parent's");
	is(ask_from(&s, 12) > MTAG_HEAP_NO_STACK, true, "though its parent may come there, too");
	open_gate(g, 3);
	reap(pid);
}

/* ---- many at once ---- */

static atomic_bool stop;
static atomic_ulong told;

static void *ask_on(void *seed)
{
	struct mtag_ioc_heap q;

	while (!atomic_load(&stop)) {
		q = question(MTAG_HEAP_ASK | MTAG_HEAP_STACK);
		if (mtag_ioctl(MTAG_IOC_HEAP, &q) || q.stack <= MTAG_HEAP_NO_STACK)
			break;
		atomic_fetch_add(&told, 1);
	}
	return seed;
}

/* Threads ask while the process is forked, read, and in the end no longer tracked. */
static void races(void)
{
	pthread_t threads[4];
	pid_t pid = child();

	if (!pid) {
		unsigned int bad = 0;

		for (unsigned int i = 0; i < COUNT(threads); i++)
			must0(pthread_create(&threads[i], NULL, ask_on, NULL));
		for (int i = 0; i < 50; i++) {
			in_child {
				if (stacks_named(getpid())->error)
					_exit(1);
			}
			bad += stacks_named(getpid())->error != 0;
		}
		must0(nl_ask(nl_open(), MTAG_CMD_UNTRACK, 0, getpid())->error);
		for (unsigned int i = 0; i < COUNT(threads); i++)
			must0(pthread_join(threads[i], NULL));
		_exit(bad || !atomic_load(&told));
	}
	reap(pid);
	ok(true, "threads ask while others fork and read, until the process is untracked");
}

/* ---- without room ---- */

static unsigned int numbered, refused_room;
static uint32_t largest;

static alone void ask_once(void)
{
	ASK("");
	if (number == MTAG_HEAP_NO_STACK)
		refused_room++;
	else
		numbered++;
	if (number > largest)
		largest = number;
}

static void without_room(void)
{
	uint64_t lost = health("stack_lost");
	struct stacks *s;

	for (unsigned int i = 0; i < 1 << BITS; i++)
		by_number(i, BITS, ask_once);
	is(numbered + refused_room, 1 << BITS, "each question has an answer");
	ok(numbered >= MOST / 2 && numbered <= MOST, "no more stacks than there may be: %u",
	   numbered);
	ok(largest <= MOST + 2, "no number beyond them: %u", largest);
	is(health("stack_lost") - lost, refused_room, "each that found no room is counted");
	s = stacks_named(getpid());
	ok(!s->error && nr_named(s) <= MOST && nr_named(s) >= numbered,
	   "those that were told can be asked for: %u", nr_named(s));
}

int main(void)
{
	begin_test();
	/* An earlier test may have made the table, which goes with the hooks: with room for more. */
	idle();
	begin();
	is(asks(MTAG_HEAP_ASK | MTAG_HEAP_STACK, 0, 0), 0,
	   "without stacks the question is no error");
	ask_from(&sites[0], 0);
	is(number, 0, "but has no number for an answer");
	refused();
	must0(stacks_start_self(1, -1));
	of_sixteen();
	of_others();
	races();
	without_room();
	exact("the pages stay exact");
	return end_test();
}
