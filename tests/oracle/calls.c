/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of a program, from its stack pointer alone: an oracle for the call-stack engine, which knows
 * addresses and kinds of branches, and no stack pointer.
 *
 *	calls [--whole|--callers] RECORDING STEPLOG
 *
 * A call writes its return address to the stack, and lasts as long as that slot does: until the stack pointer
 * has gone above it when control goes elsewhere. So exceptions, longjmp and whatever else takes frames away
 * need no rule. What is known of an instruction is its address and the stack pointer behind it (the step
 * log):
 *
 *	call		the stack pointer falls by 8, and control goes elsewhere than to the next 15
 *			bytes (a push goes there)
 *	signal		control goes to the first byte of another function, and the stack
 *			pointer falls by more than 1000
 *	tail call	control is in another function than the topmost one's
 *
 * Go moves between stacks: mcall to the thread's own, gogo from there to a goroutine's, morestack to a larger
 * copy. The oracle knows only gogo and morestack by name: the stack that is gone to is the one which has a
 * return address just below the new stack pointer. Since a goroutine's outermost frames may be unknown,
 * --callers compares each call's name and its caller's in place of the depth.
 *
 * With --whole the timeline must also be what the branches give when they are not cut into pieces.
 *
 * Compared are, thread by thread, the slices in order: depth and function. Pauses ("[syscall]", "[untraced]")
 * are passed over. Exit status 0: equal, and the number of calls is printed; 1: the first difference is
 * shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/decoder.h"
#include "history/history.h"
#include "rebuild/decode.h"
#include "rebuild/resolver.h"
#include "rebuild/traces.h"
#include "recording/recording.h"

enum { INSN_MAX = 15, SIGNAL_FRAME_MIN = 1000, STACK_BYTES_MAX = 64 << 20, CONTEXT = 5 };

struct known_call {
	uint32_t depth;
	const char *name, *caller; /* NULL: unknown */
	uint64_t line;		   /* of the log */
};

struct call_list {
	struct known_call *items;
	size_t cnt, cap;
};

struct live {
	const struct symbol *symbol;
	uint64_t slot; /* the address of its return address */
};

struct stack {
	struct live *items;
	size_t cnt;
};

struct thread {
	int tid;
	struct live *stack;
	size_t depth, cap;
	struct stack *parked; /* stacks that were left */
	size_t parked_cnt, parked_cap;
	uint64_t ip, sp, sp_before; /* of the last instruction; behind and before it */
	bool begins;		    /* the first instruction is a function's first */
	struct call_list calls;
};

struct oracle {
	struct history *history;
	int pid;
	struct thread *threads;
	size_t cnt, cap;
	uint64_t line;
	bool callers; /* the program ran before: there are callers that were not seen */
};

static const struct symbol *symbol_at(const struct oracle *oracle, uint64_t ip)
{
	struct history_process *process = history_process(oracle->history, oracle->pid);

	return image_symbol_at(process->image, image_version_cnt(process->image) - 1, ip);
}

/* The part of the name that a function has in common with its ".cold" part. */
static size_t stem(const char *name)
{
	const char *cold = strstr(name, ".cold"), *clone = strstr(name, " [clone .cold");

	if (clone)
		return (size_t)(clone - name);
	return cold ? (size_t)(cold - name) : strlen(name);
}

static bool same(const char *a, const char *b)
{
	return stem(a) == stem(b) && !memcmp(a, b, stem(a));
}

/* libc and the loader have functions of one name; a function and its cold part have two. */
static bool is_other(const struct symbol *a, const struct symbol *b)
{
	return a != b && (!strcmp(a->name, b->name) || !same(a->name, b->name));
}

static struct thread *thread_get(struct oracle *oracle, int tid)
{
	struct thread fresh = {.tid = tid};

	for (size_t i = 0; i < oracle->cnt; i++)
		if (oracle->threads[i].tid == tid)
			return &oracle->threads[i];
	if (ARRAY_PUSH(oracle->threads, oracle->cnt, oracle->cap, fresh))
		abort();
	return &oracle->threads[oracle->cnt - 1];
}

static void push(struct oracle *oracle, struct thread *thread, const struct symbol *symbol, uint64_t slot)
{
	struct live live = {.symbol = symbol, .slot = slot};
	struct known_call call = {.depth = (uint32_t)thread->depth,
				  .name = symbol->name,
				  .caller = thread->depth ? thread->stack[thread->depth - 1].symbol->name
							  : NULL,
				  .line = oracle->line};

	if (ARRAY_PUSH(thread->stack, thread->depth, thread->cap, live) ||
	    ARRAY_PUSH(thread->calls.items, thread->calls.cnt, thread->calls.cap, call))
		abort();
}

