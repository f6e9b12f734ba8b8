/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the runtime share. There are no variables: all state is in the arena
 * (translate/layout.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "decode/code_insn.h"
#include "translate/layout.h"

struct emitter;

static inline struct shared *shared(void)
{
	return (struct shared *)ARENA_BASE;
}

static inline const struct runtime_header *header(void)
{
	return (const struct runtime_header *)(ARENA_BASE + ARENA_CODE);
}

static inline struct block *block_at(uint32_t number)
{
	return (struct block *)(ARENA_BASE + ARENA_BLOCKS) + number % BLOCKS_MAX;
}

static inline struct site *site_at(uint32_t number)
{
	return (struct site *)(ARENA_BASE + ARENA_SITES) + number % SITES_MAX;
}

static inline struct length *length_at(uint32_t number)
{
	return (struct length *)(ARENA_BASE + ARENA_LENGTHS) + number % LENGTHS_MAX;
}

/* The newest number that has this place. */
static inline uint32_t block_number(const struct block *block)
{
	uint32_t newest = shared()->block_cnt;

	return newest - (newest - (uint32_t)(block - block_at(0))) % BLOCKS_MAX;
}

static inline uint32_t site_number(const struct site *site)
{
	uint32_t newest = shared()->site_cnt;

	return newest - (newest - (uint32_t)(site - site_at(0))) % SITES_MAX;
}

/* Of a block that is kept: when it ended, and its code. */
static inline uint64_t *ended_at(const struct block *block)
{
	return (uint64_t *)(ARENA_BASE + ARENA_BYTES + block->first_byte % BYTES_MAX);
}

static inline uint8_t *code_of(const struct block *block)
{
	return (uint8_t *)(ended_at(block) + 1);
}

static inline struct trace_step *steps_of(const struct block *trace)
{
	return (struct trace_step *)(ARENA_BASE + ARENA_BYTES + trace->first_byte % BYTES_MAX);
}

static inline uint64_t *resume_of(uint64_t probe)
{
	return (uint64_t *)(ARENA_BASE + ARENA_RESUMES) + probe;
}

static inline uint64_t *guest_of(uint64_t probe)
{
	return (uint64_t *)(ARENA_BASE + ARENA_PROBES) + probe;
}

static inline uint64_t *targets_of(struct context *context)
{
	return (uint64_t *)(context->self + SLOT_TARGETS);
}

static inline struct block *block_of_word(uint32_t word)
{
	return block_at(word & ~BLOCK_WORD);
}

/* Guest address that a branch leads to, by its word; 0: it left a trace for another target. */
static inline uint64_t target_of_word(uint32_t word)
{
	return word & BLOCK_WORD ? block_of_word(word)->guest : site_at(word)->to;
}

/* The entry of the newest block whose address has these low bits; 0: there is none. */
static inline uint64_t *head_of(uint64_t guest)
{
	return (uint64_t *)(ARENA_BASE + ARENA_HEADS) + (guest & (TARGETS - 1));
}

/* Where the conditional jump of a block leads without a word, which stands before `end`. */
static inline uint64_t site_opposite(const struct block *block, const struct site *site, uint64_t end)
{
	return block_turns(block, site->conds_before) ? block->next : end;
}

/* Whether it is one of this generation. */
static inline bool site_is_current(const struct site *site)
{
	return block_at(site->block)->generation == shared()->generation;
}

static inline long call6(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return call6(number, a, b, c, d, 0, 0);
}

/* ---- ranges.c ---- */

enum range_kind { RANGE_NONE, RANGE_KEPT, RANGE_CHECKED };

/* The memory is of that kind from now on. */
void range_mark(uint64_t start, uint64_t end, enum range_kind kind);

/* Whether a part of it is checked. */
bool range_is_checked(uint64_t start, uint64_t end);

/* Whether it is known that the memory there may be executed; *ret_end is where it ends. */
bool executable_find(uint64_t guest, uint64_t *ret_end);
void executable_note(uint64_t start, uint64_t end);

/* It may not be so any more. */
void executable_forget(uint64_t start, uint64_t end);

/* The range that has the address, or else the next one; or NULL. */
const struct range *range_behind(uint64_t addr);

/* ---- known.c ---- */

/* The block that begins at `guest`, or NULL. */
struct block *known_find(uint64_t guest);

/* The newest one, which is found from now on. */
void known_add(const struct block *block);
void known_remove(const struct block *block);
void known_forget_all(void);

/* ---- cache.c ---- */

/*
 * Makes a block known, whose code stands there now: other blocks that are kept and had another code there
 * cease to be.
 */
void cache_add(struct block *block);

/* Whether blocks may have code from there. */
bool cache_holds(uint64_t start, uint64_t end);

/*
 * All blocks with code from there cease to be. Who executes one goes on to its end, or
 * that of the trace it is in.
 */
void cache_forget(uint64_t start, uint64_t end);

/* So does this one. */
void cache_end(struct block *block);

/*
 * A region with room for the entry of a block or a stub, from which `guest` can be reached with 32-bit
 * displacements. NULL: there is no memory.
 */
struct region *cache_region(uint64_t guest);

/* The same for a block, for which the cache is flushed if it is full. */
struct region *cache_room(uint64_t guest);

/* The same, without that. */
struct region *cache_spare_room(uint64_t guest);

/* The region that has the host address. */
struct region *region_of(uint64_t host);

/* ---- check.c ---- */

/* Appends checks to the code of the block, which become its beginning. */
void emit_checks(struct emitter *emitter, struct block *block);

/* Whether the instruction, whose opcode stands at raw[opcode], may write to where there is code. */
bool may_write_code(const uint8_t *raw, const struct code_insn *insn, unsigned int opcode);

/* ---- link.c ---- */

/* Where a jump leads (site.jump, block.entry_jump) that others may change meanwhile. */
uint64_t jump_target(uint64_t jump);

/* The same of a conditional jump without a stub. */
uint64_t cond_target(uint64_t jump);

/* The site's word and its jump, which leads to the runtime until it is linked. */
void emit_branch(struct emitter *emitter, struct site *site);

/* The site's conditional jump (emit_cond()), which leads to the runtime until it is taken. */
void emit_bare(struct emitter *emitter, struct site *site, const uint8_t *opcode, unsigned int cnt);

/*
 * Code that leads to the runtime by way of `to` (REGION_...), and says which site it is. Returns where.
 */
uint64_t emit_away(struct region *region, const struct site *site, uint32_t to);

/* Nothing of what is linked knows the site any more. */
void site_remove(struct site *site);

/*
 * The stub of a site that is taken for the first time. If there is no memory for it the cache is flushed,
 * and the site ceases to be.
 */
void site_make_stub(struct site *site);

/* Where who comes to the block goes on: in the trace that begins there, if there is one. */
uint64_t block_host(const struct block *block);

/* The trace that begins there from now on; NULL: none. */
void block_set_trace(struct block *block, const struct block *trace);

/* Makes the site's jump lead to the block, if it is in reach. */
void site_link(struct site *site, struct block *block);
void site_link_if_known(struct site *site);

/* Its jump leads to the runtime again. */
void site_unlink(struct site *site);
void block_unlink(struct block *block);

/* The block's entry for indirect branches, before its own code or elsewhere. */
void emit_entry(struct emitter *emitter, struct block *block);

/* It leads to the block's code from now on, and is found. */
void block_use_entry(struct block *block);

/* Makes the block's entry, if there is none. False: there is no memory. */
bool block_make_entry(struct block *block);

/* ---- block.c ---- */

/* The kernel makes the calls that lead there (vsyscall). */
static inline bool is_kernel_code(uint64_t guest)
{
	return guest >> 12 == 0xffffffffff600;
}

/*
 * Translates the code at `guest`, where an indirect branch or another one arrives. *ret_block is known to
 * the cache. 0, or why it cannot be done (enum give_back).
 */
enum give_back block_translate(struct context *context, uint64_t guest, bool is_indirect,
			       struct block **ret_block);

/* Of the block's instructions, so many stand before the address. */
unsigned int block_insns_before(const struct block *block, uint64_t guest);

/*
 * The site is taken for the first time. If the thread executes its block for the first time, too, the jump is
 * likely to be taken mostly: then the block ends there and goes on where it leads, by the site context.site,
 * and this one makes its word when the jump is not taken. False: that is not so, or not possible.
 */
bool block_turn(struct context *context, struct site *site);

/* ---- trace.c ---- */

/* The ring tells the time. Whether trace_look() is to look at it. */
bool trace_is_due(const struct context *context);

/* Ways that are taken often become traces. */
void trace_look(struct context *context);

/* Blocks have died: so do the traces that they are in. */
void traces_end(void);

/* ---- calls.c ---- */

/* Before a system call that concerns the runtime. Returns the host address to go on at. */
uint64_t before_syscall(struct context *context);

/* Behind it: what it owes. */
void behind_syscall(struct context *context);

/* Whether 8 bytes of the program's memory can be read there. */
bool is_readable(uint64_t addr);

/* ---- memory.c ---- */

/* mlockall(2) of the program's memory alone. False: it is to be made as it is. */
bool lock_all(struct context *context, uint64_t flags, uint64_t *ret_result);

/* setrlimit(2), getrlimit(2) or prlimit(2). False: as above. */
bool limit_memory(const struct context *context, uint64_t *ret_result);

/* So much more memory is ours, or less. */
void limits_make_room(int64_t size);

static inline uint64_t whole_pages(uint64_t size)
{
	return (size + 4095) & ~4095ull;
}

/* munmap(2) or madvise(2) of memory around ours. False: nothing of it is ours. */
bool call_around(const struct context *context, uint64_t *ret_result);

/* Whether mmap(2) or mremap(2) would take the place of what is ours. */
bool wants_our_place(const struct context *context);

/* ---- ask.c ---- */

bool tracer_is_dead(void);

/* Why all threads are to go on natively. */
enum give_back leaving(void);

/*
 * What the program has where memory has a breakpoint goes to context.original. False: nobody is there to ask.
 */
bool ask_original(struct context *context, uint64_t guest);

/*
 * The executable memory that has the address goes to context.executable_start, end and changes. False: as
 * above.
 */
bool ask_executable(struct context *context, uint64_t guest);

/*
 * The first mapping of the program's that ends behind the address goes to context.mapping_start and end,
 * which is 0 if there is none. False: as above.
 */
bool ask_mapping(struct context *context, uint64_t addr);

/* Tells of new mappings. */
void ask_maps(struct context *context);

/* ---- runtime.c ---- */

/* Bytes that were written to the ring so far. */
static inline uint64_t bytes_written(const struct context *context)
{
	return context->laps * shared()->ring_size + (uint64_t)(context->pos - context->ring_start);
}

/* Appends to the ring. */
void append_address(struct context *context, uint64_t addr, uint32_t tag);

/* The thread goes on natively at `guest`, which is returned. `tag`: of what the ring has of that. */
uint64_t give_back(struct context *context, uint64_t guest, enum give_back why, uint32_t tag);

/*
 * Memory that may not be executed: the thread is sent what it would be natively.
 * Returns where it blocks that.
 */
void fault_at(struct context *context, uint64_t guest);

/* In entry.S: rt_sigprocmask(2), behind which a signal comes that was held back. */
long change_mask(uint64_t how, uint64_t set, uint64_t old, uint64_t size);

/* Called by entry.S where something is asked of the thread. Returns the host address to go on at. */
uint64_t runtime_answer(struct context *context);

/* Called by entry.S. Returns the host address to go on at with the registers that the context has. */
uint64_t runtime_enter(struct context *context, unsigned int why);
