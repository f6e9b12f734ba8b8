/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many of a recording's stacks could be unwound to a thread's beginning, how many to where another stack
 * goes on, and how many of the others were not copied as far as that. With -v, where the rest ends. With -w,
 * how many of the copies have the word in them.
 *
 *	whole_stacks [-v | -w WORD] RECORDING...
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "history/history.h"
#include "image/image.h"
#include "image/unwind.h"
#include "model/symbol.h"
#include "recording/recording.h"

enum { FRAMES_MAX = 1024 };

struct tally {
	uint64_t all, whole, joined, cut;
};

static void die(const char *path, int err)
{
	fprintf(stderr, "whole_stacks: %s: %s\n", path, fail_message(err));
	exit(1);
}

static void tell_end(const struct history_process *process, size_t version, const struct unwound *unwound)
{
	uint64_t last = unwound->ips[unwound->cnt - 1], first = unwound->ips[0];
	const struct symbol *end = image_symbol_at(process->image, version, last),
			    *leaf = image_symbol_at(process->image, version, first);

	if (end && leaf)
		printf("%s+%#" PRIx64 " ends in %s+%#" PRIx64 ", %zu frames\n", leaf->name,
		       first - leaf->start, end->name, last - end->start, unwound->cnt);
}

static void look_at(struct history *history, const struct stack_sample *sample, bool verbose,
		    struct tally *tally)
{
	struct history_process *process = history_process(history, sample->pid);
	uint8_t room[SAMPLE_STACK_MAX];
	uint64_t ips[FRAMES_MAX];
	struct unwound unwound = {.ips = ips, .cap = FRAMES_MAX};
	size_t version;

	if (sample->kind != SAMPLE_EVENT || !sample->stack_size || !process)
		return;
	version = image_version_at(process->image, sample->time_ns);
	unwind_frames(process->image, version, sample->regs, stack_sample_stack(sample, room),
		      sample->stack_size, &unwound);
	tally->all++;
	tally->whole += unwound.is_whole;
	tally->joined += unwound.is_switched;
	if (unwound.is_whole || unwound.is_switched)
		return;
	tally->cut += sample->flags & SAMPLE_IS_CUT ? 1 : 0;
	if (verbose && !(sample->flags & SAMPLE_IS_CUT))
		tell_end(process, version, &unwound);
}

static bool has_word(const struct stack_sample *sample, uint64_t word)
{
	uint8_t room[SAMPLE_STACK_MAX];
	const uint8_t *stack = sample->stack_size ? stack_sample_stack(sample, room) : NULL;

	for (size_t at = 0; at + sizeof(word) <= sample->stack_size; at += sizeof(word))
		if (!memcmp(stack + at, &word, sizeof(word)))
			return true;
	return false;
}

static size_t with_word(const struct snapshot *snapshot, uint64_t word)
{
	size_t cnt = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		cnt += has_word(&snapshot->samples[i], word);
	return cnt;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v"), wants_word = argc > 2 && !strcmp(argv[1], "-w");

	for (int i = wants_word ? 3 : verbose ? 2 : 1; i < argc; i++) {
		struct snapshot *snapshot;
		struct history *history;
		struct tally tally = {0};
		int err = recording_load(&snapshot, argv[i]);

		if (!err)
			err = history_new(&history, snapshot, NULL);
		if (err)
			die(argv[i], err);
		for (size_t j = 0; j < snapshot->sample_cnt && !wants_word; j++)
			look_at(history, &snapshot->samples[j], verbose, &tally);
		if (wants_word)
			printf("%zu\n", with_word(snapshot, strtoull(argv[2], NULL, 0)));
		else
			printf("%" PRIu64 " stacks, %" PRIu64 " whole, %" PRIu64 " joined, %" PRIu64 " cut\n",
			       tally.all, tally.whole, tally.joined, tally.cut);
		history_free(history);
		snapshot_free(snapshot);
	}
	return 0;
}
