/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf's names of events (perf-list(1)), as the kernel numbers them (linux/perf_event.h).
 *
 * A processor's counter counts what all programs do there. What the kernel itself counts comes round each
 * time, and a BPF program passes over who is no target. What the processor counts is too frequent for
 * that: the program reads the counter at the switches of the targets' threads, and where it comes round.
 * kernel.perf_event_max_sample_rate does not limit a counter of the kernel's whose period is one. A
 * thread's own counters, which there are without BPF, leave a record in a ring of perf's each time: there
 * only what is rare is recorded so.
 */
#include "source/samples/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

#define HARDWARE(name)		PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name, false
#define SOFTWARE(name, is_rare) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name, is_rare
#define CACHE(cache, operation)                                                         \
	PERF_TYPE_HW_CACHE,                                                             \
		PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
			PERF_COUNT_HW_CACHE_RESULT_MISS << 16,                          \
		false

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_rare;
} known[] = {
	{"page-faults", SOFTWARE(PAGE_FAULTS, false)},
	{"minor-faults", SOFTWARE(PAGE_FAULTS_MIN, false)},
	{"major-faults", SOFTWARE(PAGE_FAULTS_MAJ, false)},
	{"context-switches", SOFTWARE(CONTEXT_SWITCHES, true)},
	{"cpu-migrations", SOFTWARE(CPU_MIGRATIONS, true)},
	{"alignment-faults", SOFTWARE(ALIGNMENT_FAULTS, false)},
	{"emulation-faults", SOFTWARE(EMULATION_FAULTS, false)},
	{"cycles", HARDWARE(CPU_CYCLES)},
	{"instructions", HARDWARE(INSTRUCTIONS)},
	{"branches", HARDWARE(BRANCH_INSTRUCTIONS)},
	{"branch-misses", HARDWARE(BRANCH_MISSES)},
	{"cache-references", HARDWARE(CACHE_REFERENCES)},
	{"cache-misses", HARDWARE(CACHE_MISSES)},
	{"stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
	{"stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
	{"L1-dcache-load-misses", CACHE(L1D, READ)},
	{"L1-icache-load-misses", CACHE(L1I, READ)},
	{"LLC-load-misses", CACHE(LL, READ)},
	{"dTLB-load-misses", CACHE(DTLB, READ)},
	{"iTLB-load-misses", CACHE(ITLB, READ)},
};

static int fail_unknown(const char *name)
{
	char names[1024] = "";

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		strcat(strcat(names, i ? ", " : ""), known[i].name);
	return fail(-EINVAL, "--events: there is no event '%s'; there are %s", name, names);
}

static int add_event(struct samples_events *events, const char *name)
{
	size_t nth = 0;

	while (nth < ARRAY_SIZE(known) && strcmp(known[nth].name, name))
		nth++;
	if (nth == ARRAY_SIZE(known))
		return fail_unknown(name);
	for (size_t i = 0; i < events->cnt; i++)
		if (events->items[i] == nth)
			return fail(-EINVAL, "--events: %s is there twice", name);
	if (events->cnt == SAMPLES_EVENTS_MAX)
		return fail(-EINVAL, "--events: more than %d events", SAMPLES_EVENTS_MAX);
	events->items[events->cnt++] = nth;
	return 0;
}

int samples_events_parse(const char *list, struct samples_events *ret_events)
{
	CLEANUP(freep) char *copy = strdup(list);
	struct samples_events events = {.cnt = 0};
	char *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ",")))
		err = add_event(&events, name);
	if (!err)
		*ret_events = events;
	return err;
}

const char *samples_events_known(size_t number)
{
	return number < ARRAY_SIZE(known) ? known[number].name : NULL;
}

const char *samples_events_name(const struct samples_events *events, size_t nth)
{
	return known[events->items[nth]].name;
}

void samples_events_attr(const struct samples_events *events, size_t nth, uint32_t frequency,
			 struct perf_event_attr *ret_attr)
{
	size_t which = events->items[nth];

	*ret_attr = (struct perf_event_attr){
		.size = sizeof(*ret_attr),
		.type = known[which].type,
		.config = known[which].config,
		.freq = !known[which].is_rare,
		.sample_freq = known[which].is_rare ? 1 : frequency, /* the same place as sample_period */
		.disabled = 1,
		.exclude_hv = 1,
	};
}

bool samples_events_each_time(const struct samples_events *events, size_t nth)
{
	return known[events->items[nth]].type == PERF_TYPE_SOFTWARE;
}

bool samples_events_in_kernel(const struct samples_events *events, size_t nth)
{
	return known[events->items[nth]].is_rare;
}

int samples_events_fail(const struct samples_events *events, size_t nth, uint32_t frequency, int err)
{
	const char *name = samples_events_name(events, nth);

	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL)
		return fail(-ENOTSUP,
			    "--events: this machine cannot count %s: its processor has no such counter, or a "
			    "virtual machine does not pass it on",
			    name);
	if (err == -EACCES && samples_events_in_kernel(events, nth))
		return fail(-EPERM, "--events: %s happen in the kernel: to count them needs CAP_PERFMON",
			    name);
	return samples_ticks_fail(err, frequency);
}

int samples_events_open(const struct samples_events *events, size_t nth, uint32_t frequency,
			struct samples_ticks *ret_ticks)
{
	struct perf_event_attr attr;
	int err;

	samples_events_attr(events, nth, frequency, &attr);
	if (samples_events_each_time(events, nth)) {
		attr.freq = 0;
		attr.sample_period = 1;
	}
	err = samples_ticks_open_event(ret_ticks, &attr, samples_events_name(events, nth));
	return err ? samples_events_fail(events, nth, frequency, err) : 0;
}
