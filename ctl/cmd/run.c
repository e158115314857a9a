// SPDX-License-Identifier: GPL-2.0
/* mtagctl run: tracks itself, sets its default tag and executes the command. exec keeps both. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "heaps/preload.h"
#include "option.h"
#include "parse.h"
#include "stacks/follow.h"
#include "stacks/load.h"
#include "uapi/linux/mtag.h"
#include "utf8.h"

enum { STACKS = 1000, HEAP };

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
	return *fd >= 0 ? CTL_OK : fail_device();
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

		if (ioctl(fd, MTAG_IOC_CHILD, &child)) {
			if (errno != ENOSPC)
				return fail_call("create the tag");
			fail_print("cannot create the tag %.*s: there are as many as the module's "
				   "parameter max_tags allows",
				   len, name);
			return CTL_REFUSED;
		}
		*id = child.id;
	}
	return CTL_OK;
}

/**
 * struct wanted - whose stacks are to be taken
 * @one_in:	at so many first touches once; 0: never
 * @event:	eventfd for files that are mapped executable, or -1
 */
struct wanted {
	uint32_t one_in;
	int event;
};

/*
 * Starts what hands in the unwind tables of files that are mapped later: before this process is tracked, as its
 * children are, too.
 */
static int follow_self(struct wanted *wanted)
{
	int err;

	wanted->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wanted->event < 0)
		return fail_call("create an eventfd");
	err = follow(getpid(), wanted->event);
	if (!err)
		return CTL_OK;
	errno = -err;
	return fail_call("start what hands in unwind tables");
}

/* A module that does not know the call says only that. */
static int take_stacks(int fd, const struct wanted *wanted)
{
	struct mtag_ioc_stacks stacks = {
		.size = sizeof(stacks),
		.one_in = wanted->one_in,
		.fd = wanted->event,
	};

	if (!ioctl(fd, MTAG_IOC_STACKS, &stacks))
		return CTL_OK;
	if (errno != ENOTTY)
		return fail_call("take stacks");
	fail_print("the loaded mtag module is older than this mtagctl: it cannot take stacks");
	return CTL_REFUSED;
}

static int fail_track(void)
{
	if (errno == ENOSPC) {
		fail_print("cannot track this process: there are as many as the module's parameter "
			   "max_processes allows");
		return CTL_REFUSED;
	}
	if (errno != EBUSY)
		return fail_call("track this process");
	fail_print("cannot track this process: %s; `mtagctl doctor` says why", strerror(EBUSY));
	return CTL_REFUSED;
}

static int attach_self(const char *tag, uint32_t by, const struct wanted *wanted)
{
	struct mtag_ioc_attach attach = {.size = sizeof(attach), .flags = by};
	struct mtag_ioc_default def = {.size = sizeof(def)};
	_cleanup_(closep) int fd = -1;
	int status = open_device(&fd);

	if (status)
		return status;
	if (ioctl(fd, MTAG_IOC_ATTACH, &attach)) {
		if (errno == EINVAL && by) {
			fail_print("the loaded mtag module is older than this mtagctl: it cannot "
				   "tag by %s",
				   by == MTAG_ATTACH_BY_MAP ? "mapping" : "thread like that");
			return CTL_REFUSED;
		}
		return fail_track();
	}
	status = wanted->one_in ? take_stacks(fd, wanted) : CTL_OK;
	if (status || !tag)
		return status;
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
	fail_print("run: the tag '%s' is %s (at most %d components of 1 to %d printable bytes, "
		   "separated by '/')",
		   tag, n == -ENAMETOOLONG ? "too long" : "malformed", MTAG_DEPTH_MAX,
		   MTAG_NAME_MAX);
	return CTL_USAGE;
}

