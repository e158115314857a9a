/* SPDX-License-Identifier: GPL-2.0 */
/* Builds and prints JSON. */
#ifndef MTAGCTL_JSON_H
#define MTAGCTL_JSON_H

#include <stdint.h>
#include <json-c/json.h>

#include "format/fmt.h"

static inline void json_putp(struct json_object **object)
{
	json_object_put(*object);
}

/* These add a key to an object. Out of memory, they leave it out, and json_print() fails. */
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
void json_add_i64(struct json_object *object, const char *key, int64_t value);
void json_add_bool(struct json_object *object, const char *key, bool value);
void json_add_string(struct json_object *object, const char *key, const char *value);
/* Likewise for any new value, and at the end of an array; these return the value, or NULL. */
struct json_object *json_add(struct json_object *object, const char *key,
			     struct json_object *value);
struct json_object *json_append(struct json_object *array, struct json_object *value);
/* Likewise for a string. */
void json_append_string(struct json_object *array, const char *value);
/* Appends a new object to an array. */
struct json_object *json_add_object(struct json_object *array);
/* Reads a whole number that is not negative. Returns false if the key is missing or is no such number. */
bool json_get_u64(struct json_object *object, const char *key, uint64_t *value);
/* The string, or NULL if the key is missing, is no string, or holds a NUL. */
const char *json_get_text(struct json_object *object, const char *key);
/* Prints one line, or several if pretty. Returns 0 or -ENOMEM. */
int json_print(const struct fmt *fmt, struct json_object *value);

/**
 * struct json_list - an array that is printed as it grows, so that it needs no memory
 * @fmt:	how, and where to
 * @n:		its values so far, at first 0
 */
struct json_list {
	const struct fmt *fmt;
	size_t n;
};

/* Prints an object as the next one of the list, and puts it. 0 or -ENOMEM. */
int json_list_add(struct json_list *list, struct json_object *object);
void json_list_end(struct json_list *list);

#endif
