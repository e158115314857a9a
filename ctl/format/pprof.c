// SPDX-License-Identifier: GPL-2.0
/*
 * A profile as pprof reads it: a sample is a tag of a process, its stack each component of the tag's path, then the
 * functions beneath it, its values what the tag itself has. pprof adds up what is below a frame. The process is a
 * label: `pprof -tagroot=comm` makes it the outermost frame.
 *
 * All that has a name is in a mapping that pprof looks nothing up in. A place in a file that has none is in a mapping
 * of that file, which spans all addresses: then pprof takes the place's address for one of the file's own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/gzip.h"
#include "format/label.h"
#include "format/pairs.h"
#include "format/pprof.h"
#include "format/strings.h"
#include "profile.pb-c.h"
#include "utf8.h"

#define VALUES 3 /* of a sample */

#define LABELS 3 /* a sample has no more */

/* Texts that every profile has, at these places of its table. */
enum { T_EMPTY, T_FIRST, T_COUNT, T_SECOND, T_BYTES, T_THIRD, T_TAG, T_COMM, T_PID, T_FILE, TEXTS };
static const char *const texts[TEXTS] = {"",   NULL,  "count", NULL,  "bytes",
					 NULL, "tag", "comm",  "pid", "[mtag]"};

/**
 * struct kind - what a profile is of
 * @names:	of its values, the first of which is a count and the others bytes; the second is what pprof shows first
 * @values:	those of a tag
 */
struct kind {
	const char *names[VALUES];
	void (*values)(const struct tag *tag, int64_t values[VALUES]);
};

static void values_of_pages(const struct tag *tag, int64_t values[VALUES])
{
	values[0] = (int64_t)(tag_rss(tag) / PAGE_BYTES);
	values[1] = (int64_t)tag_rss(tag);
	values[2] = (int64_t)tag->c[MTAG_C_SWAP];
}

static void values_of_heap(const struct tag *tag, int64_t values[VALUES])
{
	values[0] = (int64_t)tag->c[PPROF_INUSE_OBJECTS];
	values[1] = (int64_t)tag->c[PPROF_INUSE_SPACE];
	values[2] = (int64_t)tag->c[PPROF_INUSE_RESIDENT];
}

static const struct kind kind_pages = {{"pages", "rss", "swap"}, values_of_pages};
static const struct kind kind_heap = {{"inuse_objects", "inuse_space", "inuse_resident"},
				      values_of_heap};

/* A message and the messages below it, in one piece. */
struct sample {
	Pprof__Sample message;
	Pprof__Label labels[LABELS];
	Pprof__Label *label_list[LABELS];
	int64_t values[VALUES];
	uint64_t locations[];
};

/* A line of a function is one location. */
struct place {
	Pprof__Location location;
	Pprof__Line line;
	Pprof__Line *line_list[1];
};

/* An id is a number plus one. */
struct profile {
	const struct kind *kind;
	struct strings table;
	struct pairs functions;	 /* name and file, numbers of @table; file 0: unknown */
	struct pairs lines;	 /* function, line */
	struct pairs modules;	 /* file and build-id, numbers of @table; the first is ours */
	struct pairs addresses;	 /* module, address; the first is that of all that has a name */
	struct pairs locations;	 /* line, address */
	Pprof__Sample **samples; /* each begins a struct sample */
	size_t n_samples;
	struct place *places;
	Pprof__Mapping *mapping;
	Pprof__Mapping **mapping_list;
	Pprof__Location **location_list;
	Pprof__Function *function;
	Pprof__Function **function_list;
};

static void profile_clear(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_samples; i++)
		free(profile->samples[i]);
	free(profile->samples);
	free(profile->places);
	free(profile->mapping);
	free(profile->mapping_list);
	free(profile->location_list);
	free(profile->function);
	free(profile->function_list);
	strings_clear(&profile->table);
	pairs_clear(&profile->functions);
	pairs_clear(&profile->lines);
	pairs_clear(&profile->modules);
	pairs_clear(&profile->addresses);
	pairs_clear(&profile->locations);
}

static int add_texts(struct profile *profile)
{
	const char *const *name = profile->kind->names;

	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = texts[i] ? texts[i] : *name++;

		if (strings_add(&profile->table, text, strlen(text)) < 0)
			return -ENOMEM;
	}
	return pairs_add(&profile->modules, T_FILE, T_EMPTY) < 0 ||
			       pairs_add(&profile->addresses, 0, 0) < 0
		       ? -ENOMEM
		       : 0;
}

static Pprof__Label *add_label(struct sample *sample, int64_t key)
{
	size_t n = sample->message.n_label++;

	pprof__label__init(&sample->labels[n]);
	sample->labels[n].key = key;
	sample->label_list[n] = &sample->labels[n];
	return &sample->labels[n];
}

/* @path, @comm: numbers of texts, 0 if there is no tag or no name: without text it would be a number. */
static void set_labels(struct sample *sample, const struct proc *proc, ssize_t path, ssize_t comm)
{
	sample->message.label = sample->label_list;
	if (path)
		add_label(sample, T_TAG)->str = path;
	if (comm)
		add_label(sample, T_COMM)->str = comm;
	add_label(sample, T_PID)->num = proc->pid;
}

