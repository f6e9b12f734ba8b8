/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack of a thread, in a record of bpf/samples.bpf.c: what changed since the last copy (bpf/samples.h).
 *
 * Unwinding needs addresses of code and of the stack. Other words are left out: numbers, and addresses of
 * data. A stack full of them then takes a third of the room.
 *
 * Most of a stack is as it was. So a first pass only looks which chunks have changed: a slot keeps a
 * sum of each, which is an eighth of what is to be read. A sum's factors are odd, so that no change of
 * one word is missed; of other changes one in 2^64 is, until the next record that has all. A second
 * pass tells of those.
 */
#pragma once

/* Where addresses lead that are kept, beside code. */
struct kept {
	__u64 stack, stack_bytes;
	__u64 arena; /* all ones: Go's, too */
};

/* So many chunks are looked at together, in one call of a function. */
enum { GROUP = 16, GROUP_BYTES = GROUP * SAMPLES_CHUNK };

/* A map that can be mapped begins at a page. So a chunk is one line of the processor's cache. */
#define ON_LINES __attribute__((aligned(SAMPLES_CHUNK)))

struct slot {
	__u32 tid, nth;
	__u64 next_ns; /* when the next stack at a switch would follow, if they came evenly */
	__u64 block;   /* the stack pointer is in these 2 * STACK_BLOCK bytes, and has been for some time */
	__u64 sums[SAMPLES_CHUNK_MAX] ON_LINES;
	__u64 regs[SAMPLES_REGS_WORDS] ON_LINES;
	__u8 bytes[SAMPLES_STACK_MAX] ON_LINES;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* SAMPLES_SLOTS for each ring */
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct copy {
	struct kept kept;
	__u64 limit; /* where the stack ends; 0: not known */
	__u32 most;  /* so many bytes of it are copied at most */
	__u64 seed;  /* of sums: they differ if what is kept does */
	__u32 lead;  /* the copy's first byte, so that groups begin where they do in the slot */
	__u32 chunk_cnt, changed_cnt, copied;
	__u16 changed[2 * SAMPLES_CHUNK_MAX]; /* these chunks; a power of two, and more than there are */
	__u64 regs[SAMPLES_REGS_WORDS];
	__u8 bytes[GROUP_BYTES + SAMPLES_STACK_MAX] ON_LINES;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* one for each ring */
	__type(key, __u32);
	__type(value, struct copy);
} copies SEC(".maps");

/* Without a stack pointer no stack is copied. */
static __always_inline void copy_registers(__u64 *to, const struct pt_regs *from)
{
#define COPY(reg, field) to[ARCH_SAMPLED_##reg] = from->field;
	ARCH_SAMPLED(COPY)
#undef COPY
	if (!is_64_bit(from))
		to[ARCH_SAMPLED_SP] = 0;
}

/* For put_full(), which follows; the instruction pointer is in the record. */
static __always_inline void take_registers(enum samples_ring ring, const struct pt_regs *from)
{
	__u32 place = place_of(bpf_get_smp_processor_id(), ring);
	struct copy *copy = bpf_map_lookup_elem(&copies, &place);

	if (!copy)
		return;
	copy_registers(copy->regs, from);
	copy->regs[ARCH_SAMPLED_IP] = 0;
}

/*
 * Fails as a whole where it reaches beyond the stack's end: then by halves, down to a chunk. The bytes that
 * were copied. A program's first thread has its arguments and its environment there, from copy->limit on.
 * What was copied stands in a map: else a verifier follows each number of bytes through all that comes after.
 */
static __always_inline __u32 copy_stack(struct copy *copy, __u64 from)
{
	__u8 *to = copy->bytes + from % GROUP_BYTES;
	volatile __u32 *copied = &copy->copied;
	__u64 limit = copy->limit;
	__u32 want = copy->most;

	if (limit > from && limit - from < want)
		want = (__u32)(limit - from + SAMPLES_CHUNK - 1) & ~(SAMPLES_CHUNK - 1u);
	if (!want)
		return 0;
	asm volatile("" : "+r"(want)); /* else want - 1 is judged, which tells a verifier nothing */
	if (want > SAMPLES_STACK_MAX)
		return 0;
	*copied = want;
	if (!bpf_probe_read_user(to, want, (void *)from))
		return *copied;
	*copied = 0;
	for (__u32 step = SAMPLES_STACK_MAX / 2; step >= SAMPLES_CHUNK; step /= 2) {
		__u32 at = *copied;

		if (at + step > want || at > SAMPLES_STACK_MAX - step)
			continue;
		if (!bpf_probe_read_user(to + at, step, (void *)(from + at)))
			*copied = at + step;
	}
	return *copied;
}

/* The upper bits of addresses in Go's arenas (arenaHints in its runtime's malloc.go), its stacks', too. */
enum { GO_ARENA = 3, GO_ARENA_SHIFT = 38 };

enum { LEAST_ADDRESS = 1 << 16 /* vm.mmap_min_addr */ };
enum { STACK_BLOCK = 1 << 20 /* what is taken for the stack where its end is not known, and twice that */ };

static __always_inline bool is_in(__u64 address, __u64 begin, __u64 bytes)
{
	return address - begin < bytes;
}

/*
 * The first fields of struct g in runtime2.go of Go's runtime, and of struct m, whose first field is the
 * runtime's own goroutine.
 */
struct goroutine {
	__u64 low, high, guards[2], panics, defers, thread;
};

/*
 * A goroutine's stack, behind which is the heap. What says which goroutine runs points to it. That of the
 * runtime, one for each thread, works for one on another stack.
 */
static __always_inline void find_goroutine(struct copy *copy, __u64 from)
{
	__u64 address = copy->regs[ARCH_SAMPLED_GO_G], runtime;
	struct goroutine goroutine;

	if (bpf_probe_read_user(&goroutine, sizeof(goroutine), (void *)address) || goroutine.low > from ||
	    goroutine.high <= from)
		return;
	copy->limit = goroutine.high;
	if (!bpf_probe_read_user(&runtime, sizeof(runtime), (void *)goroutine.thread) && runtime != address)
		copy->kept.arena = 0;
}

/* Where the stack may be. It seldom changes: then all is to be looked at again. */
static __always_inline __u64 find_block(struct slot *slot, __u64 from)
{
	if (!is_in(from, slot->block, STACK_BLOCK))
		slot->block = from - STACK_BLOCK / 2;
	return slot->block;
}

/*
 * Where the stack ends, and what is kept. A handler of signals may have a stack of its own; above a thread's
 * stack stands what fs leads to, and a read beyond it is a page fault. For the verifier, all is in a map.
 */
static __always_inline void find_kept(struct copy *copy, struct slot *slot, __u64 from,
				      const struct task_struct *task, __u32 pid)
{
	struct kept *kept = &copy->kept;

	copy->limit = 0;
	copy->most = keeps_all_words(pid) ? SAMPLES_STACK_MAX : SAMPLES_STACK;
	kept->arena = ~0ull;
	if (from >> GO_ARENA_SHIFT == GO_ARENA)
		find_goroutine(copy, from);
	else if (task->pid == task->tgid && task->mm)
		copy->limit = task->mm->start_stack;
	kept->stack = find_block(slot, from);
	kept->stack_bytes =
		copy->limit > from + SAMPLES_CHUNK ? copy->limit - kept->stack : 2ull * STACK_BLOCK;
	if (!copy->limit && is_in(task->thread.fsbase, from, SAMPLES_STACK_MAX))
		copy->limit = task->thread.fsbase;
	if (!knows_code || keeps_all_words(pid) || task->personality & READ_IS_EXECUTE ||
	    is_in(from, task->sas_ss_sp, task->sas_ss_size)) {
		kept->stack = LEAST_ADDRESS;
		kept->stack_bytes = (1ull << ADDRESS_BITS) - LEAST_ADDRESS;
	}
}

/* The highest bit tells. Without branches, as below. */
static __always_inline __u64 in_range(__u64 address, __u64 begin, __u64 bytes)
{
	__u64 at = address - begin;

	at = ~at & (at - bytes);
	asm volatile("" : "+r"(at));
	return at;
}

static __always_inline __u64 in_arena(__u64 address)
{
	__u64 at = address >> GO_ARENA_SHIFT ^ GO_ARENA;

	asm volatile("" : "+r"(at));
	return at - 1;
}

/* The word if it may be an address of code or of a stack; else 0. */
static __always_inline __u64 what_is_needed(const struct kept *kept, __u64 word)
{
	__u64 bits = code_bit(word) | in_range(word, kept->stack, kept->stack_bytes) |
		     (in_arena(word) & kept->arena);

	asm volatile("" : "+r"(bits));
	return word & (__u64)((__s64)bits >> 63);
}

enum { CHUNK_WORDS = SAMPLES_CHUNK / sizeof(__u64) };

/* Odd, and no two have a divisor in common. One after the other, so that a compiler needs no room for all. */
static __always_inline __u64 sum_words(__u64 sum, const __u64 *words)
{
	static const __u32 factors[CHUNK_WORDS] = {0x5bd1e995, 0x1b873593, 0x27d4eb2f, 0x165667b1,
						   0x3c6ef35f, 0x4cf5ad43, 0x2745937f, 0x52dce729};

#pragma unroll
	for (int i = 0; i < CHUNK_WORDS; i++) {
		sum += words[i] * factors[i];
		asm volatile("" : "+r"(sum));
	}
	return sum;
}

static __always_inline __u64 seed_of(const struct kept *kept)
{
	return mix(mix(mix(secret + code_changes, kept->stack), kept->stack_bytes), kept->arena);
}

/* Which chunks are not as they were. */
struct diff {
	struct slot *slot;
	struct copy *copy;
	struct samples_full *full;
	__u64 from; /* address of the copy's first byte */
};

/* 1 if it is not 0. */
static __always_inline __u64 is_any(__u64 bits)
{
	__u64 minus = -bits;

	asm volatile("" : "+r"(minus), "+r"(bits));
	bits = (bits | minus) >> 63;
	asm volatile("" : "+r"(bits));
	return bits;
}

/* All ones if the half of a word is not 0. */
static __always_inline __u64 is_half(__u64 half)
{
	__u64 bits = -half;

	asm volatile("" : "+r"(bits));
	return bits >> 32;
}

/* Where the halves go that differ, and which they are. */
struct halves {
	__u8 *to;
	__u64 at;
	__u32 mask;
};

/*
 * Over a half that differs; `more` is its size, else 0. A compiler that knows this makes an `or` of the sum,
 * of which the verifier of Linux 6.1 knows no bounds.
 */
static __always_inline void go_on(struct halves *halves, __u64 more)
{
	asm volatile("" : "+r"(more));
	halves->at += more;
}

/* Each half is written, and stays if it differs. */
static __always_inline void put_word(struct halves *halves, __u32 nth, __u64 word, __u64 differs)
{
	__u64 low = is_half((__u32)differs), high = is_half(differs >> 32);

	*(__u32 *)(halves->to + halves->at) = (__u32)word;
	go_on(halves, low & sizeof(__u32));
	*(__u16 *)(halves->to + halves->at) = (__u16)(word >> 32);
	go_on(halves, high & sizeof(__u16));
	halves->mask |= (low & 1u << 2 * nth) | (high & 2u << 2 * nth);
}

/*
 * One chunk, as it is now and as it was. What is counted here stands in a map: on the stack, verifiers before
 * Linux 6.7 take it for constant. There are no branches where words differ, since a verifier follows each
 * way through all of it.
 */
static __always_inline long diff_words(const struct diff *diff, __u32 nth, const __u64 *now, __u64 *then)
{
	const struct kept kept = diff->copy->kept;
	volatile __u16 *coded_cnt = &diff->full->coded_cnt;
	__u32 cnt = *coded_cnt;
	struct halves halves = {0};
	__u16 *out;

	if (cnt > SAMPLES_CODED_MAX - SAMPLES_CODED_CHUNK)
		return 1;
	out = diff->full->coded + cnt;
	asm volatile("" : "+r"(out)); /* here a verifier knows its bounds */
	halves.to = (__u8 *)(out + 1);
#pragma unroll
	for (int i = 0; i < CHUNK_WORDS; i++) {
		__u64 word = what_is_needed(&kept, now[i]), differs = word ^ then[i];

		then[i] = word;
		put_word(&halves, i, word, differs);
	}
	if (!halves.mask)
		return 0;
	out[0] = (__u16)halves.mask;
	diff->full->coded[nth / 16] |= 1 << nth % 16;
	*coded_cnt = cnt + 1 + halves.at / sizeof(*out);
	return 0;
}

static __always_inline bool are_same(const __u64 *now, const __u64 *then)
{
	__u64 differs = 0;

#pragma unroll
	for (int i = 0; i < CHUNK_WORDS; i++)
		differs |= now[i] ^ then[i];
	return !differs;
}

static long diff_registers(__u32 nth, void *ctx)
{
	const struct diff *diff = ctx;
	const __u64 *now;
	__u64 *then;

	asm volatile("" : "+r"(nth)); /* a verifier sees only what is done to it from here on */
	nth &= SAMPLES_REGS_WORDS / CHUNK_WORDS - 1;
	now = &diff->copy->regs[nth * CHUNK_WORDS];
	then = &diff->slot->regs[nth * CHUNK_WORDS];
	return are_same(now, then) ? 0 : diff_words(diff, nth, now, then);
}

/* 1 if it is less, of numbers that are much less than 2^63. */
static __always_inline __u64 is_less(__u64 one, __u64 other)
{
	__u64 minus = one - other;

	asm volatile("" : "+r"(minus));
	return minus >> 63;
}

/* Chunks of a group that differ. Those outside the stack's copy do not count. */
static __always_inline void note_changed(struct copy *copy, __u32 group, const __u64 *differs)
{
	volatile __u32 *changed_cnt = &copy->changed_cnt;
	__u64 cnt = *changed_cnt, first = copy->lead, end = first + copy->chunk_cnt;

#pragma unroll
	for (__u32 i = 0; i < GROUP; i++) {
		__u64 chunk = (__u64)group * GROUP + i;

		cnt &= 2 * SAMPLES_CHUNK_MAX - 1;
		copy->changed[cnt] = chunk - first;
		cnt += is_any(differs[i]) & ~is_less(chunk, first) & is_less(chunk, end);
	}
	*changed_cnt = cnt;
}

/* Groups begin at multiples of their size, by address. Most are as they were. */
static long look_at_group(__u32 nth, void *ctx)
{
	const struct diff *diff = ctx;
	__u64 group, seed = diff->copy->seed, differs[GROUP], any = 0;
	const __u64 *words, *sums;

	asm volatile("" : "+r"(nth)); /* a verifier sees only what is done to it from here on */
	if (nth > SAMPLES_CHUNK_MAX / GROUP)
		return 1;
	words = (const __u64 *)&diff->copy->bytes[nth * GROUP_BYTES];
	group = diff->from / GROUP_BYTES + nth;
	sums = &diff->slot->sums[group % (SAMPLES_CHUNK_MAX / GROUP) * GROUP];
#pragma unroll
	for (__u32 i = 0; i < GROUP; i++) {
		differs[i] = sum_words(seed, words + i * CHUNK_WORDS) ^ sums[i];
		any |= differs[i];
	}
	if (any)
		note_changed(diff->copy, nth, differs);
	return 0;
}

static long diff_chunk(__u32 nth, void *ctx)
{
	const struct diff *diff = ctx;
	__u32 chunk, at;
	__u64 address, *words, place, sum;

	asm volatile("" : "+r"(nth));
	chunk = diff->copy->changed[nth & (2 * SAMPLES_CHUNK_MAX - 1)];
	at = (diff->copy->lead + chunk) * SAMPLES_CHUNK;
	asm volatile("" : "+r"(at));
	if (chunk >= SAMPLES_CHUNK_MAX || at > sizeof(diff->copy->bytes) - SAMPLES_CHUNK)
		return 1;
	words = (__u64 *)&diff->copy->bytes[at];
	address = diff->from + (__u64)chunk * SAMPLES_CHUNK;
	place = address / SAMPLES_CHUNK % SAMPLES_CHUNK_MAX;
	sum = sum_words(diff->copy->seed, words);
	if (diff_words(diff, SAMPLES_REGS_CHUNKS + chunk, words,
		       (__u64 *)&diff->slot->bytes[place * SAMPLES_CHUNK]))
		return 1; /* no room: the next record tells of it */
	diff->slot->sums[place] = sum;
	return 0;
}

/* A read that fails leaves all 0. */
static __always_inline void clear_slot(struct slot *slot)
{
	bpf_probe_read_kernel(slot->regs, sizeof(slot->regs), NULL);
	bpf_probe_read_kernel(slot->bytes, sizeof(slot->bytes), NULL);
	bpf_probe_read_kernel(slot->sums, sizeof(slot->sums), NULL);
}

/* The thread's next record in that slot; every SAMPLES_KEY_EVERY-th, and the first, is 0. */
static __always_inline __u32 next_of(struct slot *slot, __u32 tid)
{
	slot->nth = slot->tid == tid ? (slot->nth + 1) % SAMPLES_KEY_EVERY : 0;
	slot->tid = tid;
	if (!slot->nth)
		clear_slot(slot);
	return slot->nth;
}

static __always_inline void put_stack(struct samples_full *full, enum samples_ring ring,
				      const struct task_struct *task)
{
	__u32 place = place_of(bpf_get_smp_processor_id(), ring),
	      nth = place * SAMPLES_SLOTS + full->record.tid % SAMPLES_SLOTS, bytes;
	struct slot *slot = bpf_map_lookup_elem(&slots, &nth);
	struct copy *copy = bpf_map_lookup_elem(&copies, &place);
	struct diff diff = {.slot = slot, .copy = copy, .full = full};

	full->chunk_cnt = full->coded_cnt = full->kernel_cnt = 0;
	full->slot = full->record.tid % SAMPLES_SLOTS;
	__builtin_memset(full->coded, 0, SAMPLES_FRESH_MAX * sizeof(*full->coded));
	if (!slot || !copy)
		return;
	diff.from = copy->regs[ARCH_SAMPLED_SP] & ~(SAMPLES_CHUNK - 1ull);
	find_kept(copy, slot, diff.from, task, full->record.pid);
	full->nth = next_of(slot, full->record.tid);
	bytes = copy_stack(copy, diff.from);
	full->chunk_cnt = bytes / SAMPLES_CHUNK;
	full->coded_cnt = samples_fresh_cnt(full);
	if (bytes == copy->most)
		full->record.flags |= SAMPLES_CUT;
	copy->seed = seed_of(&copy->kept);
	copy->lead = diff.from % GROUP_BYTES / SAMPLES_CHUNK;
	copy->chunk_cnt = full->chunk_cnt;
	copy->changed_cnt = 0;
	bpf_loop(SAMPLES_REGS_CHUNKS, diff_registers, &diff, 0);
	bpf_loop((copy->lead + full->chunk_cnt + GROUP - 1) / GROUP, look_at_group, &diff, 0);
	bpf_loop(copy->changed_cnt, diff_chunk, &diff, 0);
}

/* The registers that were taken, and the copy, in a record that is begun; the bytes that it needs. */
static __always_inline __u32 put_full(struct samples_full *full, enum samples_ring ring,
				      const struct task_struct *task)
{
	full->record.flags |= SAMPLES_WITH_STACK;
	put_stack(full, ring, task);
	return sizeof(*full) + 2 * samples_kernel_at(full);
}

/* Behind it, the kernel's stack, but for its innermost frames. */
static __always_inline __u32 put_kernel(struct samples_full *full, void *ctx, __u64 skipped)
{
	__u32 at = samples_kernel_at(full);
	long bytes;

	if (at > SAMPLES_CODED_MAX)
		return 0;
	bytes = bpf_get_stack(ctx, full->coded + at, 8 * SAMPLES_KERNEL_MAX, skipped);
	if (bytes < 0)
		return 0;
	full->kernel_cnt = bytes / 8;
	return bytes;
}
