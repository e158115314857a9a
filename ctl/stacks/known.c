// SPDX-License-Identifier: GPL-2.0
/*
 * Functions at addresses that were looked up before: to read debug information takes seconds for a large program, and
 * its answers are the same for each file of a build-id. A file of the cache is text, so that it can be looked at: a line
 * MAGIC, then of each address "OFFSET e|r NUMBER", and as many lines "LINE i|- FUNCTION<tab>FILE"; in the end LAST.
 */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "kept.h"
#include "stacks/known.h"

#define MAGIC	   "mtagctl symbols 1\n"
#define LAST	   "end\n"
#define BYTES_MOST (32UL << 20) /* of a file of the cache */
#define TEXT_MOST  1024		/* of a name, as guard.c has it at most */

struct address {
	uint64_t offset;
	bool exact;
	size_t n;
	struct symbol symbols[];
};

/* What is known of a file. */
struct of_image {
	uint32_t id;
	struct trace_image image; /* without a path */
	void *addresses;	  /* struct address */
	size_t bytes;		  /* as they are written, about */
	bool grown;
	FILE *out; /* while they are written */
};

struct known {
	void *images; /* struct of_image by id */
};

/* ---- addresses ---- */

static int by_offset(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->exact - y->exact;
}

static void address_free(void *node)
{
	struct address *address = node;

	for (size_t i = 0; i < address->n; i++) {
		free(address->symbols[i].function);
		free(address->symbols[i].file);
	}
	free(address);
}

static bool is_plain(const char *text)
{
	return text && *text && strlen(text) < TEXT_MOST && !strpbrk(text, "\t\n");
}

/* Adds a copy, unless there is one. Returns false without memory, or if it cannot be written as a line. */
static bool add(struct of_image *of, uint64_t offset, bool exact, const struct symbol *found,
		size_t n)
{
	struct address *address = calloc(1, sizeof(*address) + n * sizeof(*found));
	struct address **place;
	bool good = address;

	if (!address)
		return false;
	address->offset = offset;
	address->exact = exact;
	for (; good && address->n < n; address->n++) {
		const struct symbol *from = &found[address->n];
		struct symbol *to = &address->symbols[address->n];

		*to = (struct symbol){
			.line = from->line, .inlined = from->inlined, .lasting = true};
		to->function = is_plain(from->function) ? strdup(from->function) : NULL;
		to->file = is_plain(from->file) ? strdup(from->file) : NULL;
		good = to->function && (to->file || !from->file);
		of->bytes +=
			good ? 32 + strlen(to->function) + (to->file ? strlen(to->file) : 0) : 0;
	}
	place = good ? tsearch(address, &of->addresses, by_offset) : NULL;
	if (place && *place == address)
		return true;
	address_free(address);
	return place;
}

/* ---- the file ---- */

static struct kept kept_of(const struct of_image *of)
{
	return (struct kept){.what = "mtag-symbols",
			     .id = of->image.build_id,
			     .id_size = of->image.build_id_length};
}

/* Reads a function. @line is cut up. */
static bool read_symbol(char *line, struct symbol *symbol)
{
	char inlined, *file = strchr(line, '\t');
	int name;

	if (!file)
		return false;
	*file++ = '\0';
	file[strcspn(file, "\n")] = '\0';
	if (sscanf(line, "%u %c %n", &symbol->line, &inlined, &name) != 2)
		return false;
	symbol->inlined = inlined == 'i';
	symbol->function = strdup(line + name);
	symbol->file = *file ? strdup(file) : NULL;
	return symbol->function && (symbol->file || !*file);
}

static bool read_address(FILE *in, struct of_image *of, char **line, size_t *room)
{
	struct symbol found[SYMBOL_INLINES_MOST] = {0};
	uint64_t offset;
	size_t n, i;
	char kind;
	bool good;

	good = getline(line, room, in) > 0 &&
	       sscanf(*line, "%" SCNx64 " %c %zu", &offset, &kind, &n) == 3 && n &&
	       n <= SYMBOL_INLINES_MOST;
	for (i = 0; good && i < n; i++)
		good = getline(line, room, in) > 0 && read_symbol(*line, &found[i]);
	good = good && add(of, offset, kind == 'e', found, n);
	while (i--) {
		free(found[i].function);
		free(found[i].file);
	}
	return good;
}

