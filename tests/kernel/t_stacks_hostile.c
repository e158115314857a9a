// SPDX-License-Identifier: GPL-2.0
/*
 * A user whose unwind tables and registers lie: walks of his stacks go wild, while his executable mappings change and
 * others read what was found. All that may suffer is what is said of his own stacks.
 */
/* vm: group=parallel mem=1G timeout=600 */
#include "lib/fuzz_netlink.h"
#include "lib/stacks.h"
#include "lib/tables.h"

#define SLOTS 16 /* mappings of code, one page each */
#define ARENA 64 /* pages of words that look like stacks */
#define PAGES 128
#define HOLE  17 /* page of the arena that is not there */

static char *slots, *arena, *data;
static atomic_int fds[SLOTS]; /* what is mapped there, or was just before */
static atomic_bool stop;
static atomic_ulong touches, given, mapped, reads;

static void random_words(struct random *r)
{
	for (size_t i = 0; i < ARENA * PG / 8; i++) {
		uint64_t *word = (uint64_t *)arena + i;

		if (i / 512 == HOLE)
			continue;
		switch (below(r, 8)) {
		case 0:
			*word = odd_number(r);
			break;
		case 1:
		case 2:
			*word = (uintptr_t)arena + 8 * below(r, ARENA * PG / 8);
			break;
		case 3:
			*word = (uintptr_t)touch_as + below(r, 4096);
			break;
		default:
			*word = (uintptr_t)slots + below(r, SLOTS * PG);
		}
	}
}

static uint64_t some_register(struct random *r)
{
	if (one_in(r, 4))
		return odd_number(r);
	return (uintptr_t)arena +
	       (one_in(r, 8) ? below(r, ARENA * PG) : 8 * below(r, ARENA * PG / 8));
}

/* Touches pages with any registers. A signal could not be delivered. */
static void *touch_pages(void *tag_of)
{
	struct random r = random_of(1, 1);
	mtag_t as = *(mtag_t *)tag_of;
	sigset_t all;

	sigfillset(&all);
	must0(pthread_sigmask(SIG_BLOCK, &all, NULL));
	while (!atomic_load(&stop)) {
		mtag_t before = mtag_enter(as);

		for (size_t i = 0; i < PAGES; i++) {
			struct wild w = {some_register(&r), some_register(&r), some_register(&r)};

			touch_as(slots + below(&r, SLOTS) * PG, data + i * PG, &w);
		}
		mtag_leave(before);
		must(madvise(data, PAGES * PG, MADV_DONTNEED));
		atomic_fetch_add(&touches, PAGES);
	}
	return NULL;
}

/* At once there is other code, which is the same but of another file. */
static void replace(struct random *r)
{
	size_t pages = 1 + below(r, 3), slot = below(r, SLOTS);
	int fd = code_file(pages), old;

	must(mmap(slots + slot * PG, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		  below(r, pages) * PG));
	old = atomic_exchange(&fds[slot], fd);
	if (old > 0)
		close(old);
}

