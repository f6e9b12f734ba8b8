/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the translate source share. Nobody else includes it. */
#pragma once

#include <limits.h>
#include <pthread.h>

#include "model/trigger.h"
#include "process/maps.h"
#include "source/encoder.h"
#include "source/translate/arena.h"
#include "source/translate/inject.h"
#include "source/translate/translate.h"
#include "source/translate/words.h"
#include "source/tsc.h"

/* What the runtime asks is answered by a thread of its own, which does not wait for anything else. */
struct answers {
	pthread_t thread;
	bool runs;
	bool ends; /* atomic */
	pid_t pid;
	const struct probe_map *probes;
	struct arena *arena;
	struct tsc_moment start;
	pthread_mutex_t lock;	 /* for the following */
	struct maps first, maps; /* that were there at first; that the sideband tells of */
	struct code_changes changes;
	struct snapshot *sideband; /* of code that came late */
};

struct translate_process {
	pid_t pid;
	struct arena *arena; /* of the program that is executed now; NULL: it runs natively */
	struct answers *answers;
	/* after its end, if there are probes: their guest addresses, by their numbers; else NULL */
	uint64_t *probes;
	bool told_missed; /* that a probe's code is there twice */
	bool is_attached; /* its threads are taken over one by one */
};

struct translate_thread {
	struct translate_process *process;
	pid_t tid;
	int slot;      /* in the arena; -1: it runs natively */
	int next_slot; /* that is ready for it; -1: none is */
	bool dead;
	bool lost;	       /* its trace says that it goes on natively */
	bool enters;	       /* its next event stop is at a handler's first instruction */
	bool comes;	       /* it was resumed with the signal that waited (context.has_signal) */
	bool waits;	       /* it runs natively, and is taken over when it stops next */
	uint64_t taken;	       /* bytes of its ring */
	uint32_t epoch;	       /* as they tell of it */
	struct rseq_area rseq; /* that was taken from it */
	uint64_t
		resumed_ns; /* CLOCK_MONOTONIC: it stood still from the last copy up to then; 0: it did not */
	bool begins;	    /* it has executed a program since then */
	bool is_over;	    /* a snapshot has the last of it, or will have */
	struct thread_packets *packets;
};

/* Of a thread, while packets are made the packet maker's. */
struct thread_packets {
	uint32_t pending; /* atomic: so much is to be done still */
	bool in_batch;	  /* some of it is being done */
	struct encoder encoder;
	struct words_end end; /* of what it has told */
};

/* Makes packets of copies of the rings in a thread of its own; on all processors while that is waited for. */
struct packet_maker {
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock;	/* for the following */
	pthread_cond_t changed; /* there is work, or less of it */
	struct packet_work *first, **end;
	size_t bytes;	  /* of the words of all work */
	size_t arena_cnt; /* that it frees */
	pid_t tid;	  /* 0: it has not begun yet */
	bool ends;
	bool is_waited_for;
	bool makes_snapshot; /* some of the work is for one */
	int err;	     /* of any work since it was asked */
};

struct translate {
	struct translate_config config;
	struct trace_params params;
	struct translate_process **processes;
	size_t process_cnt, process_cap;
	struct translate_thread **threads;
	size_t thread_cnt, thread_cap;
	size_t ended_cnt; /* since their packets were looked at */
	struct probe_mirror mirror;
	char mirror_path[PATH_MAX];
	struct snapshot *sideband; /* what answers have left, with the code of programs that are gone */
	struct packet_maker maker;
	struct tsc_moment start;
	uint64_t forgotten_cnt; /* threads that ended so early that their packets are not kept */
	uint32_t hold_cnt;
	bool is_held;
	struct tsc_clock clock; /* with which the newest words were timed */
};

struct translate_thread *translate_find(const struct translate *translate, pid_t tid);
struct translate_process *translate_find_process(const struct translate *translate, pid_t pid);

