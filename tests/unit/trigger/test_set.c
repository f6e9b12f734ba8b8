/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real probes on a small program that does what it is told over a pipe, through both kinds of links. Where
 * probes are not permitted the tests are skipped.
 */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "trigger/trigger.h"
#include "unit/probe/fixture.h"

/* ---- the program ---- */

/* What it answers to every command. */
struct answer {
	uint64_t probed, other, from,
		from_caller;	  /* addresses of functions, and where probed() and its caller returned to */
	uint64_t pid, tid, child; /* who called probed(); the child that was forked, if any */
};

static const char program[] =
	"#include <pthread.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <sys/syscall.h>\n"
	"#include <sys/wait.h>\n#include <unistd.h>\n"
	"static struct { uint64_t probed, other, from, from_caller, pid, tid, child; } answer;\n"
	"__attribute__((noinline)) long probed(long a, long b) {\n"
	"	answer.from = (uint64_t)__builtin_return_address(0); return a + b; }\n"
	"__attribute__((noinline)) long other(long a) { asm volatile(\"\"); return a + 1; }\n"
	"__attribute__((noinline)) long caller(long a) {\n"
	"	answer.from_caller = (uint64_t)__builtin_return_address(0);\n"
	"	answer.pid = getpid(); answer.tid = syscall(SYS_gettid); return probed(a, 20) + 1; }\n"
	"static void *thread(void *arg) { caller(11); return arg; }\n"
	"int main(void) {\n"
	"	char command; pthread_t id; int times;\n"
	"	answer.probed = (uint64_t)probed; answer.other = (uint64_t)other;\n"
	"	while (read(0, &command, 1) == 1) {\n"
	"		switch (command) {\n"
	"		case 'p': caller(10); break;\n"
	"		case 'o': other(30); break;\n"
	"		case 'g': getppid(); break;\n"
	"		case 'd': usleep(100000); caller(10); break;\n"
	"		case 't': pthread_create(&id, NULL, thread, NULL); pthread_join(id, NULL); break;\n"
	"		case 'f': if (!(answer.child = fork())) { caller(12); _exit(0); } wait(NULL); "
	"break;\n"
	"		case 'm': for (times = 0; times < 5000; times++) probed(times, 0); break;\n"
	"		}\n"
	"		if (write(1, &answer, sizeof(answer)) < 0) return 1;\n"
	"	}\n"
	"	return 0; }\n";

static int setup(void **state)
{
	int err = fixture_enter(state);

	if (!err)
		fixture_build("target.c", program,
			      "gcc -O1 -fno-omit-frame-pointer -o target target.c -pthread");
	return err;
}

/* ---- running it ---- */

struct target {
	pid_t pid;
	int go_fd; /* one byte lets it exec */
	int command_fd, answer_fd;
};

static void exec_target(int go_fd, int command_fd, int answer_fd)
{
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go_fd, &go, 1) != 1 || dup2(command_fd, 0) < 0 || dup2(answer_fd, 1) < 0)
		_exit(1);
	execl("./target", "target", NULL);
	_exit(1);
}

/* A process that waits to exec. */
static struct target target_fork(void)
{
	int go[2], command[2], answer[2];
	struct target target;

	assert_int_equal(pipe2(go, O_CLOEXEC) | pipe2(command, O_CLOEXEC) | pipe2(answer, O_CLOEXEC), 0);
	target = (struct target){fork(), go[1], command[1], answer[0]};
	if (!target.pid)
		exec_target(go[0], command[0], answer[1]);
	assert_true(target.pid > 0);
	close(go[0]);
	close(command[0]);
	close(answer[1]);
	return target;
}

static void tell(const struct target *target, char command)
{
	assert_int_equal(write(target->command_fd, &command, 1), 1);
}

static struct answer hear(const struct target *target)
{
	struct answer answer;

