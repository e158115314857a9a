// SPDX-License-Identifier: GPL-2.0
/*
 * For tests of large folios: the test records the owner of each page, and pagemap says where the page is now.
 * Together they tell what every tag must have, whatever the kernel did with the folios.
 */
#include "model.h"

#define KPF_HEAD       (1ULL << 15)
#define KPF_TAIL       (1ULL << 16)
#define PAGEMAP_GUARD  (1ULL << 58)
#define FRAMES	       32
#define WINDOWS	       512
#define MODEL_TAGS_MAX 8

struct model models[MODELS];
static mtag_t model_tags[MODEL_TAGS_MAX];
static size_t model_nr_tags;

/*
 * Returns the kernel's flags of a frame, as they were when the first of its neighbours was asked for; UINT64_MAX
 * forgets all. The frames of an area may be anywhere, so the cache has many small windows.
 */
static uint64_t frame_flags(uint64_t pfn)
{
	static struct {
		unsigned long round;
		uint64_t start, flags[FRAMES];
	} windows[WINDOWS], *w;
	static unsigned long round;
	static int fd = -1;
	ssize_t got;

	if (fd < 0)
		fd = must(open("/proc/kpageflags", O_RDONLY | O_CLOEXEC));
	if (pfn == UINT64_MAX) {
		round++;
		return 0;
	}
	w = &windows[pfn / FRAMES % WINDOWS];
	if (w->round != round || w->start != pfn - pfn % FRAMES) {
		w->round = round;
		w->start = pfn - pfn % FRAMES;
		got = must(pread(fd, w->flags, sizeof(w->flags), w->start * 8));
		memset((char *)w->flags + got, 0, sizeof(w->flags) - got);
	}
	return w->flags[pfn % FRAMES];
}

void look(const struct model *m, uint8_t *where)
{
	static uint64_t word[PAGES_MAX];

	pagemap(m->p, m->pages, word);
	frame_flags(UINT64_MAX);
	for (size_t i = 0; i < m->pages; i++) {
		if (word[i] & PAGEMAP_SWAP)
			where[i] = word[i] & PAGEMAP_GUARD ? NOWHERE : SWAPPED;
		else if ((word[i] & PAGEMAP_PRESENT) &&
			 !(frame_flags(word[i] & PAGEMAP_PFN) & KPF_ZERO_PAGE))
			where[i] = RESIDENT;
		else
			where[i] = NOWHERE;
	}
}

size_t in_folios(const char *p, size_t len, size_t size)
{
	static uint64_t word[PAGES_MAX];
	size_t sum = 0;

	pagemap(p, len / PG, word);
	frame_flags(UINT64_MAX);
	for (size_t i = 0; i < len / PG; i++) {
		uint64_t head = word[i] & PAGEMAP_PFN, end;

		if (!(word[i] & PAGEMAP_PRESENT) || (frame_flags(head) & KPF_ZERO_PAGE))
			continue;
		while (frame_flags(head) & KPF_TAIL)
			head--;
		for (end = head + 1; frame_flags(end) & KPF_TAIL; end++)
			;
		if ((end - head) * PG == size)
			sum += PG;
	}
	return sum;
}

mtag_t model_tag(const char *name)
{
	if (model_nr_tags == MODEL_TAGS_MAX)
		bail("too many tags");
	return model_tags[model_nr_tags++] = tag(name);
}

struct model *model_of(int n, char *p, size_t len)
{
	struct model *m = &models[n];

	if (len / PG > PAGES_MAX)
		bail("an area too large");
	m->p = p;
	m->pages = len / PG;
	memset(m->owner, 0, sizeof(m->owner));
	return m;
}

void came(struct model *m, const uint8_t *before, mtag_t as)
{
	static uint8_t after[PAGES_MAX];

	look(m, after);
	for (size_t i = 0; i < m->pages; i++)
		if (before[i] == NOWHERE && after[i] != NOWHERE)
			m->owner[i] = as;
}

void touch_pages(struct model *m, mtag_t as, size_t from, size_t n, size_t step)
{
	static uint8_t before[PAGES_MAX];

	look(m, before);
	for (size_t i = 0; i < n; i++)
		touch(as, m->p + (from + i * step) * PG, PG);
	came(m, before, as);
}

void move_pages_to(struct model *to, size_t at, struct model *m, size_t from, size_t n, int flags,
		   mtag_t as)
{
	mtag_t before = mtag_enter(as);

	if (mremap(m->p + from * PG, n * PG, n * PG, MREMAP_MAYMOVE | MREMAP_FIXED | flags,
		   to->p + at * PG) == MAP_FAILED)
		bail("mremap");
	mtag_leave(before);
	memmove(to->owner + at, m->owner + from, n * sizeof(*m->owner));
}

struct expected {
	uint64_t anon[MODEL_TAGS_MAX], swap[MODEL_TAGS_MAX];
};

static void expect_of(struct expected *e)
{
	static uint8_t where[PAGES_MAX];

	memset(e, 0, sizeof(*e));
	for (size_t n = 0; n < MODELS; n++) {
		struct model *m = &models[n];

		look(m, where);
		for (size_t i = 0; i < m->pages; i++) {
			for (size_t t = 0; t < model_nr_tags; t++) {
				if (m->owner[i] != model_tags[t])
					continue;
				e->anon[t] += where[i] == RESIDENT ? PG : 0;
				e->swap[t] += where[i] == SWAPPED ? PG : 0;
			}
		}
	}
}

bool agree(const char *format, ...)
{
	struct expected e, after;
	struct usage u[MODEL_TAGS_MAX];
	struct compared all;
	va_list args;
	bool good = true;
	int tries = 0;

	do {
		expect_of(&e);
		for (size_t t = 0; t < model_nr_tags; t++)
			u[t] = usage(model_tags[t]);
		expect_of(&after);
	} while (memcmp(&e, &after, sizeof(e)) && ++tries < 20);
	for (size_t t = 0; t < model_nr_tags; t++)
		good &= u[t].c[MTAG_C_ANON] == e.anon[t] && u[t].c[MTAG_C_SWAP] == e.swap[t];
	all = compare();
	va_start(args, format);
	vok(good && all.equal, "", format, args);
	va_end(args);
	for (size_t t = 0; !good && t < model_nr_tags; t++)
		diag("  pid %d, tag %u, mtag/pagemap: anon %" PRIu64 "/%" PRIu64 " swap %" PRIu64
		     "/%" PRIu64,
		     getpid(), model_tags[t], u[t].c[MTAG_C_ANON] / PG, e.anon[t] / PG,
		     u[t].c[MTAG_C_SWAP] / PG, e.swap[t] / PG);
	if (!all.equal)
		show_compared(&all);
	return good && all.equal;
}

void model_end(int n)
{
	if (models[n].pages)
		must(munmap(models[n].p, models[n].pages * PG));
	models[n].pages = 0;
}
