// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/format/fmt.c ctl/format/text.c */
/* sources: ctl/format/json.c ctl/option.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/show.c ctl/format/tree.c */
/* sources: ctl/format/spark.c ctl/format/watch.c ctl/format/audit.c */
/* sources: ctl/format/folded.c ctl/format/dot.c ctl/format/form.c ctl/offline/line.c ctl/offline/read.c ctl/offline/source.c */
/* sources: ctl/format/strings.c ctl/format/chain.c ctl/format/gzip.c ctl/format/rollup.c */
/* sources: ctl/format/pairs.c ctl/format/pprof.c ctl/format/speedscope.c ctl/format/openmetrics.c */
/* sources: ctl/picture/markup.c ctl/picture/scale.c ctl/picture/palette.c ctl/picture/block.c ctl/picture/hue.c */
/* sources: ctl/picture/timeline.c ctl/picture/subject.c ctl/picture/icicle.c ctl/picture/treemap.c */
/* sources: ctl/picture/chart.c ctl/picture/table.c ctl/picture/page.c ctl/cmd/shape.c ctl/cmd/view.c ctl/cmd/play.c */
/* sources: ctl/format/stack.c ctl/format/snapshot.c ctl/format/diff.c ctl/offline/compare.c ctl/cmd/diff.c */
/* sources: ctl/heaps/sum.c ctl/offline/rules.c ctl/offline/fold.c ctl/cmd/merge.c */
/* sources: ctl/top/rows.c ctl/top/table.c ctl/top/batch.c ctl/top/feed.c */
/* sources: ctl/top/view.c ctl/top/frame.c ctl/top/draw.c */
/* sources: ctl/cmd/show.c ctl/cmd/tree.c ctl/cmd/track.c ctl/cmd/audit.c */
/* sources: ctl/stacks/trace.c ctl/stacks/demangle.c ctl/stacks/perfmap.c ctl/stacks/object.c ctl/stacks/symbol.c */
/* sources: ctl/file.c ctl/kept.c ctl/confine.c ctl/progress.c ctl/stacks/guard.c ctl/stacks/known.c ctl/stacks/resolve.c */
/* sources: ctl/stacks/view.c ctl/stacks/json.c ctl/stacks/table.c ctl/stacks/graph.c ctl/cmd/stacks.c */
/* sources: ctl/heaps/objects.c ctl/heaps/json.c ctl/heaps/table.c ctl/heaps/sites.c ctl/heaps/carry.c ctl/cmd/heap.c */
/* sources: ctl/synopsis.c ctl/cmd/complete.c ctl/past.c ctl/format/history.c ctl/cmd/history.c */
/*
 * Command lines, whole, against a kernel that answers and refuses as it likes. The exit status is one
 * of the contract's, JSON is JSON, and no name or argument does anything to a terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "format/json.h"
#include "fuzz.h"
#include "heaps.h"
#include "kernel.h"
#include "option.h"
#include "output.h"
#include "probe.h"
#include "stop.h"
#include "top/screen.h"
#include "top/view.h"
#include "utf8.h"

/* ---- what the commands do to the machine ---- */

static uint64_t now;

/* Harmless, unless it is a compressed file, which is not for a terminal. */
static void must_be_text(const char *text, size_t len, enum output output)
{
	if (len < 2 || memcmp(text, "\x1f\x8b", 2) != 0)
		must_be_harmless(text, len, output);
	else
		must(output != COLOURED);
}

static int fake_clock(clockid_t clock, struct timespec *at)
{
	(void)clock;
	now += 1000;
	*at = (struct timespec){.tv_sec = (time_t)(now / 1000000000),
				.tv_nsec = (long)(now % 1000000000)};
	return 0;
}

atomic_bool stopped;
volatile sig_atomic_t resized;

int stop_begin(sigset_t *waiting, void (*restore)(void))
{
	(void)restore;
	sigemptyset(waiting);
	return in_rarely(&kernel) ? -ENOMEM : 0;
}

void stop_hold(bool hold)
{
	(void)hold;
}

/* Without an end it ends by a signal. */
static int fake_wait(const struct timespec *left, const sigset_t *mask)
{
	(void)mask;
	if (!left) {
		stopped = true;
		return -1;
	}
	must(left->tv_sec >= 0 && left->tv_nsec >= 0 && left->tv_nsec < 1000000000);
	now += (uint64_t)left->tv_sec * 1000000000 + (uint64_t)left->tv_nsec;
	return 0;
}

static int fake_ioctl(int fd, unsigned long command, const void *arg)
{
	const struct mtag_ioc_child *child = arg;

	(void)fd;
	if (command == MTAG_IOC_CHILD)
		must(child->name_len && child->name_len <= MTAG_NAME_MAX &&
		     !memchr((const char *)(uintptr_t)child->name, '/', child->name_len));
	if (command == MTAG_IOC_STACKS)
		must(((const struct mtag_ioc_stacks *)arg)->one_in);
	errno = -refuse(NULL);
	return errno ? -1 : 0;
}

