// SPDX-License-Identifier: GPL-2.0
/* mtagctl run: tracks itself, sets its default tag and executes the command. exec keeps both. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "option.h"
#include "parse.h"
#include "uapi/linux/mtag.h"

static void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int fail_call(const char *what)
{
	fail_print("cannot %s: %s", what, strerror(errno));
	return CTL_REFUSED;
}

static int open_device(int *fd)
{
	*fd = open(MTAG_DEVICE, O_RDWR | O_CLOEXEC);
	if (*fd >= 0)
		return CTL_OK;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV) {
		fail_print("no %s: the mtag module is not loaded (modprobe mtag)", MTAG_DEVICE);
		return CTL_ABSENT;
	}
	return fail_call("open " MTAG_DEVICE);
}

/* Interns the path below the root of the process's tree. */
static int intern_path(int fd, const char *path, uint32_t *id)
{
	const char *name;
	int len;

	*id = MTAG_ID_UNTAGGED;
	while ((len = parse_component(&path, &name)) > 0) {
		struct mtag_ioc_child child = {
			.size = sizeof(child),
			.parent = *id,
			.name_len = (uint32_t)len,
			.name = (uintptr_t)name,
		};

		if (ioctl(fd, MTAG_IOC_CHILD, &child))
			return fail_call("create the tag");
		*id = child.id;
	}
	return CTL_OK;
}

static int attach_self(const char *tag, bool by_thread)
{
	struct mtag_ioc_attach attach = {.size = sizeof(attach)};
	struct mtag_ioc_default def = {.size = sizeof(def)};
	_cleanup_(closep) int fd = -1;
	int status = open_device(&fd);

	if (status)
		return status;
	attach.flags = by_thread ? MTAG_ATTACH_BY_THREAD : 0;
	if (ioctl(fd, MTAG_IOC_ATTACH, &attach))
		return fail_call("track this process");
	if (!tag)
		return CTL_OK;
	status = intern_path(fd, tag, &def.tag);
	if (status)
		return status;
	return ioctl(fd, MTAG_IOC_DEFAULT, &def) ? fail_call("set the default tag") : CTL_OK;
}

static int check_tag(const char *tag)
{
	int n = parse_path(tag);

	if (n > 0)
		return CTL_OK;
	fail_print("run: the tag is %s (at most %d components of 1 to %d printable bytes, "
		   "separated by '/')",
		   n == -ENAMETOOLONG ? "too long" : "malformed", MTAG_DEPTH_MAX, MTAG_NAME_MAX);
	return CTL_USAGE;
}

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{"tag", required_argument, NULL, 't'},
		{"by-thread", no_argument, NULL, 'b'},
		OPTION_LONGS,
	};
	const char *tag = NULL;
	bool by_thread = false;
	int opt, status;

	while ((opt = option_next(ctl, argc, argv, "+:t:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 't')
			tag = optarg;
		else
			by_thread = true;
	}
	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc == optind) {
		fail_print("run needs a command");
		return CTL_USAGE;
	}
	status = tag ? check_tag(tag) : CTL_OK;
	if (!status)
		status = attach_self(tag, by_thread);
	if (status)
		return status;
	execvp(argv[optind], argv + optind);
	status = errno == ENOENT ? 127 : 126;
	fail_print("cannot run '%s': %s", argv[optind], strerror(errno));
	return status;
}
