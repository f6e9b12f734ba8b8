/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracer, a process of its own, works on a child of its and then kills itself or lets the child go: that
 * must count on.
 */
#include "process/shield.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assertions.h"
#include "base/cleanup.h"
#include "process/inject.h"
#include "process/maps.h"
#include "process/memory.h"
#include "process/proc_status.h"

#define TRAP_MASK (1ull << (SIGTRAP - 1))

struct shared {
	volatile uint64_t counter;
	volatile pid_t target;
	volatile bool refused; /* ptrace is */
	volatile size_t files; /* that the target has open at first */
};

static void __attribute__((noreturn)) count(struct shared *shared)
{
	const struct timespec moment = {.tv_nsec = 100000};

	signal(SIGTRAP, SIG_IGN);
	for (;;) {
		shared->counter++;
		if (shared->counter % 64 == 0)
			nanosleep(&moment, NULL);
	}
}

static uint64_t vdso_end(pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};

	return maps_read(&maps, pid) ? 0 : maps_vdso_end(&maps);
}

static size_t file_cnt(pid_t pid)
{
	char path[64];
	size_t cnt = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && readdir(files))
		cnt++;
	if (files)
		closedir(files);
	return cnt;
}

/* ---- what tracers do ---- */

static void call_often(pid_t target)
{
	const uint64_t none[6] = {0};

	for (int i = 0; i < 50; i++) {
		struct injection injection = {.tid = target, .at = vdso_end(target) - INJECTION_BYTES};

		if (injection_begin(&injection, NULL) ||
		    injection_call(&injection, SYS_getpid, none) != target)
			_exit(1);
		injection_end(&injection);
	}
	ptrace(PTRACE_DETACH, target, NULL, NULL);
}

static void makes_calls(pid_t target)
{
	call_often(target);
	_exit(0);
}

static void call_once(pid_t target)
{
	const uint64_t none[6] = {0};
	struct injection injection = {.tid = target, .at = vdso_end(target) - INJECTION_BYTES};

	if (injection_begin(&injection, NULL) || injection_call(&injection, SYS_getpid, none) != target)
		_exit(1);
}

static void dies_behind_call(pid_t target)
{
	call_once(target);
	raise(SIGKILL);
}

/* One that is to be closed. */
static void open_file(struct injection *injection, pid_t target)
{
	const uint64_t none[6] = {0};

	*injection = (struct injection){.tid = target, .at = vdso_end(target) - INJECTION_BYTES};
	if (injection_begin(injection, NULL) ||
	    injection_call_undone(injection, SYS_eventfd2, none, SYS_close, 0) < 0)
		_exit(1);
}

static void dies_with_open_file(pid_t target)
{
	struct injection injection;

	open_file(&injection, target);
	raise(SIGKILL);
}

static void dies_with_open_file_later(pid_t target)
{
	const uint64_t none[6] = {0};
	struct injection injection;

	open_file(&injection, target);
	if (injection_call(&injection, SYS_getpid, none) != target)
		_exit(1);
	raise(SIGKILL);
}

/* Another one that fails, too. */
static void closes(pid_t target)
{
	const uint64_t bad[6] = {0, ~0ull};
	struct injection injection;

	open_file(&injection, target);
	injection_undo(&injection);
	if (injection_call_undone(&injection, SYS_eventfd2, bad, SYS_close, 0) >= 0)
		_exit(1);
	injection_end(&injection);
	ptrace(PTRACE_DETACH, target, NULL, NULL);
	_exit(0);
}

static void seize(pid_t target)
{
	if (ptrace(PTRACE_SEIZE, target, NULL, PTRACE_O_TRACESYSGOOD))
		_exit(1);
	ptrace(PTRACE_INTERRUPT, target, NULL, NULL);
	waitpid(target, NULL, __WALL);
}

static void put_shield(struct shield *shield, pid_t target)
{
	struct shield_end end;

	shield_raise(shield, target, vdso_end(target), &end);
	if (!shield->at || end.ended)
		_exit(1);
}

/* The next tracer comes while the target is still in the code of the one that died, and steps it. */
static void dies_before_next(pid_t target)
{
	pid_t tracer = getpid();
	struct shield shield = {0};
	struct shield_end end;

	if (fork()) {
		call_once(target);
		kill(target, SIGSTOP);
		raise(SIGKILL);
	}
	while (getppid() == tracer)
		usleep(1000);
	seize(target);
	put_shield(&shield, target);
	shield_lower(&shield, target, 0, &end);
	call_often(target);
	kill(target, SIGCONT);
	_exit(0);
}

