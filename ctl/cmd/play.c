// SPDX-License-Identifier: GPL-2.0
/* mtagctl watch --from: the samples of a file, one after the other. */
#include "cmd/play.h"
#include "ctl.h"
#include "fail.h"
#include "format/watch.h"
#include "offline/read.h"

struct play {
	const struct fmt *fmt;
	bool json;
	pid_t pid;
	struct snap snaps[2]; /* this sample, and the last one that had the process */
	struct sample sample;
};

static void play_clear(struct play *play)
{
	snap_clear(&play->snaps[0]);
	snap_clear(&play->snaps[1]);
}

static const struct proc *find_proc(const struct snap *snap, pid_t pid)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		if (snap->procs[i].pid == pid)
			return &snap->procs[i];
	return NULL;
}

static int print_sample(const struct play *play)
{
	if (play->json)
		return watch_json(play->fmt, &play->sample);
	if (play->sample.number > 1)
		fputc('\n', play->fmt->out);
	return watch_text(play->fmt, &play->sample, 0, "\n");
}

/* Prints the next sample if it has the process. Returns what reader_next() did. */
static enum reading play_next(struct play *play, struct reader *reader, int *status)
{
	struct snap *snap = &play->snaps[play->sample.number % 2];
	struct origin origin;
	enum reading found;
	const struct proc *proc;

	snap_clear(snap);
	found = reader_next(reader, &origin, snap);
	proc = found == READ_SAMPLE ? find_proc(snap, play->pid) : NULL;
	if (!proc)
		return found;
	play->sample.before = play->sample.now;
	play->sample.now = proc;
	play->sample.time_ms = origin.time_ms;
	play->sample.number++;
	*status = print_sample(play) ? fail_memory() : CTL_OK;
	return found;
}

int play_file(const struct fmt *fmt, bool json, const char *path, pid_t pid, unsigned long count)
{
	_cleanup_(play_clear) struct play play = {.fmt = fmt, .json = json, .pid = pid};
	_cleanup_(reader_closep) struct reader *reader = NULL;
	enum reading found = READ_SAMPLE;
	int status = reader_open(&reader, path);

	while (!status && found == READ_SAMPLE && !ferror(fmt->out) &&
	       (!count || play.sample.number < count))
		found = play_next(&play, reader, &status);
	if (found == READ_FAILED)
		return CTL_REFUSED;
	if (!status && !play.sample.number) {
		fail_print("no process %d in any sample of %s", (int)pid, path);
		return CTL_REFUSED;
	}
	return status;
}
