// SPDX-License-Identifier: GPL-2.0
/* Reading and writing the kernel's files, and running commands. */
#include "files.h"
#include "memory.h"

char *text_room(void)
{
	char *room = must(mmap(NULL, SLURP_MAX, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

	no_huge(room, SLURP_MAX);
	return room;
}

char *slurp(const char *path)
{
	static char *buf;
	size_t n = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!buf)
		buf = text_room();
	while ((got = read(fd, buf + n, SLURP_MAX - 1 - n)) > 0)
		n += got;
	close(fd);
	buf[n] = '\0';
	return got < 0 ? NULL : buf;
}

int spew(const char *path, const char *format, ...)
{
	char text[512];
	va_list args;
	int n, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = write(fd, text, n) == n ? 0 : -errno;
	close(fd);
	return n;
}

int sh(const char *format, ...)
{
	char command[1024];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

uint64_t field(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *line = text;

	while (line) {
		if (!strncmp(line, name, n) &&
		    (line[n] == ':' || line[n] == ' ' || line[n] == '\t'))
			return strtoull(line + n + strspn(line + n, ": \t"), NULL, 10);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return UINT64_MAX;
}

uint64_t file_field(const char *path, const char *name)
{
	char *text = slurp(path);

	return text ? field(text, name) : UINT64_MAX;
}

uint64_t signals(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}
