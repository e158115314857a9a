// SPDX-License-Identifier: LGPL-2.1-or-later
/* mtag_write(): all tags of this process, into a stream. */
#include "internal.h"

#include <errno.h>
#include <pthread.h>

#include "dot.h"
#include "json.h"
#include "tree.h"

int mtag_write(FILE *file, enum mtag_format format)
{
	static void (*const prints[])(struct mtag__out *, struct mtag__sample *) = {
		[MTAG_JSON] = mtag__json_print,
		[MTAG_DOT] = mtag__dot_print,
		[MTAG_TREE] = mtag__tree_print,
	};
	struct mtag__sample sample;
	int saved = errno, err = mtag__attached(), cancel;

	if ((unsigned)format >= sizeof(prints) / sizeof(prints[0]) || !file)
		return -EINVAL;
	if (err)
		return err;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = mtag__sample_take(&sample);
	if (!err) {
		struct mtag__out out = {.file = file};

		flockfile(file);
		prints[format](&out, &sample);
		err = mtag__out_end(&out);
		funlockfile(file);
		mtag__sample_free(&sample);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return err;
}
