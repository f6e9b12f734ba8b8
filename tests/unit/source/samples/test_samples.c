/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that do what they are known to do, recorded by the real programs. Where BPF is not permitted, the
 * tests are skipped.
 */
#include "source/samples/samples.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assertions.h"
#include "bpf/samples.h"

enum { ENOUGH = 20 };

static struct samples *open_samples(const struct samples_config *config)
{
	struct samples *samples = NULL;
	int err = samples_new(&samples, config);

	if (err == -EPERM || err == -ENOTSUP) {
		print_message("skipped: %s\n", fail_message(err));
		skip();
	}
	assert_ok(err);
	return samples;
}

static pid_t start(void (*fn)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Few bytes, whatever the build: samples are sought in them. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("undefined"))) static void spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static void sleep_often(void)
{
	for (;;)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 1000000}, NULL);
}

static size_t count(const struct snapshot *snapshot, enum sample_kind kind)
{
	size_t cnt = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		cnt += snapshot->samples[i].kind == kind;
	return cnt;
}

/* Until so many of a kind are there. */
static void take_until(struct samples *samples, struct snapshot *snapshot, enum sample_kind kind, size_t cnt)
{
	while (count(snapshot, kind) < cnt) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		assert_ok(samples_take(samples, snapshot));
	}
}

static void assert_sane(const struct snapshot *snapshot, pid_t pid)
{
	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		assert_int_equal(snapshot->samples[i].pid, pid);
		assert_int_equal(snapshot->samples[i].tid, pid);
		assert_int_not_equal(snapshot->samples[i].kind, SAMPLE_LOST);
	}
}

static void test_ticks(void **state)
{
	const struct samples_config config = {.frequency = 1000};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(spin);
	size_t in_spin = 0, ticks = 0;

	(void)state;
	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_add(samples, pid, false));
	assert_ok(samples_start(samples));
	take_until(samples, snapshot, SAMPLE_EVENT, ENOUGH);
	samples_stop(samples);
	assert_sane(snapshot, pid);
	assert_string_equal(snapshot->sample_events[0], samples_event(samples));
	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];
		uint64_t rip = sample->regs[HIT_RIP];

		if (sample->kind != SAMPLE_EVENT)
			continue;
		ticks++;
		/* The child is a copy of this process. */
		in_spin += rip - (uintptr_t)spin < 64;
		assert_true(sample->flags & SAMPLE_HAS_REGS);
		assert_non_null(sample->stack);
		assert_in_range(sample->regs[HIT_RSP], (uintptr_t)&config - (1 << 20),
				(uintptr_t)&config + (1 << 20));
	}
	assert_in_range(in_spin, ticks / 2, ticks);
	end(pid);
	snapshot_free(snapshot);
	samples_free(samples);
}

/* Where it waits, and that it was woken by the clock. */
static void test_switches(void **state)
{
	const struct samples_config config = {0};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(sleep_often);
	size_t waits = 0;

	(void)state;
	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_add(samples, pid, false));
	assert_ok(samples_start(samples));
	take_until(samples, snapshot, SAMPLE_SWITCH_OUT, ENOUGH);
	take_until(samples, snapshot, SAMPLE_WAKE_UP, ENOUGH / 2);
	take_until(samples, snapshot, SAMPLE_SWITCH_IN, ENOUGH / 2);
	assert_sane(snapshot, pid);
	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind != SAMPLE_SWITCH_OUT || sample->flags & SAMPLE_PREEMPTED)
			continue;
		assert_int_equal(sample->call.nr, SYS_clock_nanosleep);
		assert_int_equal(sample->call.args[0], CLOCK_MONOTONIC);
		assert_true(sample->state & SAMPLE_INTERRUPTIBLE);
		waits++;
	}
	assert_in_range(waits, 1, snapshot->sample_cnt);
	samples_drop(samples, pid);
	end(pid);
	snapshot_free(snapshot);
	samples_free(samples);
}

static void test_system_calls(void **state)
{
	const struct samples_config config = {.syscalls = true};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(sleep_often);
	size_t sleeps = 0;

	(void)state;
	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_add(samples, pid, false));
	assert_ok(samples_start(samples));
	take_until(samples, snapshot, SAMPLE_SYSCALL_END, ENOUGH);
	assert_sane(snapshot, pid);
	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind != SAMPLE_SYSCALL_BEGIN && sample->kind != SAMPLE_SYSCALL_END)
			continue;
		assert_int_equal(sample->call.result, 0);
		sleeps += sample->call.nr == SYS_clock_nanosleep;
	}
	/* The child begins with some others. */
	assert_in_range(sleeps, ENOUGH, snapshot->sample_cnt);
	end(pid);
	snapshot_free(snapshot);
	samples_free(samples);
}

static void test_no_such_frequency(void **state)
{
	const struct samples_config config = {.frequency = 2000000000};
	struct samples *samples = NULL;

	(void)state;
	samples_free(open_samples(&(struct samples_config){0}));
	assert_err(samples_new(&samples, &config), -EINVAL, "perf_event_max_sample_rate");
}

/* One more than there may be is refused, and comes in once another one has left. */
static void test_too_many(void **state)
{
	const struct samples_config config = {.frequency = 100};
	struct samples *samples = open_samples(&config);

	(void)state;
	if (samples_drain_ms(samples) >= 0) {
		samples_free(samples);
		print_message("skipped: no BPF here\n");
		skip();
	}
	for (pid_t pid = 1; pid <= SAMPLES_TARGETS_MAX; pid++)
		assert_ok(samples_add(samples, pid, true));
	assert_err(samples_add(samples, SAMPLES_TARGETS_MAX + 1, true), -E2BIG, "more than 16384 processes");
	samples_drop(samples, 1);
	assert_ok(samples_add(samples, SAMPLES_TARGETS_MAX + 1, true));
	samples_free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),	     cmocka_unit_test(test_switches),
		cmocka_unit_test(test_system_calls), cmocka_unit_test(test_no_such_frequency),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
