/* SPDX-License-Identifier: BSD-2-Clause */
/* The only place with global state: a signal handler can reach nothing else. */
#include "capture/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/progress.h"

/*
 * One that is sent to a process group comes from there and from our front, and timeout(1) sends it to both.
 * So what comes within a second is one.
 */
enum { ONE_SIGNAL_NS = 1000000000 };

static volatile sig_atomic_t pending;
static uint64_t pending_since_ns; /* CLOCK_MONOTONIC */
static volatile sig_atomic_t orphaned;
static volatile pid_t passed_on_to;
static timer_t ticker;
static bool has_ticker;

/*
 * Until somebody asks, the alarm repeats every second: the first may come just before the wait that it should
 * end.
 */
static void remind(void)
{
	alarm(1);
}

static void on_alarm(int signal)
{
	(void)signal;
	remind();
}

/* The terminal sends its signals to the target itself. */
static void pass_on(int signal, const siginfo_t *info)
{
	if (info->si_code <= 0 && passed_on_to > 0)
		kill(passed_on_to, signal);
}

static void note(int signal)
{
	if (!pending)
		pending_since_ns = clock_kernel_ns();
	pending = signal;
}

static void on_signal_for_another(int signal, siginfo_t *info, void *context)
{
	(void)context;
	pass_on(signal, info);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	note(signal);
	remind();
	pass_on(signal, info);
}

/* No repetition is needed: the timer repeats. */
static void on_tick(int signal)
{
	(void)signal;
}

void interrupt_waits(uint64_t ns)
{
	struct sigaction action = {.sa_handler = on_tick};
	struct itimerspec every = {.it_interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};

	every.it_value = every.it_interval;
	sigaction(event.sigev_signo, &action, NULL);
	if (has_ticker || !timer_create(CLOCK_MONOTONIC, &event, &ticker)) {
		has_ticker = true;
		timer_settime(ticker, 0, &every, NULL);
	}
}

static void watch_alarm(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
}

static void at_ending_signals(const struct sigaction *action)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct sigaction before;

		/* nohup and background jobs ignore some of these: then we do, too, and so does the target. */
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], action, NULL);
	}
}

/* In a handler: by writev() alone. */
static void say(const char *before, int signal, const char *behind)
{
	const char *parts[] = {"trailcam: ", before, sigabbrev_np(signal), behind, "\n"};
	struct iovec line[ARRAY_SIZE(parts)];
	ssize_t written;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		line[i] = (struct iovec){(void *)parts[i], strlen(parts[i])};
	progress_clear();
	written = writev(STDERR_FILENO, line, ARRAY_SIZE(line));
	(void)written; /* a closed stderr is the user's choice */
}

/* Its standard action comes next. */
static void on_early_signal(int signal)
{
	say("ended by SIG", signal, " before the recording began: nothing is written");
	raise(signal);
}

void interrupt_end_early(void)
{
	const struct sigaction action = {.sa_handler = on_early_signal, .sa_flags = (int)SA_RESETHAND};

	at_ending_signals(&action);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* One that came while the recording ran is the first. */
static void on_late_signal(int signal, siginfo_t *info, void *context)
{
	int kept_errno = errno;

	(void)context;
	if (passed_on_to > 0 && !has_ended(passed_on_to)) {
		pass_on(signal, info);
	} else if (!pending) {
		say("the trace is being written: another SIG", signal, " ends trailcam without it");
	} else if (clock_kernel_ns() - pending_since_ns >= ONE_SIGNAL_NS) {
		say("ended by SIG", signal, " before all was written");
		at_ending_signals(&(struct sigaction){.sa_handler = SIG_DFL});
		raise(signal);
	}
	note(signal);
	errno = kept_errno;
}

void interrupt_end_writing(void)
{
	const struct sigaction action = {.sa_sigaction = on_late_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	at_ending_signals(&action);
}

void interrupt_pass_on(pid_t worker)
{
	const struct sigaction action = {.sa_sigaction = on_signal_for_another,
					 .sa_flags = SA_SIGINFO | SA_RESTART};

	passed_on_to = worker;
	at_ending_signals(&action);
}

void interrupt_watch(pid_t target)
{
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	watch_alarm();
	passed_on_to = target;
	at_ending_signals(&action);
}

int interrupt_pending(void)
{
	if (pending)
		alarm(0);
	return pending;
}

void interrupt_target_gone(void)
{
	passed_on_to = 0;
}

static void on_parent_death(int signal)
{
	pending = signal;
	orphaned = 1;
	remind();
}

void interrupt_watch_parent(void)
{
	struct sigaction action = {.sa_handler = on_parent_death};

	watch_alarm();
	sigaction(SIGRTMIN, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGRTMIN);
}

bool interrupt_orphaned(void)
{
	return orphaned;
}
