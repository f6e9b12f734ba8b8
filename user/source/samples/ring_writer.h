/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of the samples source (bpf/samples.h) that this process fills, where no BPF program may. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/samples.h"

struct samples_copied;

struct samples_writer {
	uint8_t *bytes; /* the ring, with SAMPLES_RECORD_MAX bytes behind it; not its own */
	size_t size;	/* of the ring, a multiple of SAMPLES_ALIGN */
	struct samples_head *head;
	uint64_t secret;
	struct samples_copied *slots; /* SAMPLES_SLOTS; made when they are needed */
};

/* Appends a record without a stack, but for its mark and size, which are set here. */
void samples_writer_put(struct samples_writer *writer, const struct samples_record *record);

/*
 * Appends a tick with registers, ARCH_SAMPLED_CNT of them, and the `size` bytes that stood at the stack
 * pointer. What is about these in the record is set here. 0 or -ENOMEM.
 */
int samples_writer_put_full(struct samples_writer *writer, const struct samples_record *record,
			    const uint64_t *regs, const uint8_t *stack, size_t size);

void samples_writer_release(struct samples_writer *writer);