static void *change_mappings(void *unused)
{
	struct random r = random_of(1, 2);
	size_t len = 8 * PG;

	while (!atomic_load(&stop)) {
		int prot = PROT_READ | (one_in(&r, 2) ? PROT_EXEC : PROT_WRITE);
		char *p = must(mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		must(mprotect(p + below(&r, 4) * PG, PG * (1 + below(&r, 4)),
			      PROT_READ | PROT_EXEC));
		must(mprotect(p + below(&r, 4) * PG, PG, PROT_READ));
		must(munmap(p + 2 * PG, PG));
		if (one_in(&r, 2))
			must(munmap(p, len));
		else
			must(munmap(p + 3 * PG, len - 3 * PG)), must(munmap(p, 2 * PG));
		replace(&r);
		atomic_fetch_add(&mapped, 1);
	}
	return unused;
}

static void *hand_in(void *unused)
{
	struct random r = random_of(1, 3);
	static struct table t;
	int exe = must(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), error;

	while (!atomic_load(&stop)) {
		some_table(&r, &t);
		error = table_give(one_in(&r, 16) ? exe : fds[below(&r, SLOTS)], t.words, t.bytes);
		/* It may have one, and be closed or without an image meanwhile. */
		if (error && error != -EEXIST && error != -EBADF)
			bail("a table is refused: %s", strerror(-error));
		atomic_fetch_add(&given, !error);
		usleep(1000);
	}
	close(exe);
	return unused;
}

/* ---- what is said of the stacks ---- */

static void add(const struct nlattr *attr, int depth, void *sum)
{
	uint64_t bytes;

	if (!depth || (attr->nla_type & NLA_TYPE_MASK) != MTAG_A_STACK_ANON)
		return;
	memcpy(&bytes, attr + 1, 8);
	*(uint64_t *)sum += bytes;
}

static void *read_stacks(void *unused)
{
	int s = genl_open();

	while (!atomic_load(&stop)) {
		uint64_t sum = 0;
		int error = genl_ask(s, MTAG_CMD_STACK_GET, NLM_F_DUMP, getpid(), add, &sum);

		if (error)
			bail("the stacks are refused: %s", strerror(-error));
		atomic_fetch_add(&reads, 1);
		usleep(10000);
	}
	close(s);
	return unused;
}

static void begin_places(void)
{
	struct random r = random_of(1, 4);

	slots = area(SLOTS * PG);
	arena = area(ARENA * PG);
	data = area(PAGES * PG);
	must(munmap(arena + HOLE * PG, PG));
	must(mmap(arena + HOLE * PG, PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0));
	for (int i = 0; i < SLOTS; i++) {
		fds[i] = code_file(1);
		must(mmap(slots + i * PG, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			  fds[i], 0));
	}
	random_words(&r);
}

static void lie(void)
{
	void *(*const run[])(void *) = {touch_pages, touch_pages, change_mappings, hand_in,
					read_stacks};
	pthread_t threads[COUNT(run)];
	uint64_t sum = 0, anon;
	mtag_t as;
	int s;

	become(NOBODY);
	alarm(300);
	begin();
	as = tag("wild");
	begin_places();
	is(-stacks_start_self(1, -1), 0, "nobody has his own stacks taken");
	s = genl_open();
	for (size_t i = 0; i < COUNT(run); i++)
		must0(pthread_create(&threads[i], NULL, run[i], &as));
	sleep(more(3, 12));
	atomic_store(&stop, true);
	for (size_t i = 0; i < COUNT(run); i++)
		must0(pthread_join(threads[i], NULL));
	diag("%lu touches, %lu tables, %lu changes of mappings, %lu readings", touches, given,
	     mapped, reads);
	ok(touches && given && mapped && reads, "all of them have done something");
	exact("tags are exact");
	is(-genl_ask(s, MTAG_CMD_STACK_GET, NLM_F_DUMP, getpid(), add, &sum), 0,
	   "the stacks are there");
	sum = 0;
	anon = smaps_of(getpid(), NULL, (void *)UINTPTR_MAX).anon;
	genl_ask(s, MTAG_CMD_STACK_GET, NLM_F_DUMP, getpid(), add, &sum);
	is(sum, anon, "and together they are the anonymous memory");
}

/* ---- mappings without end ---- */

static uint64_t free_memory(void)
{
	const char *text = strstr(slurp("/proc/meminfo"), "MemAvailable:");

	return strtoull(text + strlen("MemAvailable:"), NULL, 10) * KIB;
}

/*
 * With very many executable mappings, each further one makes the module's array of them anew. What was replaced must
 * not pile up.
 */
static void many_mappings(void)
{
	enum { MANY = 20000, CHANGES = 600 };
	uint64_t before, least = UINT64_MAX;
	char *p;

	become(NOBODY);
	begin();
	p = must(mmap(NULL, 2 * MANY * PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (size_t i = 0; i < MANY; i++)
		must(mprotect(p + 2 * i * PG, PG, PROT_READ | PROT_EXEC));
	is(-stacks_start_self(1, -1), 0, "with many mappings stacks are taken");
	before = free_memory();
	for (size_t i = 0; i < CHANGES; i++) {
		must(mprotect(p + (2 * i + 1) * PG, PG, PROT_READ | PROT_EXEC));
		if (i % 20)
			continue;
		least = free_memory() < least ? free_memory() : least;
	}
	diag("%" PRIu64 " MiB free, then at least %" PRIu64, before / MIB, least / MIB);
	ok(before < least + 128 * MIB, "replaced arrays of mappings do not pile up");
	must(munmap(p, 2 * MANY * PG));
	exact("and tags are exact");
}

/* An unmapped range is remembered, but not each of very many. Root may read what the module needs. */
static void mapped_anywhere(void)
{
	enum { CHANGES = 16000 };
	uint64_t before;
	char *p = must(mmap(NULL, 2 * CHANGES * PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	begin();
	is(-stacks_start_self(1, -1), 0, "root's stacks are taken");
	must(munmap(p, 2 * CHANGES * PG));
	before = health("memory");
	for (size_t i = 0; i < CHANGES; i++) {
		char *at = must(mmap(p + 2 * i * PG, PG, PROT_READ | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));

		must(munmap(at, PG));
		/* Those that were replaced are freed meanwhile. */
		if (i % 100 == 0)
			usleep(20000);
	}
	diag("%" PRIu64 " bytes, then %" PRIu64, before, health("memory"));
	ok(until(health("memory") < before + CHANGES * 20, 5),
	   "mapping code ever elsewhere needs no memory for all of it");
	exact("and tags are exact");
}

/* ---- who walks by whose tables ---- */

/* Runs sleep(1) as that user, with stacks; it sleeps when this returns. */
static pid_t sleeper(enum user user)
{
	char path[64], *text;
	pid_t pid = child();

	if (!pid) {
		become(user);
		begin();
		must0(stacks_start_self(1, -1));
		execl("/bin/sleep", "sleep", "1000", NULL);
		bail("no sleep");
	}
	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	if (!until((text = slurp(path)) && (!strncmp(text, "230 ", 4) || !strncmp(text, "35 ", 3)),
		   60))
		bail("sleep does not sleep");
	return pid;
}

/*
 * Whatever walks by this table finds that a page of the stack is absent: 2 GiB below it is nothing. No walk without
 * tables ends like that.
 */
static int give_absent(const char *path)
{
	int fd = must(open(path, O_RDONLY | O_CLOEXEC)), error;
	uint32_t blocks = (lseek(fd, 0, SEEK_END) + 1023) / 1024;
	struct mtag_unwind_recipe recipe = {.kind = MTAG_UNWIND_DEREF,
					    .reg = 7,
					    .off = INT32_MIN,
					    .bp = MTAG_UNWIND_SAME,
					    .bx = MTAG_UNWIND_SAME};
	struct mtag_unwind_header *h;
	size_t bytes = sizeof(*h) + 4 * (2 * blocks + 1) + sizeof(recipe);
	uint32_t *index;

	h = must(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	*h = (struct mtag_unwind_header){.magic = MTAG_UNWIND_MAGIC,
					 .version = MTAG_UNWIND_VERSION,
					 .blocks = blocks,
					 .rows = blocks,
					 .recipes = 1};
	index = (uint32_t *)(h + 1);
	for (uint32_t i = 0; i <= blocks; i++)
		index[i] = i;
	memcpy(index + 2 * blocks + 1, &recipe, sizeof(recipe));
	error = table_give(fd, h, bytes);
	must(munmap(h, bytes));
	close(fd);
	return error;
}

/* The files that a process runs: a table for each, as nobody. */
static unsigned int give_all(pid_t pid)
{
	char maps[64], path[256], perms[8], *line, *end;
	unsigned int nr = 0;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	for (line = slurp(maps); line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (sscanf(line, "%*s %7s %*s %*s %*s %255s", perms, path) != 2 ||
		    perms[2] != 'x' || path[0] != '/')
			continue;
		is(-give_absent(path), 0, "nobody hands in a table of %s", path);
		nr++;
	}
	return nr;
}

static unsigned int absent(pid_t pid)
{
	const struct stacks *s = stacks(pid);
	unsigned int nr = 0;

	if (s->error || !s->nr)
		bail("no stacks of process %d: %s", pid, strerror(-s->error));
	for (unsigned int i = 0; i < s->nr; i++)
		nr += s->stack[i].kind == MTAG_STACK_TAKEN && s->stack[i].why == MTAG_STACK_ABSENT;
	return nr;
}

static void rights(void)
{
	pid_t before = sleeper(NOBODY), roots = sleeper(ROOT), after, later;

	in_child {
		become(NOBODY);
		ok(give_all(before), "there are such files");
		is(-table_give(-1, NULL, 0), EPERM, "but none of the vdso");
	}
	after = sleeper(NOBODY);
	later = sleeper(ROOT);
	is(absent(before) + absent(roots), 0, "what was touched before is as it was");
	ok(absent(after), "nobody's sleep is walked by nobody's tables");
	is(absent(later), 0, "root's is not");
	end_child(before);
	end_child(roots);
	end_child(after);
	end_child(later);
}

/* ---- a table that is late ---- */

/* One block and one recipe: the caller's frame is above one word. */
static void plain_table(struct table *t)
{
	struct mtag_unwind_recipe recipe = {
		.kind = MTAG_UNWIND_SP, .off = 8, .bp = MTAG_UNWIND_SAME, .bx = MTAG_UNWIND_SAME};
	uint32_t *words = (uint32_t *)(&t->header + 1);

	memset(t, 0, sizeof(*t));
	t->header = (struct mtag_unwind_header){
		.magic = MTAG_UNWIND_MAGIC,
		.version = MTAG_UNWIND_VERSION,
		.blocks = 1,
		.rows = 1,
		.recipes = 1,
	};
	words[1] = 1;
	memcpy(words + 3, &recipe, sizeof(recipe));
	t->bytes = sizeof(t->header) + 3 * 4 + sizeof(recipe);
}

/* Frames of the stack beneath a tag; 0: there are several stacks, or none. */
static unsigned int depth_of(mtag_t tag)
{
	struct stacks *s = stacks(getpid());
	unsigned int nr = 0, found = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		if (s->stack[i].tag != tag)
			continue;
		nr = s->stack[i].nr;
		found++;
	}
	return found == 1 ? nr : 0;
}

static void touch_under(mtag_t tag, const void *code, void *page, const struct wild *w)
{
	mtag_t before = mtag_enter(tag);

	touch_as(code, page, w);
	mtag_leave(before);
}

/* On one CPU, which remembers the stack that it has taken last. */
static void late(void)
{
	static uint64_t words[2];
	static struct table t;
	struct wild w = {.sp = (uintptr_t)words, .bp = 1};
	int fd = code_file(1);
	mtag_t early, later;
	char *p, *code;
	sigset_t all;

	run_on_first_cpu();
	begin();
	early = mtag_child(MTAG_UNTAGGED, "early");
	later = mtag_child(MTAG_UNTAGGED, "later");
	words[0] = (uintptr_t)late + 4;
	plain_table(&t);
	p = area(2 * PG);
	must0(-stacks_start_self(1, -1));
	code = must(mmap(NULL, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
	*(volatile const char *)code;
	sigfillset(&all);
	must0(sigprocmask(SIG_BLOCK, &all, NULL));
	touch_under(early, code, p, &w);
	must0(-table_give(fd, t.words, t.bytes));
	touch_under(later, code, p + PG, &w);
	is(depth_of(early), 1, "without a table a stack ends");
	ok(depth_of(later) > 1, "from when there is one, the same stack goes on");
}

int main(void)
{
	begin_test();
	find_family();
	rights();
	in_child
		late();
	in_child
		lie();
	in_child
		many_mappings();
	in_child
		mapped_anywhere();
	return end_test();
}
