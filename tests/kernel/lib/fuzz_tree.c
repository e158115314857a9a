// SPDX-License-Identifier: GPL-2.0
/*
 * For the fuzzer of the ioctls: a model of the tree of tags and of the names that docs/abi.md allows, and the check
 * that the module's tree is the same.
 */
#include "fuzz_tree.h"

#define TAGS   70000
#define LETTER 16

struct node *nodes;
unsigned nr_nodes, default_tag, max_tags;

bool exists(uint64_t id)
{
	return id < nr_nodes;
}

size_t path_of(unsigned id, char *to)
{
	size_t len;

	if (id == MTAG_ID_KSM)
		return sprintf(to, "[ksm]");
	if (id == MTAG_ID_UNTAGGED)
		return to[0] = '\0', 0;
	len = path_of(nodes[id].parent, to);
	if (len)
		to[len++] = '/';
	memcpy(to + len, nodes[id].name, nodes[id].len);
	to[len + nodes[id].len] = '\0';
	return len + nodes[id].len;
}

unsigned find(unsigned parent, const char *name, size_t len)
{
	for (unsigned id = MTAG_ID_FIRST; id < nr_nodes; id++)
		if (nodes[id].parent == parent && nodes[id].len == len &&
		    !memcmp(nodes[id].name, name, len))
			return id;
	return 0;
}

/* Does docs/abi.md refuse the character? Those that control, hide or reorder text, and those that are none. */
static bool is_refused(uint32_t c)
{
	return c < 0x20 || c == '/' || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c ||
	       c == 0x180e || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       c >> 4 == 0x206 || (c >= 0xfdd0 && c <= 0xfdef) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xfffb) || c >> 4 == 0x1343 || (c >= 0x1bca0 && c <= 0x1bca3) ||
	       (c >= 0x1d173 && c <= 0x1d17a) || c >= 0xe0000 || (c & 0xffff) >= 0xfffe ||
	       c >> 11 == 0x1b;
}

bool is_component(const char *name, size_t len)
{
	const unsigned char *p = (const unsigned char *)name, *end = p + len;

	while (p < end) {
		static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
		int n = *p < 0x80	? 1
			: *p >> 5 == 6	? 2
			: *p >> 4 == 14 ? 3
			: *p >> 3 == 30 ? 4
					: 0;
		uint32_t c = n == 1 ? *p : *p & (0xff >> (n + 1));

		if (!n || n > end - p)
			return false;
		for (int i = 1; i < n; i++) {
			if (p[i] >> 6 != 2)
				return false;
			c = c * 64 + p[i] % 64;
		}
		if (c < least[n] || is_refused(c))
			return false;
		p += n;
	}
	return len > 0;
}

size_t some_name(char *name)
{
	static const uint32_t edges[] = {0x1f,	  0x20,	    0x7e,     0x7f,    0x9f,   0xa0,
					 0x7ff,	  0x800,    0x200a,   0x200b,  0x200f, 0x2010,
					 0x2028,  0x202e,   0x2060,   0x206f,  0xd7ff, 0xd800,
					 0xdfff,  0xe000,   0xfeff,   0xffff,  '/',    0,
					 0x10000, 0x10ffff, 0x110000, 0x1fffff};
	size_t len = 0, want;
	uint32_t c;

	switch (below(&rng, 8)) {
	case 0:
		len = below(&rng, 80);
		noise(&rng, name, len);
		return len;
	case 1:
		want = below(&rng, 66);
		while (len < want) {
			c = one_in(&rng, 3) ? edges[below(&rng, COUNT(edges))]
					    : below(&rng, 0x3000) + 0x20;
			if (c < 0x80) {
				name[len++] = c;
			} else if (c < 0x800) {
				name[len++] = 0xc0 | c >> 6;
				name[len++] = 0x80 | c % 64;
			} else if (c < 0x10000) {
				name[len++] = 0xe0 | c >> 12;
				name[len++] = 0x80 | c / 64 % 64;
				name[len++] = 0x80 | c % 64;
			} else {
				name[len++] = 0xf0 | c >> 18;
				name[len++] = 0x80 | c / 4096 % 64;
				name[len++] = 0x80 | c / 64 % 64;
				name[len++] = 0x80 | c % 64;
			}
		}
		return len;
	case 2:
		len = below(&rng, 4) + 61;
		memset(name, 'a' + below(&rng, 3), len);
		return len;
	default:
		name[0] = 'a' + below(&rng, LETTER);
		return 1;
	}
}

unsigned some_tag(void)
{
	if (one_in(&rng, 8))
		return odd_number(&rng);
	if (one_in(&rng, 8))
		return nr_nodes + below(&rng, 3) - 1;
	/* Deep ones, too. */
	return one_in(&rng, 4) ? nr_nodes - 1 : below(&rng, nr_nodes);
}

void same_tree(void)
{
	static char buf[MTAG_PATH_MAX], want[MTAG_PATH_MAX + 8];

	for (unsigned id = 0; id <= nr_nodes; id++) {
		struct mtag_ioc_path arg = {.size = sizeof(arg),
					    .tag = id,
					    .buf = (uintptr_t)buf,
					    .buf_len = sizeof(buf)};
		int error = mtag_ioctl(MTAG_IOC_PATH, &arg);

		if (id == nr_nodes) {
			expect(error == -ENOENT, "tag %u should not be: %s", id, strerror(-error));
			return;
		}
		path_of(id, want);
		expect(!error && !strcmp(buf, want), "tag %u is '%.80s', not '%.80s': %s", id, buf,
		       want, strerror(-error));
	}
}

void tree_begin(void)
{
	nodes = must(mmap(NULL, TAGS * sizeof(*nodes), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	nr_nodes = MTAG_ID_FIRST;
	max_tags = strtoul(slurp("/sys/module/mtag/parameters/max_tags"), NULL, 10);
}