/* The process of that number, a new one if there is none. 0 or -ENOMEM. */
int translate_need_process(struct translate *translate, pid_t pid, struct translate_process **ret_process);

/* A thread without a slot, which runs natively for now. 0 or -ENOMEM. */
int translate_add_thread(struct translate *translate, struct translate_process *process, pid_t tid,
			 struct translate_thread **ret_thread);

/* Says that the process or thread is not translated, and why. */
void translate_refuse(const struct translate *translate, pid_t tid, const char *why);

/*
 * Puts the runtime into the process of the held thread. *ret_injection tells whether that has ended
 * meanwhile. 0, or -errno with a sentence. If the program cannot be translated, that is told, and
 * process->arena stays NULL.
 */
int translate_make_arena(struct translate *translate, struct translate_process *process, pid_t tid,
			 struct injection *ret_injection);

/*
 * The slot of the thread with these registers, if it comes from the system call of the runtime
 * that has made it; else -1.
 */
int translate_born_slot(const struct arena *arena, const struct user_regs_struct *regs);

/* The held thread goes on in the runtime, if there is a slot for it. 0 or -errno with a sentence. */
int translate_enter(struct translate *translate, struct translate_thread *thread);

/* Says once why a thread goes on natively. */
void translate_tell(const struct translate *translate, struct translate_thread *thread);

/* Forgets threads that are over. */
void translate_forget_dead(struct translate *translate);

/* ---- guest_state.c ---- */

/*
 * Whether the held thread stands where the program does; its registers become the program's, and the ring is
 * told what it has done of a trace. `fault`: the signal, if its instruction raised it; else 0. `again`: that
 * instruction is executed once more.
 */
bool guest_state(const struct translate_thread *thread, int fault, bool again, struct user_regs_struct *regs);

/* All that the runtime has saved, at that address. */
void guest_state_saved(const struct context *context, uint64_t rip, struct user_regs_struct *regs);

/* ---- attach.c ---- */

/*
 * The held child, which has not run yet, is to be taken over when it is in its stop (translate_take_over()),
 * if it comes from the runtime and has memory of its own; else it goes on natively. *ret_ended: it has ended
 * meanwhile, with that wait status. 0 or -ENOMEM.
 */
int translate_adopt_child(struct translate *translate, pid_t pid, bool *ret_ended, int *ret_status);

/* ---- rings.c ---- */

void packet_maker_init(struct packet_maker *maker);

/* Waits until all packets are made. 0 or -ENOMEM: some could not be made. */
int translate_settle(struct translate *translate);

/* After translate_settle(). */
void packet_maker_release(struct packet_maker *maker);

/* The thread has no slot any more; what its ring held is kept for the next snapshot. 0 or -ENOMEM. */
int translate_leave_slot(struct translate *translate, struct translate_thread *thread);

/* Frees an arena that no thread has a slot of, once all packets are made. 0 or -ENOMEM. */
int translate_leave_arena(struct translate *translate, struct arena *arena);

/* ---- answers.c ---- */

/* 0 or -errno with a sentence. */
int answers_start(struct answers **ret_answers, struct arena *arena, pid_t pid,
		  const struct probe_map *probes);

/* By enum give_back, as people are told of it. */
extern const char *const give_back_reasons[];

/* Whether the sideband tells of the mapping, which came after answers_start(). */
bool answers_have_told(struct answers *answers, const struct map *map);

/* A copy of all changes so far, to be freed. 0 or -ENOMEM. */
int answers_changes(struct answers *answers, struct code_changes *ret_changes);

/* Appends copies of the code that is in no file. 0 or -ENOMEM. */
int answers_add_code(struct answers *answers, const struct tsc_clock *clock, struct snapshot *snapshot);

/* Moves the sideband that there is to the end of `snapshot`'s. 0 or -ENOMEM. */
int answers_take(struct answers *answers, struct snapshot *snapshot);
void answers_free(struct answers *answers);
