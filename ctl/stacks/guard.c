// SPDX-License-Identifier: GPL-2.0
/*
 * Looks symbols up in a process of its own. The files are those of the program: its owner may have put anything into
 * them, or cut them off while they are read. When the process dies another one takes its place, and the file that it
 * looked into has no names; after a few deaths no file has.
 *
 * A file may also take a process over, which then says what it likes of others. So there are two: one that reads only
 * what root or we have written, whose answers may be kept for other programs, and one for all else.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "ctl.h"
#include "progress.h"
#include "stacks/guard.h"

#define DEATHS_MOST 3
#define MEMORY_MOST (4ULL << 30) /* debug information may be as large */
#define TEXT	    1024
/* To open the debug information of a large program, or to have it fetched, may take minutes. */
#define QUESTION_MS 300000ULL
/* All questions about what others wrote: they may have many files, each of which takes long. */
#define OTHERS_MS 900000ULL

/* A question: the place, and what is known of its file. */
struct question {
	uint64_t offset;
	uint32_t id;
	bool exact, trusted_only, build_id_only;
	uint8_t build_id_length;
	uint8_t build_id[TRACE_BUILD_ID_MOST];
	char path[PATH_MAX];
};

/*
 * Only the symbols that there are are sent; for none a byte, as nothing would mean that the reader has died: NONE, or
 * REFUSED if the file is not one to be trusted, and has not been read. Where there are none, but the file is one of
 * code, the place's address in it is sent.
 */
enum { NONE, REFUSED };

struct answer {
	struct answered {
		uint32_t line;
		bool inlined, lasting, has_file;
		char function[TEXT];
		char file[TEXT];
	} symbols[SYMBOL_INLINES_MOST];
};

struct guard {
	pid_t pid;
	struct trace_owner owner;
	struct reader {
		struct confined process; /* while @reads */
		bool reads;
		uint64_t patience; /* milliseconds that it may take altogether */
	} trusting, other;
	unsigned int deaths;
	struct progress *progress;
	uint32_t undigested[DEATHS_MOST]; /* ids of images */
	uint32_t *untrusted;		  /* ids of images */
	size_t n_untrusted, room;
	struct question question;
	struct answer answer;
	uint64_t address; /* of the place that was asked for last; 0: unknown */
};

struct guard *guard_open(pid_t pid, const struct trace_owner *owner)
{
	struct trace_owner now = trace_owner_of(pid);
	struct guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return NULL;
	guard->pid = pid;
	guard->trusting.patience = UINT64_MAX;
	guard->other.patience = OTHERS_MS;
	/* A program that takes on root's rights later, or another with this id, does not lend them to these files. */
	guard->owner = owner->known && owner->uid ? *owner : now;
	guard->owner.known = owner->known && now.known;
	return guard;
}

void guard_close(struct guard *guard)
{
	if (!guard)
		return;
	if (guard->trusting.reads)
		confine_end(&guard->trusting.process);
	if (guard->other.reads)
		confine_end(&guard->other.process);
	free(guard->untrusted);
	free(guard);
}

void guard_tell(struct guard *guard, struct progress *progress)
{
	guard->progress = progress;
}

/* ---- the reader ---- */

static void put(struct answered *to, const struct symbol *from)
{
	to->line = from->line;
	to->inlined = from->inlined;
	to->lasting = from->lasting;
	to->has_file = from->file;
	snprintf(to->function, TEXT, "%s", from->function);
	snprintf(to->file, TEXT, "%s", from->file ? from->file : "");
}

