/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that a translated program and we share (translate/layout.h), seen from here. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "translate/slot.h"

struct arena {
	int fd;
	uint8_t *bytes;
	uint32_t slot_cnt;
	uint64_t ring_size;		       /* bytes */
	bool is_limited;		       /* a cgroup limits the memory of the program */
	bool is_held;			       /* the program is ours: the kernel tells it of our death */
	struct hash_index by_guest;	       /* numbers of blocks by guest address */
	uint32_t by_guest_first, by_guest_cnt; /* these are in it, up to that */
};

struct own_limit {
	unsigned int resource; /* setrlimit(2) */
	struct rlimit limit;
};

static inline uint64_t arena_size(const struct arena *arena)
{
	return arena_bytes(arena->ring_size, arena->slot_cnt);
}

/*
 * In the file of a program, which it takes over: with the runtime in it, and `slot_cnt` slots, none of them
 * taken, with rings of `ring_size` bytes, a power of two.
 * 0, or -errno with a sentence.
 */
int arena_new(struct arena **ret_arena, int fd, uint32_t slot_cnt, uint64_t ring_size);

/* No program needs us any more for what is in it. By the thread that has made it. */
void arena_let_go(struct arena *arena);

/* By any thread after arena_let_go(), else by the one that has made it. */
void arena_free(struct arena *arena);

DEFINE_CLEANUP(struct arena *, arena_free)

/*
 * A slot for a thread that was not born in the runtime, ready to run; its number. -1: there is none. Others
 * are taken in the program.
 */
int arena_take_slot(struct arena *arena, pid_t pid, pid_t tid);
void arena_leave_slot(struct arena *arena, int slot);

/* Before the program goes on: its file has huge pages for those who ask for them. */
void arena_has_huge_pages(struct arena *arena);

/* Before the program goes on: code that is translated from now on tells the time at each call and return. */
void arena_time_calls(struct arena *arena);

/* The same: it has all new memory locked. */
void arena_has_locks(struct arena *arena);

/* The same: its threads have seen the kernel without us. */
void arena_ran_before(struct arena *arena);

/*
 * Raises the program's limits of memory by the arena's size (translate/memory.c), if we may. To be called
 * before the arena is mapped in the process.
 */
void arena_raise_limits(struct arena *arena, pid_t pid);

/* The nth limit as the program has set it. False: it is not raised, or the process is gone. */
bool arena_own_limit(const struct arena *arena, pid_t pid, size_t nth, struct own_limit *ret_limit);

/* The slot whose context the address is; -1: it is none. */
int arena_slot_at(const struct arena *arena, uint64_t addr);

/* All threads go on natively, each when it comes to the runtime. */
void arena_leave(struct arena *arena);

struct context *arena_context(const struct arena *arena, int slot);
const struct shared *arena_shared(const struct arena *arena);
const struct runtime_header *arena_header(const struct arena *arena);
const struct block *arena_block(const struct arena *arena, uint32_t number);
const struct site *arena_site(const struct arena *arena, uint32_t number);

/* What was written to a ring, oldest word first. */
struct ring_copy {
	uint32_t *words;
	size_t cnt;
	uint64_t end;		   /* bytes that were ever written to the ring, up to the last word here */
	uint32_t epoch_min, epoch; /* before the first word and after the last */
	bool continues;		   /* nothing was lost since byte `from` */
	uint64_t since_ns; /* CLOCK_MONOTONIC: then the thread had stood still behind `from`; 0: it had not */
};

void ring_copy_release(struct ring_copy *copy);

/* While the copy of the rings of that number is made, threads keep what they had written; 0: no more. */
void arena_hold(struct arena *arena, uint32_t number);

/* Bytes that were ever written to the ring of the slot. */
uint64_t arena_written(const struct arena *arena, int slot);

/*
 * Copies what the ring of the slot holds of what came after byte `from`; its thread may go on meanwhile. 0 or
 * -ENOMEM.
 */
int arena_read_ring(const struct arena *arena, int slot, uint64_t from, struct ring_copy *ret_copy);

/* Appends to the ring of a slot whose thread stands still: RING_STOP. */
void arena_append(struct arena *arena, int slot, uint64_t addr, uint32_t tag);

/* Where in translated code a host address lies. */
struct host_place {
	const struct block *block; /* or a trace */
	uint64_t guest;		   /* of the instruction that it belongs to */
	unsigned int step;	   /* of a trace: so many are done */
	bool is_exact;		   /* it is the first address of that instruction */
	bool is_check;		   /* what stands there looks at the block's code before that is executed */
};

/* False: it belongs to no instruction (it lies in a stub, or in the runtime). */
bool arena_find_place(const struct arena *arena, uint64_t host, struct host_place *ret_place);

/*
 * A thread writes the words of a trace only when it leaves it. For a thread that is stopped inside one,
 * this appends the words of what it has executed so far to the ring of its slot.
 */
void arena_append_steps(struct arena *arena, int slot, const struct host_place *place);

/* Indexes the current code for arena_block_at(), which must not be called meanwhile. 0 or -ENOMEM. */
int arena_index(struct arena *arena);

/* The block that begins at the guest address in the epoch, or else a later one; or NULL. */
const struct block *arena_block_at(const struct arena *arena, uint64_t guest, uint32_t epoch);

/* Whether the number is that of a block, or of a site, and it can still be read. */
bool arena_has_block(const struct arena *arena, uint32_t number);
bool arena_has_site(const struct arena *arena, uint32_t number);

/* The steps of a trace; NULL: they have been overwritten. */
const struct trace_step *arena_steps(const struct arena *arena, const struct block *trace);

/* The number of the oldest block that can still be read. */
uint32_t arena_first_block(const struct arena *arena);

/*
 * Of a block that is kept: when it ended (TSC; 0: it has not), and its code. NULL: that has been overwritten.
 */
const uint64_t *arena_ended_at(const struct arena *arena, const struct block *block);

/* The guest address of the probe, by its number; 0: it was not reached yet. */
uint64_t arena_probe(const struct arena *arena, uint64_t number);

/* Whether the address lies in memory of the runtime's: cache, arena, nops. */
bool arena_is_ours(const struct arena *arena, uint64_t addr);
