/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot: one linear copy of every AUX ring, with sideband, clocks and hits. Capture hands it to decode:
 * a source fills it, recording/ saves and loads it, rebuild/ decodes it. Plain data; it owns everything it
 * points to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "bpf/alloc.h"
#include "model/call.h"
#include "model/hit.h"
#include "model/sample.h"
#include "model/trace_params.h"

/*
 * One AUX ring, oldest byte first. cpu is -1 for the ring of a thread, tid is -1 for the ring of a processor.
 */
struct aux_trace {
	int32_t pid, tid, cpu;
	uint64_t offset;  /* of bytes[0] in the whole stream; earlier bytes were overwritten */
	uint64_t ref_tsc; /* a TSC near the first timing packet: never 0 (perf crashes on 0) */
	uint8_t *bytes;
	size_t size;
	/* the previous trace of this snapshot is of the same ring; what was between them is lost */
	bool continues;
	bool is_mapped;	  /* `bytes` is mapped, not allocated */
	bool is_borrowed; /* `bytes` is in snapshot.file, which is read-only */
};

/*
 * Code bytes that no file on disk has: the vDSO, JIT code, patched pages. In a loaded snapshot `path` names
 * the file that holds them, from file_offset. In a snapshot to be saved `bytes` holds them and path is NULL.
 */
struct code_copy {
	int32_t pid;
	uint64_t addr;
	uint64_t size;
	/* valid from this time of the recording's clock; 0: from the beginning of their mapping */
	uint64_t from_ns;
	char *name; /* what the mapping was called: "[vdso]", "//anon", or a file's path */
	uint8_t *bytes;
	char *path;
	uint64_t file_offset;
	bool has_run; /* it is what ran there: what a compiler said that it had made is not */
};

/* Names of copies without an address: what a JIT compiler wrote about its code. */
#define JIT_PERF_MAP "[perf map]"
#define JIT_DUMP     "[jitdump]"
/* ... or what we read of it: the lines of source/jvm_code.h. */
#define JIT_JVM	     "[jvm]"

/*
 * Names of copies of kernel code and symbols, with pid -1 (source/pt/kernel_code.h). A copy with that pid and
 * the name of a mapped file is the whole file (binaries_keep()).
 */
#define KERNEL_CODE    "[kernel]"
#define KERNEL_NAMES   "[kallsyms]"
#define KERNEL_MODULES "[modules]"

bool code_copy_is_kernel(const struct code_copy *copy);

/*
 * Whether the copy needs a file of its own (the vDSO, a compiler's file, all that belongs to no process). All
 * others share one.
 */
bool code_copy_is_file(const struct code_copy *copy);

/* The build-id of a file: its note NT_GNU_BUILD_ID. */
struct build_id {
	uint8_t bytes[20];
	uint8_t size; /* 0: not known */
};

/* The build-id of the file that was mapped under `name`. */
struct named_build_id {
	char *name;
	struct build_id id;
};

/* A printed value of a hit. */
struct hit_value {
	uint32_t hit, name; /* indices */
	enum value_kind kind;
	char *text; /* NULL: it could not be read */
};

/* A probe of a trigger. */
struct probe_place {
	uint32_t trigger; /* index */
	uint64_t file_offset;
	char *path;
	char *function; /* the function that begins there, by the name of its calls; "": another place */
};

/* Why nothing is known of a thread from a time on (CLOCK_MONOTONIC), where the packets cannot say it. */
struct gap_reason {
	int32_t tid;
	uint64_t time_ns;
	char *text;
};

