/* SPDX-License-Identifier: BSD-2-Clause */
/* What samples.c (setting up, recording) and samples_take.c share. */
#pragma once

#include "source/samples/mapped.h"
#include "source/samples/samples.h"
#include "source/samples/ticks.h"
#include "source/samples/waiting.h"

struct samples {
	struct samples_config config;
	struct samples_bpf *bpf;
	struct samples_ticks ticks, counts[SAMPLES_EVENTS_MAX];
	struct bpf_link **links;
	size_t link_cnt, link_cap;
	struct perf_samples *perf; /* fills the rings where `bpf` may not */
	struct samples_writer *writers;
	uint32_t cpu_cnt;
	uint64_t secret;
	struct mapped rings[SAMPLES_RING_CNT], heads;
	struct samples_reader *readers; /* SAMPLES_RING_CNT for each processor */
	struct ring_buffer *lives;	/* NULL: perf fills the rings, and tells none */
	int (*tell)(void *ctx, const struct thread_life *life); /* while they are read */
	void *tell_ctx;
	struct waiting waiting;	      /* as recording was stopped */
	struct waiting_threads first; /* as it began, until they are taken */
	bool is_recording;
	bool is_listed; /* `waiting` is to be described */
	uint64_t started_ns;
	uint64_t lost_ns; /* up to then switches were lost, as far as was read; 0: none */
};

/* Which threads wait now, for the next samples_settle(). */
void samples_list_waiting(struct samples *samples);

/* The threads that wait as recording begins: what they wait for is known, and where. */
void samples_keep_waiting(struct samples *samples);

/* 0, or -errno with a sentence. */
int samples_open_lives(struct samples *samples);