	assert_int_equal(read(target->answer_fd, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

static struct answer ask(const struct target *target, char command)
{
	tell(target, command);
	return hear(target);
}

/* Lets it exec, and hears its first answer: nothing of interest is called for that. */
static struct answer target_go(const struct target *target)
{
	assert_int_equal(write(target->go_fd, "g", 1), 1);
	return ask(target, '?');
}

static struct target target_start(void)
{
	struct target target = target_fork();

	target_go(&target);
	return target;
}

static void target_end(const struct target *target)
{
	close(target->go_fd);
	close(target->command_fd);
	close(target->answer_fd);
	kill(target->pid, SIGKILL);
	assert_int_equal(waitpid(target->pid, NULL, 0), target->pid);
}

static uint8_t byte_at(pid_t pid, uint64_t addr)
{
	char path[32];
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)addr), 1);
	close(fd);
	return byte;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- attaching ---- */

struct attached {
	struct trigger triggers[2];
	size_t cnt;
	struct trigger_set *set;
};

static int try_attach(struct attached *attached, const struct trigger_config *config)
{
	fail_reset();
	return trigger_set_attach(&attached->set, config);
}

static struct trigger_config config_of(const struct attached *attached, pid_t pid, enum trigger_link link)
{
	return (struct trigger_config){
		.triggers = attached->triggers, .trigger_cnt = attached->cnt, .pid = pid, .link = link};
}

/* Resolves and attaches one or two triggers (NULL: none); skips the test where it is not permitted. */
static struct attached attach(pid_t pid, enum trigger_link link, const char *first, uint32_t first_action,
			      const char *second, uint32_t second_action)
{
	struct attached attached = {.cnt = second ? 2 : 1};
	struct trigger_config config;
	int err;

	assert_ok(trigger_resolve(&attached.triggers[0], first, "./target", first_action));
	if (second)
		assert_ok(trigger_resolve(&attached.triggers[1], second, "./target", second_action));
	config = config_of(&attached, pid, link);
	config.triggers = attached.triggers;
	err = try_attach(&attached, &config);
	if (err == -EPERM || (err == -ENOTSUP && link != TRIGGER_LINK_AUTO)) {
		printf("skipped: %s\n", fail_message(err));
		skip();
	}
	assert_ok(err);
	return attached;
}

static void detach(struct attached *attached)
{
	trigger_set_free(attached->set);
	for (size_t i = 0; i < attached->cnt; i++)
		trigger_release(&attached->triggers[i]);
}

struct hits {
	struct caught_hit hits[64];
	size_t cnt;
};

static int take(void *ctx, struct trigger_hit *hit)
{
	struct hits *hits = ctx;

	if (hits->cnt < ARRAY_SIZE(hits->hits))
		hits->hits[hits->cnt] = hit->caught;
	hits->cnt++;
	return 0;
}

static struct hits read_hits(struct trigger_set *set)
{
	struct hits hits = {.cnt = 0};
	int cnt = trigger_set_read(set, take, &hits);

