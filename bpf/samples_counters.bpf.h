/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that a processor counts. Its counter counts on for whoever runs. So it is read where a target's
 * thread begins to run, where it stops, and between where the counter has come round: the differences are the
 * thread's. Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, SIZE_AT_LOAD); /* of each processor SAMPLES_COUNTERS_MAX */
	__type(key, __u32);
	__type(value, __u32);
} counters SEC(".maps");

struct counted {
	struct {
		__u64 value;
		__u32 tid; /* which thread ran then, and has run since if it runs now */
	} last[SAMPLES_COUNTERS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counted);
} counted SEC(".maps");

const volatile __u32 read_counters; /* bit N: event N + 1 is read; else it comes round each time */

static __always_inline void put_count(__u32 event, __u64 cnt, __u64 id, __u64 now)
{
	struct samples_record *record;
	struct place place;

	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return;
	fill(record, SAMPLES_TICK, id >> 32, (__u32)id, now);
	record->tick.period = cnt;
	record->tick.event = event;
	record->tick.kernel_ip = 0;
	commit(&place, record, sizeof(*record));
}

/* What the counter has counted of the running thread since it was read last; it is read now. */
static __always_inline __u64 count_since(__u32 nth, __u64 value, __u32 tid)
{
	__u32 zero = 0;
	struct counted *here = bpf_map_lookup_elem(&counted, &zero);
	__u64 since;

	if (!here)
		return 0;
	nth %= SAMPLES_COUNTERS_MAX;
	since = here->last[nth].tid == tid ? value - here->last[nth].value : 0;
	here->last[nth].value = value;
	here->last[nth].tid = tid;
	return since;
}

/* A thread begins to run, or stops (`is_end`). */
static __always_inline void read_all(__u64 id, __u64 now, bool is_end)
{
	struct bpf_perf_event_value value;
	__u32 first;
	__u64 cnt;

	if (!read_counters)
		return;
	first = bpf_get_smp_processor_id() * SAMPLES_COUNTERS_MAX;
	for (__u32 nth = 0; nth < SAMPLES_COUNTERS_MAX; nth++) {
		if (!(read_counters >> nth & 1) ||
		    bpf_perf_event_read_value(&counters, first + nth, &value, sizeof(value)))
			continue;
		cnt = count_since(nth, value.counter, (__u32)id);
		if (is_end && cnt)
			put_count(nth + 1, cnt, id, now);
	}
}

/* A counter has come round; which one it is says the cookie. */
SEC("perf_event")
int on_event(struct bpf_perf_event_data *ctx)
{
	__u64 id = ids_here(), cnt = ctx->sample_period;
	__u32 event = (__u32)bpf_get_attach_cookie(ctx), nth = (event - 1) % SAMPLES_COUNTERS_MAX;
	struct bpf_perf_event_value value;

	if (!recording || !is_target(id >> 32))
		return 0;
	if (read_counters >> nth & 1) {
		if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
			return 0;
		cnt = count_since(nth, value.counter, (__u32)id);
	}
	if (cnt)
		put_count(event, cnt, id, bpf_ktime_get_ns());
	return 0;
}
