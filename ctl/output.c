// SPDX-License-Identifier: GPL-2.0
/* The file of -o: written beside the one that it replaces, then renamed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "output.h"

static int failed(const struct outfile *output)
{
	fail_print("cannot write '%s': %s", output->path, strerror(errno));
	return CTL_REFUSED;
}

/* As a program's output usually has them. */
static void set_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask))
		return; /* a file system without modes */
}

int output_open(struct outfile *output, const char *path)
{
	struct stat st;
	int fd;

	*output = (struct outfile){.path = path, .file = stdout};
	if (!path)
		return CTL_OK;
	if (!lstat(path, &st) && !S_ISREG(st.st_mode)) {
		output->file = fopen(path, "we");
		return output->file ? CTL_OK : failed(output);
	}
	if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
		output->temporary = NULL;
		return fail_memory();
	}
	fd = mkstemp(output->temporary);
	if (fd >= 0) {
		set_mode(fd);
		output->file = fdopen(fd, "w");
	}
	if (fd >= 0 && output->file)
		return CTL_OK;
	failed(output);
	free(output->temporary);
	return CTL_REFUSED;
}

int output_close(struct outfile *output, int status)
{
	bool bad;

	if (!output->path)
		return status;
	bad = ferror(output->file);
	if (fclose(output->file) || bad)
		status = failed(output);
	if (output->temporary && status)
		unlink(output->temporary);
	else if (output->temporary && rename(output->temporary, output->path))
		status = failed(output);
	free(output->temporary);
	return status;
}
