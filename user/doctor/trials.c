/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each trial does the real thing on a small scale: probes are put on a function of this very program, and it
 * is called; a child is stepped for a few instructions, one is translated, and one is sampled.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "condition/condition.h"
#include "doctor/doctor.h"
#include "process/launch.h"
#include "session/session.h"
#include "source/code_stores.h"
#include "source/pt/pt_caps.h"
#include "source/samples/samples.h"
#include "source/source.h"
#include "trigger/trigger.h"

static void __attribute__((format(printf, 3, 4)))
set(struct finding *finding, enum finding_state state, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding->state = state;
	vsnprintf(finding->detail, sizeof(finding->detail), fmt, ap);
	va_end(ap);
}

/* The sentence of a failure has its remedy in it, behind a colon. */
static void set_failed(struct finding *finding, int err)
{
	set(finding, FINDING_FAILS, "%s", fail_message(err));
}

/* ---- stepping ---- */

struct stepping {
	struct code_stores *codes;
	int stops;
	uint64_t instruction_cnt;
};

static bool enough(void *ctx)
{
	return ++((struct stepping *)ctx)->stops > 20;
}

static int mapped(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new)
{
	(void)all_new;
	return code_stores_set_maps(((struct stepping *)ctx)->codes, pid, before, now);
}

static int step_with(void *self, struct stepping *stepping, pid_t pid)
{
	static const struct session_events events = {.stop_wanted = enough, .mapped = mapped};
	const struct session_config config = {
		.events = &events, .ctx = stepping, .driver = source_step.driver, .self = self};
	CLEANUP(session_freep) struct session *session = NULL;
	enum session_end end;
	int err = session_new(&session, &config);

	if (!err)
		err = session_attach(session, pid);
	if (!err)
		err = session_run(session, &end);
	if (!err)
		stepping->instruction_cnt = source_step.instruction_cnt(self);
	return err;
}

static void step_child(pid_t pid, struct finding *finding)
{
	const struct source_options options = {.ring_size = 4096};
	CLEANUP(code_stores_freep) struct code_stores *codes = NULL;
	struct stepping stepping = {0};
	void *self;
	int err = code_stores_new(&codes, &(struct code_store_config){0});

	if (!err)
		err = source_step.open(&self, &(struct source_config){.options = &options, .codes = codes});
	if (!err) {
		stepping.codes = codes;
		err = step_with(self, &stepping, pid);
		source_step.close(self);
	}
	if (err)
		set_failed(finding, err);
	else
		set(finding, stepping.instruction_cnt ? FINDING_WORKS : FINDING_FAILS,
		    "%llu instructions of a child were stepped",
		    (unsigned long long)stepping.instruction_cnt);
}

/* Does it to a child that works without end. */
static void with_child(void (*fn)(pid_t pid, struct finding *finding), struct finding *finding)
{
	pid_t pid = fork_traceable();

	if (!pid)
		for (volatile int i = 0;; i++)
			;
	if (pid < 0) {
		set_failed(finding, fail_errno(-errno, "cannot start a process"));
		return;
	}
	fn(pid, finding);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

static void try_stepping(struct finding *finding)
{
	with_child(step_child, finding);
}

/* ---- translation ---- */

enum { TRANSLATED_MS = 2, TRANSLATED_TURNS = 1000 };

static void wait_a_moment(void *ctx)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	nanosleep(&moment, NULL);
	++*(int *)ctx;
}

static bool has_waited(void *ctx)
{
	return *(int *)ctx > TRANSLATED_MS;
}

static uint64_t packets_of(const struct snapshot *snapshot)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < snapshot->aux_cnt; i++)
		bytes += snapshot->aux[i].size;
	return bytes;
}

static int translate_until_any(void *self, struct session *session, int *waited_ms, struct snapshot *snapshot)
{
	enum session_end end;
	int err = source_translate.start(self);

	for (int i = 0; i < TRANSLATED_TURNS && !err && !packets_of(snapshot); i++) {
		*waited_ms = 0;
		err = session_run(session, &end);
		if (!err)
			err = source_translate.stop(self, -1);
		if (!err)
			err = source_translate.take(self, snapshot);
	}
	return err;
}

