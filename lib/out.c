// SPDX-License-Identifier: LGPL-2.1-or-later
/* Text on its way to a stream or a file: no format of the C library's, no locale, no allocation. */
#include "out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void flush_out(struct mtag__out *out)
{
	size_t done = 0;
	ssize_t n;

	errno = 0;
	while (!out->err && done < out->used) {
		if (out->file)
			n = (ssize_t)fwrite(out->buf + done, 1, out->used - done, out->file);
		else
			n = write(out->fd, out->buf + done, out->used - done);
		if (n > 0)
			done += (size_t)n;
		else if (out->file || errno != EINTR)
			out->err = errno ? -errno : -EIO;
	}
	out->used = 0;
}

void mtag__put(struct mtag__out *out, const char *bytes, size_t len)
{
	size_t room;

	while (len) {
		room = sizeof(out->buf) - out->used;
		if (room > len)
			room = len;
		memcpy(out->buf + out->used, bytes, room);
		out->used += room;
		bytes += room;
		len -= room;
		if (out->used == sizeof(out->buf))
			flush_out(out);
	}
}

void mtag__puts(struct mtag__out *out, const char *text)
{
	mtag__put(out, text, strlen(text));
}

void mtag__putc(struct mtag__out *out, char c)
{
	mtag__put(out, &c, 1);
}

/* Writes the digits in front of @end, and returns where they begin. */
static char *digits_before(char *end, uint64_t number)
{
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return end;
}

void mtag__put_number(struct mtag__out *out, uint64_t number)
{
	char buf[20], *end = buf + sizeof(buf), *begin = digits_before(end, number);

	mtag__put(out, begin, (size_t)(end - begin));
}

int mtag__out_end(struct mtag__out *out)
{
	flush_out(out);
	errno = 0;
	if (out->file && fflush(out->file) && !out->err)
		out->err = errno ? -errno : -EIO;
	return out->err;
}

/* ---- numbers as mtagctl rounds them: to the nearest tenth, and a half to the even one ---- */

static uint64_t tenths(uint64_t number, uint64_t unit)
{
	uint64_t whole, rest;

	/* Beyond that the last bits do not show. */
	while (number > UINT64_MAX / 20) {
		number >>= 1;
		unit = unit >> 1 ? unit >> 1 : 1;
	}
	whole = number * 10 / unit;
	rest = number * 10 % unit;
	return whole + (rest > unit - rest || (rest == unit - rest && whole % 2));
}

static const char *tenths_text(char buf[16], uint64_t n, const char *unit)
{
	char *end = buf + 12, *begin;

	begin = end - 2;
	begin[0] = '.';
	begin[1] = (char)('0' + n % 10);
	begin = digits_before(begin, n / 10);
	memmove(buf, begin, (size_t)(end - begin));
	strcpy(buf + (end - begin), unit);
	return buf;
}

const char *mtag__size_text(char buf[16], uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned i = 0;
	char *end = buf + 5, *begin;

	if (bytes < 1024) {
		begin = digits_before(end, bytes);
		memmove(buf, begin, (size_t)(end - begin));
		strcpy(buf + (end - begin), bytes ? "B" : "");
		return buf;
	}
	while (i < 5 && tenths(bytes, UINT64_C(1024) << 10 * i) >= 10000)
		i++;
	return tenths_text(buf, tenths(bytes, UINT64_C(1024) << 10 * i), units[i]);
}

const char *mtag__percent_text(char buf[16], uint64_t part, uint64_t whole)
{
	/* Sums of bytes are far below this; what is not cannot be shown. */
	if (!whole || part > UINT64_MAX / 2000 || part > whole)
		part = 0, whole = 1;
	return tenths_text(buf, tenths(part * 100, whole), "%");
}

unsigned mtag__utf8(const char *s, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)s;
	unsigned n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4, i;

	if (!n || u[0] > 0xf4)
		return 0;
	*cp = n == 1 ? u[0] : u[0] & 0x7fu >> n;
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (u[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return n;
}
