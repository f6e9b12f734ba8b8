/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of perf that tick on every processor, whatever runs there, and call a BPF program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples_ticks {
	int *fds; /* one for each processor that is online */
	size_t cnt;
	const char *event; /* "cycles", or "cpu-clock" where the machine has no counter for them */
};

/*
 * Opens them, disabled. -EINVAL with a sentence: the kernel allows no such frequency; -EPERM, -EMFILE or what
 * else the kernel says, with a sentence. *ret_ticks is to be released.
 */
int samples_ticks_open(struct samples_ticks *ret_ticks, uint32_t frequency);
void samples_ticks_release(struct samples_ticks *ticks);

int samples_ticks_enable(const struct samples_ticks *ticks);
void samples_ticks_disable(const struct samples_ticks *ticks);