/*
 * OCaml's runtime takes its own return address off the stack, and calls on: then two calls have one slot, and
 * end one after the other.
 */
static void pop_above(struct thread *thread, uint64_t sp)
{
	while (thread->depth > 1 && thread->stack[thread->depth - 1].slot < sp &&
	       sp - thread->stack[thread->depth - 1].slot < STACK_BYTES_MAX) {
		thread->depth--;
		if (thread->stack[thread->depth].slot == thread->stack[thread->depth - 1].slot)
			break;
	}
}

/* ---- Go ---- */

/* One past the frame that goes on at `sp`: its callee's return address was just below. 0: none does. */
static size_t find_waiting(const struct live *stack, size_t cnt, uint64_t sp)
{
	for (size_t i = cnt; i > 1; i--)
		if (stack[i - 1].slot + 8 == sp)
			return i - 1;
	return 0;
}

/* The frame on top goes on, and is shown anew. */
static void go_on(struct oracle *oracle, struct thread *thread, size_t depth)
{
	struct live top = thread->stack[depth - 1];

	thread->depth = depth - 1;
	push(oracle, thread, top.symbol, top.slot);
}

static void park(struct thread *thread)
{
	struct stack parked = {.items = calloc(thread->depth, sizeof(*parked.items)), .cnt = thread->depth};

	memcpy(parked.items, thread->stack, thread->depth * sizeof(*parked.items));
	if (ARRAY_PUSH(thread->parked, thread->parked_cnt, thread->parked_cap, parked))
		abort();
}

/* The function whose stack was too small begins again, on a copy somewhere else. */
static bool grow(struct oracle *oracle, struct thread *thread, const struct symbol *symbol, uint64_t sp)
{
	for (size_t i = thread->depth; i > 1; i--) {
		const struct live *caller = &thread->stack[i - 2];
		uint64_t moved = sp - caller->slot;

		if (strncmp(thread->stack[i - 1].symbol->name, "runtime.morestack", 17) != 0 ||
		    caller->symbol != symbol)
			continue;
		for (size_t j = 0; j + 1 < i; j++)
			thread->stack[j].slot += moved;
		thread->depth = i - 2;
		push(oracle, thread, symbol, sp);
		return true;
	}
	return false;
}

static void go_to(struct oracle *oracle, struct thread *thread, const struct symbol *symbol, uint64_t ip,
		  uint64_t sp)
{
	size_t depth = find_waiting(thread->stack, thread->depth, sp);

	if (ip == symbol->start && grow(oracle, thread, symbol, sp))
		return;
	for (size_t i = thread->parked_cnt; !depth && i > 0; i--) {
		struct stack resumed = thread->parked[i - 1];

		depth = find_waiting(resumed.items, resumed.cnt, sp);
		if (!depth)
			continue;
		park(thread);
		memmove(&thread->parked[i - 1], &thread->parked[i],
			(--thread->parked_cnt - (i - 1)) * sizeof(resumed));
		if (array_reserve(&thread->stack, &thread->cap, resumed.cnt, sizeof(*thread->stack)))
			abort();
		memcpy(thread->stack, resumed.items, resumed.cnt * sizeof(*resumed.items));
		free(resumed.items);
	}
	if (depth) {
		go_on(oracle, thread, depth);
		return;
	}
	park(thread);
	thread->depth = 0;
	push(oracle, thread, symbol, UINT64_MAX);
}

static bool is_clock(const char *name)
{
	return strstr(name, "clock_gettime") || strstr(name, "gettimeofday");
}

/*
 * A jump to the vDSO's clock, which is not stepped, and of which the log has nothing: control is back in the
 * caller.
 */
static bool is_back_from_clock(const struct oracle *oracle, const struct thread *thread,
			       const struct symbol *symbol, uint64_t ip)
{
	return thread->depth > 1 && ip != symbol->start && is_clock(symbol_at(oracle, thread->ip)->name) &&
	       !is_other(symbol, thread->stack[thread->depth - 2].symbol);
}

