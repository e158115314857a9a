// SPDX-License-Identifier: GPL-2.0
/* Prints bytes as a gzip file. */
#include <errno.h>
#include <zlib.h>

#include "format/gzip.h"

#define WINDOW_GZIP  (15 + 16) /* zlib's largest window, with the header of gzip */
#define LEVEL_MEMORY 8	       /* zlib's own */

int gzip_print(FILE *out, unsigned char *data, size_t length)
{
	z_stream stream = {0};
	unsigned char buf[16384];
	int state = Z_OK;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, LEVEL_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	stream.next_in = data;
	while (state == Z_OK) {
		/* zlib counts in an unsigned int. */
		size_t part = length < 1 << 30 ? length : 1 << 30;

		if (!stream.avail_in) {
			stream.avail_in = (unsigned int)part;
			length -= part;
		}
		stream.next_out = buf;
		stream.avail_out = sizeof(buf);
		state = deflate(&stream, length ? Z_NO_FLUSH : Z_FINISH);
		fwrite(buf, 1, sizeof(buf) - stream.avail_out, out);
	}
	deflateEnd(&stream);
	return state == Z_STREAM_END ? 0 : -ENOMEM;
}
