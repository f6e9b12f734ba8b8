/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the runtime inside a translated program and trailcam outside share: one file in memory, which both
 * have mapped.
 *
 *	ARENA_BASE	struct shared
 *	+ INJECTED	code of a system call that a thread is made to make (process/inject.h)
 *	+ CODE		the runtime itself, which begins with struct runtime_header
 *	+ RESUMES	host address behind each probe's nop, by its number
 *	+ PROBES	guest address of the probe, by its number; 0: it was not reached yet
 *	+ RANGES	struct range, in order of address: memory whose code is in no file, or may change
 *	+ STARTS	bits by the hash of the guest address: a block may begin there
 *	+ HEADS		what targets are to have: the newest of the blocks that share a number
 *	+ PAGES		the newest block of each page (its number + 1), by the low bits of the page's number
 *	+ HASH		struct known_block by the hash of the guest address, open addressing. A larger table
 *			takes over as blocks become many: that of N entries has room for N before it
 *	+ BLOCKS	struct block, by number
 *	+ SITES		struct site, by number
 *	+ LENGTHS	struct length, one for each translated instruction, those of a block in a row
 *	+ BYTES		of blocks from those ranges: when they ceased to be (TSC; 0: not yet), and the code
 *			itself; of traces: struct trace_step
 *	+ SLOTS		one slot for each thread: struct context, the runtime's stack, targets, ring
 *
 * "Guest" is the program's own address, "host" one in the code cache. gs base is the address of the thread's
 * slot.
 *
 * The ring holds words of 32 bits. A word below RING_TAG is the number of a site (that branch was taken; or,
 * of a block that is turned, its last one was not), or BLOCK_WORD + the number of a block (an indirect branch
 * arrived there). From one word to the next each block is passed once at most, so that the way is
 * unambiguous: what is not recorded moves to higher addresses, or is a call, and does not lead back. A site
 * of a trace (struct trace_step) says that it was left there. A word from RING_TAG on says what the two words
 * before it are: the ring is read from its newest word backwards.
 *
 * Numbers only grow. BLOCKS, SITES, LENGTHS and BYTES are indexed by their low bits, so that new ones take
 * the place of the oldest. What was translated since the cache was flushed last is a generation, which fills
 * half of each table at most: words of this generation and of the one before it can be read.
 *
 * A block ceases to be when its code changes, or its memory. Each such event begins an epoch; a block is that
 * of its address from epoch `born` on, up to `died`. There may be several of one address: a thread's ring
 * says from where on it was in which epoch at least.
 *
 * entry.S includes this file (offsets.h), too: only macros stand outside of __ASSEMBLER__.
 */
#pragma once

/*
 * Below where position-independent programs begin (0x555555554000), with room for the largest arena. The
 * runtimes of sanitizers refuse to run where a mapping is outside of what they know as a program's own: this
 * is inside for each.
 */
#define ARENA_BASE     0x550100000000
#define ARENA_INJECTED 0x1000
#define ARENA_CODE     0x10000
#define ARENA_RESUMES  0xa0000
#define ARENA_PROBES   0xb0000
#define ARENA_RANGES   0xc0000
#define ARENA_STARTS   0x100000
#define ARENA_HEADS    0x180000
#define ARENA_PAGES    0x400000
#define ARENA_HASH     0x1000000
/* Of these the first part is in small pages, the rest in huge ones, if there are some. */
#define ARENA_BLOCKS   0x3100000
#define ARENA_SITES    0x9f00000
#define ARENA_LENGTHS  0x19fc0000
#define ARENA_BYTES    0x1dfc0000
#define ARENA_SLOTS    0x22000000

/*
 * Probes cannot be put on the cache: the instructions before which they stand come from nops in a file of
 * trailcam's, mapped here, of NOP_SIZE bytes each. Behind it a jump leads back to the cache, by way of
 * RESUMES, which is less than 2 GB away.
 */
#define NOPS_AT	 0x5500ff000000
#define NOP_SIZE 16
#define NOPS_MAX 4096

/* Entries: at first, of a large program, and of a very large one. */
#define HASH_SIZE_MIN	(1 << 15)
#define HASH_SIZE_LARGE (1 << 19)
#define HASH_SIZE_MAX	(1 << 21)
#define STARTS_SIZE	(1 << 18) /* bytes */
#define PAGES_SIZE	(1 << 20) /* entries */
#define BLOCKS_MAX	(1 << 20) /* these are powers of two */
#define SITES_MAX	(1 << 23)
#define LENGTHS_MAX	(1 << 25)
#define BYTES_MAX	(1 << 26)
#define NUMBERS_MAX	(1 << 30) /* of blocks and sites: they fit in words */
#define RANGES_MAX	1024
/* Slots: with less memory a program has fewer. */
#define SLOTS_MIN	64
#define SLOTS_LARGE_MIN 16 /* with rings of more than RING_SIZE_MIN */
#define SLOTS_MAX	256

