// SPDX-License-Identifier: GPL-2.0
/*
 * A file for speedscope: a profile for each process, a sample for each tag, which weighs the resident
 * bytes of that tag itself. Each component of its path is a frame, and so is each line of a function beneath it.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/json.h"
#include "format/label.h"
#include "format/speedscope.h"
#include "format/strings.h"

/**
 * struct frames - those of all profiles
 * @names:	of components of paths
 * @frames:	the text of each object, by its number
 */
struct frames {
	struct strings names, frames;
};

static void frames_clear(struct frames *frames)
{
	strings_clear(&frames->names);
	strings_clear(&frames->frames);
}

/* The number of a frame, or -ENOMEM. */
static ssize_t add_frame(struct frames *frames, const char *name, const char *file,
			 unsigned int line)
{
	_cleanup_(json_putp) struct json_object *object = json_object_new_object();
	const char *text;

	json_add_string(object, "name", name);
	if (file)
		json_add_string(object, "file", file);
	if (line)
		json_add_u64(object, "line", line);
	text = object ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN) : NULL;
	return text ? strings_add(&frames->frames, text, strlen(text)) : -ENOMEM;
}

static int append_frame(struct json_object *sample, struct frames *frames, const char *name,
			const char *file, unsigned int line)
{
	ssize_t number = add_frame(frames, name, file, line);

	if (number < 0)
		return -ENOMEM;
	json_append(sample, json_object_new_uint64((uint64_t)number));
	return 0;
}

/* The components of the path of what @tag is beneath. */
static int append_path(struct json_object *sample, struct frames *frames, const struct tag *owner)
{
	const char *path = owner ? label_of(owner) : "";
	_cleanup_(freep) size_t *numbers = calloc(strings_components(path) + 1, sizeof(*numbers));
	ssize_t n = numbers ? strings_add_path(&frames->names, path, numbers) : -ENOMEM;

	for (ssize_t i = 0; i < n; i++)
		if (append_frame(sample, frames, frames->names.texts[numbers[i]], NULL, 0))
			return -ENOMEM;
	return n < 0 ? -ENOMEM : 0;
}

static int add_sample(struct json_object *samples, struct frames *frames, const struct proc *proc,
		      const struct tag *tag)
{
	_cleanup_(freep) const struct tag **beneath = NULL;
	struct json_object *sample = json_append(samples, json_object_new_array());
	ssize_t n = chain_frames(proc, tag, &beneath);

	if (n < 0 || append_path(sample, frames, chain_tag(proc, tag)))
		return -ENOMEM;
	for (ssize_t i = 0; i < n; i++)
		if (append_frame(sample, frames, beneath[i]->name, beneath[i]->file,
				 beneath[i]->line))
			return -ENOMEM;
	return 0;
}

static int add_profile(struct json_object *profiles, struct frames *frames, const struct proc *proc)
{
	struct json_object *profile = json_add_object(profiles), *samples, *weights;
	_cleanup_(freep) char *name = NULL;

	if (asprintf(&name, "%s-%d", proc->comm, (int)proc->pid) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	json_add_string(profile, "type", "sampled");
	json_add_string(profile, "name", name);
	json_add_string(profile, "unit", "bytes");
	json_add_u64(profile, "startValue", 0);
	json_add_u64(profile, "endValue", proc->rss);
	samples = json_add(profile, "samples", json_object_new_array());
	weights = json_add(profile, "weights", json_object_new_array());
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];

		if (!tag_rss(tag))
			continue;
		if (add_sample(samples, frames, proc, tag))
			return -ENOMEM;
		json_append(weights, json_object_new_uint64(tag_rss(tag)));
	}
	return 0;
}

int speedscope_print(const struct fmt *fmt, const struct snap *snap)
{
	_cleanup_(json_putp) struct json_object *file = json_object_new_object();
	_cleanup_(frames_clear) struct frames frames = {0};
	struct json_object *shared, *list, *profiles;

	if (!file)
		return -ENOMEM;
	json_add_string(file, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_add_string(file, "exporter", "mtagctl@" MTAG_VERSION);
	json_add_string(file, "name",
			snap_has_frames(snap) ? "resident memory by tag and stack"
					      : "resident memory by tag");
	shared = json_add(file, "shared", json_object_new_object());
	list = json_add(shared, "frames", json_object_new_array());
	profiles = json_add(file, "profiles", json_object_new_array());
	for (size_t i = 0; i < snap->n_procs; i++)
		if (add_profile(profiles, &frames, &snap->procs[i]))
			return -ENOMEM;
	for (size_t i = 0; i < frames.frames.n; i++)
		json_append(list, json_tokener_parse(frames.frames.texts[i]));
	return json_print(fmt, file);
}
