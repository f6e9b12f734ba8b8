/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session tells of a program's life: held without a driver or with one, and untraced. */
#include "assertions.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/sideband.h"
#include "process/launch.h"
#include "process/proc_status.h"
#include "session/driver.h"

/* ---- what is heard: one word for each event, in their order ---- */

struct heard {
	char text[512];
	pid_t first;
	size_t mapping_cnt;
	uint64_t forgotten_cnt;
	bool stop;
};

static void hear(struct heard *heard, pid_t pid, const char *event)
{
	size_t len = strlen(heard->text);

	snprintf(heard->text + len, sizeof(heard->text) - len, "%s%s ", pid == heard->first ? "" : "child-",
		 event);
}

static void idle(void *ctx)
{
	siginfo_t info;

	(void)ctx;
	waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL);
}

static bool stop_wanted(void *ctx)
{
	return ((struct heard *)ctx)->stop;
}

static int mapped(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new)
{
	struct heard *heard = ctx;

	(void)before;
	heard->mapping_cnt += now->cnt;
	if (all_new)
		hear(heard, pid, "mapped");
	return 0;
}

static int executed(void *ctx, pid_t pid, bool replaced)
{
	hear(ctx, pid, replaced ? "replaced" : "executed");
	return 0;
}

static int adopted(void *ctx, pid_t pid)
{
	hear(ctx, pid, "adopted");
	return 0;
}

static int born(void *ctx, pid_t pid, pid_t tid)
{
	hear(ctx, pid, pid == tid ? "born" : "thread");
	return 0;
}

static int leaving(void *ctx, pid_t pid)
{
	hear(ctx, pid, "leaving");
	return 0;
}

static void ended(void *ctx, pid_t pid, int wait_status)
{
	hear(ctx, pid, WIFEXITED(wait_status) && !WEXITSTATUS(wait_status) ? "ended" : "failed");
}

static void signalled(void *ctx, int signal, struct caught_hit *hit)
{
	struct heard *heard = ctx;

	hear(heard, (pid_t)hit->hit.pid, signal == SIGUSR1 ? "signalled" : "?");
	assert_true(hit->regs[HIT_RIP] && hit->regs[HIT_RSP]);
}

static const struct session_events events = {
	.idle = idle,
	.stop_wanted = stop_wanted,
	.mapped = mapped,
	.executed = executed,
	.adopted = adopted,
	.born = born,
	.leaving = leaving,
	.ended = ended,
	.signalled = signalled,
};

/* Runs the script; the sideband goes to *ret_snapshot. */
static int run_script(const char *script, const struct session_config *given, struct heard *heard,
		      struct snapshot **ret_snapshot)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	const struct launch_program program = {.path = "/bin/sh", .argv = argv};
	CLEANUP(session_freep) struct session *session = NULL;
	CLEANUP(launch_release) struct launch launch = {.go_fd = -1, .err_fd = -1};
	struct session_config config = *given;
	enum session_end end;

	config.events = &events;
	config.ctx = heard;
	assert_ok(session_new(&session, &config));
	assert_ok(launch_prepare(&launch, &program));
	heard->first = launch.pid;
	assert_ok(session_launch(session, launch.pid));
	launch_go(&launch);
	assert_ok(session_run(session, &end));
	assert_int_equal(end, SESSION_EXITED);
	assert_ok(snapshot_new(ret_snapshot));
	assert_ok(session_take(session, *ret_snapshot));
	heard->forgotten_cnt = session_forgotten_cnt(session);
	return session_wait_status(session);
}

static size_t records(const struct snapshot *snapshot, uint32_t type)
{
	struct sideband_record record;
	size_t cnt = 0;

	for (size_t at = 0; sideband_next(snapshot, &at, &record) > 0;)
		cnt += record.type == type;
	return cnt;
}

/* ---- without a driver ---- */

