/* SPDX-License-Identifier: GPL-2.0 */
/* UTF-8: which bytes are characters, which of these may be printed, and how many columns they take. */
#ifndef MTAGCTL_UTF8_H
#define MTAGCTL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool utf8_in_locale(void);

/* Bytes of the character at @s, with its code point; 0 when they are not UTF-8. @len is not 0. */
unsigned int utf8_decode(const unsigned char *s, size_t len, uint32_t *cp);
/* Not a control character, nor one that reorders or hides the text around it; as in the module. */
bool utf8_may_print(uint32_t cp);
/* Printable UTF-8, complete. */
bool utf8_is_printable(const char *s, size_t len);

/* Each returns a copy to be freed, or NULL without memory. */
/* With \xNN for what is not printable (nor ASCII, unless @utf8) and \\ for \. */
char *utf8_clean(const char *s, bool utf8);
/* The same of a message that has names in it: \ stays, and so does what the locale has. */
char *utf8_clean_message(const char *s);
/* Valid UTF-8, with U+FFFD for what is not. */
char *utf8_repair(const char *s);

/* Columns of what utf8_clean() made, and of its first character, with that one's bytes. */
unsigned int utf8_width(const char *clean);
unsigned int utf8_char_width(const char *clean, size_t *bytes);

#endif
