/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot: one frozen, linear copy of every AUX ring, with the sideband, the clocks and the hits. It is
 * the hand-off from capture to decode: a source fills it, recording/ saves and loads it, the pipeline decodes
 * it. Plain data; everything it points to is its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/alloc.h"
#include "model/call.h"
#include "model/hit.h"
#include "model/sample.h"
#include "model/trace_params.h"

/*
 * One AUX ring, oldest byte first. cpu is -1 for a ring that belongs to one thread; tid is -1 for a CPU's
 * ring.
 */
struct aux_trace {
	int32_t pid, tid, cpu;
	uint64_t offset;  /* of bytes[0] in the endless stream: what came before was overwritten */
	uint64_t ref_tsc; /* a TSC near the first timing packet: never 0 (perf crashes on 0) */
	uint8_t *bytes;
	size_t size;
	/* the ring's trace before this one, of the same snapshot; what was between them is lost */
	bool continues;
	bool is_mapped;	  /* bytes is a mapping, not allocated */
	bool is_borrowed; /* bytes stands in snapshot.file, and must not be written to */
};

/*
 * Code bytes that files on disk do not give: the vDSO, JIT code, patched pages. In a snapshot that was
 * loaded, `path` names the file that holds them, from file_offset on; in one to be saved, `bytes` holds them
 * and path is NULL.
 */
struct code_copy {
	int32_t pid;
	uint64_t addr;
	uint64_t size;
	uint64_t
		/* since when they stood there, on the recording's clock; 0: since their mapping did */
		from_ns;
	char *name; /* what the mapping was called: "[vdso]", "//anon", or a file's path */
	uint8_t *bytes;
	char *path;
	uint64_t file_offset;
};

/* Names of copies that stand at no address: what a JIT compiler wrote about its code. */
#define JIT_PERF_MAP "[perf map]"
#define JIT_DUMP     "[jitdump]"

/* Names of copies of the kernel's, with pid -1 (source/pt/kernel_code.h). */
#define KERNEL_CODE    "[kernel]"
#define KERNEL_NAMES   "[kallsyms]"
#define KERNEL_MODULES "[modules]"

bool code_copy_is_kernel(const struct code_copy *copy);

/* Whether it is a file by itself, the vDSO or what a compiler wrote of its code; all others can share one. */
bool code_copy_is_file(const struct code_copy *copy);

/* Which build of a file it is: its note NT_GNU_BUILD_ID. */
struct build_id {
	uint8_t bytes[20];
	uint8_t size; /* 0: not known */
};

/* What was mapped under that name. */
struct named_build_id {
	char *name;
	struct build_id id;
};

/* One value. */
struct hit_value {
	uint32_t hit, name; /* indices */
	char *text;	    /* NULL: it could not be read */
};

struct snapshot {
	struct trace_params params;
	/*
	 * the mapping of the recording that it was loaded from, as long as something stands in it; else NULL
	 */
	void *file;
	size_t file_size;
	struct trace_clock clock;
	char *source;	  /* "step" or "intel_pt" */
	char *stopped_by; /* what keeps the trace from being overwritten after a hit; "" where there is none */
	char *filter;  /* which code was traced, as the kernel took it (probe/address_filters.h); NULL: all */
	char *command; /* the target's command line, for people; never NULL in a saved snapshot */
	struct aux_trace *aux;
	size_t aux_cnt, aux_cap;
	/* perf records (PERF_RECORD_MMAP2, COMM, EXIT, ...), each with the sample_id trailer of SIDEBAND_ID_BYTES,
	 * in time order (model/sideband.h) */
	uint8_t *sideband;
	size_t sideband_size, sideband_cap;
	struct hit_list *hits; /* in time order */
	char **triggers;       /* trigger names; hit.trigger is an index */
	size_t trigger_cnt, trigger_cap;
	/* What was to be printed of hits, in their order. */
	struct hit_value *values;
	size_t value_cnt, value_cap;
	char **value_names;
	size_t value_name_cnt, value_name_cap;
	/* Sampled allocations and their ends, in the order in which they were recorded. */
	uint64_t alloc_interval; /* the mean distance of samples, in bytes */
	char **alloc_functions;	 /* names; alloc.function is an index */
	size_t alloc_function_cnt, alloc_function_cap;
	struct alloc *allocs;
	size_t alloc_cnt, alloc_cap;
	/*
	 * Begins and ends of calls, in the order in which they were recorded, which need not be that of time.
	 */
	struct call *calls;
	size_t call_cnt, call_cap;
	/*
	 * What was sampled where no branches were traced, in the order of the file, and the names of its
	 * events. Owned with them: ips, call.about, and the stack where it says so.
	 */
	struct stack_sample *samples;
	size_t sample_cnt, sample_cap;
	char **sample_events;
	size_t sample_event_cnt, sample_event_cap;
	char *other_cpu; /* the name of a processor that is not Intel's; NULL: it is, or is not known */
	struct code_copy *copies;
	size_t copy_cnt, copy_cap;
	struct named_build_id *build_ids;
	size_t build_id_cnt, build_id_cap;
};

int snapshot_new(struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *snapshot);

/* What the trace has in a file need not be in memory for now. */
void aux_trace_let_go(const struct aux_trace *aux);

/*
 * Appends an empty aux_trace or code_copy, or NULL when out of memory. The pointer is good until the next
 * append.
 */
struct aux_trace *snapshot_add_aux(struct snapshot *snapshot);
struct code_copy *snapshot_add_copy(struct snapshot *snapshot);

/* Adds a value and takes over its text, or frees it; adds the name of values. 0 or -ENOMEM. */
int snapshot_add_value(struct snapshot *snapshot, uint32_t hit, uint32_t name, char *text);
int snapshot_add_value_name(struct snapshot *snapshot, const char *name);

/* 0 or -ENOMEM; a name that is there keeps its first. */
int snapshot_add_build_id(struct snapshot *snapshot, const char *name, const struct build_id *id);

/* NULL: not known. */
const struct build_id *snapshot_build_id(const struct snapshot *snapshot, const char *name);

DEFINE_CLEANUP(struct snapshot *, snapshot_free)
