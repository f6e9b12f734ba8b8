/* SPDX-License-Identifier: BSD-2-Clause */
/* What system calls are about, in words: the files behind their descriptors. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "bpf/samples.h"

/* What the programs must know of each system call: enum samples_call. */
void samples_about_calls(uint16_t calls[static SAMPLES_CALLS]);

struct samples_files; /* what /proc said of descriptors while a ring is read */

int samples_files_new(struct samples_files **ret_files);
void samples_files_free(struct samples_files *files);

/*
 * "socket 127.0.0.1:6379 <-> :51234", "pipe 4711", "file /var/lib/x.db", "epoll of 12", as of then. A path is
 * whole, and an epoll has its count, if `files` is there, and the process still has that file there. NULL:
 * there is no file, or no memory. The caller frees it.
 */
char *samples_about_text(const struct samples_about *about, struct samples_files *files);

DEFINE_CLEANUP(struct samples_files *, samples_files_free)
