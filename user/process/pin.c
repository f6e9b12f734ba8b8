/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The original affinities are in memory shared with the guard, a process that blocks on a socket. A byte from
 * there means that the tracer has restored them. End-of-file without that byte means that the tracer was
 * killed: the guard restores them, and sends SIGCONT to processes that a hit has stopped.
 */
#include "process/pin.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "process/proc_status.h"

enum { TASKS_MAX = 4096, PROCESSES_MAX = 1024 };

struct pin_table {
	size_t process_cnt;
	pid_t processes[PROCESSES_MAX];
	size_t cnt;
	struct {
		pid_t tid;
		cpu_set_t before;
	} tasks[TASKS_MAX];
};

static bool is_stopped(pid_t pid)
{
	char state[16];

	return !proc_status_text(pid, "State", state, sizeof(state)) && state[0] == 'T';
}

static void restore_all(const struct pin_table *table)
{
	for (size_t i = 0; i < table->cnt; i++)
		sched_setaffinity(table->tasks[i].tid, sizeof(cpu_set_t), &table->tasks[i].before);
}

/* Without its tracer, a hit's SIGSTOP stops the process now or a moment later. */
static void continue_all(const struct pin_table *table)
{
	enum { ROUNDS = 100 };
	const struct timespec moment = {.tv_nsec = 20000000};

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < table->process_cnt; i++)
			if (is_stopped(table->processes[i]))
				kill(table->processes[i], SIGCONT);
		nanosleep(&moment, NULL);
	}
}

static void __attribute__((noreturn)) guard(const struct pin_table *table, int fd)
{
	char word;

	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	/*
	 * It ends when the tracer does, and who sends signals to all processes of that name means the tracer.
	 */
	setsid();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
	prctl(PR_SET_NAME, "trailcam-guard");
	/* Closes all inherited descriptors: the reader of a pipe would wait for us. */
	for (int other = 0; other < fd; other++)
		close(other);
	closefrom(fd + 1);
	if (read(fd, &word, 1) != 1) {
		restore_all(table);
		if (table->process_cnt)
			continue_all(table);
	}
	_exit(0);
}

/* Not a child of ours, so that whoever kills a process's descendants does not find it. */
static int guard_start(struct pin *pin)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid) {
		if (fork())
			_exit(0);
		close(ends[1]);
		guard(pin->table, ends[0]);
	}
	close(ends[0]);
	if (pid > 0) {
		waitpid(pid, NULL, 0);
		pin->guard_fd = ends[1];
		return 0;
	}
	close(ends[1]);
	return -1;
}

void pin_init(struct pin *pin)
{
	void *table = mmap(NULL, sizeof(struct pin_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	*pin = (struct pin){.cpu = -1, .guard_fd = -1, .table = table == MAP_FAILED ? NULL : table};
	if (pin->table)
		guard_start(pin);
}

void pin_guard_process(struct pin *pin, pid_t pid)
{
	struct pin_table *table = pin->table;

	/* Somebody else stopped it on purpose. */
	if (table && table->process_cnt < PROCESSES_MAX && !is_stopped(pid))
		table->processes[table->process_cnt++] = pid;
}

/* The processor that we run on, if the target may run there, too; else one that both may use. */
static int choose_cpu(const struct pin *pin, const cpu_set_t *allowed)
{
	int here = sched_getcpu();

	if (here >= 0 && CPU_ISSET(here, allowed))
		return here;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && CPU_ISSET(cpu, &pin->own))
			return cpu;
	return -1;
}

static int pin_to(pid_t tid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(tid, sizeof(one), &one);
}

/* With the first target. */
static int begin(struct pin *pin, const cpu_set_t *allowed)
{
	int cpu;

	if (!pin->table || sched_getaffinity(0, sizeof(pin->own), &pin->own))
		return -1;
	cpu = choose_cpu(pin, allowed);
	if (cpu < 0 || pin->guard_fd < 0)
		return -1;
	pin->cpu = cpu;
	return pin_to(0, cpu);
}

static void remember(struct pin *pin, pid_t tid, const cpu_set_t *before)
{
	struct pin_table *table = pin->table;

	table->tasks[table->cnt].tid = tid;
	table->tasks[table->cnt].before = *before;
	table->cnt++;
}

static const cpu_set_t *affinity_of(const struct pin *pin, pid_t tid)
{
	const struct pin_table *table = pin->table;

	for (size_t i = table->cnt; i--;)
		if (table->tasks[i].tid == tid)
			return &table->tasks[i].before;
	return &pin->own;
}

void pin_add(struct pin *pin, pid_t tid)
{
	cpu_set_t before;

	if (sched_getaffinity(tid, sizeof(before), &before) || (pin->cpu < 0 && begin(pin, &before)) ||
	    pin->table->cnt == TASKS_MAX)
		return;
	remember(pin, tid, &before);
	pin_to(tid, pin->cpu);
}

void pin_inherit(struct pin *pin, pid_t tid, pid_t from)
{
	if (pin->cpu < 0)
		return;
	if (pin->table->cnt == TASKS_MAX)
		pin_let_go(pin, tid, from);
	else
		remember(pin, tid, affinity_of(pin, from));
}

void pin_let_go(const struct pin *pin, pid_t tid, pid_t from)
{
	if (pin->cpu >= 0)
		sched_setaffinity(tid, sizeof(cpu_set_t), affinity_of(pin, from));
}

static void take_out(struct pin *pin, pid_t tid, bool restores)
{
	struct pin_table *table = pin->table;

	for (size_t i = pin->cpu >= 0 ? table->cnt : 0; i--;) {
		if (table->tasks[i].tid != tid)
			continue;
		if (restores)
			sched_setaffinity(tid, sizeof(cpu_set_t), &table->tasks[i].before);
		table->tasks[i] = table->tasks[--table->cnt];
		return;
	}
}

void pin_forget(struct pin *pin, pid_t tid)
{
	take_out(pin, tid, false);
}

void pin_end(struct pin *pin, pid_t tid)
{
	take_out(pin, tid, true);
}

void pin_rest(struct pin *pin)
{
	if (pin->cpu < 0)
		return;
	restore_all(pin->table);
	pin->table->cnt = 0;
	pin->cpu = -1;
	sched_setaffinity(0, sizeof(pin->own), &pin->own);
}

void pin_release(struct pin *pin)
{
	ssize_t written;

	pin_rest(pin);
	if (pin->guard_fd >= 0) {
		written = send(pin->guard_fd, "d", 1, MSG_NOSIGNAL);
		(void)written; /* no guard is left to be told */
		close(pin->guard_fd);
	}
	if (pin->table)
		munmap(pin->table, sizeof(*pin->table));
	*pin = (struct pin){.cpu = -1, .guard_fd = -1};
}