static ssize_t add_text(struct profile *profile, const char *text)
{
	_cleanup_(freep) char *clean = utf8_clean_export(text);

	return clean ? strings_add(&profile->table, clean, strlen(clean)) : -ENOMEM;
}

/* The number of the address of a place without a name. */
static ssize_t add_address(struct profile *profile, const struct tag *place)
{
	ssize_t file = add_text(profile, place->module);
	ssize_t build_id = add_text(profile, place->build_id), module;

	if (file < 0 || build_id < 0)
		return -ENOMEM;
	module = pairs_add(&profile->modules, file, build_id);
	return module < 0 ? -ENOMEM
			  : pairs_add(&profile->addresses, module, (int64_t)place->address);
}

/* The number of a location. @name: the number of its text. */
static ssize_t add_location(struct profile *profile, ssize_t name, const struct tag *frame)
{
	const char *file = frame ? frame->file : NULL;
	ssize_t text = file ? add_text(profile, file) : T_EMPTY, function, line;
	ssize_t address = frame && frame->module ? add_address(profile, frame) : 0;

	if (name < 0 || text < 0 || address < 0)
		return -ENOMEM;
	function = pairs_add(&profile->functions, name, text);
	line = function < 0 ? function
			    : pairs_add(&profile->lines, function, frame ? frame->line : 0);
	return line < 0 ? -ENOMEM : pairs_add(&profile->locations, line, address);
}

/*
 * The numbers of the components of a tag's path and of the frames beneath it; at least one, as a sample without
 * locations is none. Returns how many, or -ENOMEM.
 */
static ssize_t add_chain(struct profile *profile, const struct proc *proc, const struct tag *tag,
			 const char *path, size_t **numbers)
{
	_cleanup_(freep) const struct tag **frames = NULL;
	ssize_t n = chain_frames(proc, tag, &frames), m, number;

	*numbers =
		n < 0 ? NULL : calloc(strings_components(path) + (size_t)n + 1, sizeof(**numbers));
	m = *numbers ? strings_add_path(&profile->table, path, *numbers) : -ENOMEM;
	for (ssize_t i = 0; i < m; i++) {
		number = add_location(profile, (ssize_t)(*numbers)[i], NULL);
		if (number < 0)
			return -ENOMEM;
		(*numbers)[i] = (size_t)number;
	}
	for (ssize_t i = 0; i < n && m >= 0; i++) {
		number = add_location(profile, add_text(profile, frames[i]->name), frames[i]);
		if (number < 0)
			return -ENOMEM;
		(*numbers)[m++] = (size_t)number;
	}
	if (!m) {
		number = add_location(profile, add_text(profile, "?"), NULL);
		if (number < 0)
			return -ENOMEM;
		(*numbers)[m++] = (size_t)number;
	}
	return m;
}

/* @comm: the number of the process's name. */
static int add_sample(struct profile *profile, const struct proc *proc, const struct tag *tag,
		      ssize_t comm)
{
	const struct tag *owner = chain_tag(proc, tag);
	_cleanup_(freep) char *path = utf8_clean_export(owner ? label_of(owner) : "");
	_cleanup_(freep) size_t *frames = NULL;
	ssize_t n = path ? add_chain(profile, proc, tag, path, &frames) : -ENOMEM, text;
	struct sample *sample;

	if (n < 0)
		return -ENOMEM;
	text = strings_add(&profile->table, path, strlen(path));
	if (text < 0)
		return -ENOMEM;
	sample = calloc(1, sizeof(*sample) + (size_t)n * sizeof(*sample->locations));
	if (!sample)
		return -ENOMEM;
	profile->samples[profile->n_samples++] = &sample->message;
	for (ssize_t i = 0; i < n; i++)
		sample->locations[i] = frames[n - 1 - i] + 1;
	profile->kind->values(tag, sample->values);
	pprof__sample__init(&sample->message);
	sample->message.n_location_id = (size_t)n;
	sample->message.location_id = sample->locations;
	sample->message.n_value = VALUES;
	sample->message.value = sample->values;
	set_labels(sample, proc, text, comm);
	return 0;
}

static int add_proc(struct profile *profile, const struct proc *proc)
{
	ssize_t comm = add_text(profile, proc->comm);

	for (size_t i = 0; i < proc->n_tags && comm >= 0; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];

		if ((tag_rss(tag) || tag->c[MTAG_C_SWAP]) && add_sample(profile, proc, tag, comm))
			return -ENOMEM;
	}
	return comm < 0 ? -ENOMEM : 0;
}