/* Control is at `ip`; the instruction there leaves the stack pointer at sp_behind. */
static void execute(struct oracle *oracle, struct thread *thread, uint64_t ip, uint64_t sp_behind)
{
	uint64_t sp = thread->sp; /* before the instruction, but for a signal */
	const struct symbol *symbol = symbol_at(oracle, ip);
	bool jumped =
		ip < thread->ip || ip - thread->ip > INSN_MAX || symbol != symbol_at(oracle, thread->ip);

	if (!thread->depth) {
		thread->begins = ip == symbol->start;
		push(oracle, thread, symbol, UINT64_MAX);
		return;
	}
	if (jumped && sp_behind > sp + SIGNAL_FRAME_MIN)
		sp = sp_behind; /* the log knows only now that sigreturn has taken the signal's frame away */
	if (jumped && !strcmp(symbol_at(oracle, thread->ip)->name, "gogo") &&
	    strcmp(symbol->name, "gogo") != 0) {
		go_to(oracle, thread, symbol, ip, sp);
		return;
	}
	if (jumped)
		pop_above(thread, sp);
	if (jumped && is_back_from_clock(oracle, thread, symbol, ip)) {
		thread->depth--;
		return;
	}
	if (oracle->callers && jumped && thread->sp_before && thread->depth == 1 &&
	    sp >= thread->sp_before + 8 && is_other(symbol, thread->stack[0].symbol)) {
		thread->stack[0].symbol = symbol; /* back in a caller that was not seen */
		return;
	}
	if (jumped && (thread->sp_before ? sp == thread->sp_before - 8 : ip == symbol->start)) {
		push(oracle, thread, symbol, sp);
	} else if (jumped && ip == symbol->start && symbol->end > ip && sp_behind + SIGNAL_FRAME_MIN < sp) {
		push(oracle, thread, symbol, sp - 1);
	} else if (is_other(symbol, thread->stack[thread->depth - 1].symbol)) {
		uint64_t slot = thread->stack[--thread->depth].slot;

		push(oracle, thread, symbol, slot);
	}
}

static int read_log(struct oracle *oracle, const char *path)
{
	FILE *file = fopen(path, "re");
	int tid;
	uint64_t ip, sp;

	if (!file)
		return fail_errno(-errno, "cannot open %s", path);
	while (fscanf(file, "%d %" SCNx64 " %" SCNx64 "%*[^\n]", &tid, &ip, &sp) == 3) {
		struct thread *thread = thread_get(oracle, tid);

		oracle->line++;
		execute(oracle, thread, ip, sp);
		thread->sp_before = thread->sp;
		thread->ip = ip;
		thread->sp = sp;
	}
	fclose(file);
	return 0;
}

/* ---- comparing ---- */

static void show(const struct call_list *calls, size_t from, const char *whose)
{
	for (size_t i = from > CONTEXT ? from - CONTEXT : 0; i < calls->cnt && i < from + 4; i++)
		printf("%s %s%*s%s (%u, line %" PRIu64 ")\n", whose, i == from ? ">" : " ",
		       (int)calls->items[i].depth % 60, "", calls->items[i].name, calls->items[i].depth,
		       calls->items[i].line);
}

/* The vDSO's function of this slice is not stepped: of that call the log has nothing. */
static bool is_not_stepped(const struct timeline_thread *thread, size_t i)
{
	const struct slice *slice = &thread->slices[i];

	return i + 1 < thread->slice_cnt && slice[1].kind == SLICE_UNTRACED &&
	       slice[1].depth == slice->depth + 1 && is_clock(slice_name(slice));
}

/* Our calls in order, with their callers; only those whose beginning was seen, where callers are compared. */
static void list_calls(const struct timeline_thread *thread, bool callers, struct call_list *list)
{
	const char **open = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < thread->slice_cnt; i++) {
		const struct slice *slice = &thread->slices[i];
		struct known_call call = {.depth = slice->depth,
					  .name = slice_name(slice),
					  .caller = slice->depth ? open[slice->depth - 1] : NULL,
					  .line = slice->start_ns};

		if (array_reserve(&open, &cap, slice->depth + 1ul, sizeof(*open)))
			abort();
		open[slice->depth] = call.name;
		if (slice->kind == SLICE_CALL && !is_not_stepped(thread, i) &&
		    !(callers && slice->flags & SLICE_INFERRED_START) &&
		    ARRAY_PUSH(list->items, list->cnt, list->cap, call))
			abort();
	}
	free(open);
}

static bool agree(const struct known_call *ours, const struct known_call *theirs, bool callers)
{
	if (!ours || !theirs || !same(ours->name, theirs->name))
		return false;
	if (!callers)
		return ours->depth == theirs->depth;
	return !theirs->caller || (ours->caller && same(ours->caller, theirs->caller));
}

static int compare(const struct thread *thread, const struct timeline_thread *slices, bool callers)
{
	/* Where callers are compared, the first function was not seen to begin, but by chance. */
	const size_t skip = callers && !thread->begins;
	const struct call_list theirs = {.items = thread->calls.items + skip,
					 .cnt = thread->calls.cnt - skip};
	struct call_list ours = {0};
	int differ = 0;

	list_calls(slices, callers, &ours);
	/*
	 * The last instruction of a thread that was killed may be a call: the oracle would need one more to
	 * see where it led.
	 */
	if (ours.cnt == theirs.cnt + 1)
		ours.cnt--;
	for (size_t i = 0; i < ours.cnt || i < theirs.cnt; i++) {
		if (agree(i < ours.cnt ? &ours.items[i] : NULL, i < theirs.cnt ? &theirs.items[i] : NULL,
			  callers))
			continue;
		show(&theirs, i, "stack pointer");
		show(&ours, i, "ours         ");
		differ = 1;
		break;
	}
	printf("thread %d: %zu calls\n", thread->tid, ours.cnt);
	free(ours.items);
	return differ;
}

