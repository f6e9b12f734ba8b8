/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two stacks of a thread, word by word: bpf/samples.bpf.c and
 * user/source/samples/ring_writer.c write it, ring.c reads it.
 *
 * Stacks are compared by chunks of SAMPLES_CHUNK_WORDS words. Each chunk that changed begins with 32 bits, and
 * so does the 256th of chunks that follow each other unchanged: three bits for each word, its code, the first
 * word's lowest; and in the highest eight bits how many chunks were passed over since the last one. Behind it
 * stand the halves of words that the codes ask for. Most words are addresses, and the upper half of an address
 * is known: so a word that changed takes four bytes, and one that did not takes none.
 */
#pragma once

#include <linux/types.h>

#include "bpf/samples.h"

enum samples_code {
	SAMPLES_SAME,
	SAMPLES_ZERO,
	SAMPLES_UPPER_SAME, /* the lower half follows; the upper one is as it was */
	SAMPLES_UPPER_ZERO,
	SAMPLES_UPPER_STACK, /* ... as the stack pointer's */
	SAMPLES_UPPER_CODE,  /* ... as the instruction pointer's */
	SAMPLES_UPPER_LAST,  /* ... as the last whole word's */
	SAMPLES_WHOLE,	     /* both follow, the lower one first */
};

enum { SAMPLES_CODE_BITS = 3, SAMPLES_PASSED_SHIFT = 24, SAMPLES_PASSED_MAX = 255 };

/* What the upper halves of words may be like. All begin as 0 in each record. */
struct samples_upper {
	__u32 stack, code; /* the stack pointer's, from the second chunk on: it is in the first; the ip's */
	__u32 last;	   /* that of the last SAMPLES_WHOLE */
	__u32 at;	   /* where in a chunk's `out` the next half goes */
};

static inline int samples_is_same_chunk(const __u64 *now, const __u64 *then)
{
	return !((now[0] ^ then[0]) | (now[1] ^ then[1]) | (now[2] ^ then[2]) | (now[3] ^ then[3]) |
		 (now[4] ^ then[4]) | (now[5] ^ then[5]) | (now[6] ^ then[6]) | (now[7] ^ then[7]));
}

static inline enum samples_code samples_code_of(__u64 now, __u64 then,
						const volatile struct samples_upper *upper)
{
	__u32 half = (__u32)(now >> 32);

	if (now == then)
		return SAMPLES_SAME;
	if (!now)
		return SAMPLES_ZERO;
	if (half == (__u32)(then >> 32))
		return SAMPLES_UPPER_SAME;
	if (!half)
		return SAMPLES_UPPER_ZERO;
	return half == upper->stack  ? SAMPLES_UPPER_STACK
	       : half == upper->code ? SAMPLES_UPPER_CODE
	       : half == upper->last ? SAMPLES_UPPER_LAST
				     : SAMPLES_WHOLE;
}

/*
 * Writes the words of a chunk of which `then` is known, which becomes `now`, to `out`, where there is room for
 * SAMPLES_CHUNK_CODED. Returns how many it took. What changes from word to word stands in memory, for BPF's
 * verifier: it would follow each combination of codes, were they in registers.
 */
static inline __u32 samples_put_chunk(volatile __u32 *out, __u32 passed, const __u64 *now, __u64 *then,
				      volatile struct samples_upper *upper)
{
	upper->at = 1;
	out[0] = passed << SAMPLES_PASSED_SHIFT;
	for (int i = 0; i < SAMPLES_CHUNK_WORDS; i++) {
		__u32 at = upper->at;
		__u64 word = now[i];
		enum samples_code code = samples_code_of(word, then[i], upper);

		if (code == SAMPLES_SAME)
			continue;
		then[i] = word;
		out[0] |= (__u32)code << SAMPLES_CODE_BITS * i;
		if (code == SAMPLES_ZERO || at > SAMPLES_CHUNK_CODED - 2)
			continue;
		out[at] = (__u32)word;
		upper->at = at + 1;
		if (code == SAMPLES_WHOLE) {
			out[at + 1] = upper->last = (__u32)(word >> 32);
			upper->at = at + 2;
		}
	}
	return upper->at;
}