TEST(test_free_running)
{
	const struct session_config config = {.free_running = true, .signals = 1 << (SIGUSR1 - 1)};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct heard heard = {0};
	int status = run_script("trap 'exit 7' USR1; (exit 0); kill -USR1 $$", &config, &heard, &snapshot);

	assert_int_equal(WEXITSTATUS(status), 7);
	assert_string_equal(heard.text, "executed mapped signalled leaving failed ");
	assert_true(heard.mapping_cnt > 0);
	assert_true(records(snapshot, PERF_RECORD_MMAP2) > 0);
	assert_int_equal(records(snapshot, PERF_RECORD_FORK), 0);
}

TEST(test_follow_forks)
{
	const struct session_config config = {.free_running = true, .follow_forks = true};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct heard heard = {0};

	assert_int_equal(run_script("/bin/true; exit 0", &config, &heard, &snapshot), 0);
	assert_string_equal(heard.text,
			    "executed mapped child-adopted child-mapped child-born child-executed "
			    "child-mapped child-leaving child-ended leaving ended ");
	assert_int_equal(records(snapshot, PERF_RECORD_FORK), 1);
}

/* Many come and go: the shell, which stays, is known all the time, and the last child, too. */
TEST(test_forgets)
{
	enum { CHILDREN = 600, BYTES = 64 << 10 };
	const struct session_config config = {
		.free_running = true, .follow_forks = true, .sideband_bytes = BYTES};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct heard heard = {0};
	struct sideband_record record;
	int32_t last = 0;
	size_t own = 0, lasts = 0;

	assert_int_equal(run_script("i=0; while [ $i -lt 600 ]; do (:); i=$((i + 1)); done", &config, &heard,
				    &snapshot),
			 0);
	assert_true(snapshot->sideband_size <= BYTES);
	assert_true(heard.forgotten_cnt > CHILDREN / 2);
	assert_int_equal(heard.forgotten_cnt + records(snapshot, PERF_RECORD_FORK), CHILDREN);
	for (size_t at = 0; sideband_next(snapshot, &at, &record) > 0;)
		last = record.type == PERF_RECORD_FORK ? record.pid : last;
	for (size_t at = 0; sideband_next(snapshot, &at, &record) > 0;) {
		own += record.type == PERF_RECORD_MMAP2 && record.pid == heard.first;
		lasts += record.type == PERF_RECORD_MMAP2 && record.pid == last;
	}
	assert_true(own > 0 && lasts > 0);
}

TEST(test_untraced)
{
	const struct session_config config = {.free_running = true, .untraced = true};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct heard heard = {0};
	int status = run_script("grep -q '^TracerPid:.0$' /proc/self/status && exit 7", &config, &heard,
				&snapshot);

	assert_int_equal(WEXITSTATUS(status), 7);
	assert_string_equal(heard.text, "failed ");
	assert_int_equal(snapshot->sideband_size, 0);
}

/* ---- with a driver: threads go from system call to system call ---- */

struct toy_thread {
	struct session_thread base;
	unsigned int call_cnt;
};

struct toy {
	struct session *session;
	unsigned int thread_cnt, begin_cnt, call_cnt;
};

static int toy_plug(void *self, struct session *session)
{
	((struct toy *)self)->session = session;
	return 0;
}

static int toy_thread_new(void *self, struct session_thread *thread)
{
	assert_int_equal(((struct toy_thread *)thread)->call_cnt, 0);
	((struct toy *)self)->thread_cnt++;
	return 0;
}

static void toy_thread_free(void *self, struct session_thread *thread)
{
	struct toy *toy = self;

	toy->call_cnt += ((struct toy_thread *)thread)->call_cnt;
	toy->thread_cnt--;
}

static int toy_begin(void *self, struct session_thread *thread, enum session_place place)
{
	struct toy *toy = self;

	assert_true(thread->held && session_find(toy->session, thread->tid) == thread);
	toy->begin_cnt += place == SESSION_FRESH;
	return 0;
}

static enum __ptrace_request toy_resume(void *self, struct session_thread *thread,
					enum __ptrace_request request, int *signal)
{
	(void)thread;
	(void)signal;
	return session_started(((struct toy *)self)->session) ? PTRACE_SYSCALL : request;
}

