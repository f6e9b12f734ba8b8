/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that do what they are known to do, recorded by the real programs. Where BPF is not permitted, the
 * tests are skipped.
 */
#include "source/samples/samples.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assertions.h"
#include "base/clock.h"
#include "bpf/samples.h"
#include "source/source.h"

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

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
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
		nap_ms(10);
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

TEST(test_ticks)
{
	const struct samples_config config = {.frequency = 100};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(spin);
	size_t in_spin = 0, ticks = 0;

	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_add(samples, pid, false));
	assert_ok(samples_start(samples));
	take_until(samples, snapshot, SAMPLE_EVENT, ENOUGH);
	samples_stop(samples);
	assert_sane(snapshot, pid);
	assert_string_equal(snapshot->sample_events[0], samples_event(samples));
	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind != SAMPLE_EVENT)
			continue;
		ticks++;
		/* The child is a copy of this process. */
		assert_true(sample->flags & SAMPLE_HAS_REGS);
		in_spin += sample->regs[HIT_RIP] - (uintptr_t)spin < 64;
		assert_in_range(sample->stack_size, 1, SAMPLE_STACK_MAX);
		assert_in_range(sample->regs[HIT_RSP], (uintptr_t)&config - (1 << 20),
				(uintptr_t)&config + (1 << 20));
	}
	assert_in_range(in_spin, ticks / 2, ticks);
	end(pid);
	snapshot_free(snapshot);
	samples_free(samples);
}

/* Where it waits, and that it was woken by the clock. */
TEST(test_switches)
{
	const struct samples_config config = {0};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(sleep_often);
	size_t waits = 0;

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

TEST(test_system_calls)
{
	const struct samples_config config = {.syscalls = true};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(sleep_often);
	size_t sleeps = 0;

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

static void call_often(void)
{
	for (;;)
		syscall(SYS_getppid);
}

/* What calls without a pause is noticed when it becomes a target, and when it no longer is one. */
TEST(test_comes_and_goes)
{
	const struct samples_config config = {.syscalls = true};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	pid_t pid = start(call_often);
	uint64_t dropped_ns;
	size_t late = 0;

	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_start(samples));
	nap_ms(10);
	assert_ok(samples_add(samples, pid, false));
	take_until(samples, snapshot, SAMPLE_SYSCALL_END, ENOUGH);
	samples_drop(samples, pid);
	dropped_ns = clock_kernel_ns();
	nap_ms(20);
	assert_ok(samples_take(samples, snapshot));
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		late += snapshot->samples[i].time_ns > dropped_ns;
	assert_in_range(late, 0, 1); /* the one that was being written */
	end(pid);
	snapshot_free(snapshot);
	samples_free(samples);
}

/* ---- a wait that goes on ---- */

enum { WAITERS = 300, SMALL_RINGS = 1 << 20 };

static _Atomic bool *calls; /* shared with the child */

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Many threads wait, which takes time to look at, and one calls the kernel as long as it should. */
static void crowd(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&thread, &small, wait_for_ever, NULL);
	for (;;)
		if (*calls)
			syscall(SYS_getppid);
		else
			nap_ms(1);
}

/* Those that are seen to wait, and of whose past is known only what is behind the loss. */
static size_t count_waiting(const struct snapshot *snapshot, size_t from, uint64_t lost_ns)
{
	size_t cnt = 0;

	for (size_t i = from; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->flags & SAMPLE_IS_STILL && sample->tid != sample->pid &&
		    sample->since_ns >= lost_ns)
			cnt++;
	}
	return cnt;
}

static uint64_t last_loss(const struct snapshot *snapshot)
{
	uint64_t last = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		if (snapshot->samples[i].kind == SAMPLE_LOST && snapshot->samples[i].time_ns > last)
			last = snapshot->samples[i].time_ns;
	return last;
}

/*
 * What is lost while those that wait are looked at is lost after they were seen: they have to be in the next
 * snapshot again, and not in those behind that.
 */
TEST(test_waits_behind_a_loss)
{
	const struct samples_config config = {.frequency = 100, .ring_bytes = SMALL_RINGS, .syscalls = true};
	struct samples *samples = open_samples(&config);
	struct snapshot *snapshot = NULL;
	uint64_t loss;
	size_t before;
	pid_t pid;

	if (samples_drain_ms(samples) >= 0) {
		samples_free(samples);
		print_message("skipped: no BPF here\n");
		skip();
	}
	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(calls, MAP_FAILED);
	pid = start(crowd);
	assert_ok(snapshot_new(&snapshot));
	assert_ok(samples_add(samples, pid, false));
	assert_ok(samples_start(samples));
	do
		assert_ok(samples_take(samples, snapshot));
	while (count_waiting(snapshot, 0, 0) < WAITERS);
	*calls = true;
	do {
		nap_ms(50);
		before = snapshot->sample_cnt;
		assert_ok(samples_take(samples, snapshot));
	} while (!last_loss(snapshot));
	*calls = false;
	do { /* the last calls may have been too many, too */
		loss = last_loss(snapshot);
		assert_ok(samples_take(samples, snapshot));
	} while (last_loss(snapshot) != loss);
	assert_int_equal(count_waiting(snapshot, before, loss), WAITERS);
	before = snapshot->sample_cnt;
	assert_ok(samples_take(samples, snapshot));
	assert_int_equal(count_waiting(snapshot, before, 0), 0);
	end(pid);
	munmap(calls, sizeof(*calls));
	snapshot_free(snapshot);
	samples_free(samples);
}

/* What comes while a hit is read is not in the rings any more; without `pause` the trace goes on. */
TEST(test_held_by_a_hit)
{
	const struct source_options options = {.frequency = 100};
	pid_t pid = start(spin);

	samples_free(open_samples(&(struct samples_config){0}));
	for (int pause = 0; pause <= 1; pause++) {
		const struct source_config config = {.options = &options, .pause = pause};
		struct snapshot *snapshot = NULL;
		uint64_t held_ns;
		void *self;

		assert_ok(snapshot_new(&snapshot));
		assert_ok(source_samples.open(&self, &config));
		assert_ok(source_samples.add(self, pid, false));
		assert_ok(source_samples.start(self));
		do {
			nap_ms(10);
			assert_ok(source_samples.take(self, snapshot));
		} while (count(snapshot, SAMPLE_EVENT) < ENOUGH);
		source_samples.hold(self);
		held_ns = clock_kernel_ns();
		while (!pause && snapshot->samples[snapshot->sample_cnt - 1].time_ns <= held_ns)
			assert_ok(source_samples.take(self, snapshot));
		nap_ms(50);
		assert_ok(source_samples.take(self, snapshot));
		for (size_t i = 0; pause && i < snapshot->sample_cnt; i++)
			assert_true(snapshot->samples[i].time_ns <= held_ns);
		source_samples.close(self);
		snapshot_free(snapshot);
	}
	end(pid);
}

TEST(test_no_such_frequency)
{
	const struct samples_config config = {.frequency = 2000000000};
	struct samples *samples = NULL;

	samples_free(open_samples(&(struct samples_config){0}));
	assert_err(samples_new(&samples, &config), -EINVAL, "perf_event_max_sample_rate");
}

/* One more than there may be is refused, and comes in once another one has left. */
TEST(test_too_many)
{
	const struct samples_config config = {.frequency = 100};
	struct samples *samples = open_samples(&config);

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

TEST_MAIN(NULL, NULL)