static int compare_all(const struct oracle *oracle, const struct timeline *timeline, bool callers)
{
	int differ = 0;

	for (size_t i = 0; i < oracle->cnt; i++) {
		const struct timeline_thread *slices = NULL;

		for (size_t j = 0; j < timeline->thread_cnt; j++)
			if (timeline->threads[j].tid == oracle->threads[i].tid)
				slices = &timeline->threads[j];
		if (!slices) {
			printf("thread %d is not in the timeline\n", oracle->threads[i].tid);
			return 1;
		}
		differ |= compare(&oracle->threads[i], slices, callers);
	}
	return differ;
}

/* ---- without pieces ---- */

static bool equal(const struct slice *a, const struct slice *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->depth == b->depth &&
	       a->ip == b->ip && a->kind == b->kind && a->flags == b->flags &&
	       !strcmp(slice_name(a), slice_name(b));
}

/* The trace's branches in one list, and from them the slices in one go. */
static int build_whole(const struct oracle *oracle, const struct snapshot *snapshot,
		       const struct aux_trace *aux, uint64_t base_ns, struct timeline_thread *thread)
{
	struct resolver resolver = {.snapshot = snapshot,
				    .process = history_process(oracle->history, aux->pid),
				    .base_ns = base_ns};
	struct stacks_config config = {.symbol_at = resolver_symbol_at,
				       .time_ns = resolver_time_ns,
				       .space_at = resolver_space_at,
				       .landing = resolver_landing,
				       .ctx = &resolver};
	struct decode_config decode = {.threads = 1};
	struct branch_list branches = {0};
	struct decoder_cache *cache;
	struct decoder_config decoder;
	struct schedule schedule;
	int err = decoder_cache_new(&cache);

	if (!err)
		err = schedule_make(&schedule, oracle->history, aux);
	if (err)
		return err;
	decoder = traces_decoder(snapshot, oracle->history, &schedule, &decode, cache);
	err = decoder_run(&decoder, aux->bytes, aux->size, &branches);
	if (!err)
		err = stacks_build(&config, &branches, thread);
	branch_list_release(&branches);
	decoder_cache_free(cache);
	schedule_release(&schedule);
	return err;
}

static int compare_whole(const struct oracle *oracle, const struct snapshot *snapshot,
			 const struct timeline *timeline)
{
	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		struct timeline_thread whole = {0};
		const struct timeline_thread *pieces = &timeline->threads[i];

		if (build_whole(oracle, snapshot, &snapshot->aux[i], timeline->base_ns, &whole))
			return 1;
		for (size_t j = 0; j < whole.slice_cnt || j < pieces->slice_cnt; j++) {
			if (j < whole.slice_cnt && j < pieces->slice_cnt &&
			    equal(&whole.slices[j], &pieces->slices[j]))
				continue;
			printf("slice %zu of thread %d is not the same as a whole\n", j, pieces->tid);
			return 1;
		}
		printf("thread %d: %zu slices as a whole\n", pieces->tid, whole.slice_cnt);
		timeline_thread_release(&whole);
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool whole = argc == 4 && !strcmp(argv[1], "--whole");
	bool callers = argc == 4 && !strcmp(argv[1], "--callers");
	struct oracle oracle = {.callers = callers};
	struct snapshot *snapshot;
	struct decoded *decoded;
	int err;

	if (argc != 3 + (whole || callers))
		return 2;
	argv += whole || callers;
	err = recording_load(&snapshot, argv[1]);
	if (!err)
		err = history_new(&oracle.history, snapshot, NULL);
	if (!err)
		err = decode_snapshot(&decoded, snapshot, &(struct decode_config){0});
	if (err) {
		printf("%s\n", fail_message(err));
		return 2;
	}
	oracle.pid = decoded_timeline(decoded)->thread_cnt ? decoded_timeline(decoded)->threads[0].pid
							   : snapshot->aux[0].pid;
	err = read_log(&oracle, argv[2]);
	if (err) {
		printf("%s\n", fail_message(err));
		return 2;
	}
	if (!timeline_is_valid(decoded_timeline(decoded))) {
		printf("the timeline is not valid\n");
		return 1;
	}
	if (whole && compare_whole(&oracle, snapshot, decoded_timeline(decoded)))
		return 1;
	return compare_all(&oracle, decoded_timeline(decoded), callers);
}