/* In a slot, from its context on: below that is the ring. */
#define SLOT_STACK_TOP 0x11000
#define SLOT_FRAME     0x12000 /* a copy of the frame that sigreturn(2) reads */
#define SLOT_TARGETS \
	0x80000 /* host addresses by the low 16 bits of the guest address of an indirect branch's target */
#define SLOT_SIZE     0x100000	/* bytes, without the ring */
#define RING_SIZE_MIN 0x1000000 /* bytes */
#define RING_SIZE_MAX 0x40000000
#define TIME_EVERY    0x2000 /* bytes of the ring: the low 13 bits of its position are 0 */
#define TIME_OFTEN    0x800  /* the same behind the word of a trace, which stands for more */
#define TARGETS	      65536

#define RING_TAG    0x80000000
#define RING_BEFORE 0x80000001 /* TSC, low and high half: a system call begins ... */
#define RING_AFTER  0x80000002 /* ... or is over */
#define RING_STOP   0x80000003 /* address, low and high half: interrupted before the instruction there */
#define RING_GO	    0x80000004 /* address: goes on there */
#define RING_LEAVE \
	0x80000005 /* address: an indirect branch leads there, and nothing is recorded from there on */
#define RING_TIME \
	0x80000006 /* TSC: at a probe, where the ring has TIME_EVERY or TIME_OFTEN bytes more, ... */
#define RING_EPOCH 0x80000007 /* number: of the blocks from here on */
#define RING_LOST  0x80000008 /* address: goes on there, and what was before it was not kept */
#define RING_AT	   0x80000009 /* address: has come to a probe there */
#define RING_CALL  0x8000000a /* TSC: of the next direct call on the way, which may make no word */
#define BLOCK_WORD 0x40000000

/* Why the runtime was entered. */
#define WHY_GO	      0 /* at context.next, by no branch */
#define WHY_LINK      1 /* by the site in the newest word of the ring, whose jump is not linked yet */
#define WHY_LINK_ON   2 /* by context.site, which makes no word */
#define WHY_MISS      3 /* by an indirect branch to context.next that the targets do not know */
#define WHY_WRAP      4 /* the newest word of the ring was its last one */
#define WHY_SYSCALL   5 /* before a system call that concerns the runtime */
#define WHY_SIGRETURN 6 /* from a signal handler */
#define WHY_REPORT \
	7 /* behind a system call that may have changed code, or during which the cache was flushed */
#define WHY_STALE     8	 /* at the block context.site, whose code has changed */
#define WHY_WRAP_MISS 9	 /* WHY_WRAP, and WHY_MISS */
#define WHY_TAKEN     10 /* by context.site, which has no stub yet that makes its word */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets from the beginning of the runtime; entry.S tells what stands there. */
struct runtime_header {
	uint64_t start; /* translates from context.next on, with the registers as they are */
	uint64_t link, link_on, miss, wrap, wrap_indirect,
		gate;			  /* what contexts and targets are filled with */
	uint64_t go_syscall;		  /* makes the system call that has come to the gate ... */
	uint64_t go_birth;		  /* ... if it is one that makes a thread or a process */
	uint64_t sigreturned;		  /* where sigreturn leads to */
	uint64_t report;		  /* from a system call to the runtime */
	uint64_t stale, wrap_miss, taken; /* what contexts are filled with, too */
	/*
	 * Where a thread stands between the program and the kernel or the runtime, in order of address. From
	 * `gate` up to the instruction of the system call before each of `syscalled` and `born` the call is
	 * not made yet, and is behind that.
	 */
	uint64_t syscall_saved; /* rax and rdx are in the context from here on up to the instruction */
	uint64_t syscalled;	/* right behind the instruction */
	uint64_t after_saved;	/* rax and rdx are in the context from here on ... */
	uint64_t after_end;	/* ... up to here */
	uint64_t birth_saved, born;
	uint64_t born_saved, born_end;
	/* Before a probe: stamp_saved is as above. */
	uint64_t stamp, stamp_saved, stamp_end;
	uint64_t restore; /* all of the program is in the context from here on ... */
	uint64_t restored;
	uint64_t landed; /* the same, behind the call that lets a signal come that was held back */
	uint64_t end;	 /* of the runtime */
};

