/* SPDX-License-Identifier: GPL-2.0 */
/* UTF-8: which bytes are characters, which may be printed, and how many columns they take. */
#ifndef MTAGCTL_UTF8_H
#define MTAGCTL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_in_locale(void);

/* Returns the length of the character at @s, or 0 if it is not UTF-8. @len must not be 0. */
unsigned int utf8_decode(const unsigned char *s, size_t len, uint32_t *cp);
/* False for control characters and for those that reorder or hide text; as in the module. */
bool utf8_may_print(uint32_t cp);
/* All of @s is valid and printable UTF-8. */
bool utf8_is_printable(const char *s, size_t len);

/* These return a copy, which the caller frees, or NULL without memory. */

/* With \xNN for what is not printable (nor ASCII, unless @utf8) and \\ for \. */
char *utf8_clean(const char *s, bool utf8);
/* Likewise for a file, which is the same in every locale. */
char *utf8_clean_export(const char *s);
/* Likewise for a message with names in it: \ is kept, and so are characters of the locale. */
char *utf8_clean_message(const char *s);
/* Valid UTF-8, with U+FFFD for what is not. */
char *utf8_repair(const char *s);

/* The columns that utf8_clean()'s result takes; those of its first character, and its bytes. */
unsigned int utf8_width(const char *clean);
unsigned int utf8_char_width(const char *clean, size_t *bytes);

#endif
