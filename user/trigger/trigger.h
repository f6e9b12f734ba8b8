/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers: a name the user gave becomes probes (file and offset), the probes are attached with BPF, and
 * their hits come out of a BPF ring buffer. The breakpoints belong to links held by file descriptors:
 * whatever ends this process removes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/hit.h"
#include "model/trigger.h"

/* Whether it is judged when a call ends. */
bool trigger_at_return(const struct trigger *trigger);

/*
 * Makes the trigger's probes what its rule asks for: to be called once, when the rule is complete. 0, or
 * -EINVAL with a sentence: not a place where a call begins; an argument that none of them has; else as
 * call_probes_add().
 */
int trigger_apply_rule(struct trigger *trigger);

/*
 * Resolves `spec` ("SYMBOL" in the executable `exe` or, failing that, the libraries it needs; "FILE:SYMBOL"
 * with a path or a library's name) to probes. Fills *ret_trigger (release with trigger_release()).
 * -ENOENT with a sentence: no such file; no such symbol (lists near matches, says so where the file has no
 * symbols at all); -EINVAL: a malformed spec;
 * -ENOTSUP: 32-bit; an instruction that no uprobe can be put on; an IFUNC without implementations known.
 * -ENOEXEC: not an ELF file.
 */
int trigger_resolve(struct trigger *ret_trigger, const char *spec, const char *exe, uint32_t action);
void trigger_release(struct trigger *trigger);

/* What FILE means in a spec: *ret_path, the caller's to free. -ENOENT with a sentence. */
int trigger_find_file(const char *name, const char *exe, char **ret_path);

/*
 * The trigger becomes the way from the places of `from`, whose probes it takes, to its own: a hit is at its
 * own, and its begin_ns and args are those of the thread's (of Go programs: the goroutine's) last firing of
 * the other. What it takes is in rule.slower_than_ns. To be called before trigger_apply_rule(). 0 or -ENOMEM.
 */
int trigger_set_from(struct trigger *trigger, struct trigger *from);

struct trigger_set; /* attached triggers */

struct trigger_config {
	const struct trigger *triggers; /* hit.trigger is an index into these; must outlive the set */
	size_t trigger_cnt;		/* up to TRIGGER_MAX */
	/* the process to watch (it need not have exec'd yet); 0: those that trigger_set_watch() names */
	pid_t pid;
	enum trigger_link link;
	uint64_t
		/* which HIT_STOP hit, counted from 1, keeps that action: others only record; 0: all do */
		stop_at;
	uint32_t
		/*
		 * so much of the stack is copied with each hit: 0, or a multiple of HIT_COPY_STEP
		 * (bpf/rule.h)
		 */
		stack_bytes;
	bool hold;   /* as if trigger_set_hold() had been called before the first firing */
	bool pause;  /* HIT_STOP fires the tracepoint bpf_trace:bpf_trace_printk first of all */
	bool freeze; /* HIT_STOP stops the process (SIGSTOP) before its next instruction */
};

/*
 * Loads the BPF program and attaches every probe. AUTO: a uprobe_multi link (kernel 6.6, CAP_BPF +
 * CAP_PERFMON), else perf's uprobe PMU (CAP_SYS_ADMIN), with the reason told by log_warn(). -EPERM with a
 * sentence that names the missing capability and how to grant it; -ENOTSUP: the kernel refuses the
 * instruction, or lacks what is needed; -EBUSY: foreign_links_check().
 */
int trigger_set_attach(struct trigger_set **ret_set, const struct trigger_config *config);

/*
 * With config.pid 0: firings in process pid count, or no longer. -E2BIG: too many processes;
 * -ENOENT: it was not watched.
 */
int trigger_set_watch(struct trigger_set *set, pid_t pid);
int trigger_set_unwatch(struct trigger_set *set, pid_t pid);

/*
 * With config.pid: a thread of the process that is not its first has executed a program and taken the first
 * one's place, which the kernel has tied the probes to (kernel/trace/bpf_trace.c,
 * uprobe_multi_link_filter()): attaches them again. Errors as trigger_set_attach().
 */
int trigger_set_follow(struct trigger_set *set);

/* No firing of triggers with HIT_STOP counts from here on, until it is called with false. */
void trigger_set_hold(struct trigger_set *set, bool hold);

/* No firing of any trigger counts or stops a thread from here on: the probes can be removed later. */
void trigger_set_silence(struct trigger_set *set);

/* Removes the breakpoints; hits already recorded can still be read. */
void trigger_set_detach(struct trigger_set *set);
void trigger_set_free(struct trigger_set *set);

/* Readable when a HIT_STOP hit came; for poll(2). */
int trigger_set_fd(const struct trigger_set *set);

/* True if a hit waits to be read; two loads from memory, no system call. */
bool trigger_set_pending(const struct trigger_set *set);

/*
 * A hit as the kernel delivers it. Its stack is that by frame pointers, its return_address the word at the
 * top of the stack, whatever that is.
 */
struct trigger_hit {
	struct caught_hit caught;
	const uint8_t *values; /* what is to be printed (condition/prints.h) */
	const uint8_t *copy;   /* what stood at regs[HIT_SP] and above */
	size_t copy_size;
	bool is_entry; /* at the beginning of a function: its return address is at the top of the stack */
};

/*
 * Delivers every pending hit to fn, in the order they were recorded; it is fn's until that returns. Returns
 * how many, or fn's first non-zero return.
 */
int trigger_set_read(struct trigger_set *set, int (*fn)(void *ctx, struct trigger_hit *hit), void *ctx);

/* Hits the BPF ring buffer had no room for. */
uint64_t trigger_set_lost(const struct trigger_set *set);

/* What became of one trigger's firings so far. */
struct trigger_counts {
	uint64_t passed;       /* for which the condition held (all, where there is none) */
	uint64_t limited;      /* turned away by rule.every_ns */
	uint64_t unreadable;   /* whose condition reads memory that could not be read */
	uint64_t without_call; /* ends of calls that began before the probe was there, or are too long ago */
	uint64_t
		/*
		 * of calls that ended in a jump to where nothing is probed, where the condition asks for
		 * `ret`
		 */
		without_result;
};

struct trigger_counts trigger_set_counts(const struct trigger_set *set, size_t trigger);

/* "uprobe_multi" or "perf_uprobe". */
const char *trigger_set_link_name(const struct trigger_set *set);

DEFINE_CLEANUP(struct trigger_set *, trigger_set_free)