enum register_number {
	HOST_RAX,
	HOST_RCX,
	HOST_RDX,
	HOST_RBX,
	HOST_RSP,
	HOST_RBP,
	HOST_RSI,
	HOST_RDI,
	HOST_R8,
	HOST_R10 = 10,
	HOST_R11,
	HOST_R15 = 15,
	HOST_CNT
};

/* Why the program is given back to native execution. */
enum give_back {
	GIVE_NOTHING,
	GIVE_UNKNOWN,
	GIVE_REACH,
	GIVE_VSYSCALL,
	GIVE_MEMORY,
	GIVE_GS,
	GIVE_SECCOMP,
	GIVE_UNMAPPED,
	GIVE_THREADS,
	GIVE_TRAP,
	GIVE_TSC,
	GIVE_PLACE,
	GIVE_END,
	GIVE_CNT
};

/* What the runtime asks of who is outside, and waits for. */
enum request { REQUEST_NOTHING, REQUEST_ORIGINAL, REQUEST_MAPS, REQUEST_EXECUTABLE, REQUEST_MAPPING };

/* What a system call leaves to be done. */
enum owed {
	OWES_FORGET = 1,   /* what was translated between owed_start and owed_end */
	OWES_NO_RANGE = 2, /* these are no memory of that kind (struct range) any more */
	OWES_RESULT = 4,   /* the memory that it returns, owed_size bytes of owed_kind */
	OWES_MAPS = 8,	   /* new mappings are told of */
};

enum { SIGINFO_BYTES = 128 };

struct context {
	uint64_t regs[HOST_CNT], flags;
	uint64_t next;		/* guest address to go to */
	uint64_t host;		/* where that is */
	int64_t pos;		/* of the ring, in bytes before its end, which is here: ring_start ... -4 */
	uint64_t rcx, rax, rdx; /* of the program while these registers are in use */
	uint64_t self;
	uint64_t link, link_on, miss, wrap, wrap_indirect, gate;
	uint64_t syscall_next; /* guest address behind the system call */
	uint64_t syscall_resume;
	uint64_t site;
	uint64_t laps;	     /* how often the ring has been full */
	uint64_t asked;	     /* from outside: the runtime is to look at `has_signal` and `leave` */
	uint64_t owed;	     /* set of enum owed: to be done when the runtime is entered next */
	uint64_t child;	     /* address of the context for the next child; 0: none yet */
	uint64_t r15;	     /* of the program while its child is made */
	int64_t birth;	     /* what the call that made the last child has returned */
	uint64_t is_process; /* the child goes on natively, or is taken over by who is outside */
	int32_t tid, pid;    /* 0: the slot is free; -1: for a child */
	uint64_t laps_next;  /* `laps` before `pos` tells so */
	uint64_t stamp;	     /* where time is told to the ring */
	uint64_t stamp_resume, stamp_guest;
	uint64_t stale;
	uint64_t in_call;	/* in the kernel, or about to be: it looks at the generation afterwards */
	int64_t not_generation; /* ~ of that whose code it may be in */
	uint64_t wrap_miss, taken;
	int64_t ring_start;   /* minus the ring's bytes, a power of two */
	uint64_t returned;    /* where sigreturn goes to */
	uint64_t frame;	      /* its stack pointer, in whose place it has that of the copy */
	uint64_t here;	      /* guest address that the registers in the context are of */
	int64_t held_pos;     /* where the next word belongs, while pos is at the last one; 0: it does not */
	uint32_t held_word;   /* what the last one was */
	uint64_t why;	      /* enum give_back: it runs natively */
	uint64_t told;	      /* that was said, outside */
	uint64_t going;	      /* guest address of the block that is being translated ... */
	uint64_t reading;     /* ... and of the bytes that are being read, with is_reading */
	uint64_t entered;     /* why the runtime was entered last */
	uint32_t request;     /* enum request; a futex: 0 is the answer */
	uint64_t original_at; /* where a breakpoint stands ... */
	uint8_t original[16]; /* ... and the instruction that is to be translated in its place */
	uint64_t executable_start,
		executable_end;	     /* the memory around `next` that may be executed; 0: it may not */
	uint64_t executable_changes; /* it is writable, or shared */
	uint64_t mapping_start, mapping_end; /* the program's; end 0: there is no other one */
	uint64_t nop;			     /* number of the probe that it is, + 1; 0: it is none */
	uint64_t owed_tsc; /* before OWES_MAPS was: new code runs later, and stands there already */
	uint64_t owed_start, owed_end, owed_size, owed_kind;
	uint64_t owed_result; /* what the call has returned; 0: not yet */
	uint64_t held_end;    /* bytes that were written to the ring, and in which epoch, before ... */
	uint64_t held_reach;  /* ... (and up to here meanwhile) ... */
	uint32_t held_epoch;
	uint32_t hold;		 /* ... the copy of this number, while it is made */
	uint32_t has_own_memory; /* of a child that is a process: it shares none with its parent */
	uint32_t epoch;		 /* as the ring has it */
	uint32_t in_runtime;	 /* it is in no code of the cache */
	uint32_t is_reading;
	uint32_t has_lock; /* of all */
	/*
	 * A signal that waits for the thread to come to an instruction of its own, which
	 * blocks all others meanwhile.
	 */
	uint32_t has_signal;
	uint8_t signal[SIGINFO_BYTES]; /* siginfo_t */
	/*
	 * Number of the signal in whose place it comes. 0: the program catches all that do
	 * nothing, and the runtime picks one.
	 */
	uint32_t stand_in;
	uint64_t mask;	    /* what the program itself blocks */
	uint64_t fresh_end; /* bytes that were written to the ring when the runtime was left last ... */
	uint64_t told_at;   /* the time that the runtime has told last */
	int32_t news;	    /* of the looks for traces (trace.c), how many find what none has seen before */
	uint32_t fresh;	    /* ... to the block of this number + 1, which was new; 0: it was none */
};

