// SPDX-License-Identifier: LGPL-2.1-or-later
/* A sample in JSON, with the keys of mtagctl: one array of objects, or a snapshot file. */
#include "json.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { RSS = -1 };

/* The keys and their order are those of ctl/format/show.c; the last six are only in snapshots. */
static const struct {
	const char *key;
	int counter;
} fields[] = {
	{"rss_bytes", RSS},
	{"anon_bytes", MTAG_C_ANON},
	{"file_bytes", MTAG_C_FILE},
	{"shmem_bytes", MTAG_C_SHMEM},
	{"swap_bytes", MTAG_C_SWAP},
	{"peak_rss_bytes", MTAG_C_PEAK},
	{"virt_bytes", MTAG_C_VIRT},
	{"touched_bytes", MTAG_C_TOUCHED},
	{"mmaps", MTAG_C_MMAPS},
	{"munmaps", MTAG_C_MUNMAPS},
	{"mremaps", MTAG_C_MREMAPS},
	{"brks", MTAG_C_BRKS},
	{"shmats", MTAG_C_SHMATS},
	{"shmdts", MTAG_C_SHMDTS},
	{"mmap_bytes", MTAG_C_MMAP_BYTES},
	{"munmap_bytes", MTAG_C_MUNMAP_BYTES},
	{"mremap_bytes", MTAG_C_MREMAP_BYTES},
	{"brk_bytes", MTAG_C_BRK_BYTES},
	{"shmat_bytes", MTAG_C_SHMAT_BYTES},
	{"shmdt_bytes", MTAG_C_SHMDT_BYTES},
};

#define FIELDS	   (sizeof(fields) / sizeof(fields[0]))
#define CALL_BYTES 6

static void put_escape(struct mtag__out *out, uint32_t cp)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\', 'u'};
	unsigned i;

	for (i = 0; i < 4; i++)
		text[2 + i] = hex[cp >> (12 - 4 * i) & 15];
	mtag__put(out, text, sizeof(text));
}

/* A tag's name is printable UTF-8; a process's may hold anything, and is then escaped. */
static void put_text(struct mtag__out *out, const char *text, bool printable)
{
	uint32_t cp;
	unsigned n;

	for (; *text; text += n ? n : 1) {
		n = mtag__utf8(text, &cp);
		if (*text == '"' || *text == '\\') {
			mtag__putc(out, '\\');
			mtag__putc(out, *text);
		} else if (n && (printable || (cp >= ' ' && cp < 0x7f))) {
			mtag__put(out, text, n);
		} else if (n && cp >= 0x10000) {
			put_escape(out, 0xd7c0 + (cp >> 10));
			put_escape(out, 0xdc00 + (cp & 0x3ff));
		} else {
			put_escape(out, n ? cp : 0xfffd);
		}
	}
}

static void put_string(struct mtag__out *out, const char *key, const char *text)
{
	mtag__puts(out, key);
	mtag__putc(out, '"');
	put_text(out, text, false);
	mtag__putc(out, '"');
}

static void put_path(struct mtag__out *out, const struct mtag__sample *sample,
		     const struct mtag__tag *tag)
{
	const char *names[MTAG_DEPTH_MAX];
	unsigned n = 0;

	for (; tag->depth; tag = &sample->tags[tag->parent]) {
		names[n++] = tag->name;
		if (tag->parent < 0)
			break;
	}
	while (n-- > 0) {
		put_text(out, names[n], true);
		if (n)
			mtag__putc(out, '/');
	}
}

static void put_key(struct mtag__out *out, const char *key, uint64_t value)
{
	mtag__puts(out, ",\"");
	mtag__puts(out, key);
	mtag__puts(out, "\":");
	mtag__put_number(out, value);
}

static void put_tag(struct mtag__out *out, const struct mtag__sample *sample,
		    const struct mtag__tag *tag, bool snapshot)
{
	size_t i;

	mtag__puts(out, "{\"pid\":");
	mtag__put_number(out, sample->pid);
	put_string(out, ",\"comm\":", sample->comm);
	put_key(out, "id", tag->id);
	mtag__puts(out, ",\"tag\":\"");
	put_path(out, sample, tag);
	mtag__putc(out, '"');
	if (snapshot)
		put_key(out, "parent_id", tag->parent < 0 ? 0 : sample->tags[tag->parent].id);
	for (i = 0; i < FIELDS - (snapshot ? 0 : CALL_BYTES); i++)
		put_key(out, fields[i].key,
			fields[i].counter == RSS ? mtag__tag_rss(tag) : tag->c[fields[i].counter]);
	put_key(out, "lost", sample->lost);
	put_key(out, "overflow", sample->overflow);
	put_key(out, "repairs", sample->repairs);
	mtag__putc(out, '}');
}

void mtag__json_print(struct mtag__out *out, struct mtag__sample *sample)
{
	int i = -1;

	mtag__putc(out, '[');
	while ((i = mtag__sample_next(sample, i)) >= 0) {
		if (i != sample->first)
			mtag__putc(out, ',');
		put_tag(out, sample, &sample->tags[i], false);
	}
	mtag__puts(out, "]\n");
}

static void put_boot_id(struct mtag__out *out)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char id[64];
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, id, sizeof(id) - 1);
	close(fd);
	if (n <= 0)
		return;
	id[n] = '\0';
	id[strcspn(id, "\n")] = '\0';
	put_string(out, ",\"boot_id\":", id);
}

static void put_header(struct mtag__out *out)
{
	struct utsname uts;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	mtag__puts(out, "{\"mtag_snapshot\":1,\"time_ms\":");
	mtag__put_number(out, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
	if (!uname(&uts)) {
		put_string(out, ",\"host\":", uts.nodename);
		put_boot_id(out);
		put_string(out, ",\"kernel\":", uts.release);
	}
	put_string(out, ",\"libmtag\":", MTAG_VERSION);
	mtag__puts(out, "}\n");
}

void mtag__json_snapshot(struct mtag__out *out, struct mtag__sample *sample)
{
	int i = -1;

	put_header(out);
	while ((i = mtag__sample_next(sample, i)) >= 0) {
		put_tag(out, sample, &sample->tags[i], true);
		mtag__putc(out, '\n');
	}
	mtag__puts(out, "{\"end\":");
	mtag__put_number(out, sample->n);
	mtag__puts(out, "}\n");
}
