/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sideband of a snapshot, replayed: the image of each process over time, the name of each thread, and the
 * threads that ran on each processor.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "decode/decoder.h"
#include "image/binaries.h"
#include "image/image.h"
#include "model/snapshot.h"

struct history_process {
	int32_t pid;
	struct image *image;
	struct code_version *versions; /* of `image`; indices into history.images */
	size_t version_cnt;
	struct history_range {
		uint64_t begin, end;
	} * uprobes; /* code that the kernel put there for uprobes (arch/x86_64/uprobe_page.h) */
	size_t uprobe_cnt, uprobe_cap;
	uint64_t *execs; /* TSCs of its execs, in order */
	size_t exec_cnt, exec_cap;
	_Atomic(const struct symbol *) *recent; /* HISTORY_RECENT symbols of the last version, by address */
};

enum { HISTORY_RECENT = 4096 };

struct history_thread {
	int32_t tid;
	int32_t pid;
	char *name;	  /* the last comm */
	uint64_t born_ns; /* on the recording's clock; 0: before it, or not known */
};

/* At this time the thread began to run on the processor, or stopped (`out`). */
struct history_switch {
	uint64_t tsc;
	int32_t cpu, pid, tid;
	bool out, preempted;
};

/* The process whose code an image of the decoder shows, and which version of it. NULL: no process. */
struct history_owner {
	const struct history_process *process;
	size_t version;
};

enum { HISTORY_NO_IMAGE = 0 };

struct history {
	struct binaries *binaries;
	struct image *kernel; /* the same for all processes */
	struct image_objects *objects;
	struct history_process *processes;
	size_t process_cnt, process_cap;
	struct history_thread *threads;
	size_t thread_cnt, thread_cap;
	struct hash_index by_pid, by_tid; /* of both */
	/* For the decoder: one without code, then all versions of all processes. */
	struct code_image *images;
	size_t image_cnt, image_cap;
	struct history_owner *owners; /* of each of them */
	size_t owner_cnt, owner_cap;
	struct history_switch *switches; /* in time order */
	size_t switch_cnt, switch_cap;
};

/* `symfs` as binaries_new() takes it. 0; -EBADMSG with a sentence where the sideband is damaged; -ENOMEM. */
int history_new(struct history **ret_history, const struct snapshot *snapshot, const char *symfs);
void history_free(struct history *history);

/* NULL where the sideband knows nothing of it. */
struct history_process *history_process(struct history *history, int32_t pid);
/* The function at `ip` in the process at that time of the recording's clock, or NULL. */
const struct symbol *history_symbol_at(struct history *history, int32_t pid, uint64_t ip, uint64_t time_ns);
/* image_find_sources() of all processes and the kernel. */
void history_find_sources(const struct history *history);
const struct history_thread *history_thread(const struct history *history, int32_t tid);

/* For struct decoder_functions, with the history as ctx: jumps inside these change no call stack. */
struct decoder_function history_function_at(void *ctx, size_t image, uint64_t ip);

/* As list() of struct decoder_config, with the history as ctx. */
int history_sections(void *ctx, size_t image, struct code_section **ret_sections, size_t *ret_cnt);

/* Code that the kernel put into the process for a uprobe. */
bool history_is_uprobe_code(const struct history_process *process, uint64_t ip);

DEFINE_CLEANUP(struct history *, history_free)
