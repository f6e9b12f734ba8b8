/* SPDX-License-Identifier: BSD-2-Clause */
/* What a filter of system calls (seccomp(2)) does to a call, without making it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filtered_call {
	uint32_t number;
	uint64_t args[6];
};

struct seccomp_data;
struct sock_filter;

/* Its answer, as seccomp(2) has it. Where the filter ends without one: that it kills. */
uint32_t filter_action(const struct sock_filter *filter, size_t cnt, const struct seccomp_data *data);

/* Whether the kernel makes the call as if there were no filter. */
bool filter_allows(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call);

/* Whether the thread lives on, and no signal or other process comes into it. The call may fail. */
bool filter_is_survived(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call);
