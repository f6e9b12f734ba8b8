/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples the allocations of running programs: probes on allocation functions, a BPF program that decides and
 * records. Like triggers, the probes belong to file descriptors: whatever ends this process removes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "bpf/alloc.h"
#include "trigger/trigger.h"

struct alloc_recorder;

struct alloc_recorder_config {
	pid_t pid;	 /* the process to watch ... */
	bool is_running; /* ... which has mapped its libraries; else it has not exec'd yet */
	const char *exe; /* its program: a path */
	const char *
		/* --allocator: a name of the table, or a library's path; NULL: what the program has */
		allocator;
	uint64_t
		interval_bytes; /* the mean distance of samples; 1: every byte, each allocation is recorded */
	uint32_t
		/*
		 * bytes of the stack to copy with each sample, for unwinding; 0: walk it by frame pointers
		 */
		stack_bytes;
	bool end_stacks; /* with the end of each, too */
	bool mappings;	 /* memory that the program maps itself counts as an allocation, too */
	uint32_t
		/*
		 * how many sampled allocations can be live at once; the ends of more are not recorded
		 */
		live_max;
	/*
	 * Who chooses the samples. UPROBES: the BPF program, at every call. USDT: the allocator, through the
	 * probes otel_memory:alloc and otel_memory:free; its samples are rounded to interval_bytes. AUTO: the
	 * allocator if it is ours (preload/), else the BPF program.
	 */
	enum alloc_sampler { ALLOC_SAMPLER_AUTO, ALLOC_SAMPLER_UPROBES, ALLOC_SAMPLER_USDT } sampler;
	enum alloc_link { ALLOC_LINK_AUTO, ALLOC_LINK_SESSION, ALLOC_LINK_MULTI, ALLOC_LINK_PERF } link;
};

/* The stack of a sample, valid until the callback returns. */
struct alloc_stack {
	const uint64_t *
		/*
		 * indexed by enum hit_reg, at the call or the return of the allocation function; NULL: none
		 */
		regs;
	const uint8_t *bytes; /* the stack from rsp on */
	size_t size;
	const uint64_t *ips; /* by frame pointers, innermost first */
	size_t ip_cnt;
};

/*
 * Finds the functions and attaches the probes. AUTO: uprobe_session links (kernel 6.13), else uprobe_multi
 * links (6.6), else perf's uprobes; log_debug() gives the reason. -ENOENT with a sentence: no allocation
 * function was found; -EPERM, -ENOTSUP as trigger_set_attach().
 */
int alloc_recorder_new(struct alloc_recorder **ret_recorder, const struct alloc_recorder_config *config);

/* For poll(2): readable when many records are pending. */
int alloc_recorder_fd(const struct alloc_recorder *recorder);

/*
 * Delivers up to READ_MAX pending records to fn, oldest first; an end without config.end_stacks has no stack
 * (NULL). Returns how many, or fn's first non-zero return.
 */
int alloc_recorder_read(struct alloc_recorder *recorder,
			int (*fn)(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack),
			void *ctx);

struct alloc_recorder_counts {
	uint64_t calls, bytes; /* of allocation functions: all, sampled or not */
	uint64_t lost;	       /* records that the ring had no room for ... */
	uint64_t lost_samples; /* ... and the samples of those that were allocations */
	uint64_t forgotten;    /* samples whose end will not be seen: more than live_max were alive */
	/*
	 * `bytes` is estimated from the samples, and `calls` counts only sampled calls: nobody counts the
	 * others
	 */
	bool is_estimated;
};

struct alloc_recorder_counts alloc_recorder_counts(const struct alloc_recorder *recorder);

/*
 * Whether the sampled allocation at this address, made at this time, is still live, as far as the BPF program
 * knows.
 */
bool alloc_recorder_is_alive(const struct alloc_recorder *recorder, uint64_t address, uint64_t began_ns);

/* "uprobe_session", "uprobe_multi" or "perf_uprobe". */
const char *alloc_recorder_link_name(const struct alloc_recorder *recorder);

/* The file of the probed functions, the first one if there are several. */
const char *alloc_recorder_allocator(const struct alloc_recorder *recorder);

/*
 * The library whose functions are innermost in each stack, because it reported the allocation itself; NULL:
 * none.
 */
const char *alloc_recorder_teller(const struct alloc_recorder *recorder);

/* The name of alloc.function: "malloc", "operator new(unsigned long)". NULL: there is none. */
const char *alloc_recorder_function(const struct alloc_recorder *recorder, uint32_t function);

/* Whether the function maps memory, and may have been called by an allocator. */
bool alloc_recorder_maps(const struct alloc_recorder *recorder, uint32_t function);

/* The function's probe. NULL: there is no such function. */
const struct probe *alloc_recorder_probe(const struct alloc_recorder *recorder, uint32_t function);

/* Removes the probes. Records can still be read. */
void alloc_recorder_detach(struct alloc_recorder *recorder);
void alloc_recorder_free(struct alloc_recorder *recorder);

DEFINE_CLEANUP(struct alloc_recorder *, alloc_recorder_free)
