/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers: a name becomes probes (file and offset), which are attached with BPF; hits come from a BPF ring
 * buffer. Links held by file descriptors own the breakpoints, so these vanish whenever this process ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/hit.h"
#include "model/trigger.h"

struct trigger_spec; /* probe/spec.h */

/* Whether its condition is evaluated at the end of a call. */
bool trigger_at_return(const struct trigger *trigger);

/*
 * Adjusts the trigger's probes to its rule; call it once, when the rule is complete. -EINVAL with a sentence:
 * not a place where a call begins, or an argument that no probe has; else as call_probes_add().
 */
int trigger_apply_rule(struct trigger *trigger);

/*
 * Resolves `spec` ("SYMBOL" in the executable `exe` or else the libraries it needs; "FILE:SYMBOL" with a path
 * or a library's name) to probes. Fills *ret_trigger (release with trigger_release()). Errors, each with a
 * sentence: -ENOENT: no such file or symbol (with similar names, or that the file is stripped); -EINVAL:
 * malformed spec; -ENOTSUP: 32-bit, an instruction that cannot be probed, an IFUNC without known
 * implementations; -ENOEXEC: not an ELF file.
 */
int trigger_resolve(struct trigger *ret_trigger, const char *spec, const char *exe, uint32_t action);
void trigger_release(struct trigger *trigger);

/*
 * The same in the file `path` alone, and without a name. -ENOENT has no sentence: others may have the place.
 */
int trigger_resolve_in(struct trigger *ret_trigger, const struct trigger_spec *spec, const char *path,
		       uint32_t action);

/* The path of FILE in a spec: *ret_path, which the caller frees. -ENOENT with a sentence. */
int trigger_find_file(const char *name, const char *exe, char **ret_path);

/*
 * Makes the trigger measure the way from the places of `from`, whose probes it takes, to its own places. A
 * hit is at its own place; begin_ns and args are those of the thread's (in Go: the goroutine's) last firing
 * at `from`. Takes over rule.slower_than_ns. Call it before trigger_apply_rule(). 0 or -ENOMEM.
 */
int trigger_set_from(struct trigger *trigger, struct trigger *from);

struct trigger_set; /* attached triggers */

struct trigger_config {
	const struct trigger *triggers; /* hit.trigger is an index into these; must outlive the set */
	size_t trigger_cnt;		/* up to TRIGGER_MAX */
	/* the process to watch (it may not have exec'd yet); 0: those of trigger_set_watch() */
	pid_t pid;
	enum trigger_link link;
	const struct probe_mirror *mirror; /* NULL: there is none; must outlive the set */
	/* number of the HIT_STOP hit (from 1) that stops; others only record; 0: all stop */
	uint64_t stop_at;
	/* bytes of the stack to copy with each hit: 0, or a multiple of HIT_COPY_STEP (bpf/rule.h) */
	uint32_t stack_bytes;
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
 * With config.pid 0: watch process pid, or no longer. -E2BIG: too many processes; -ENOENT: it was not
 * watched.
 */
int trigger_set_watch(struct trigger_set *set, pid_t pid);
int trigger_set_unwatch(struct trigger_set *set, pid_t pid);

/*
 * With config.pid: attaches again after a thread other than the first has executed a program. It takes the
 * place of the first thread, to which the kernel had tied the probes (kernel/trace/bpf_trace.c,
 * uprobe_multi_link_filter()). Errors as trigger_set_attach().
 */
int trigger_set_follow(struct trigger_set *set);

/* Ignores firings of HIT_STOP triggers while `hold` is true. */
void trigger_set_hold(struct trigger_set *set, bool hold);

/*
 * Ignores all firings from now on, and stops no thread. The kernel begins to remove the breakpoints, some 100
 * ms; trigger_set_free() waits for that.
 */
void trigger_set_silence(struct trigger_set *set);

/* Removes the breakpoints. Recorded hits can still be read. */
void trigger_set_detach(struct trigger_set *set);
void trigger_set_free(struct trigger_set *set);

/* A descriptor for poll(2): readable after a HIT_STOP hit. */
int trigger_set_fd(const struct trigger_set *set);

/* True if there is an unread hit; two loads, no system call. */
bool trigger_set_pending(const struct trigger_set *set);

/*
 * A hit from the kernel. Its stack was walked by frame pointers; its return_address is the word at the top of
 * the stack, whatever that is.
 */
struct trigger_hit {
	struct caught_hit caught;
	const uint8_t *values; /* printed values (condition/prints.h) */
	const uint8_t *copy;   /* what stood at regs[HIT_SP] and above */
	size_t copy_size;
	bool is_entry; /* at the beginning of a function: the return address is on top of the stack */
};

/*
 * Calls fn for every pending hit, in the order of recording. The hit is valid until fn returns. Returns how
 * many, or fn's first non-zero return.
 */
int trigger_set_read(struct trigger_set *set, int (*fn)(void *ctx, struct trigger_hit *hit), void *ctx);

/* The number of hits lost because the BPF ring buffer was full. */
uint64_t trigger_set_lost(const struct trigger_set *set);

/* Counts of one trigger's firings so far. */
struct trigger_counts {
	uint64_t passed;       /* for which the condition held, or all without one */
	uint64_t limited;      /* dropped by rule.every_ns */
	uint64_t unreadable;   /* whose condition reads unreadable memory */
	uint64_t without_call; /* ends of calls whose beginning was not seen, or is too long ago */
	/* whose condition uses `ret`, and whose call ended in a jump to code that is not probed */
	uint64_t without_result;
};

struct trigger_counts trigger_set_counts(const struct trigger_set *set, size_t trigger);

/* "uprobe_multi" or "perf_uprobe". */
const char *trigger_set_link_name(const struct trigger_set *set);

DEFINE_CLEANUP(struct trigger_set *, trigger_set_free)