/* Fills in the answer, of *@bytes. Returns what is said if there are none. */
static char answer(struct guard *guard, struct symbols *symbols, size_t *bytes)
{
	struct question *q = &guard->question;
	struct trace_image image = {
		.id = q->id, .path = q->path, .build_id_length = q->build_id_length};
	struct symbol found[SYMBOL_INLINES_MOST];
	size_t have, known = 0;
	uint64_t address;
	bool named = true;

	*bytes = 0;
	memcpy(image.build_id, q->build_id, sizeof(image.build_id));
	if (q->trusted_only && !symbols_trusts(symbols, &image))
		return REFUSED;
	if (q->build_id_only) {
		*bytes = symbols_build_id(symbols, &image, (uint8_t *)&guard->answer);
		return NONE;
	}
	have = symbols_find(symbols, &image, q->offset, q->exact, found);
	for (size_t i = 0; i < have; i++) {
		/* Without memory for its name there is none, nor are those that it was inlined into. */
		named = named && found[i].function;
		if (named)
			put(&guard->answer.symbols[known++], &found[i]);
		free(found[i].function);
		free(found[i].file);
	}
	*bytes = known * sizeof(guard->answer.symbols[0]);
	address = known ? 0 : symbols_address(symbols, &image, q->offset, q->exact);
	if (address) {
		memcpy(&guard->answer, &address, sizeof(address));
		*bytes = sizeof(address);
	}
	return NONE;
}

/*
 * From here on files are opened with the process owner's rights. The untrusted reader takes on all
 * of the owner's ids: with fsuid alone, a file that takes the reader over could set root's id back.
 */
static void open_as(const struct trace_owner *owner, bool trusting)
{
	if (geteuid() || !owner->uid)
		return;
	if (!trusting) {
		if (!confine_become(owner->uid, owner->gid))
			_exit(1);
		return;
	}
	setgroups(0, NULL);
	setfsgid(owner->gid);
	setfsuid(owner->uid);
	/* A process whose rights change no longer ends with its parent. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static _Noreturn void serve(struct guard *guard, int socket, bool trusting)
{
	struct symbols *symbols = symbols_open(guard->pid);

	open_as(&guard->owner, trusting);
	while (symbols && recv(socket, &guard->question, sizeof(guard->question), 0) ==
				  (ssize_t)sizeof(guard->question)) {
		size_t bytes;
		char none = answer(guard, symbols, &bytes);

		if (send(socket, bytes ? (void *)&guard->answer : &none, bytes ? bytes : 1,
			 MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- who asks ---- */

static bool has_reader(struct guard *guard, struct reader *reader)
{
	pid_t pid;

	if (guard->deaths >= DEATHS_MOST || !guard->owner.known || !reader->patience)
		return false;
	if (reader->reads)
		return true;
	pid = confine(&reader->process, SOCK_SEQPACKET, MEMORY_MOST, -1);
	if (!pid)
		serve(guard, reader->process.socket, reader == &guard->trusting);
	reader->reads = pid > 0;
	return reader->reads;
}

static bool is_undigested(const struct guard *guard, uint32_t id)
{
	for (unsigned int i = 0; i < guard->deaths; i++)
		if (guard->undigested[i] == id)
			return true;
	return false;
}

static bool is_untrusted(const struct guard *guard, uint32_t id)
{
	for (size_t i = 0; i < guard->n_untrusted; i++)
		if (guard->untrusted[i] == id)
			return true;
	return false;
}

/* Without memory it is asked for again. */
static void distrust(struct guard *guard, uint32_t id)
{
	uint32_t *ids =
		array_grow(guard->untrusted, guard->n_untrusted, &guard->room, sizeof(*ids));

	if (!ids)
		return;
	guard->untrusted = ids;
	ids[guard->n_untrusted++] = id;
}

/* A reader that has died, or does not answer. */
static void bury(struct guard *guard, struct reader *reader)
{
	confine_end(&reader->process);
	reader->reads = false;
	if (guard->deaths < DEATHS_MOST)
		guard->undigested[guard->deaths++] = guard->question.id;
}

/* Takes the answer, for which the reader has as long as we are patient. Returns as recv(2). */
static ssize_t wait_answer(struct guard *guard, struct reader *reader)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), spent;
	uint64_t most = reader->patience < QUESTION_MS ? reader->patience : QUESTION_MS;
	uint64_t deadline = confine_deadline(most);
	int ready;

	while (!(ready = confine_wait(&reader->process, deadline)))
		progress_wait(guard->progress);
	spent = (clock_ns(CLOCK_MONOTONIC) - begun) / NSEC_PER_MSEC;
	reader->patience -= spent < reader->patience ? spent : reader->patience;
	return ready < 0 ? ready
			 : recv(reader->process.socket, &guard->answer, sizeof(guard->answer),
				MSG_DONTWAIT);
}