#define ppoll(fds, n, left, mask) fake_wait(left, mask)
#define clock_gettime(clock, at)  fake_clock(clock, at)
#include "../../ctl/cmd/watch.c"

static bool terminal;
static unsigned int screen_width, screen_height;

/* A window that is resized at will. */
static int fake_size(struct winsize *size)
{
	size->ws_col = (unsigned short)in_below(&kernel, 200);
	size->ws_row = (unsigned short)in_below(&kernel, 60);
	return in_rarely(&kernel);
}

bool screen_is_possible(void)
{
	return terminal && in_u8(&kernel) & 1;
}

struct screen *screen_open(bool colour)
{
	(void)colour;
	return in_rarely(&kernel) ? NULL : (struct screen *)&screen_width;
}

void screen_close(struct screen *screen)
{
	must(screen);
}

void screen_restore(void)
{
}

void screen_resize(struct screen *screen, unsigned int width, unsigned int height)
{
	must(screen);
	screen_width = width;
	screen_height = height;
}

void screen_begin(struct screen *screen)
{
	must(screen);
}

void screen_line(struct screen *screen, unsigned int line, const char *text)
{
	must(screen && line < screen_height);
	must_be_harmless(text, strlen(text), TEXT);
	must(utf8_width(text) <= screen_width || !strcmp(text, "too small"));
}

void screen_style(struct screen *screen, unsigned int line, unsigned int at, unsigned int width,
		  enum style style)
{
	must(screen && line < screen_height && at < screen_width && width);
	(void)style;
}

void screen_cursor(struct screen *screen, unsigned int line, unsigned int at)
{
	must(screen && line < screen_height && at < screen_width);
}

void screen_end(struct screen *screen)
{
	must(screen);
}

bool screen_key(struct screen *screen, int *key)
{
	static const char keys[] = "/sdbezup+-rIMN<>jkgGh ";
	unsigned int pick = in_u8(&kernel);

	must(screen);
	if (!kernel.left || pick < 16)
		return false;
	*key = pick < 64    ? VIEW_KEY_UP + (int)(pick % 16)
	       : pick < 200 ? keys[pick % (sizeof(keys) - 1)]
			    : (int)pick;
	return true;
}

/* It has a name in common with watch. */
#define run		 top_run
#define ioctl(fd, c, to) fake_size(to)
#include "../../ctl/top/moment.c"
#include "../../ctl/top/live.c"
#undef run
#define run top_command
#include "../../ctl/cmd/top.c"
#undef run
#undef ioctl

#define close(fd)		((void)(fd))
#define open(path, flags)	(in_rarely(&kernel) ? -1 : 3)
#define ioctl(fd, command, arg) fake_ioctl(fd, command, arg)
#define eventfd(files, flags)	(in_rarely(&kernel) ? -1 : 3)
#define execvp(path, argv)	(errno = (path) == (argv)[0] ? ENOENT : EACCES)
#include "../../ctl/cmd/run.c"
#undef close
#undef open
#undef ioctl
#undef eventfd

int cmd_doctor(struct ctl *ctl, int argc, char **argv)
{
	return option_none(ctl, argc, argv) == OPTION_BAD ? CTL_USAGE : CTL_OK;
}

/* It only writes files, and would sleep; so would those that wait for events. */
int cmd_snapshot(struct ctl *ctl, int argc, char **argv)
{
	return cmd_doctor(ctl, argc, argv);
}

int cmd_limit(struct ctl *ctl, int argc, char **argv)
{
	return cmd_doctor(ctl, argc, argv);
}

int cmd_events(struct ctl *ctl, int argc, char **argv)
{
	return cmd_doctor(ctl, argc, argv);
}

/* The processes of this machine would make each run another one. */
char *probe_read(const char *path)
{
	(void)path;
	return NULL;
}

bool probe_line(const char *path, char *buf, size_t size)
{
	(void)path;
	snprintf(buf, size, "%s", "");
	return false;
}

/* -o writes into memory: what is in the fuzzer's directory stays. */
static char *written;
static size_t written_len;

int output_open(struct outfile *output, const char *path, mode_t mode)
{
	(void)mode;
	*output = (struct outfile){.path = path, .file = stdout};
	if (path)
		output->file = open_memstream(&written, &written_len);
	return CTL_OK;
}

int output_close(struct outfile *output, int status)
{
	if (!output->path)
		return status;
	fclose(output->file);
	must_be_text(written, written_len, JSON);
	free(written);
	return status;
}

#define main ctl_main
#include "../../ctl/main.c"
#undef main

/* Sometimes there is a terminal; it has no size, so that COLUMNS counts. */
int isatty(int fd)
{
	(void)fd;
	return terminal;
}

/* ---- the command line ---- */

#define ARGS_MAX 12

static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json"))
			return true;
	return false;
}

/* A terminal wraps long lines afterwards, as before. */
static bool ends_wrapped(const char *out)
{
	bool wraps = true;

	while ((out = strstr(out, "\033[?7")))
		wraps = *(out += 4) == 'h';
	return wraps;
}