static int translate_with(void *self, pid_t pid, struct snapshot *snapshot)
{
	static const struct session_events events = {.idle = wait_a_moment, .stop_wanted = has_waited};
	int waited_ms = 0;
	const struct session_config config = {.free_running = true,
					      .events = &events,
					      .ctx = &waited_ms,
					      .driver = source_translate.driver,
					      .self = self};
	CLEANUP(session_freep) struct session *session = NULL;
	int err = session_new(&session, &config);

	if (!err)
		err = session_attach(session, pid);
	if (!err)
		err = source_translate.add(self, pid, false);
	return err ? err : translate_until_any(self, session, &waited_ms, snapshot);
}

static void translate_child(pid_t pid, struct finding *finding)
{
	const struct source_options options = {.ring_size = 1 << 20};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	void *self;
	int err = snapshot_new(&snapshot);

	if (!err)
		err = source_translate.open(&self, &(struct source_config){.options = &options});
	if (!err) {
		err = translate_with(self, pid, snapshot);
		source_translate.close(self);
	}
	if (err)
		set_failed(finding, err);
	else
		set(finding, packets_of(snapshot) ? FINDING_WORKS : FINDING_FAILS,
		    "a child was translated, which left %llu bytes of packets: --source translate",
		    (unsigned long long)packets_of(snapshot));
}

static void try_translation(struct finding *finding)
{
	with_child(translate_child, finding);
}

/* ---- samples ---- */

enum { SAMPLES_WAIT_MS = 3000, SAMPLES_RING = 256 << 10, NS_PER_MS = 1000000 };

static uint64_t stacks_of(const struct snapshot *snapshot)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		cnt += snapshot->samples[i].kind == SAMPLE_EVENT && snapshot->samples[i].stack_size;
	return cnt;
}

static int sample_until_any(struct samples *samples, struct snapshot *snapshot)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS};
	int err = samples_start(samples);

	for (int i = 0; i < SAMPLES_WAIT_MS && !err && !stacks_of(snapshot); i++) {
		nanosleep(&moment, NULL);
		err = samples_take(samples, snapshot);
	}
	return err;
}

static void sample_child(pid_t pid, struct finding *finding)
{
	const struct samples_config config = {.ring_bytes = SAMPLES_RING};
	CLEANUP(samples_freep) struct samples *samples = NULL;
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	const char *lacks = samples_lack();
	int err = snapshot_new(&snapshot);

	if (!err)
		err = samples_new(&samples, &config);
	if (!err)
		err = samples_add(samples, pid, false);
	if (!err)
		err = sample_until_any(samples, snapshot);
	if (err)
		set_failed(finding, err);
	else if (!stacks_of(snapshot))
		set(finding, FINDING_FAILS, "a child was sampled by %s, but no stack of it came",
		    samples_event(samples));
	else
		set(finding, FINDING_WORKS,
		    "the stack of a child was sampled by %s: --source samples, which attach takes where "
		    "there is no Intel PT%s%s%s",
		    samples_event(samples), lacks ? "; " : "", lacks ? lacks : "",
		    lacks ? " would add code of the kernel, why threads wait and for what, who wakes them, "
			    "page faults, interrupts and system calls"
			  : "");
}

static void try_samples(struct finding *finding)
{
	with_child(sample_child, finding);
}

/* ---- probes ---- */

long doctor_target(long a);
long __attribute__((noinline)) doctor_target(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a + 1;
}

static int count_hit(void *ctx, struct trigger_hit *hit)
{
	*(int *)ctx += hit->caught.hit.pid == (uint32_t)getpid();
	return 0;
}

/*
 * Calls the function under the trigger: how many hits of ours came. Negative: why the probe could not be put.
 */
static int try_trigger(enum trigger_link link, const char *when, uint64_t slower_than_ns)
{
	struct trigger trigger = {0};
	struct trigger_config config = {
		.triggers = &trigger, .trigger_cnt = 1, .pid = getpid(), .link = link};
	struct trigger_set *set = NULL;
	int hits = 0, err = trigger_resolve(&trigger, "doctor_target", "/proc/self/exe", HIT_RECORD);

	if (!err && when)
		err = condition_parse(&trigger.rule.condition, when);
	trigger.rule.slower_than_ns = slower_than_ns;
	if (!err)
		err = trigger_apply_rule(&trigger);
	if (!err)
		err = trigger_set_attach(&set, &config);
	if (!err) {
		doctor_target((long)(uintptr_t) "text");
		trigger_set_read(set, count_hit, &hits);
	}
	trigger_set_free(set);
	trigger_release(&trigger);
	return err ? err : hits;
}

