// SPDX-License-Identifier: GPL-2.0
/* The memory of a process by the names of its mappings: what smaps says, and what mtagctl says by tag. */
#include "by_name.h"
#include "ctl.h"
#include "files.h"

static struct by_name *row_of(struct names *names, const char *name)
{
	struct by_name *row = (struct by_name *)names_find(names, name);

	if (!row) {
		if (names->count == BY_NAME_MAX)
			bail("more than %d names", BY_NAME_MAX);
		row = &names->row[names->count++];
		snprintf(row->name, sizeof(row->name), "%s", name);
	}
	return row;
}

const struct by_name *names_find(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->row[i].name, name))
			return &names->row[i];
	return NULL;
}

/* A component: 63 bytes of the name, with what is not printable replaced. smaps shows \n as \012. */
static void component(char *to, size_t size, const char *group, const char *name)
{
	size_t at = (size_t)snprintf(to, size, "%s/", group), end = at + MTAG_NAME_MAX;

	for (; *name && at < end && at < size - 1; at++) {
		bool newline = !strncmp(name, "\\012", 4);
		unsigned char c = (unsigned char)*name;

		to[at] = newline || c < 0x20 || c >= 0x7f || c == '/' ? '_' : (char)c;
		name += newline ? 4 : 1;
	}
	to[at] = '\0';
}

/* The tag of a mapping, from its name in smaps. */
static void tag_of(char *tag, size_t size, char *name)
{
	char *deleted = strstr(name, " (deleted)"), *base = strrchr(name, '/');

	if (deleted)
		*deleted = '\0';
	if (!*name)
		snprintf(tag, size, "[anon]");
	else if (*name == '[')
		snprintf(tag, size, "%s", name);
	else if (deleted && !strcmp(name, "/dev/zero"))
		snprintf(tag, size, "[anon_shmem]");
	else if (deleted && !strncmp(name, "/memfd:", 7))
		component(tag, size, "memfd", name + 7);
	else if (deleted && !strncmp(name, "/SYSV", 5))
		component(tag, size, "shm", name + 1);
	else if (!strncmp(name, "/dev/shm/", 9))
		component(tag, size, "shm", base + 1);
	else
		component(tag, size, "file", base ? base + 1 : name);
}

/* Is that line the first of a mapping? Then *name is the mapping's, and the line ends with it. */
static bool is_head(char *line, char **name)
{
	int at = 0;

	if (sscanf(line, "%*x-%*x %*4s %*x %*x:%*x %*u %n", &at) < 0 || !at)
		return false;
	*name = line + at;
	return true;
}

static void add_line(struct by_name *row, const char *line)
{
	static const struct {
		const char *name;
		size_t offset;
	} keys[] = {
		{"Size:", offsetof(struct by_name, size)},
		{"Rss:", offsetof(struct by_name, rss)},
		{"Anonymous:", offsetof(struct by_name, anon)},
		{"Swap:", offsetof(struct by_name, swap)},
	};

	for (size_t i = 0; i < COUNT(keys); i++)
		if (!strncmp(line, keys[i].name, strlen(keys[i].name)))
			*(uint64_t *)((char *)row + keys[i].offset) +=
				strtoull(line + strlen(keys[i].name), NULL, 10) * KIB;
}

static bool is_shmem(const char *name)
{
	return !strncmp(name, "memfd/", 6) || !strncmp(name, "shm/", 4) ||
	       !strcmp(name, "[anon_shmem]");
}

struct names *names_of_smaps(pid_t pid)
{
	static struct names names;
	char path[64], *text, *line, *name, tag[128];
	struct by_name *row = NULL;

	memset(&names, 0, sizeof(names));
	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	while ((line = strsep(&text, "\n"))) {
		if (is_head(line, &name)) {
			tag_of(tag, sizeof(tag), name);
			/* It is not in the mm, and not part of VmSize. */
			row = strcmp(tag, "[vsyscall]") ? row_of(&names, tag) : NULL;
		} else if (row) {
			add_line(row, line);
		}
	}
	for (size_t i = 0; i < names.count; i++)
		if (is_shmem(names.row[i].name))
			names.row[i].shmem = names.row[i].rss - names.row[i].anon;
	return &names;
}

struct names *names_of_tags(pid_t pid, const char *root)
{
	static struct names names;
	char *text = ctl(NULL, "-j show %d", pid), *object;
	size_t len = strlen(root);
	struct by_name *row, one;

	memset(&names, 0, sizeof(names));
	while ((object = json_next(&text))) {
		const char *tag = json_string(object, "tag");

		one = (struct by_name){
			.size = json_u64(object, "virt_bytes"),
			.rss = json_u64(object, "rss_bytes"),
			.anon = json_u64(object, "anon_bytes"),
			.shmem = json_u64(object, "shmem_bytes"),
			.swap = json_u64(object, "swap_bytes"),
		};
		if (!one.size && !one.rss && !one.swap)
			continue;
		tag = json_string(object, "tag");
		row = row_of(&names, strncmp(tag, root, len) ? tag : tag + len);
		memcpy(&row->size, &one.size, sizeof(one) - offsetof(struct by_name, size));
	}
	return &names;
}

static bool same_row(const struct by_name *a, const struct by_name *b)
{
	return a && b && a->size == b->size && a->rss == b->rss && a->anon == b->anon &&
	       a->swap == b->swap && (!is_shmem(a->name) || a->shmem == b->shmem);
}

static void show_row(const char *who, const struct by_name *row, const char *name)
{
	static const struct by_name none;

	row = row ?: &none;
	diag("  %-6s %s: size %" PRIu64 " rss %" PRIu64 " anon %" PRIu64 " shmem %" PRIu64
	     " swap %" PRIu64,
	     who, name, row->size, row->rss, row->anon, row->shmem, row->swap);
}

bool same_names(pid_t pid, const char *root, const char *format, ...)
{
	struct names *truth = names_of_smaps(pid), *tags = names_of_tags(pid, root);
	bool good = truth->count == tags->count;
	va_list args;

	for (size_t i = 0; i < truth->count; i++)
		good &= same_row(&truth->row[i], names_find(tags, truth->row[i].name));
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	for (size_t i = 0; !good && i < truth->count + tags->count; i++) {
		bool second = i >= truth->count;
		const char *name = second ? tags->row[i - truth->count].name : truth->row[i].name;
		const struct by_name *a = names_find(truth, name), *b = names_find(tags, name);

		if (same_row(a, b) || (second && a))
			continue;
		show_row("smaps", a, name);
		show_row("mtag", b, name);
	}
	return good;
}