/* The flag for --by-thread[=name|tid], 0 if the value is neither. */
static uint32_t by_thread(const char *how)
{
	_cleanup_(freep) char *text = NULL;

	if (!how || !strcmp(how, "name"))
		return MTAG_ATTACH_BY_THREAD;
	if (!strcmp(how, "tid"))
		return MTAG_ATTACH_BY_TID;
	text = utf8_clean(how, false);
	fail_print("run: --by-thread=%s: must be 'name' (a tag for each name of a thread, also "
		   "without a value) or 'tid' (one for each thread)",
		   text ? text : "?");
	return 0;
}

/* Adds an option --by-… to *by. They exclude each other. */
static int add_by(uint32_t *by, uint32_t flag)
{
	if (!flag)
		return CTL_USAGE;
	if (*by && *by != flag) {
		fail_print("run: only one of --by-thread=name, --by-thread=tid and --by-map can "
			   "be given");
		return CTL_USAGE;
	}
	*by = flag;
	return CTL_OK;
}

/* --heap[=exact] */
struct heap_wanted {
	bool view;
	bool exact;
};

static int take_heap(const char *how, struct heap_wanted *heap)
{
	_cleanup_(freep) char *text = NULL;

	heap->view = true;
	heap->exact = how;
	if (!how || !strcmp(how, "exact"))
		return CTL_OK;
	text = utf8_clean(how, false);
	fail_print("run: --heap=%s: must be 'exact' (count each byte), or --heap without a value "
		   "(sample)",
		   text ? text : "?");
	return CTL_USAGE;
}

/* The option that takes @word as its value, but only behind a =; or NULL. */
static const char *option_of(const char *word)
{
	static const struct {
		const char *word, *option;
	} values[] = {{"exact", "--heap"}, {"name", "--by-thread"}, {"tid", "--by-thread"}};
	uint32_t one_in;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(word, values[i].word))
			return values[i].option;
	return parse_one_in(word, &one_in) ? NULL : "--stacks";
}

/* Returns false after an error message: there is none, or "--heap exact --" stands before it. */
static bool has_command(int n, char *const *words)
{
	const char *option = n > 1 && !strcmp(words[1], "--") ? option_of(words[0]) : NULL;
	bool is_value = option && !strcmp(words[-1], option);

	if (is_value)
		fail_print("run: the command follows '--', which '%s' does not (write %s=%s)",
			   words[0], option, words[0]);
	else if (!n)
		fail_print("run needs a command");
	return n && !is_value;
}

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{"tag", required_argument, NULL, 't'},
		{"by-thread", optional_argument, NULL, 'b'},
		{"by-map", no_argument, NULL, 'm'},
		{"stacks", optional_argument, NULL, STACKS},
		{"heap", optional_argument, NULL, HEAP},
		OPTION_LONGS,
	};
	const char *tag = NULL;
	struct wanted wanted = {.event = -1};
	struct heap_wanted heap = {false, false};
	uint32_t by = 0;
	int opt, status = CTL_OK;

	while ((opt = option_next(ctl, argc, argv, "+:t:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 't')
			tag = optarg;
		else if (opt == STACKS)
			status = option_one_in("run", optarg, &wanted.one_in) ? CTL_OK : CTL_USAGE;
		else if (opt == HEAP)
			status = take_heap(optarg, &heap);
		else
			status = add_by(&by, opt == 'm' ? MTAG_ATTACH_BY_MAP : by_thread(optarg));
		if (status)
			return status;
	}
	if (opt != OPTION_DONE)
		return option_status(opt);
	if (!has_command(argc - optind, argv + optind))
		return CTL_USAGE;
	status = tag ? check_tag(tag) : CTL_OK;
	if (!status && wanted.one_in)
		status = follow_self(&wanted);
	if (!status && heap.view)
		status = heap_preload(argv[optind], heap.exact);
	if (!status)
		status = attach_self(tag, by, &wanted);
	if (status)
		return status;
	if (wanted.one_in)
		load_before_run(argv[optind]);
	signal(SIGXFSZ, ctl->over_limit);
	signal(SIGCHLD, ctl->child_ended);
	execvp(argv[optind], argv + optind);
	status = errno == ENOENT ? 127 : 126;
	fail_print("cannot run '%s': %s", argv[optind], strerror(errno));
	return status;
}
