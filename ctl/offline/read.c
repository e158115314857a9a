// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshot files into the model, a line at a time. The file may hold anything and have any size: a
 * line, a name and a sample have limits, and the first thing that is wrong ends the reading.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "ctl.h"
#include "fail.h"
#include "format/heap.h"
#include "format/show.h"
#include "format/stack.h"
#include "offline/line.h"
#include "offline/read.h"

#define LINE_LENGTH SNAPSHOT_STACK_LINE_MOST
#define LINE_USUAL  65536
#define KEYS_MOST   64 /* of a longer line: duplicate keys are searched for slowly */
#define NAME_LENGTH 255
#define IDS	    65536

struct reader {
	FILE *file;
	char *name;
	struct json_tokener *tokener;
	unsigned long line;   /* the current one, from 1 */
	unsigned long header; /* that of the current sample */
	unsigned long tags;   /* of the current sample, so far */
	size_t names;	      /* bytes of theirs */
	unsigned long stacks; /* of the current sample, so far */
	size_t stack_bytes;   /* of their lines */
	char *paths[IDS];     /* of the current process's tags, by id; NULL: not there */
	uint8_t depths[IDS];
	size_t length, room; /* of text */
	char *text;	     /* the current line, without its newline */
};

static enum reading wrong(const struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum reading wrong(const struct reader *r, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fail_print("%s: line %lu: %s", r->name, r->line, text);
	return READ_FAILED;
}

/* ---- lines ---- */

/* Reads a line without its newline. */
static enum reading read_line(struct reader *r)
{
	const char *other;
	char *text;
	int c;

	r->line++;
	for (r->length = 0; (c = getc_unlocked(r->file)) != '\n' && c != EOF;) {
		other = r->line == 1 && r->length < LINE_KIND ? line_kind(r->text, r->length)
							      : NULL;
		if (other)
			return wrong(r, "%s", other);
		if (r->length == LINE_LENGTH)
			return wrong(r, "it is longer than %d bytes; no line of a snapshot is",
				     LINE_LENGTH);
		text = array_grow(r->text, r->length, &r->room, 1);
		if (!text) {
			fail_memory();
			return READ_FAILED;
		}
		r->text = text;
		r->text[r->length++] = (char)c;
	}
	if (ferror(r->file))
		return wrong(r, "cannot read: %s", strerror(errno));
	if (c == EOF && r->length)
		return wrong(r, "the file ends within this line; it is truncated");
	return c == EOF ? READ_END : READ_SAMPLE;
}

static bool may_be_long(struct json_object *object)
{
	return json_object_object_get_ex(object, "stack", NULL) &&
	       json_object_object_length(object) <= KEYS_MOST;
}

/* Reads a line, which must be an object. Caller puts @object. */
static enum reading read_object(struct reader *r, struct json_object **object)
{
	enum reading found = read_line(r);
	const char *error, *twice;
	size_t length;

	*object = NULL;
	if (found != READ_SAMPLE)
		return found;
	if (line_has_large(r->text, r->length))
		return wrong(r, "a number is larger than " LINE_LARGEST);
	error = line_parse(r->tokener, r->text, r->length, object);
	if (error && json_tokener_get_error(r->tokener) == json_tokener_continue)
		return wrong(r, "the JSON object is incomplete; a line has a whole one");
	if (error)
		return wrong(r, "no JSON object: %s", error);
	if (!json_object_is_type(*object, json_type_object) ||
	    json_tokener_get_parse_end(r->tokener) != r->length)
		return wrong(r, "a line of a snapshot is one JSON object, {…}");
	if (r->length > LINE_USUAL && !may_be_long(*object))
		return wrong(r,
			     "it is longer than %d bytes; only the line of a stack may be, with "
			     "at most %d keys",
			     LINE_USUAL, KEYS_MOST);
	twice = line_key_twice(r->text, r->length, (size_t)json_object_object_length(*object),
			       &length);
	if (twice)
		return wrong(r, "the key %.*s comes twice; each comes once",
			     length < 80 ? (int)length : 80, twice);
	return READ_SAMPLE;
}

/* ---- the first line of a sample ---- */

/* A text that may be missing, cut at @size. */
static void copy_text(struct json_object *object, const char *key, char *buf, size_t size)
{
	const char *text = json_get_text(object, key);

	snprintf(buf, size, "%s", text ? text : "");
}

static enum reading take_header(struct reader *r, struct json_object *object, struct origin *origin)
{
	uint64_t version;

	if (!json_get_u64(object, "mtag_snapshot", &version))
		return wrong(r,
			     "no header; a sample begins with {\"mtag_snapshot\":%d,…}, as "
			     "`mtagctl snapshot` writes it",
			     SNAPSHOT_VERSION);
	if (version != SNAPSHOT_VERSION && version != SNAPSHOT_STACKS)
		return wrong(r,
			     "version %" PRIu64
			     " of the format; this mtagctl reads versions %d and %d",
			     version, SNAPSHOT_VERSION, SNAPSHOT_STACKS);
	if (!json_get_u64(object, "time_ms", &origin->time_ms) || origin->time_ms > INT64_MAX)
		return wrong(r, "the header needs \"time_ms\", milliseconds since 1970");
	copy_text(object, "host", origin->host, sizeof(origin->host));
	copy_text(object, "boot_id", origin->boot_id, sizeof(origin->boot_id));
	copy_text(object, "kernel", origin->kernel, sizeof(origin->kernel));
	r->header = r->line;
	r->tags = 0;
	r->names = 0;
	r->stacks = 0;
	r->stack_bytes = 0;
	return READ_SAMPLE;
}

/* ---- a tag ---- */

/* What a line says of its tag, but for the counters. */
struct entry {
	uint64_t pid, id, parent;
	const char *comm, *cgroup, *path, *name;
};

static void forget_paths(struct reader *r, const struct snap *snap)
{
	const struct proc *proc = snap->n_procs ? &snap->procs[snap->n_procs - 1] : NULL;

	for (size_t i = 0; proc && i < proc->n_tags; i++) {
		free(r->paths[proc->tags[i].id]);
		r->paths[proc->tags[i].id] = NULL;
	}
}

static enum reading get_entry(const struct reader *r, struct json_object *object, struct entry *e)
{
	const struct {
		const char *key;
		uint64_t most, *value;
	} numbers[] = {
		{"pid", INT_MAX, &e->pid},
		{"id", IDS - 1, &e->id},
		{"parent_id", IDS - 1, &e->parent},
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!json_get_u64(object, numbers[i].key, numbers[i].value) ||
		    *numbers[i].value > numbers[i].most)
			return wrong(r, "\"%s\" is required here, a whole number up to %" PRIu64,
				     numbers[i].key, numbers[i].most);
	e->comm = json_get_text(object, "comm");
	e->path = json_get_text(object, "tag");
	if (!e->comm || !e->path || strlen(e->comm) > NAME_LENGTH)
		return wrong(r, "\"%s\" is required here, a string without NUL%s",
			     e->comm && strlen(e->comm) <= NAME_LENGTH ? "tag" : "comm",
			     e->comm ? " of at most 255 bytes" : "");
	e->cgroup = json_get_text(object, "cgroup");
	return READ_SAMPLE;
}

/* What a tag adds to its parent's path is one name. */
static enum reading check_name(const struct reader *r, const struct entry *e)
{
	if (strlen(e->name) > NAME_LENGTH)
		return wrong(r, "a name is longer than %d bytes", NAME_LENGTH);
	if (e->id != MTAG_ID_UNTAGGED && !*e->name)
		return wrong(r,
			     "id %" PRIu64 " has an empty name; only id 0, the untagged, has none",
			     e->id);
	if (strchr(e->name, '/'))
		return wrong(r,
			     "the tag '%.80s' is more than one name below parent_id %" PRIu64
			     "; each tag of a path has a line, those above it first",
			     e->path, e->parent);
	return READ_SAMPLE;
}

/* Finds the parent, and the tag's own name behind the parent's path. */
static enum reading check_path(const struct reader *r, struct entry *e)
{
	const char *above = r->paths[e->parent];
	size_t length = above ? strlen(above) : 0;

	if (r->paths[e->id])
		return wrong(r, "id %" PRIu64 " comes twice in process %" PRIu64, e->id, e->pid);
	e->name = e->path;
	if (e->id == MTAG_ID_UNTAGGED && (e->parent || *e->path))
		return wrong(r, "id 0 is the untagged: its tag is \"\", its parent_id 0");
	if (e->parent == MTAG_ID_KSM && above && !strcmp(above, "[ksm]"))
		return wrong(r, "[ksm] has nothing below it");
	if (e->parent != MTAG_ID_UNTAGGED) {
		if (!above || e->parent >= e->id)
			return wrong(r,
				     "parent_id %" PRIu64 " is no tag above it with a smaller id",
				     e->parent);
		if (r->depths[e->parent] >= MTAG_DEPTH_MAX)
			return wrong(r, "the tag is deeper than %d", MTAG_DEPTH_MAX);
		if (strncmp(e->path, above, length) != 0 || e->path[length] != '/')
			return wrong(r, "the tag does not begin with its parent's, '%.80s/'",
				     above);
		e->name = e->path + length + 1;
	}
	return check_name(r, e);
}

/* The process of a tag: the last one, or a new one. */
static enum reading find_proc(struct reader *r, const struct entry *e, struct snap *snap,
			      struct proc **proc)
{
	*proc = snap->n_procs ? &snap->procs[snap->n_procs - 1] : NULL;
	if (*proc && (uint64_t)(*proc)->pid == e->pid)
		return READ_SAMPLE;
	if (*proc && (uint64_t)(*proc)->pid > e->pid)
		return wrong(r, "process %" PRIu64 " after process %d; process ids ascend", e->pid,
			     (int)(*proc)->pid);
	forget_paths(r, snap);
	*proc = snap_add_proc(snap, (pid_t)e->pid, e->comm);
	if (!*proc || (e->cgroup && proc_set_cgroup(*proc, e->cgroup)))
		return wrong(r, "out of memory");
	return READ_SAMPLE;
}

/* The heap of a process is in the lines of its tags, if its first one says so. */
static enum reading take_heap(struct reader *r, struct json_object *object, struct proc *proc)
{
	bool first = proc->n_tags == 1;
	const char *bad;

	if (!proc->heap && (!first || !heap_is_in_line(object)))
		return READ_SAMPLE;
	if (!proc_heap(proc))
		return wrong(r, "out of memory");
	bad = heap_read_line(object, proc->heap, proc->tags[proc->n_tags - 1].id, first);
	return bad ? wrong(r, "%s", bad) : READ_SAMPLE;
}

static enum reading take_tag(struct reader *r, struct json_object *object, struct snap *snap)
{
	enum reading found;
	const char *bad;
	struct entry e;
	struct proc *proc;
	struct tag *tag;

	if (++r->tags > SNAPSHOT_TAGS_MOST)
		return wrong(r, "the sample has more than %d tags", SNAPSHOT_TAGS_MOST);
	found = get_entry(r, object, &e);
	if (found != READ_SAMPLE)
		return found;
	r->names += strlen(e.path);
	if (r->names > SNAPSHOT_NAMES_MOST)
		return wrong(r, "the names of the sample's tags have more than %d MiB",
			     SNAPSHOT_NAMES_MOST >> 20);
	found = find_proc(r, &e, snap, &proc);
	if (found == READ_SAMPLE)
		found = check_path(r, &e);
	if (found != READ_SAMPLE)
		return found;
	tag = proc_add_tag(proc, (uint16_t)e.id, (uint16_t)e.parent, e.name);
	if (!tag)
		return wrong(r, "out of memory");
	r->paths[e.id] = strdup(e.path);
	r->depths[e.id] = e.parent ? (uint8_t)(r->depths[e.parent] + 1) : 1;
	if (!r->paths[e.id])
		return wrong(r, "out of memory");
	bad = show_read_health(object, proc);
	bad = bad ? bad : show_read_counters(object, tag);
	if (!bad)
		return take_heap(r, object, proc);
	return wrong(r, "\"%s\" is missing or wrong; it is a whole number%s", bad,
		     strcmp(bad, "rss_bytes")
			     ? ""
			     : ", the sum of anon_bytes, file_bytes and shmem_bytes");
}

/* ---- a stack ---- */

static enum reading take_stack(struct reader *r, struct json_object *object, struct snap *snap)
{
	struct proc *proc = snap->n_procs ? &snap->procs[snap->n_procs - 1] : NULL;
	struct stack *stack;
	uint64_t pid, id;
	const char *bad;

	r->stacks++;
	r->stack_bytes += r->length;
	if (r->stack_bytes > SNAPSHOT_STACKS_MOST)
		return wrong(r, "the sample has more than %d MiB of stacks",
			     SNAPSHOT_STACKS_MOST >> 20);
	if (!proc || !json_get_u64(object, "pid", &pid) || pid != (uint64_t)proc->pid)
		return wrong(r, "the \"pid\" of a stack is that of the tags before it");
	if (!json_get_u64(object, "id", &id) || id >= IDS || !r->paths[id])
		return wrong(r, "the \"id\" of a stack is that of a tag of its process");
	if (!proc_stacks(proc))
		return wrong(r, "out of memory");
	bad = stack_read_json(object, proc->stacks, &stack);
	if (bad)
		return wrong(r, "%s", bad);
	stack->tag = (uint16_t)id;
	return READ_SAMPLE;
}

/* ---- samples ---- */

static enum reading take_end(struct reader *r, struct json_object *object, uint64_t lines,
			     struct snap *snap)
{
	uint64_t stacks = 0;

	json_get_u64(object, "stacks", &stacks);
	if (stacks != r->stacks)
		return wrong(r, "the sample has %lu stacks, but its end says %" PRIu64, r->stacks,
			     stacks);
	if (lines != r->tags)
		return wrong(r, "the sample has %lu tags, but its end says %" PRIu64, r->tags,
			     lines);
	return snap_finish(snap) ? wrong(r, "out of memory") : READ_SAMPLE;
}

/* The lines of a sample after its header. */
static enum reading read_lines(struct reader *r, struct snap *snap)
{
	for (;;) {
		_cleanup_(json_putp) struct json_object *object = NULL;
		enum reading found = read_object(r, &object);
		uint64_t lines;

		if (found == READ_END)
			return wrong(r,
				     "the file ends within the sample that begins in line %lu; "
				     "it is truncated",
				     r->header);
		if (found == READ_FAILED)
			return found;
		if (json_get_u64(object, "end", &lines))
			return take_end(r, object, lines, snap);
		if (json_object_object_get_ex(object, "mtag_snapshot", NULL))
			return wrong(r,
				     "a header within the sample that begins in line %lu; "
				     "{\"end\":%lu} is missing",
				     r->header, r->tags);
		found = json_object_object_get_ex(object, "stack", NULL)
				? take_stack(r, object, snap)
				: take_tag(r, object, snap);
		if (found != READ_SAMPLE)
			return found;
	}
}

enum reading reader_next(struct reader *r, struct origin *origin, struct snap *snap)
{
	_cleanup_(json_putp) struct json_object *object = NULL;
	enum reading found = read_object(r, &object);

	if (found == READ_END && r->line == 1)
		return wrong(r, "the file is empty; `mtagctl snapshot` writes one");
	if (found == READ_SAMPLE)
		found = take_header(r, object, origin);
	if (found != READ_SAMPLE)
		return found;
	found = read_lines(r, snap);
	/* A tag has its path before it has its place in the list of tags, or neither. */
	forget_paths(r, snap);
	return found;
}

int reader_start(struct reader **out, FILE *file, const char *name)
{
	struct reader *r = calloc(1, sizeof(*r));

	*out = r;
	if (r) {
		r->file = file;
		r->name = strdup(name);
		r->tokener = json_tokener_new_ex(6);
		r->room = LINE_USUAL;
		r->text = malloc(r->room);
	}
	if (r && r->name && r->tokener && r->text) {
		json_tokener_set_flags(r->tokener, JSON_TOKENER_STRICT);
		return CTL_OK;
	}
	if (!r && file != stdin)
		fclose(file);
	return fail_memory();
}

int reader_open(struct reader **r, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");

	*r = NULL;
	if (file)
		return reader_start(r, file, standard ? "standard input" : path);
	fail_print("cannot open the snapshot '%s': %s", path, strerror(errno));
	return CTL_REFUSED;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->file != stdin)
		fclose(r->file);
	if (r->tokener)
		json_tokener_free(r->tokener);
	free(r->name);
	free(r->text);
	free(r);
}

int read_samples(const char *path, unsigned long number, const struct taker *taker,
		 struct origin *origin, struct snap *snap)
{
	_cleanup_(reader_closep) struct reader *r = NULL;
	enum reading found = READ_SAMPLE;
	unsigned long have = 0;
	int status = reader_open(&r, path);

	while (!status && (!number || have < number)) {
		_cleanup_(snap_clear) struct snap next = {0};
		struct snap old = *snap;

		found = reader_next(r, origin, &next);
		if (found != READ_SAMPLE)
			break;
		*snap = next;
		next = old;
		have++;
		if (taker && (!number || have == number))
			status = taker->take(taker->arg, origin, snap);
	}
	if (status)
		return status;
	if (found == READ_FAILED && have)
		fail_print("%s: samples 1 to %lu are complete; read them with --sample", path,
			   have);
	if (found == READ_END && number)
		fail_print("%s: no sample %lu; it has %lu", path, number, have);
	if (found == READ_SAMPLE || (found == READ_END && !number))
		return CTL_OK;
	snap_clear(snap);
	return CTL_REFUSED;
}

int read_sample(const char *path, unsigned long number, struct origin *origin, struct snap *snap)
{
	return read_samples(path, number, NULL, origin, snap);
}