/* All functions and lines are known. */
static int make_functions(struct profile *profile)
{
	size_t n = profile->functions.n;

	profile->function = calloc(n + 1, sizeof(*profile->function));
	profile->function_list = calloc(n + 1, sizeof(*profile->function_list));
	if (!profile->function || !profile->function_list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		Pprof__Function *function = profile->function_list[i] = &profile->function[i];

		pprof__function__init(function);
		function->id = i + 1;
		/* Without a system_name: of one that equals the name pprof cuts what is in brackets. */
		function->name = profile->functions.pairs[i]->first;
		function->filename = profile->functions.pairs[i]->second;
	}
	return 0;
}

static int make_mappings(struct profile *profile)
{
	size_t n = profile->modules.n;

	profile->mapping = calloc(n, sizeof(*profile->mapping));
	profile->mapping_list = calloc(n, sizeof(*profile->mapping_list));
	if (!profile->mapping || !profile->mapping_list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		Pprof__Mapping *mapping = profile->mapping_list[i] = &profile->mapping[i];

		pprof__mapping__init(mapping);
		mapping->id = i + 1;
		mapping->filename = profile->modules.pairs[i]->first;
		mapping->build_id = profile->modules.pairs[i]->second;
		/* Where there is no mapping at all, pprof looks for a program with symbols. */
		mapping->has_functions = !i;
		mapping->has_filenames = !i;
		mapping->has_line_numbers = !i;
		mapping->memory_limit = i ? UINT64_MAX : 0;
	}
	return 0;
}

static void make_location(const struct profile *profile, size_t number, struct place *place)
{
	const struct pair *location = profile->locations.pairs[number];
	const struct pair *line = profile->lines.pairs[location->first];
	const struct pair *address = profile->addresses.pairs[location->second];

	pprof__line__init(&place->line);
	place->line.function_id = (uint64_t)line->first + 1;
	place->line.line = line->second;
	place->line_list[0] = &place->line;
	pprof__location__init(&place->location);
	place->location.id = number + 1;
	place->location.mapping_id = (uint64_t)address->first + 1;
	place->location.address = (uint64_t)address->second;
	place->location.n_line = 1;
	place->location.line = place->line_list;
}

static int make_locations(struct profile *profile)
{
	size_t n = profile->locations.n;

	profile->places = calloc(n + 1, sizeof(*profile->places));
	profile->location_list = calloc(n + 1, sizeof(*profile->location_list));
	if (!profile->places || !profile->location_list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		make_location(profile, i, &profile->places[i]);
		profile->location_list[i] = &profile->places[i].location;
	}
	return 0;
}

static int print_packed(const struct fmt *fmt, const Pprof__Profile *message)
{
	size_t length = pprof__profile__get_packed_size(message);
	_cleanup_(freep) unsigned char *packed = malloc(length + 1);

	if (!packed)
		return -ENOMEM;
	pprof__profile__pack(message, packed);
	return gzip_print(fmt->out, packed, length);
}

static int print_profile(const struct fmt *fmt, const struct profile *profile, uint64_t time_ms)
{
	static const int64_t types[VALUES][2] = {
		{T_FIRST, T_COUNT}, {T_SECOND, T_BYTES}, {T_THIRD, T_BYTES}};
	Pprof__ValueType type[VALUES], *type_list[VALUES];
	Pprof__Profile message = PPROF__PROFILE__INIT;

	for (size_t i = 0; i < VALUES; i++) {
		pprof__value_type__init(&type[i]);
		type[i].type = types[i][0];
		type[i].unit = types[i][1];
		type_list[i] = &type[i];
	}
	message.n_sample_type = VALUES;
	message.sample_type = type_list;
	message.default_sample_type = T_SECOND;
	message.time_nanos = (int64_t)(time_ms * 1000000);
	message.n_sample = profile->n_samples;
	message.sample = profile->samples;
	message.n_mapping = profile->modules.n;
	message.mapping = profile->mapping_list;
	message.n_location = profile->locations.n;
	message.location = profile->location_list;
	message.n_function = profile->functions.n;
	message.function = profile->function_list;
	message.n_string_table = profile->table.n;
	message.string_table = profile->table.texts;
	return print_packed(fmt, &message);
}

static int print_kind(const struct fmt *fmt, const struct snap *snap, const struct kind *kind)
{
	_cleanup_(profile_clear) struct profile profile = {.kind = kind};
	size_t n = 0;
	int err = add_texts(&profile);

	for (size_t i = 0; i < snap->n_procs; i++)
		n += snap->procs[i].n_tags;
	profile.samples = calloc(n + 1, sizeof(*profile.samples));
	if (!profile.samples)
		return -ENOMEM;
	for (size_t i = 0; i < snap->n_procs && !err; i++)
		err = add_proc(&profile, &snap->procs[i]);
	if (!err)
		err = make_functions(&profile);
	if (!err)
		err = make_mappings(&profile);
	if (!err)
		err = make_locations(&profile);
	return err ? err : print_profile(fmt, &profile, snap->time_ms);
}

int pprof_print(const struct fmt *fmt, const struct snap *snap)
{
	return print_kind(fmt, snap, &kind_pages);
}

int pprof_print_heap(const struct fmt *fmt, const struct snap *snap)
{
	return print_kind(fmt, snap, &kind_heap);
}