struct snapshot {
	struct trace_params params;
	/* the mapping of the loaded recording while something points into it; else NULL */
	void *file;
	size_t file_size;
	struct trace_clock clock;
	char *source;	  /* "step" or "intel_pt" */
	char *stopped_by; /* what stops the trace at a hit; "": nothing */
	/* the address filters, as the kernel takes them (probe/address_filters.h); NULL: none */
	char *filter;
	char *command; /* the target's command line, for people; never NULL in a saved snapshot */
	struct aux_trace *aux;
	size_t aux_cnt, aux_cap;
	/*
	 * perf records (PERF_RECORD_MMAP2, COMM, EXIT, ...) in time order, each with the trailer of
	 * model/sideband.h
	 */
	uint8_t *sideband;
	size_t sideband_size, sideband_cap;
	struct hit_list *hits; /* in time order */
	char **triggers;       /* trigger names; hit.trigger is an index */
	size_t trigger_cnt, trigger_cap;
	struct probe_place *places; /* none in older recordings */
	size_t place_cnt, place_cap;
	struct gap_reason *gap_reasons; /* those of a thread in time order */
	size_t gap_reason_cnt, gap_reason_cap;
	/* Printed values of hits, in the order of the hits. */
	struct hit_value *values;
	size_t value_cnt, value_cap;
	char **value_names;
	size_t value_name_cnt, value_name_cap;
	/* Sampled allocations and their ends, in the order of recording. */
	uint64_t alloc_interval; /* mean distance of samples in bytes */
	char **alloc_functions;	 /* names; alloc.function is an index */
	size_t alloc_function_cnt, alloc_function_cap;
	struct alloc *allocs;
	size_t alloc_cnt, alloc_cap;
	/*
	 * Their call stacks: the process's id, then return addresses from the allocation function's caller
	 * outwards. alloc_stack_of has one more than the index of its stack for each of `allocs`; 0: none.
	 * NULL: there are none at all.
	 */
	struct word_pool *alloc_stacks;
	uint32_t *alloc_stack_of;
	/* Begins and ends of calls, in the order of recording, which may differ from time order. */
	struct call *calls;
	size_t call_cnt, call_cap;
	/*
	 * Samples in file order (base/spill.h), and the names of their events. The snapshot owns their ips,
	 * regs, call.about, and the stack if is_stack_owned.
	 */
	struct stack_sample *samples;
	struct stack_pool stacks; /* of those samples */
	size_t sample_cnt, sample_cap;
	char **sample_events;
	size_t sample_event_cnt, sample_event_cap;
	char *other_cpu; /* the processor's name if it is not Intel's, else NULL */
	struct code_copy *copies;
	size_t copy_cnt, copy_cap;
	struct named_build_id *build_ids;
	size_t build_id_cnt, build_id_cap;
	struct hash_index build_id_index; /* of build_ids by name */
};

int snapshot_new(struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *snapshot);

/* Drops the mapped bytes of the trace from memory; they are read again on access. */
void aux_trace_let_go(const struct aux_trace *aux);

/* Append an empty aux_trace or code_copy. NULL: out of memory. The pointer is valid until the next append. */
struct aux_trace *snapshot_add_aux(struct snapshot *snapshot);
struct code_copy *snapshot_add_copy(struct snapshot *snapshot);

/* Appends a code_copy. Takes over `bytes` (malloc(3)), also on failure. 0 or -ENOMEM. */
int snapshot_take_copy(struct snapshot *snapshot, int32_t pid, uint64_t addr, const char *name,
		       uint8_t *bytes, size_t size);

/*
 * Appends a copy of *from and its bytes; what goes on where the last copy ends becomes a part of that. 0 or
 * -ENOMEM.
 */
int snapshot_join_copy(struct snapshot *snapshot, const struct code_copy *from);

/* Gives the copies that share a file their file_offset in it: one behind another. */
void snapshot_lay_copies(struct snapshot *snapshot);

/* Adds a place, with copies of the texts. 0 or -ENOMEM. */
int snapshot_add_place(struct snapshot *snapshot, const struct probe_place *place);

/* Adds a reason, with a copy of the text. 0 or -ENOMEM. */
int snapshot_add_gap_reason(struct snapshot *snapshot, const struct gap_reason *reason);

/* Add a value, taking over `text` even on failure, or a name of values. 0 or -ENOMEM. */
int snapshot_add_value(struct snapshot *snapshot, uint32_t hit, uint32_t name, enum value_kind kind,
		       char *text);
int snapshot_add_value_name(struct snapshot *snapshot, const char *name);

/* Adds the build-id of `name` unless it has one already. 0 or -ENOMEM. */
int snapshot_add_build_id(struct snapshot *snapshot, const char *name, const struct build_id *id);

/* The build-id of the file mapped under `name`; NULL: unknown. */
const struct build_id *snapshot_build_id(const struct snapshot *snapshot, const char *name);

DEFINE_CLEANUP(struct snapshot *, snapshot_free)