	assert_int_equal(cnt, hits.cnt);
	assert_false(trigger_set_pending(set));
	return hits;
}

/* Each test is run once per kind of link. */
static enum trigger_link link_of(void **state)
{
	return **(enum trigger_link **)state;
}

/* ---- what a hit holds ---- */

static bool in_stack(const struct caught_hit *hit, uint64_t addr)
{
	for (size_t i = 0; i < hit->hit.stack_cnt; i++)
		if (hit->stack[i] == addr)
			return true;
	return false;
}

static void test_hit(void **state)
{
	struct target target = target_fork();
	struct attached attached =
		attach(target.pid, link_of(state), "other", HIT_RECORD, "probed", HIT_STOP);
	struct answer answer = target_go(&target);
	uint64_t before = now_ns(), after;
	const struct caught_hit *hit;
	struct hits hits;

	assert_string_equal(trigger_set_link_name(attached.set),
			    link_of(state) == TRIGGER_LINK_PERF_UPROBE ? "perf_uprobe" : "uprobe_multi");
	assert_int_equal(read_hits(attached.set).cnt, 0);
	assert_int_equal(byte_at(target.pid, answer.probed), 0xcc);
	answer = ask(&target, 'p');
	after = now_ns();
	assert_true(trigger_set_pending(attached.set));
	hits = read_hits(attached.set);
	assert_int_equal(hits.cnt, 1);
	hit = &hits.hits[0];
	assert_int_equal(hit->hit.trigger, 1);
	assert_int_equal(hit->hit.action, HIT_STOP);
	assert_int_equal(hit->hit.pid, target.pid);
	assert_int_equal(hit->hit.tid, target.pid);
	assert_true(hit->hit.time_ns > before && hit->hit.time_ns < after);
	assert_true(hit->hit.cpu < (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	assert_string_equal(hit->hit.comm, "target");
	assert_int_equal(hit->regs[HIT_RIP], answer.probed);
	assert_int_equal(hit->regs[HIT_RDI], 10);
	assert_int_equal(hit->regs[HIT_RSI], 20);
	assert_int_equal(hit->hit.return_address, answer.from);
	assert_true(hit->hit.stack_cnt >= 2 && hit->hit.stack_cnt <= HIT_STACK_MAX);
	assert_int_equal(hit->stack[0], answer.probed);
	assert_true(in_stack(hit, answer.from_caller));
	assert_int_equal(trigger_set_lost(attached.set), 0);
	detach(&attached);
	target_end(&target);
}

/*
 * Hits come in order, each with its trigger; a function may have two triggers, and probes be in several
 * files.
 */
static void test_several(void **state)
{
	struct target target = target_fork();
	struct attached attached =
		attach(target.pid, link_of(state), "other", HIT_RECORD, "libc:getppid", HIT_STOP);
	struct hits hits;

	target_go(&target);
	ask(&target, 'g');
	ask(&target, 'o');
	ask(&target, 'g');
	hits = read_hits(attached.set);
	assert_int_equal(hits.cnt, 3);
	assert_int_equal(hits.hits[0].hit.trigger, 1);
	assert_int_equal(hits.hits[0].hit.action, HIT_STOP);
	assert_int_equal(hits.hits[1].hit.trigger, 0);
	assert_int_equal(hits.hits[1].hit.action, HIT_RECORD);
	assert_int_equal(hits.hits[1].regs[HIT_RDI], 30);
	assert_int_equal(hits.hits[2].hit.trigger, 1);
	assert_true(hits.hits[0].hit.time_ns < hits.hits[1].hit.time_ns &&
		    hits.hits[1].hit.time_ns < hits.hits[2].hit.time_ns);
	detach(&attached);

	attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, "probed", HIT_STOP);
	ask(&target, 'p');
	hits = read_hits(attached.set);
	assert_int_equal(hits.cnt, 2);
	assert_int_equal(hits.hits[0].hit.trigger + hits.hits[1].hit.trigger, 1);
	detach(&attached);
	target_end(&target);
}

static int fail_at_second(void *ctx, struct trigger_hit *hit)
{
	int *cnt = ctx;

	(void)hit;
	return ++*cnt == 2 ? -EINTR : 0;
}

static void test_read_fails(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);
	int cnt = 0;

	for (size_t i = 0; i < 3; i++)
		ask(&target, 'p');
	assert_int_equal(trigger_set_read(attached.set, fail_at_second, &cnt), -EINTR);
	assert_int_equal(cnt, 2);
	assert_int_equal(read_hits(attached.set).cnt, 1);
	detach(&attached);
	target_end(&target);
}

/* All threads of the process; not its children, not other processes that run the same program. */
static void test_whose(void **state)
{
	struct target target = target_fork(), bystander = target_fork();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);
	struct answer answer = target_go(&target), bystanders = target_go(&bystander);
	struct hits hits;

	assert_int_equal(byte_at(target.pid, answer.probed), 0xcc);
	assert_int_equal(byte_at(bystander.pid, bystanders.probed),
			 attached.triggers[0].probes[0].original[0]);
	ask(&bystander, 'p');
	answer = ask(&target, 'f');
	assert_true((pid_t)answer.child > 0);
	assert_int_equal(read_hits(attached.set).cnt, 0);
	answer = ask(&target, 't');
	hits = read_hits(attached.set);
	assert_int_equal(hits.cnt, 1);
	assert_int_equal(hits.hits[0].hit.pid, target.pid);
	assert_int_equal(hits.hits[0].hit.tid, answer.tid);
	assert_int_not_equal(answer.tid, target.pid);
	assert_int_equal(hits.hits[0].regs[HIT_RDI], 11);
	detach(&attached);
	target_end(&target);
	target_end(&bystander);
}

/* ---- actions ---- */

/*
 * Sleeps in poll(2) while the program calls the function 100 ms later. Returns whether it was woken well
 * before the time was up.
 */
static bool woken(const struct target *target, struct trigger_set *set)
{
	struct pollfd pollfd = {.fd = trigger_set_fd(set), .events = POLLIN};
	uint64_t start = now_ns();
	bool early;

	tell(target, 'd');
	poll(&pollfd, 1, 2000);
	early = now_ns() - start < 1500000000ull;
	hear(target);
	if (early)
		assert_int_equal(pollfd.revents, POLLIN);
	return early;
}

static void test_wakeup(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_STOP, NULL, 0);

	assert_true(woken(&target, attached.set));
	assert_int_equal(read_hits(attached.set).cnt, 1);
	detach(&attached);
	attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);
	assert_false(woken(&target, attached.set));
	assert_int_equal(read_hits(attached.set).cnt, 1);
	detach(&attached);
	target_end(&target);
}

