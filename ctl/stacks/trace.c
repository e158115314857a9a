// SPDX-License-Identifier: GPL-2.0
/* The user stacks of a process as the kernel gives them. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl.h"
#include "stacks/trace.h"

struct trace_owner trace_owner_of(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return (struct trace_owner){0};
	return (struct trace_owner){.known = true, .uid = st.st_uid, .gid = st.st_gid};
}

struct trace_image *traces_add_image(struct traces *traces, uint32_t id, const char *path)
{
	struct trace_image *images =
		array_grow(traces->images, traces->n_images, &traces->images_room, sizeof(*images));
	char *copy = strdup(path);

	traces->images = images ? images : traces->images;
	if (!images || !copy) {
		free(copy);
		return NULL;
	}
	images[traces->n_images] = (struct trace_image){.id = id, .path = copy};
	return &images[traces->n_images++];
}

/* One more in an array of @count. */
static struct trace *add_to(struct trace **array, size_t *count, size_t *room,
			    const struct mtag_stack_frame *frames, size_t n)
{
	struct trace *grown = array_grow(*array, *count, room, sizeof(*grown));
	struct mtag_stack_frame *copy;

	*array = grown ? grown : *array;
	n = n < TRACE_FRAMES_MOST ? n : TRACE_FRAMES_MOST;
	copy = calloc(n + 1, sizeof(*copy));
	if (!grown || !copy) {
		free(copy);
		return NULL;
	}
	if (n)
		memcpy(copy, frames, n * sizeof(*copy));
	grown[*count] = (struct trace){.frames = copy, .n = n};
	return &grown[(*count)++];
}

struct trace *traces_add(struct traces *traces, const struct mtag_stack_frame *frames, size_t n)
{
	return add_to(&traces->traces, &traces->n, &traces->room, frames, n);
}

struct trace *traces_add_named(struct traces *traces, const struct mtag_stack_frame *frames,
			       size_t n)
{
	return add_to(&traces->named, &traces->n_named, &traces->named_room, frames, n);
}

struct trace *traces_add_like(struct traces *traces, const struct trace *named, size_t inner)
{
	struct trace *grown = array_grow(traces->traces, traces->n, &traces->room, sizeof(*grown));

	if (!grown)
		return NULL;
	traces->traces = grown;
	grown[traces->n] = (struct trace){
		.frames = named->frames + inner, .n = named->n - inner, .shared = true};
	return &grown[traces->n++];
}

const struct trace_image *traces_image(const struct traces *traces, uint32_t id)
{
	for (size_t i = 0; i < traces->n_images; i++)
		if (traces->images[i].id == id)
			return &traces->images[i];
	return NULL;
}

void traces_clear(struct traces *traces)
{
	for (size_t i = 0; i < traces->n_images; i++)
		free(traces->images[i].path);
	for (size_t i = 0; i < traces->n; i++)
		if (!traces->traces[i].shared)
			free(traces->traces[i].frames);
	for (size_t i = 0; i < traces->n_named; i++)
		free(traces->named[i].frames);
	free(traces->images);
	free(traces->traces);
	free(traces->named);
	*traces = (struct traces){0};
}

const char *trace_build_id(const struct trace_image *image, char text[TRACE_BUILD_ID_TEXT])
{
	text[0] = '\0';
	for (size_t i = 0; i < image->build_id_length; i++)
		snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
	return text;
}

const char *trace_image_name(const struct trace_image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && slash[1] ? slash + 1 : image->path;
}