static void judge_trigger(struct finding *finding, int result, const char *what)
{
	if (result < 0)
		set_failed(finding, result);
	else if (result == 0)
		set(finding, FINDING_FAILS,
		    "%s was accepted, but its hit did not come, or came with another process number", what);
	else
		set(finding, FINDING_WORKS, "%s was hit", what);
}

static void try_multi(struct finding *finding)
{
	judge_trigger(finding, try_trigger(TRIGGER_LINK_UPROBE_MULTI, NULL, 0),
		      "a probe of our own (uprobe_multi)");
}

static void try_any(struct finding *finding)
{
	judge_trigger(finding, try_trigger(TRIGGER_LINK_AUTO, NULL, 0), "a probe of our own");
}

static void try_perf(struct finding *finding)
{
	judge_trigger(finding, try_trigger(TRIGGER_LINK_PERF_UPROBE, NULL, 0), "a probe through perf's PMU");
}

static void try_return(struct finding *finding)
{
	judge_trigger(finding, try_trigger(TRIGGER_LINK_AUTO, NULL, 1), "the return of a function");
}

static void try_memory(struct finding *finding)
{
	judge_trigger(finding, try_trigger(TRIGGER_LINK_AUTO, "str(arg0) == \"text\"", 0),
		      "a condition on memory");
}

/* ---- perf events ---- */

/* linux/perf_event.h since 6.13: the bit aux_start_paused, in the word behind aux_sample_size. */
enum { AUX_START_PAUSED = 1 };

static int open_event(uint32_t type, uint32_t aux_action)
{
	struct perf_event_attr attr = {.type = type,
				       .size = PERF_ATTR_SIZE_VER6,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .disabled = 1};
	int fd;

	if (type == PERF_TYPE_SOFTWARE)
		attr.config = PERF_COUNT_SW_DUMMY;
	memcpy((char *)&attr + 116, &aux_action, sizeof(aux_action));
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void try_intel_pt(struct finding *finding)
{
	struct pt_caps caps;
	int fd;

	if (pt_caps_read(&caps, PT_SYSFS)) {
		set(finding, FINDING_NOTE,
		    "this machine has no Intel PT that the kernel knows of: run takes translate, attach "
		    "samples");
		return;
	}
	fd = open_event(caps.type, 0);
	if (fd < 0) {
		set(finding, FINDING_FAILS, "Intel PT is there, but may not be opened: %s", strerror(-fd));
		snprintf(finding->remedy, sizeof(finding->remedy), "sysctl kernel.perf_event_paranoid=2");
		return;
	}
	close(fd);
	set(finding, FINDING_WORKS, "Intel PT can be opened: --source intel_pt, which auto takes, too");
}

static void try_perf_events(struct finding *finding)
{
	int fd = open_event(PERF_TYPE_SOFTWARE, 0);

	if (fd >= 0) {
		close(fd);
		set(finding, FINDING_WORKS, "events of our own processes can be opened");
		return;
	}
	set(finding, FINDING_NOTE, "perf_event_open: %s (--source intel_pt needs it)", strerror(-fd));
	snprintf(finding->remedy, sizeof(finding->remedy), "sysctl kernel.perf_event_paranoid=2");
}

/*
 * The core refuses the bit on an event that has no AUX area with another error than a kernel that does not
 * know it.
 */
static void try_aux_pause(struct finding *finding)
{
	int fd = open_event(PERF_TYPE_SOFTWARE, AUX_START_PAUSED);

	if (fd >= 0)
		close(fd);
	set(finding, FINDING_NOTE,
	    fd == -EOPNOTSUPP ? "the kernel can pause a trace at a hit (Linux 6.13), if the PMU can"
			      : "the kernel cannot pause a trace at a hit");
}

const struct doctor_check doctor_trials[] = {
	{"trigger", DOCTOR_MAIN, try_any},
	{DOCTOR_INTEL_PT, DOCTOR_SOURCE, try_intel_pt},
	{DOCTOR_SAMPLES, DOCTOR_SOURCE, try_samples},
	{DOCTOR_TRANSLATE, DOCTOR_SOURCE, try_translation},
	{DOCTOR_STEPPING, DOCTOR_SOURCE, try_stepping},
	{"uprobe_multi link", DOCTOR_OTHER, try_multi},
	{"perf uprobe", DOCTOR_OTHER, try_perf},
	{"trigger at return", DOCTOR_OTHER, try_return},
	{"condition on memory", DOCTOR_OTHER, try_memory},
	{"perf events", DOCTOR_OTHER, try_perf_events},
	{"AUX pause", DOCTOR_OTHER, try_aux_pause},
	{0},
};
