/* SPDX-License-Identifier: GPL-2.0 */
/* Reads snapshot files into the model. Whatever is in the file, the model is what model.h says. */
#ifndef MTAGCTL_OFFLINE_READ_H
#define MTAGCTL_OFFLINE_READ_H

#include "format/snapshot.h"

struct reader;

/* What reader_next() found; READ_FAILED: an error was printed that names the line. */
enum reading { READ_SAMPLE, READ_END, READ_FAILED };

/* Opens a file, or for "-" standard input. Returns 0, or an exit status after an error message. */
int reader_open(struct reader **reader, const char *path);
/* Likewise for a file that is open; @name is for messages. Takes over @file, also on failure. */
int reader_start(struct reader **reader, FILE *file, const char *name);
/* Reads the next sample. Finishes @snap, which must be empty. */
enum reading reader_next(struct reader *reader, struct origin *origin, struct snap *snap);
void reader_close(struct reader *reader);
static inline void reader_closep(struct reader **reader)
{
	reader_close(*reader);
}

/* Gets samples as they are read; may change @snap. Returns 0, or an exit status after a message. */
struct taker {
	int (*take)(void *arg, const struct origin *origin, struct snap *snap);
	void *arg;
};

/*
 * Reads all samples of a file, or with @number only that one, and hands each to @taker. @origin and
 * @snap are of the last of them. 0, or an exit status.
 */
int read_samples(const char *path, unsigned long number, const struct taker *taker,
		 struct origin *origin, struct snap *snap);
/* Reads one sample of a file: the @number-th, or with 0 the last. 0, or an exit status. */
int read_sample(const char *path, unsigned long number, struct origin *origin, struct snap *snap);

#endif
