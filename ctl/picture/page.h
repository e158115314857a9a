/* SPDX-License-Identifier: GPL-2.0 */
/* The form html: one page that needs nothing else, with a treemap, lines over time, and a table. */
#ifndef MTAGCTL_PICTURE_PAGE_H
#define MTAGCTL_PICTURE_PAGE_H

#include "format/fmt.h"
#include "picture/subject.h"

/* The timeline is ranked. 0 or -ENOMEM. */
int page_print(const struct fmt *fmt, const struct subject *subject);

#endif