/* The thread is stopped before the function has done anything, and goes on as if nothing had been. */
static void test_start_stops(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_START, NULL, 0);
	struct pollfd pollfd = {.fd = target.answer_fd, .events = POLLIN};
	struct hits hits;
	int status;

	tell(&target, 'p');
	assert_int_equal(waitpid(target.pid, &status, WUNTRACED), target.pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGSTOP);
	hits = read_hits(attached.set);
	assert_int_equal(hits.cnt, 1);
	assert_int_equal(hits.hits[0].hit.action, HIT_START);
	assert_int_equal(poll(&pollfd, 1, 50), 0);
	trigger_set_detach(attached.set);
	assert_int_equal(kill(target.pid, SIGCONT), 0);
	assert_int_equal(hear(&target).from, hits.hits[0].hit.return_address);
	detach(&attached);
	target_end(&target);
}

static void test_lost(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);
	struct hits hits;
	uint64_t lost;

	ask(&target, 'm');
	lost = trigger_set_lost(attached.set);
	assert_true(lost > 0);
	hits = read_hits(attached.set);
	assert_true(hits.cnt > 1000);
	assert_int_equal(hits.cnt + lost, 5000);
	/* The oldest are kept; and there is room again. */
	for (size_t i = 0; i < ARRAY_SIZE(hits.hits); i++)
		assert_int_equal(hits.hits[i].regs[HIT_RDI], i);
	ask(&target, 'p');
	assert_int_equal(read_hits(attached.set).cnt, 1);
	assert_int_equal(trigger_set_lost(attached.set), lost);
	detach(&attached);
	target_end(&target);
}

/* ---- the end of probes ---- */

static void test_detach(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_STOP, NULL, 0);
	uint8_t original = attached.triggers[0].probes[0].original[0];
	struct answer answer = ask(&target, 'p');

	assert_int_equal(byte_at(target.pid, answer.probed), 0xcc);
	assert_int_not_equal(original, 0xcc);
	trigger_set_detach(attached.set);
	assert_int_equal(byte_at(target.pid, answer.probed), original);
	ask(&target, 'p');
	assert_int_equal(read_hits(attached.set).cnt, 1);
	trigger_set_detach(attached.set);
	detach(&attached);
	target_end(&target);
}

/* Whatever ends the process that put probes removes them. */
static void test_killed(void **state)
{
	struct target target = target_start();
	struct answer answer;
	uint8_t original;
	int ready[2];
	pid_t attacher;
	char word;

	{
		struct attached attached = attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);

		original = attached.triggers[0].probes[0].original[0];
		detach(&attached);
	}
	answer = ask(&target, '?');
	assert_int_equal(pipe(ready), 0);
	attacher = fork();
	if (!attacher) {
		attach(target.pid, link_of(state), "probed", HIT_RECORD, NULL, 0);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &word, 1), 1);
	assert_int_equal(byte_at(target.pid, answer.probed), 0xcc);
	kill(attacher, SIGKILL);
	assert_int_equal(waitpid(attacher, NULL, 0), attacher);
	/* Who held them sees that end, and ends. */
	for (int i = 0; i < 3000 && byte_at(target.pid, answer.probed) != original; i++)
		usleep(10000);
	assert_int_equal(byte_at(target.pid, answer.probed), original);
	ask(&target, 'p');
	close(ready[0]);
	close(ready[1]);
	target_end(&target);
}

/* ---- errors ---- */

static void test_no_process(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_STOP, NULL, 0);
	struct trigger_config config;

	trigger_set_free(attached.set);
	attached.set = NULL;
	target_end(&target);
	config = config_of(&attached, target.pid, link_of(state));
	assert_err(trigger_set_attach(&attached.set, &config), -ESRCH, "there is no process");
	assert_null(attached.set);
	detach(&attached);
}

static void test_no_file(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, link_of(state), "probed", HIT_STOP, NULL, 0);
	struct trigger_config config = config_of(&attached, target.pid, link_of(state));
	char *path = attached.triggers[0].probes[0].path;

	trigger_set_free(attached.set);
	attached.set = NULL;
	attached.triggers[0].probes[0].path = (char *)"/nowhere";
	assert_err(trigger_set_attach(&attached.set, &config), -ENOENT,
		   "cannot put a probe on probed in /nowhere");
	attached.triggers[0].probes[0].path = path;
	detach(&attached);
	target_end(&target);
}

/* ---- privileges ---- */

enum { NOBODY = 65534 };

static bool become_nobody(const char *caps_text)
{
	cap_t caps = cap_from_text(caps_text);
	bool done = caps && !prctl(PR_SET_KEEPCAPS, 1) && !setgroups(0, NULL) &&
		    !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY) &&
		    !cap_set_proc(caps);

	cap_free(caps);
	return done;
}

