/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampled allocations come from recorders of their own (source/alloc/recorder.h), one for each target that there is in the beginning, and wait in the snapshot. The
 * trace does not go back for ever, and neither do they: the oldest give way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"

enum { ALLOCS_MAX = 1 << 20, READ_EVERY = 256 };

static int take_alloc(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	const struct alloc_source *source = ctx;
	struct snapshot *snapshot = source->capture->snapshot;
	struct alloc taken = *alloc;

	(void)stack;
	taken.function += source->first_function;
	if (snapshot->alloc_cnt == ALLOCS_MAX) {
		snapshot->alloc_cnt = ALLOCS_MAX / 2;
		memmove(snapshot->allocs, snapshot->allocs + ALLOCS_MAX / 2,
			ALLOCS_MAX / 2 * sizeof(*snapshot->allocs));
	}
	return ARRAY_PUSH(snapshot->allocs, snapshot->alloc_cnt, snapshot->alloc_cap, taken);
}

void capture_take_allocs(struct capture *capture)
{
	for (size_t i = 0; i < capture->alloc_source_cnt; i++)
		alloc_recorder_read(capture->alloc_sources[i].recorder, take_alloc,
				    &capture->alloc_sources[i]);
}

void capture_take_allocs_sometimes(struct capture *capture)
{
	if (capture->alloc_source_cnt && !(capture->alloc_turn++ % READ_EVERY))
		capture_take_allocs(capture);
}

static int add_functions(struct snapshot *snapshot, const struct alloc_recorder *recorder)
{
	const char *name;

	for (uint32_t i = 0; (name = alloc_recorder_function(recorder, i)); i++) {
		char *copy = strdup(name);

		if (!copy || ARRAY_PUSH(snapshot->alloc_functions, snapshot->alloc_function_cnt,
					snapshot->alloc_function_cap, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	return 0;
}

static enum alloc_link link_of(enum trigger_link link)
{
	return link == TRIGGER_LINK_UPROBE_MULTI  ? ALLOC_LINK_MULTI
	       : link == TRIGGER_LINK_PERF_UPROBE ? ALLOC_LINK_PERF
						  : ALLOC_LINK_AUTO;
}

static int add_source(struct capture *capture, pid_t pid)
{
	char exe[64];
	const struct alloc_recorder_config config = {
		.pid = pid,
		.is_running = !capture->config->path,
		.exe = capture->config->path ? capture->config->binary : exe,
		.interval_bytes = capture->config->alloc_interval,
		.live_max = ALLOCS_MAX / 2,
		.link = link_of(capture->config->link),
	};
	struct alloc_source source = {.capture = capture,
				      .first_function = (uint32_t)capture->snapshot->alloc_function_cnt};
	int err;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	err = alloc_recorder_new(&source.recorder, &config);

	if (!err)
		err = add_functions(capture->snapshot, source.recorder);
	if (!err)
		err = ARRAY_PUSH(capture->alloc_sources, capture->alloc_source_cnt, capture->alloc_source_cap,
				 source);
	if (err)
		alloc_recorder_free(source.recorder);
	return err;
}

int capture_record_allocs(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	int err = 0;

	if (!config->alloc_interval)
		return 0;
	capture->snapshot->alloc_interval = config->alloc_interval;
	if (config->path)
		return add_source(capture, capture->launch.pid);
	for (size_t i = 0; i < config->pid_cnt && !err; i++)
		err = add_source(capture, config->pids[i]);
	return err;
}

void capture_unpatch_allocs(const struct capture *capture, const struct sideband_mapping *mapping,
			    uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct probe *probe;

	for (size_t i = 0; i < capture->alloc_source_cnt; i++)
		for (uint32_t j = 0; (probe = alloc_recorder_probe(capture->alloc_sources[i].recorder, j));
		     j++)
			probe_unpatch(probe, mapping, addr, bytes, size);
}

void capture_end_allocs(struct capture *capture)
{
	for (size_t i = 0; i < capture->alloc_source_cnt; i++)
		alloc_recorder_detach(capture->alloc_sources[i].recorder);
	capture_take_allocs(capture);
	for (size_t i = 0; i < capture->alloc_source_cnt; i++) {
		struct alloc_recorder_counts counts =
			alloc_recorder_counts(capture->alloc_sources[i].recorder);

		if (counts.lost)
			log_warn("%llu sampled allocations were lost: they came faster than they could be "
				 "read; a larger --memtrace=INTERVAL samples fewer",
				 (unsigned long long)counts.lost);
	}
	capture_release_allocs(capture);
}

void capture_release_allocs(struct capture *capture)
{
	for (size_t i = 0; i < capture->alloc_source_cnt; i++)
		alloc_recorder_free(capture->alloc_sources[i].recorder);
	free(capture->alloc_sources);
	capture->alloc_sources = NULL;
	capture->alloc_source_cnt = capture->alloc_source_cap = 0;
}