/* A file that is not whole, or that another version has written, is as none. */
static void load(struct of_image *of)
{
	const struct kept kept = kept_of(of);
	_cleanup_(freep) char *line = NULL;
	size_t size, room = 0;
	int fd = kept_open(&kept, BYTES_MOST, &size);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!in) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (getline(&line, &room, in) > 0 && !strcmp(line, MAGIC))
		while (read_address(in, of, &line, &room))
			;
	if (!line || strcmp(line, LAST) != 0) {
		tdestroy(of->addresses, address_free);
		of->addresses = NULL;
		of->bytes = 0;
	}
	fclose(in);
}

static void print(const void *node, VISIT which, void *arg)
{
	const struct address *address = *(const struct address *const *)node;
	FILE *out = ((struct of_image *)arg)->out;

	if (which != postorder && which != leaf)
		return;
	fprintf(out, "%" PRIx64 " %c %zu\n", address->offset, address->exact ? 'e' : 'r',
		address->n);
	for (size_t i = 0; i < address->n; i++) {
		const struct symbol *symbol = &address->symbols[i];

		fprintf(out, "%u %c %s\t%s\n", symbol->line, symbol->inlined ? 'i' : '-',
			symbol->function, symbol->file ? symbol->file : "");
	}
}

static bool fill(int fd, void *arg)
{
	struct of_image *of = arg;
	bool good;

	fd = dup(fd);
	of->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!of->out) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	fputs(MAGIC, of->out);
	twalk_r(of->addresses, print, of);
	fputs(LAST, of->out);
	good = !ferror(of->out);
	return !fclose(of->out) && good;
}

/* ---- images ---- */

static int by_id(const void *a, const void *b)
{
	const struct of_image *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

struct known *known_open(void)
{
	return calloc(1, sizeof(struct known));
}

/* What is known of an image that has a build-id; NULL without one, or without memory. */
static struct of_image *find_image(struct known *known, const struct trace_image *image)
{
	struct of_image like = {.id = image->id}, *of, **place;

	if (!image->build_id_length)
		return NULL;
	place = tfind(&like, &known->images, by_id);
	if (place)
		return *place;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	of->id = image->id;
	of->image = *image;
	of->image.path = NULL;
	if (!tsearch(of, &known->images, by_id)) {
		free(of);
		return NULL;
	}
	load(of);
	return of;
}

static void image_close(void *node)
{
	struct of_image *of = node;
	const struct kept kept = kept_of(of);

	if (of->grown)
		kept_replace(&kept, fill, of);
	tdestroy(of->addresses, address_free);
	free(of);
}

void known_close(struct known *known)
{
	if (!known)
		return;
	tdestroy(known->images, image_close);
	free(known);
}

size_t known_find(struct known *known, const struct trace_image *image, uint64_t offset, bool exact,
		  struct symbol found[SYMBOL_INLINES_MOST])
{
	const struct of_image *of = find_image(known, image);
	struct address like = {.offset = offset, .exact = exact}, *const * place;
	size_t n;

	place = of ? tfind(&like, &of->addresses, by_offset) : NULL;
	n = place ? (*place)->n : 0;
	for (size_t i = 0; i < n; i++) {
		found[i] = (*place)->symbols[i];
		found[i].function = strdup(found[i].function);
		found[i].file = found[i].file ? strdup(found[i].file) : NULL;
	}
	return n;
}

void known_add(struct known *known, const struct trace_image *image, uint64_t offset, bool exact,
	       const struct symbol *found, size_t n)
{
	struct of_image *of = n && found[0].lasting ? find_image(known, image) : NULL;

	if (of && of->bytes < BYTES_MOST / 2 && add(of, offset, exact, found, n))
		of->grown = true;
}
