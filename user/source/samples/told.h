/* SPDX-License-Identifier: BSD-2-Clause */
/* What a ring told last of each thread's descriptors, to which later records refer (SAMPLES_KNOWN). */
#pragma once

#include <stdint.h>

struct samples_told;

/* The text that was noted last, or NULL. `told` owns it; it lasts until the next note or forget. */
const char *samples_told_find(const struct samples_told *told, uint32_t tid, int32_t fd);

/* Takes over `text`, which may be NULL. *told may be NULL at first. 0 or -ENOMEM. */
int samples_told_note(struct samples_told **told, uint32_t tid, int32_t fd, char *text);

/* All of it; *told becomes NULL. */
void samples_told_forget(struct samples_told **told);
