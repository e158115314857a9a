/* SPDX-License-Identifier: GPL-2.0 */
/* Text in XML and HTML: names that may hold anything, and how much of one fits a box. */
#ifndef MTAGCTL_PICTURE_MARKUP_H
#define MTAGCTL_PICTURE_MARKUP_H

#include <stdio.h>

/* Prints a name: \xNN for what is not printable, entities for what would be markup. 0 or -ENOMEM. */
int markup_name(FILE *out, const char *name);
/* Prints as much of @text, which utf8_clean_export() made, as fits @ems of a font's size, then "…". */
void markup_fit(FILE *out, const char *text, double ems);
/* An upper bound of the width of @text in ems, whichever sans-serif font the reader has. */
double markup_width(const char *text);

#endif