static int toy_signal(void *self, struct session_thread *thread, int signal)
{
	(void)self;
	thread->held_signal = signal;
	return 0;
}

static int toy_syscall_end(void *self, struct session_thread *thread)
{
	(void)self;
	((struct toy_thread *)thread)->call_cnt++;
	return 0;
}

static const struct session_driver toy_driver = {
	.thread_size = sizeof(struct toy_thread),
	.plug = toy_plug,
	.thread_new = toy_thread_new,
	.thread_free = toy_thread_free,
	.begin = toy_begin,
	.resume = toy_resume,
	.signal = toy_signal,
	.syscall_end = toy_syscall_end,
};

TEST(test_driver)
{
	struct toy toy = {0};
	const struct session_config config = {.follow_forks = true, .driver = &toy_driver, .self = &toy};
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct heard heard = {0};
	int status = run_script("trap 'exit 7' USR1; (exit 0); kill -USR1 $$", &config, &heard, &snapshot);

	assert_int_equal(WEXITSTATUS(status), 7);
	assert_string_equal(heard.text,
			    "executed mapped child-adopted child-mapped child-born child-ended failed ");
	assert_int_equal(toy.begin_cnt, 2);
	assert_true(toy.call_cnt > 20);
	assert_int_equal(toy.thread_cnt, 0);
	assert_int_equal(records(snapshot, PERF_RECORD_EXIT), 2);
}

/* ---- how long targets are held ---- */

enum { SLOW_MS = 20 };

struct slow {
	struct heard heard;
	unsigned int begin_cnt;
};

static void be_slow(void)
{
	usleep(SLOW_MS * 1000);
}

static int slow_begin(void *self, struct session_thread *thread, enum session_place place)
{
	struct slow *slow = self;

	assert_true(thread->held && place == SESSION_GATHERED);
	slow->begin_cnt++;
	slow->heard.stop = true;
	be_slow();
	return 0;
}

static void slow_let_go(struct session_thread *thread)
{
	(void)thread;
	be_slow();
}

static const struct session_driver slow_driver = {
	.thread_size = sizeof(struct session_thread),
	.begin = slow_begin,
	.let_go = slow_let_go,
};

static bool is_traced(pid_t pid)
{
	uint64_t tracer = 0;

	assert_ok(proc_status_number(pid, "TracerPid", 10, &tracer));
	return tracer;
}

/* How long a sleeping process was held; the session stops as soon as the driver has begun, or before. */
static uint64_t hold(struct slow *slow)
{
	const struct session_config config = {
		.events = &events, .ctx = &slow->heard, .driver = &slow_driver, .self = slow};
	CLEANUP(session_freep) struct session *session = NULL;
	enum session_end end;
	pid_t pid = fork();
	uint64_t held_ns;

	if (!pid)
		for (;;)
			pause();
	assert_ok(session_new(&session, &config));
	assert_ok(session_attach(session, pid));
	assert_int_equal(session_stalled_ns(session), 0);
	assert_ok(session_run(session, &end));
	assert_int_equal(end, SESSION_STOPPED);
	assert_true(is_traced(pid));
	session_detach(session);
	assert_false(is_traced(pid));
	assert_int_equal(session_is_cut(session), slow->begin_cnt == 0);
	held_ns = session_stalled_ns(session);
	be_slow();
	session_detach(session);
	assert_int_equal(session_stalled_ns(session), held_ns);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return held_ns;
}

TEST(test_held_from_first_to_last)
{
	struct slow slow = {0};

	assert_true(hold(&slow) >= 2 * SLOW_MS * 1000000ull);
	assert_int_equal(slow.begin_cnt, 1);
}

TEST(test_stop_before_driver_begins)
{
	struct slow slow = {.heard = {.stop = true}};

	hold(&slow);
	assert_int_equal(slow.begin_cnt, 0);
}

TEST_MAIN(NULL, NULL)
