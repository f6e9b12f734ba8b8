/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of the samples source (bpf/samples.h), read while it is being written. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/samples.h"
#include "model/sample.h"

struct samples_slot;
struct samples_files;

struct samples_reader {
	int32_t cpu;
	enum samples_ring ring;
	uint64_t secret;	     /* as the programs have it */
	size_t bytes;		     /* of the ring, without the room behind it */
	uint64_t next;		     /* the position up to which it was read */
	uint64_t last_ns;	     /* of the last record that was read; 0: none */
	struct samples_slot *slots;  /* SAMPLES_SLOTS; NULL: nothing was read yet */
	struct stack_pool *stacks;   /* of what is read next */
	struct samples_files *files; /* who completes paths; NULL: nobody does */
	/* What the next system call or wait of thread `about_tid` is about. */
	uint32_t about_tid; /* 0: nothing is known */
	char *about;
	int64_t timeout_ns;	   /* or enum samples_timeout */
	struct samples_told *told; /* what was told last for each thread and descriptor; NULL: nothing yet */
};

/*
 * Calls `add` for each sample that was not read before, in the order of the ring, which is that of time but
 * for a few. What was overwritten before it could be read, or was not finished, becomes a SAMPLE_LOST. `add`
 * takes over the sample's ips, and returns 0 or an error, which ends it and is returned. -ENOMEM.
 *
 * `bytes` is the ring and `head` where its head is, both mapped from the programs' maps. In the ring, calls
 * that have not returned become SAMPLES_TAKEN.
 */
int samples_reader_read(struct samples_reader *reader, volatile uint8_t *bytes,
			const volatile struct samples_head *head,
			int (*add)(void *ctx, const struct stack_sample *sample), void *ctx);

void samples_reader_release(struct samples_reader *reader);
