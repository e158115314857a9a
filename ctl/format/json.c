// SPDX-License-Identifier: GPL-2.0
/* Builds and prints JSON. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/json.h"
#include "utf8.h"

static bool out_of_memory;

struct json_object *json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && object && !json_object_object_add(object, key, value))
		return value;
	json_object_put(value);
	out_of_memory = true;
	return NULL;
}

struct json_object *json_append(struct json_object *array, struct json_object *value)
{
	if (value && array && !json_object_array_add(array, value))
		return value;
	json_object_put(value);
	out_of_memory = true;
	return NULL;
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_add(object, key, json_object_new_uint64(value));
}

void json_add_i64(struct json_object *object, const char *key, int64_t value)
{
	json_add(object, key, json_object_new_int64(value));
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
	json_add(object, key, json_object_new_boolean(value));
}

static struct json_object *new_string(const char *value)
{
	_cleanup_(freep) char *valid = utf8_repair(value);

	return valid ? json_object_new_string(valid) : NULL;
}

void json_add_string(struct json_object *object, const char *key, const char *value)
{
	json_add(object, key, new_string(value));
}

void json_append_string(struct json_object *array, const char *value)
{
	json_append(array, new_string(value));
}

struct json_object *json_add_object(struct json_object *array)
{
	return json_append(array, json_object_new_object());
}

bool json_get_u64(struct json_object *object, const char *key, uint64_t *value)
{
	struct json_object *found;

	if (!json_object_object_get_ex(object, key, &found) ||
	    !json_object_is_type(found, json_type_int) || json_object_get_int64(found) < 0)
		return false;
	*value = json_object_get_uint64(found);
	return true;
}

const char *json_get_text(struct json_object *object, const char *key)
{
	struct json_object *found;
	const char *text;

	if (!json_object_object_get_ex(object, key, &found) ||
	    !json_object_is_type(found, json_type_string))
		return NULL;
	text = json_object_get_string(found);
	return strlen(text) == (size_t)json_object_get_string_len(found) ? text : NULL;
}

/* Unprintable characters, which only strings can hold, become \uNNNN. */
static void print_escaped(FILE *out, const char *json, const char *newline)
{
	const char *done = json;
	uint32_t cp;

	for (unsigned int n; *json; json += n) {
		n = utf8_decode((const unsigned char *)json, 4, &cp); /* ends at the NUL */
		if (n && utf8_may_print(cp))
			continue;
		fwrite(done, 1, (size_t)(json - done), out);
		if (!n)
			n = 1;
		else if (cp == '\n')
			fputs(newline, out);
		else if (cp < 0x10000)
			fprintf(out, "\\u%04x", cp);
		else
			fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
		done = json + n;
	}
	fwrite(done, 1, (size_t)(json - done), out);
}

/* The text of a value, which lives as long as the value. NULL without memory, now or before. */
static const char *text_of(const struct fmt *fmt, struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	flags |= fmt->pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : 0;
	return value && !out_of_memory ? json_object_to_json_string_ext(value, flags) : NULL;
}

int json_print(const struct fmt *fmt, struct json_object *array)
{
	const char *text = text_of(fmt, array);

	if (!text)
		return -ENOMEM;
	/* People look at JSON, too: print nothing that controls a terminal. */
	print_escaped(fmt->out, text, "\n");
	fputc('\n', fmt->out);
	fflush(fmt->out);
	return 0;
}

int json_list_add(struct json_list *list, struct json_object *object)
{
	const struct fmt *fmt = list->fmt;
	const char *newline = fmt->pretty ? "\n  " : "", *text = text_of(fmt, object);

	if (text) {
		fprintf(fmt->out, "%c%s", list->n++ ? ',' : '[', newline);
		print_escaped(fmt->out, text, newline);
	}
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}

void json_list_end(struct json_list *list)
{
	const struct fmt *fmt = list->fmt;

	fprintf(fmt->out, "%s%s]\n", list->n ? "" : "[", fmt->pretty ? "\n" : "");
	fflush(fmt->out);
}