static void check(int status, bool json, char *out, size_t out_len, char *err, size_t err_len)
{
	must(status >= 0 && (status <= CTL_ABSENT || status == 126 || status == 127));
	must(status != CTL_USAGE || err_len);
	must_be_harmless(err, err_len, TEXT);
	/* Completions have a tab in each line, for a shell. */
	for (char *tab = strchr(out, '\t'); tab && !strncmp(out, "words\n", 6);
	     tab = strchr(tab, '\t'))
		*tab = ' ';
	must(ends_wrapped(out));
	if (!json || !out_len || *out != '[') {
		must_be_text(out, out_len, terminal && *out != '[' ? COLOURED : JSON);
		return;
	}
	/* watch and top have a document a line. */
	for (char *line = out, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		must(end);
		*end = '\0';
		must_be_json(line, (size_t)(end - line));
	}
}

/* mtagctl prints to what is a terminal, or not. */
static void run(int argc, char **argv)
{
	FILE *real_out = stdout, *real_err = stderr;
	bool json = wants_json(argc, argv);
	char *out, *err;
	size_t out_len, err_len;
	int status;

	stdout = open_memstream(&out, &out_len);
	stderr = open_memstream(&err, &err_len);
	optind = 0;
	stopped = false;
	requests = 0;
	status = ctl_main(argc, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = real_out;
	stderr = real_err;
	/* Indented JSON has more than one line, and folded text is none: its first tag can be "[". */
	for (int i = 1; i < argc; i++)
		json &= !strchr(argv[i], 'p') && !strstr(argv[i], "folded");
	check(status, json, out, out_len, err, err_len);
	free(out);
	free(err);
}

static char *built_word(struct input *in)
{
	static const char *const words[] = {"show",	   "tree",
					    "watch",	   "run",
					    "track",	   "untrack",
					    "audit",	   "help",
					    "-j",	   "-s",
					    "-p",	   "-d",
					    "-n",	   "-t",
					    "--",	   "-jsp",
					    "1",	   "2",
					    "4194304",	   "0.01",
					    "5",	   "--json",
					    "-V",	   "--delay=1",
					    "a/b",	   "true",
					    "--by-thread", "--tag=db",
					    "--by-map",	   "--by-thread=tid",
					    "-h",	   "--count=2",
					    "-f",	   "dot",
					    "folded",	   "tree",
					    "json",	   "table",
					    "-o",	   "--from=/dev/null",
					    "--sample=2",  "-fdot",
					    "-ffolded",	   "diff",
					    "-fpprof",	   "speedscope",
					    "openmetrics", "--by-pid",
					    "--growth",	   "/dev/null",
					    "merge",	   "--rules=/dev/null",
					    "complete",	   "--from=",
					    "top",	   "--by=tag",
					    "--by=cgroup", "-sdelta",
					    "--sort=tag",  "-n2",
					    "svg",	   "html",
					    "-fsvg",	   "-fhtml",
					    "heap",	   "--heap",
					    "--account",   "--heap=exact"};
	const size_t count = sizeof(words) / sizeof(*words);
	unsigned int pick = in_below(in, (unsigned int)count + 4);
	char name[128];

	if (pick < count)
		return strdup(words[pick]);
	in_name(in, name, sizeof(name));
	return strdup(name);
}

static char *raw_word(struct input *in)
{
	size_t len = strnlen((const char *)in->p, in->left);
	char *word = strndup((const char *)in->p, len);

	in->p += len;
	in->left -= len;
	in_u8(in);
	return word;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[ARGS_MAX + 1] = {strdup("mtagctl")}, *copy[ARGS_MAX];
	struct input in = {data, size};
	unsigned int bits = in_u8(&in);
	int argc, n = 1 + (int)(bits >> 4) % (ARGS_MAX - 1);

	terminal = bits & 1;
	setenv("COLUMNS", bits & 2 ? "57" : "80", 1);
	setenv("TERM", bits & 4 ? "dumb" : "xterm", 1);
	for (argc = 1; argc < n && in.left; argc++)
		argv[argc] = fuzz_built ? built_word(&in) : raw_word(&in);
	memcpy(copy, argv, sizeof(copy));
	kernel = in;
	run(argc, argv);
	free(copy[0]);
	for (int i = 1; i < argc; i++)
		free(copy[i]);
	return 0;
}

/* Words ended by NULs, and what the kernel then does. */
static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	size_t len = 1;

	buf[0] = (uint8_t)in_u8(in);
	for (unsigned int i = 0; i < (buf[0] >> 4) % (ARGS_MAX - 1U); i++) {
		char *word = built_word(in);

		memcpy(buf + len, word, strlen(word) + 1);
		len += strlen(word) + 1;
		free(word);
	}
	for (unsigned int i = 0; i < 512 && len < size; i++)
		buf[len++] = (uint8_t)in_u8(in);
	return len;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
