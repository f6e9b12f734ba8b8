/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of threads would have to be set up and torn down at every switch, which costs a timer's programming
 * each time (in a virtual machine a microsecond and more), and one is needed for each thread. Those of
 * processors cost nothing between two ticks, and the program passes over who is no target.
 */
#include "source/samples/ticks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/reading.h"
#include "base/sort.h"
#include "source/pt_event.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
};

enum { FREQUENCY_LIMIT = 100000 };

/* How a tick's cost is measured. */
enum { COST_FREQUENCY = 5000, COST_GAPS = 64, COST_GAP_NS = 500, COST_MAX_NS = 50000000 };

const char *samples_ticks_event(size_t nth, struct perf_event_attr *attr)
{
	if (nth >= ARRAY_SIZE(events))
		return NULL;
	attr->type = events[nth].type;
	attr->config = events[nth].config;
	return events[nth].name;
}

uint32_t samples_ticks_max(void)
{
	return (uint32_t)reading_number("/proc/sys/kernel/perf_event_max_sample_rate", FREQUENCY_LIMIT);
}

int samples_ticks_fail(int err, uint32_t frequency)
{
	uint32_t max = samples_ticks_max();

	if (err == -EINVAL && frequency > max)
		return fail(err,
			    "--frequency: %u samples a second are more than this machine allows: give at "
			    "most %u (sysctl kernel.perf_event_max_sample_rate)",
			    frequency, max);
	if (err == -EACCES || err == -EPERM)
		return fail(-EPERM, "sampling every processor needs CAP_PERFMON (or "
				    "sysctl kernel.perf_event_paranoid=-1)");
	if (err == -EMFILE)
		return fail(err, "no file descriptors are left for an event on each processor (ulimit -n)");
	return fail_errno(err, "the kernel refuses a clock that samples");
}

/* -ENODEV: the processor is offline. */
static int open_all(struct samples_ticks *ticks, const struct perf_event_attr *attr)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	ticks->fds = calloc((size_t)cpus, sizeof(*ticks->fds));
	ticks->cpus = calloc((size_t)cpus, sizeof(*ticks->cpus));
	if (!ticks->fds || !ticks->cpus)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = pt_event_open(attr, -1, cpu, -1);

		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		ticks->cpus[ticks->cnt] = cpu;
		ticks->fds[ticks->cnt++] = fd;
	}
	return 0;
}

int samples_ticks_open_event(struct samples_ticks *ret_ticks, const struct perf_event_attr *attr,
			     const char *name)
{
	struct samples_ticks ticks = {.event = name};
	int err = open_all(&ticks, attr);

	if (err)
		samples_ticks_release(&ticks);
	else
		*ret_ticks = ticks;
	return err;
}

int samples_ticks_open(struct samples_ticks *ret_ticks, uint32_t frequency)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = frequency,
		.disabled = 1,
		.exclude_hv = 1,
		.exclude_idle = 1,
	};
	const char *name;
	int err = -ENOENT;

	for (size_t i = 0; (name = samples_ticks_event(i, &attr)); i++) {
		err = samples_ticks_open_event(ret_ticks, &attr, name);
		if (err != -ENOENT && err != -EOPNOTSUPP)
			break;
	}
	return err ? samples_ticks_fail(err, frequency) : 0;
}

/*
 * A thread that looks at the clock all the time sees each interruption as a gap. Others have the processor in
 * longer ones; the median is not moved by them, nor by the kernel's own ticks, which are fewer.
 */
static size_t measure_gaps(uint64_t gaps[static COST_GAPS])
{
	uint64_t begin = clock_kernel_ns(), before = begin, now;
	size_t cnt = 0;

	do {
		now = clock_kernel_ns();
		if (now - before >= COST_GAP_NS)
			gaps[cnt++] = now - before;
		before = now;
	} while (cnt < COST_GAPS && now - begin < COST_MAX_NS);
	return cnt;
}

uint64_t samples_ticks_cost_ns(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .freq = 1, .sample_freq = COST_FREQUENCY, .exclude_hv = 1};
	uint64_t gaps[COST_GAPS];
	size_t cnt = 0;

	for (size_t i = 0; samples_ticks_event(i, &attr) && !cnt; i++) {
		int fd = pt_event_open(&attr, 0, -1, -1);

		if (fd < 0)
			continue;
		cnt = measure_gaps(gaps);
		close(fd);
	}
	sort_array(gaps, cnt, sizeof(*gaps), sort_by_number);
	return cnt ? gaps[cnt / 2] : 0;
}

void samples_ticks_release(struct samples_ticks *ticks)
{
	for (size_t i = 0; i < ticks->cnt; i++)
		close(ticks->fds[i]);
	free(ticks->fds);
	free(ticks->cpus);
	*ticks = (struct samples_ticks){0};
}

int samples_ticks_enable(const struct samples_ticks *ticks)
{
	int err = 0;

	for (size_t i = 0; i < ticks->cnt && !err; i++)
		err = pt_event_enable(ticks->fds[i]);
	return err ? fail_errno(err, "cannot start the clock that samples") : 0;
}

void samples_ticks_disable(const struct samples_ticks *ticks)
{
	for (size_t i = 0; i < ticks->cnt; i++)
		pt_event_disable(ticks->fds[i]);
}