/* Memory whose code is in no file. */
struct range {
	uint64_t start, end;
	uint64_t is_checked; /* it may change unnoticed: each block looks whether it is still the same */
};

/* A limit of memory that is higher than the program knows, so that what is ours does not count. */
struct raised {
	uint32_t resource, is_raised;
	uint64_t by; /* the soft one; the hard one by LIMIT_ROOM */
};

enum { LIMITS_CNT = 2 };

#define LIMIT_ROOM (1ull << 40)

enum {
	EXECUTABLE_MAX = 32,
	REGIONS_MAX = 32,
	REGION_SIZE = 64 << 20,
	REGION_TAKEN = 16,
	REGION_LINK_ON = 32,
	REGION_CODE = 64
};

/*
 * Memory of the code cache. It begins with jumps to the runtime, for sites that are not linked. Code
 * is added from below; from above, what leads to the runtime from jumps that make no word while they are not
 * linked, and from conditional jumps until these are taken for the first time.
 */
struct region {
	uint64_t start, at, end; /* there is room from `at` up to `end` */
	uint32_t generation;
	uint32_t is_free; /* nothing in it is executed */
};

struct shared {
	/*
	 * A robust mutex (pthread_mutexattr_setrobust(3)) that trailcam holds: the kernel itself writes here
	 * when it dies.
	 */
	uint32_t tracer[16];
	uint32_t leave;	     /* enum give_back: all threads go on natively */
	uint32_t generation; /* how often the cache was flushed */
	uint32_t requests;   /* a futex: how many were made */
	uint32_t epoch;
	uint64_t runtime;     /* address */
	uint32_t times_calls; /* each call and return tells the time, too */
	uint32_t ran_before;  /* the program was attached to */
	uint32_t lock;
	uint32_t missed; /* probes that are in memory twice */
	uint32_t hold; /* number of the copy of the rings that is being made: what they hold stays; 0: none */
	uint32_t slot_cnt;
	uint64_t ring_size; /* bytes, of each slot */
	uint32_t region_cnt, range_cnt;
	uint32_t block_cnt, site_cnt, length_cnt, byte_cnt;
	uint32_t first_block, first_site, first_length, first_byte; /* of the generation */
	uint32_t newest_trace;					    /* its number + 1; 0: there is none */
	uint32_t trace_has_died;				    /* a block of a trace has */
	uint32_t hash_size;					    /* entries */
	uint32_t has_huge_pages; /* of the arena, for those who ask for them */
	uint32_t has_threads;	 /* it has had several */
	struct region regions[REGIONS_MAX];
	struct raised raised[LIMITS_CNT];
	uint32_t locks_new;	 /* the program has all new memory locked */
	uint32_t tsc_mode;	 /* PR_GET_TSC of prctl(2) */
	uint32_t executable_cnt; /* so far: executable[number % EXECUTABLE_MAX] */
	struct {
		uint64_t start, end;
	} executable[EXECUTABLE_MAX]; /* memory that is known to be so */
};

enum block_end {
	BLOCK_GOES_ON,	/* to `next`, without a word */
	BLOCK_BRANCHES, /* by its last site, which makes a word */
	BLOCK_INDIRECT, /* the target's block makes the word */
	BLOCK_SYSCALL,	/* and then to `next` */
	BLOCK_BREAK,	/* a breakpoint of the program's, before `next` */
};