/* Has the question answered. Returns of how many bytes; *@refused: the file was not read. */
static size_t ask(struct guard *guard, struct reader *reader, bool *refused)
{
	/* There is room for a question, unless it does not read them. */
	ssize_t got = send(reader->process.socket, &guard->question, sizeof(guard->question),
			   MSG_NOSIGNAL | MSG_DONTWAIT);

	if (got > 0)
		got = wait_answer(guard, reader);
	*refused = got == 1 && *(const char *)&guard->answer == REFUSED;
	if (got > 0)
		return got > 1 ? (size_t)got : 0;
	bury(guard, reader);
	return 0;
}

/* Asks one of the two. */
static size_t ask_of(struct guard *guard, struct reader *reader, bool *refused)
{
	*refused = false;
	guard->question.trusted_only = reader == &guard->trusting;
	return has_reader(guard, reader) ? ask(guard, reader, refused) : 0;
}

static bool begin_question(struct guard *guard, const struct trace_image *image)
{
	if (strlen(image->path) >= PATH_MAX || is_undigested(guard, image->id))
		return false;
	guard->question = (struct question){
		.id = image->id,
		.build_id_length = (uint8_t)image->build_id_length,
	};
	memcpy(guard->question.build_id, image->build_id, sizeof(image->build_id));
	strcpy(guard->question.path, image->path);
	return true;
}

size_t guard_build_id(struct guard *guard, const struct trace_image *image,
		      uint8_t id[TRACE_BUILD_ID_MOST])
{
	bool refused = false;
	size_t n = 0;

	if (is_untrusted(guard, image->id) || !begin_question(guard, image))
		return 0;
	guard->question.build_id_only = true;
	n = ask_of(guard, &guard->trusting, &refused);
	if (refused)
		distrust(guard, image->id);
	if (n > TRACE_BUILD_ID_MOST)
		return 0;
	memcpy(id, &guard->answer, n);
	return n;
}

size_t guard_find(struct guard *guard, const struct trace_image *image, uint64_t offset, bool exact,
		  struct symbol found[SYMBOL_INLINES_MOST])
{
	bool refused = is_untrusted(guard, image->id), lasting = false;
	size_t n = 0;

	guard->address = 0;
	if (!begin_question(guard, image))
		return 0;
	guard->question.offset = offset;
	guard->question.exact = exact;
	if (!refused) {
		n = ask_of(guard, &guard->trusting, &refused);
		lasting = n;
		if (refused)
			distrust(guard, image->id);
	}
	if (refused)
		n = ask_of(guard, &guard->other, &refused);
	if (n == sizeof(guard->address))
		memcpy(&guard->address, &guard->answer, n);
	n /= sizeof(guard->answer.symbols[0]);
	for (size_t i = 0; i < n; i++) {
		/* Whoever has taken a reader over need not end them. */
		guard->answer.symbols[i].function[TEXT - 1] = '\0';
		guard->answer.symbols[i].file[TEXT - 1] = '\0';
		found[i] = (struct symbol){
			.function = strdup(guard->answer.symbols[i].function),
			.file = guard->answer.symbols[i].has_file
					? strdup(guard->answer.symbols[i].file)
					: NULL,
			.line = guard->answer.symbols[i].line,
			.inlined = guard->answer.symbols[i].inlined,
			.lasting = lasting && guard->answer.symbols[i].lasting,
		};
	}
	return n;
}

uint64_t guard_address(const struct guard *guard)
{
	return guard->address;
}
