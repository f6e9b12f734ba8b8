/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library removes variables from `environ`, but their bytes stay in memory where the kernel put them:
 * between env_start and env_end of proc(5).
 */
#include "base/rights.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

bool rights_are_gained(void)
{
	return getauxval(AT_SECURE) != 0;
}

/* ---- capabilities ---- */

static void cap_freep(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}

static bool has(cap_t caps, cap_value_t which, cap_flag_t flag)
{
	cap_flag_value_t value = CAP_CLEAR;

	cap_get_flag(caps, which, flag, &value);
	return value == CAP_SET;
}

int rights_limit(void)
{
	static const cap_value_t kept[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_IPC_LOCK, CAP_SYS_PTRACE};
	CLEANUP(cap_freep) cap_t had = NULL;
	CLEANUP(cap_freep) cap_t caps = NULL;

	if (!rights_are_gained())
		return 0;
	if (getuid() != geteuid() || getgid() != getegid())
		return fail(-EPERM,
			    "trailcam must not be setuid or setgid: give it capabilities instead (setcap "
			    "cap_bpf,cap_perfmon=ep)");
	had = cap_get_proc();
	caps = cap_dup(had);
	if (!had || !caps)
		return -ENOMEM;
	cap_clear_flag(caps, CAP_PERMITTED);
	cap_clear_flag(caps, CAP_EFFECTIVE);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (!has(had, kept[i], CAP_PERMITTED))
			continue;
		cap_set_flag(caps, CAP_PERMITTED, 1, &kept[i], CAP_SET);
		cap_set_flag(caps, CAP_EFFECTIVE, kept[i] != CAP_SYS_PTRACE, &kept[i], CAP_SET);
	}
	return cap_set_proc(caps) ? fail_errno(-errno, "cannot drop capabilities") : 0;
}

static void set_ptrace(cap_flag_value_t value)
{
	static const cap_value_t which = CAP_SYS_PTRACE;
	CLEANUP(cap_freep) cap_t caps = rights_are_gained() ? cap_get_proc() : NULL;

	if (!caps || !has(caps, which, CAP_PERMITTED))
		return;
	cap_set_flag(caps, CAP_EFFECTIVE, 1, &which, value);
	cap_set_proc(caps);
}

void rights_raise_ptrace(void)
{
	set_ptrace(CAP_SET);
}

void rights_lower_ptrace(void)
{
	set_ptrace(CAP_CLEAR);
}

/* ---- the environment ---- */

/* The strings, one behind the other. False: nothing was taken out of them. */
static bool given_strings(char **ret_first, const char **ret_end)
{
	CLEANUP(fclosep) FILE *file = rights_are_gained() ? fopen("/proc/self/stat", "re") : NULL;
	CLEANUP(freep) char *line = NULL;
	unsigned long first, end;
	const char *at;
	size_t cap = 0;

	if (!file || getdelim(&line, &cap, '\0', file) <= 0)
		return false;
	/* The fields behind the name, which may hold anything, are counted from 3 on; these are 50 and 51. */
	at = strrchr(line, ')');
	for (int field = 2; at && field < 50; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%lu %lu", &first, &end) != 2 || !first)
		return false;
	*ret_first = (char *)first;
	*ret_end = (const char *)end;
	return true;
}

static bool is_called(const char *variable, const char *name, size_t len)
{
	return !strncmp(variable, name, len) && variable[len] == '=';
}

const char *rights_getenv(const char *name)
{
	const char *value = getenv(name), *end;
	size_t len = strlen(name);
	char *at;

	if (value || !given_strings(&at, &end))
		return value;
	for (; at < end; at += strlen(at) + 1)
		if (is_called(at, name, len))
			return at + len + 1;
	return NULL;
}

static bool is_there(char *const *variables, size_t cnt, const char *variable)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < cnt; i++)
		if (is_called(variables[i], variable, len))
			return true;
	return false;
}

char **rights_environ(void)
{
	CLEANUP(freep) char **all = NULL;
	size_t cnt = 0, cap = 0;
	const char *end;
	char *at;

	for (char **variable = environ; variable && *variable; variable++)
		if (ARRAY_PUSH(all, cnt, cap, *variable))
			return NULL;
	if (given_strings(&at, &end))
		for (; at < end; at += strlen(at) + 1)
			if (strchr(at, '=') && !is_there(all, cnt, at) && ARRAY_PUSH(all, cnt, cap, at))
				return NULL;
	return ARRAY_PUSH(all, cnt, cap, NULL) ? NULL : TAKE_PTR(all);
}