static void dies_stepping(pid_t target)
{
	struct shield shield = {0};

	put_shield(&shield, target);
	for (int i = 0; i < 100; i++) {
		ptrace(PTRACE_SINGLESTEP, target, NULL, NULL);
		waitpid(target, NULL, __WALL);
	}
	raise(SIGKILL);
}

static void lowers(pid_t target)
{
	struct shield shield = {0};
	struct shield_end end;
	uint64_t ignored;

	put_shield(&shield, target);
	if (proc_status_number(target, "SigIgn", 16, &ignored) || ignored & TRAP_MASK)
		_exit(1);
	shield_lower(&shield, target, 0, &end);
	ptrace(PTRACE_DETACH, target, NULL, NULL);
	_exit(0);
}

/* Beside code and a name that one has left who was killed. */
static void clears(pid_t target)
{
	enum { NAME_AT = 448 };
	const char nothing[16] = "";
	char name[sizeof(nothing)] = "trailcam";
	uint64_t at = vdso_end(target) - NAME_AT;
	struct shield shield = {0};
	struct shield_end end;

	call_once(target);
	if (memory_poke(target, at, name, sizeof(name)))
		_exit(1);
	put_shield(&shield, target);
	if (memory_read(target, at, name, sizeof(name)) != sizeof(name) ||
	    memcmp(name, nothing, sizeof(name)) != 0)
		_exit(2);
	shield_lower(&shield, target, 0, &end);
	ptrace(PTRACE_DETACH, target, NULL, NULL);
	_exit(0);
}

static void __attribute__((noreturn)) trace(struct shared *shared, void (*work)(pid_t target))
{
	pid_t target = fork();

	if (!target)
		count(shared);
	shared->target = target;
	while (!shared->counter)
		usleep(1000);
	shared->files = file_cnt(target);
	if (ptrace(PTRACE_SEIZE, target, NULL, PTRACE_O_TRACESYSGOOD)) {
		shared->refused = true;
		_exit(0);
	}
	ptrace(PTRACE_INTERRUPT, target, NULL, NULL);
	waitpid(target, NULL, __WALL);
	work(target);
	_exit(1);
}

/* Whether the target counts on; it gets 20 seconds. */
static bool counts_on(const struct shared *shared)
{
	uint64_t before = shared->counter;

	for (int i = 0; i < 2000 && shared->counter < before + 1000; i++)
		usleep(10000);
	return shared->counter >= before + 1000;
}

static void check(void (*work)(pid_t target), int wanted)
{
	struct shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t blocked = 1, ignored = 0;
	size_t files, files_first;
	bool lives, refused;
	int status;
	pid_t tracer;

	assert_true(shared != MAP_FAILED);
	tracer = fork();
	if (!tracer)
		trace(shared, work);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	refused = shared->refused;
	lives = counts_on(shared);
	files_first = shared->files;
	files = file_cnt(shared->target);
	proc_status_number(shared->target, "SigBlk", 16, &blocked);
	proc_status_number(shared->target, "SigIgn", 16, &ignored);
	kill(shared->target, SIGKILL);
	munmap(shared, sizeof(*shared));
	if (refused)
		skip();
	assert_int_equal(status, wanted);
	assert_true(lives);
	assert_int_equal(files, files_first);
	assert_int_equal(blocked, 0);
	if (work != dies_stepping)
		assert_true(ignored & TRAP_MASK);
}

TEST(test_calls)
{
	check(makes_calls, 0);
}

TEST(test_death_behind_call)
{
	check(dies_behind_call, SIGKILL);
}

TEST(test_death_with_open_file)
{
	check(dies_with_open_file, SIGKILL);
	check(dies_with_open_file_later, SIGKILL);
}

TEST(test_closed)
{
	check(closes, 0);
}

TEST(test_death_before_next)
{
	check(dies_before_next, SIGKILL);
}

TEST(test_death_in_step)
{
	check(dies_stepping, SIGKILL);
}

TEST(test_lowered)
{
	check(lowers, 0);
}

TEST(test_cleared)
{
	check(clears, 0);
}

/* A copy of a vDSO with what a shield has left is as without. */
TEST(test_hidden)
{
	uint8_t vdso[8192] = {1};

	vdso[sizeof(vdso) - 1] = 2;
	shield_hide(vdso, sizeof(vdso));
	assert_int_equal(vdso[0], 1);
	assert_int_equal(vdso[sizeof(vdso) - 1], 2);
}

TEST_MAIN(NULL, NULL)
