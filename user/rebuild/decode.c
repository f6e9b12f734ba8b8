/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole way from a file or a snapshot to a timeline. Of a recording: the images of the processes from the
 * sideband (history.c), the threads with their calls from each part that the recording has, the hits
 * (place_hits.c).
 */
#include "rebuild/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "history/history.h"
#include "model/slice_cursor.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"
#include "rebuild/input_file.h"
#include "rebuild/marks/place_allocs.h"
#include "rebuild/marks/place_hits.h"
#include "rebuild/unnamed.h"
#include "recording/recording.h"
#include "timeline/range.h"

static void find_hit_lines(const struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->timeline->hit_cnt; i++) {
		const struct timeline_hit *hit = &decoded->timeline->hits[i];

		for (size_t j = 0; j < hit->hit->stack_cnt; j++)
			if (hit->stack_symbols[j])
				image_symbol_source(hit->stack_symbols[j]);
	}
}

static int describe(struct timeline *timeline, const struct snapshot *snapshot)
{
	const struct trace_clock *clock = &snapshot->clock;

	/* perf does not tell it. */
	if (clock->realtime_ns)
		timeline->base_realtime_ns = clock->realtime_ns + (timeline->base_ns - clock->trace_ns);
	timeline->command = strdup(snapshot->command);
	timeline->source = strdup(snapshot->source ? snapshot->source : "");
	timeline->stopped_by = strdup(snapshot->stopped_by ? snapshot->stopped_by : "");
	timeline->triggers = calloc(snapshot->trigger_cnt + 1, sizeof(*timeline->triggers));
	if (!timeline->command || !timeline->source || !timeline->stopped_by || !timeline->triggers)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->trigger_cnt; i++) {
		timeline->triggers[i] = strdup(snapshot->triggers[i]);
		if (!timeline->triggers[i])
			return -ENOMEM;
		timeline->trigger_cnt++;
	}
	return 0;
}

static const struct symbol *hit_symbol(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns)
{
	struct decoded *decoded = ctx;

	return history_symbol_at(decoded->history, pid, ip, trace_ns);
}

/* ---- recordings ---- */

static const struct part *const parts[] = {&part_samples, &part_traces, &part_calls};

static int build_parts(struct decoded *decoded, const struct snapshot *snapshot,
		       const struct decode_config *config)
{
	int err = 0;

	if (snapshot->sample_cnt && snapshot->aux_cnt)
		log_warn("the recording has samples and branches: only the samples are shown");
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++)
		if (parts[i]->has(snapshot))
			err = parts[i]->build(decoded, snapshot, config);
	return err;
}

static int rebuild(struct decoded *decoded, const struct snapshot *snapshot,
		   const struct decode_config *config)
{
	int err = history_new(&decoded->history, snapshot, config->symfs);

	if (!err)
		err = build_parts(decoded, snapshot, config);
	if (!err)
		err = describe(decoded->timeline, snapshot);
	if (!err)
		err = place_hits(decoded->timeline, snapshot, hit_symbol, decoded);
	if (!err)
		err = place_allocs(decoded->timeline, snapshot, hit_symbol, decoded);
	if (!err)
		unnamed_warn(decoded->history);
	if (!err && config->source_lines)
		history_find_sources(decoded->history);
	else if (!err && config->hit_source_lines)
		find_hit_lines(decoded);
	return err || config->stored ? err : decoded_load(decoded);
}

static int decoded_new(struct decoded **ret_decoded)
{
	CLEANUP(decoded_freep) struct decoded *decoded = calloc(1, sizeof(*decoded));
	int err = decoded ? timeline_new(&decoded->timeline) : -ENOMEM;

	if (!err)
		*ret_decoded = TAKE_PTR(decoded);
	return err;
}

int decode_snapshot(struct decoded **ret_decoded, const struct snapshot *snapshot,
		    const struct decode_config *config)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = decoded_new(&decoded);

	if (!err)
		err = rebuild(decoded, snapshot, config);
	if (!err)
		*ret_decoded = TAKE_PTR(decoded);
	return err;
}

static int read_recording(struct decoded *decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	int err = recording_load(&snapshot, path);

	return err ? err : rebuild(decoded, snapshot, config);
}

const struct input input_recording = {.name = "recording", .read = read_recording};

/* ---- files ---- */

static int keep_between(struct decoded *decoded, const struct decode_config *config)
{
	int cnt = timeline_load(decoded->timeline);

	if (!cnt)
		cnt = timeline_keep_between(decoded->timeline, config->from, config->to);

	if (cnt < 0)
		return fail(cnt, "no memory for what is between %s and %s", config->from, config->to);
	if (!cnt)
		return fail(-ENOENT,
			    "the trace shows no call of %s that a call of %s follows on the same thread",
			    config->from, config->to);
	return 0;
}

static int decode_path(struct decoded **ret_decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = decoded_new(&decoded);

	if (!err)
		err = input_find(path)->read(decoded, path, config);
	if (!err && config->from)
		err = keep_between(decoded, config);
	if (!err)
		*ret_decoded = TAKE_PTR(decoded);
	return err;
}

int decode_file(struct decoded **ret_decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(input_file_release) struct input_file file = {.fd = -1};
	int err = input_file_open(&file, path, config->is_cancelled);

	if (err)
		return err;
	err = decode_path(ret_decoded, file.path, config);
	return err ? input_file_fail(&file, path, err) : 0;
}

void decoded_free(struct decoded *decoded)
{
	if (!decoded)
		return;
	timeline_free(decoded->timeline);
	history_free(decoded->history);
	if (decoded->free_symbols)
		decoded->free_symbols(decoded->symbols);
	free(decoded);
}

int decoded_load(struct decoded *decoded)
{
	return timeline_load(decoded->timeline);
}

const struct timeline *decoded_timeline(const struct decoded *decoded)
{
	return decoded->timeline;
}

size_t decoded_slice_cnt(const struct decoded *decoded)
{
	size_t cnt = 0;

	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++)
		cnt += timeline_thread_slice_cnt(&decoded->timeline->threads[i]);
	return cnt;
}

size_t decoded_gap_cnt(const struct decoded *decoded)
{
	size_t cnt = 0;

	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++)
		cnt += timeline_thread_gaps(&decoded->timeline->threads[i]);
	return cnt;
}