struct block {
	uint64_t guest, guest_end, next;
	/* Where jumps lead to, but for those to its trace: its code, or the checks behind that. */
	uint64_t host;
	uint64_t host_end;
	uint64_t entry; /* host address of the entry for indirect branches; 0: none yet */
	uint32_t first_length, first_site;
	uint16_t length_cnt,
		site_cnt; /* sites in order of address; the conditional ones are all but those of the end */
	uint16_t cond_cnt;
	uint8_t end;	 /* enum block_end */
	uint8_t is_kept; /* its code is in BYTES */
	uint32_t generation;
	uint32_t born, died; /* epochs; 0: it has not */
	uint32_t incoming;   /* number + 1 of the site that was linked to it last; 0: none */
	uint32_t page_next
		[2]; /* number + 1 of the next block in the list of its first page, and of its last */
	uint32_t first_byte;
	uint16_t check_off;  /* from its code to its checks; 0: there are none */
	uint16_t entry_jump; /* from its entry to the displacement of the jump to `host` */
	uint32_t trace;	     /* number + 1 of the trace that begins here; of a trace: of the one before it */
	uint8_t last_kind;   /* enum branch_kind of its last instruction */
	uint8_t seen;	     /* how often it was looked at as a trace's beginning, up to TRACED_NEVER */
	uint8_t step_cnt;    /* of a trace: its steps are in BYTES */
	uint8_t is_trace : 1;
	uint8_t is_traced : 1;	/* it is a step of a trace */
	uint8_t tells_time : 1; /* to the ring, at probes and calls */
	uint8_t has_probe : 1;
	uint8_t is_turned : 1; /* it goes on by its last conditional jump, which makes a word if not taken */
};

/* Whether it is taken without a word, a conditional jump of the block behind so many others. */
static inline bool block_turns(const struct block *block, uint32_t cond)
{
	return block->is_turned && cond + 1 == block->cond_cnt;
}

/*
 * A trace is a way that is taken often, in one piece (trace.c): from the beginning of its first block along
 * the branches of some words. Its sites lead out of it, and their words stand for all that came before in the
 * trace. Its lengths are those of its blocks, with one of {0, 0} behind each step.
 */
struct trace_step {
	uint32_t block;
	uint32_t word; /* that leads from it to the next step, or NO_WORD */
};

#define NO_WORD 0xffffffff

enum { STEPS_MAX = 64, NO_COND = 0xffff };

struct known_block {
	uint32_t number; /* + 1; 0: none */
	uint32_t guest_low;
};

struct site {
	uint64_t to; /* guest */
	uint64_t
		jump; /* host address of the jump's 32-bit displacement: its stub's, or its own without one */
	uint32_t block;
	uint32_t next;	       /* number + 1 of the next site that leads to the same block */
	uint16_t conds_before; /* conditional jumps of the block before it; of a trace: steps */
	uint16_t from; /* from the block's beginning; of a trace: conditional jump of the step, or NO_COND */
	uint32_t away : 28; /* from the start of its region to where it leads while it is not linked */
	uint32_t is_linked : 1;
	uint32_t has_no_stub : 1; /* it was not taken yet */
	uint32_t is_jcc : 1;	  /* it has an opposite */
};

struct length {
	uint8_t guest, host;
};

_Static_assert(sizeof(struct shared) <= 4096 && sizeof(struct context) <= 4096, "one page each");
_Static_assert(RANGES_MAX * sizeof(struct range) <= ARENA_STARTS - ARENA_RANGES, "the arena");
_Static_assert(PAGES_SIZE * sizeof(uint32_t) <= ARENA_HASH - ARENA_PAGES, "the arena");
_Static_assert(2 * HASH_SIZE_MAX * sizeof(struct known_block) <= ARENA_BLOCKS - ARENA_HASH, "the arena");
_Static_assert(BLOCKS_MAX / 2 < HASH_SIZE_MAX / 4 * 3, "the hash is never full");
_Static_assert(BLOCKS_MAX * sizeof(struct block) <= ARENA_SITES - ARENA_BLOCKS, "the arena");
_Static_assert(SITES_MAX * sizeof(struct site) <= ARENA_LENGTHS - ARENA_SITES, "the arena");
_Static_assert(LENGTHS_MAX * sizeof(struct length) <= ARENA_BYTES - ARENA_LENGTHS, "the arena");
_Static_assert(BYTES_MAX <= ARENA_SLOTS - ARENA_BYTES, "the arena");

#endif