struct outcome {
	int err;
	size_t hit_cnt;
	char message[512];
};

/* As nobody with these capabilities: attaches, has the function called, counts the hits. */
static struct outcome attach_as(const char *caps, enum trigger_link link, const struct target *target)
{
	struct outcome outcome = {.err = 1};
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct attached attached = {.cnt = 1};
		struct trigger_config config;

		if (!become_nobody(caps) ||
		    trigger_resolve(&attached.triggers[0], "probed", "./target", HIT_STOP))
			_exit(1);
		config = config_of(&attached, target->pid, link);
		outcome.err = try_attach(&attached, &config);
		snprintf(outcome.message, sizeof(outcome.message), "%s", fail_message(outcome.err));
		if (!outcome.err) {
			struct hits hits = {.cnt = 0};

			ask(target, 'p');
			trigger_set_read(attached.set, take, &hits);
			outcome.hit_cnt = hits.cnt;
		}
		_exit(write(fds[1], &outcome, sizeof(outcome)) < 0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &outcome, sizeof(outcome)), sizeof(outcome));
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return outcome;
}

static void test_capabilities(void **state)
{
	struct target target = target_start();
	struct outcome outcome;

	(void)state;
	if (getuid()) {
		printf("skipped: only root can become somebody else\n");
		skip();
	}
	{
		struct attached attached =
			attach(target.pid, TRIGGER_LINK_UPROBE_MULTI, "probed", HIT_STOP, NULL, 0);

		detach(&attached);
	}
	outcome = attach_as("cap_bpf,cap_perfmon=ep", TRIGGER_LINK_AUTO, &target);
	if (outcome.err)
		fail_msg("%d: %s", outcome.err, outcome.message);
	assert_int_equal(outcome.hit_cnt, 1);
	outcome = attach_as("=", TRIGGER_LINK_AUTO, &target);
	assert_int_equal(outcome.err, -EPERM);
	assert_non_null(strstr(outcome.message, "CAP_BPF and CAP_PERFMON, and both are missing"));
	assert_non_null(strstr(outcome.message, "setcap cap_bpf,cap_perfmon=ep /"));
	outcome = attach_as("cap_bpf=ep", TRIGGER_LINK_AUTO, &target);
	assert_int_equal(outcome.err, -EPERM);
	assert_non_null(strstr(outcome.message, "CAP_PERFMON is missing"));
	outcome = attach_as("cap_perfmon=ep", TRIGGER_LINK_UPROBE_MULTI, &target);
	assert_int_equal(outcome.err, -EPERM);
	assert_non_null(strstr(outcome.message, "CAP_BPF is missing"));
	outcome = attach_as("cap_bpf,cap_perfmon=ep", TRIGGER_LINK_PERF_UPROBE, &target);
	assert_int_equal(outcome.err, -EPERM);
	assert_non_null(strstr(outcome.message, "CAP_SYS_ADMIN, which is missing"));
	target_end(&target);
}

/* The better kind is taken where there is one, and libbpf's remarks stay off stderr. */
static void test_auto(void **state)
{
	struct target target = target_start();
	struct attached attached = attach(target.pid, TRIGGER_LINK_UPROBE_MULTI, "probed", HIT_STOP, NULL, 0);

	(void)state;
	detach(&attached);
	attached = attach(target.pid, TRIGGER_LINK_AUTO, "probed", HIT_STOP, NULL, 0);
	assert_string_equal(trigger_set_link_name(attached.set), "uprobe_multi");
	detach(&attached);
	target_end(&target);
}

static enum trigger_link multi = TRIGGER_LINK_UPROBE_MULTI, perf = TRIGGER_LINK_PERF_UPROBE;

#define TEST_BOTH(test)                                               \
	{"test_" #test "_multi", test_##test, NULL, NULL, &multi},    \
	{                                                             \
		"test_" #test "_perf", test_##test, NULL, NULL, &perf \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(hit),
		TEST_BOTH(several),
		TEST_BOTH(read_fails),
		TEST_BOTH(whose),
		TEST_BOTH(wakeup),
		TEST_BOTH(start_stops),
		TEST_BOTH(lost),
		TEST_BOTH(detach),
		TEST_BOTH(killed),
		TEST_BOTH(no_process),
		TEST_BOTH(no_file),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_auto),
	};

	/* A stop that does not come would be waited for without end. */
	alarm(120);
	return cmocka_run_group_tests(tests, setup, fixture_leave);
}
