/* SPDX-License-Identifier: GPL-2.0 */
/* JSON values, and their printed form. */
#ifndef MTAGCTL_JSON_H
#define MTAGCTL_JSON_H

#include <stdint.h>
#include <json-c/json.h>

#include "format/fmt.h"

static inline void json_putp(struct json_object **object)
{
	json_object_put(*object);
}

/* Add to an object; without memory the key is left out, and json_print() fails. */
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
void json_add_i64(struct json_object *object, const char *key, int64_t value);
void json_add_string(struct json_object *object, const char *key, const char *value);
/* A new object at the end of an array. */
struct json_object *json_add_object(struct json_object *array);
/* One line, or several when pretty. */
int json_print(const struct fmt *fmt, struct json_object *array);

#endif
