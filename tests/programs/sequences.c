/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequences MILLIONS: four threads count to so many million each, in counters of processors, which they
 * change in restartable sequences (rseq(2)): not atomically. If one is interrupted there and goes on, what
 * others have counted meanwhile is lost. Says "ready" at the beginning, and "right" at the end if nothing
 * was.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>

enum { THREADS = 4, PROCESSORS = 4096 };

static struct {
	_Alignas(64) uint64_t cnt;
} counters[PROCESSORS];
static uint64_t others; /* of threads without an area of rseq(2) */
static uint64_t wanted;

/* 0: the sequence was aborted, or there is no number of a processor. Its length gives others time. */
static int add(struct rseq *area)
{
	__asm__ volatile goto(".pushsection __rseq_cs, \"aw\"\n"
			      ".balign 32\n"
			      "3:	.long 0, 0\n"
			      "	.quad 1f, 2f - 1f, 4f\n"
			      ".popsection\n"
			      "	lea 3b(%%rip), %%rax\n"
			      "	mov %%rax, %c[sequence](%[area])\n"
			      "1:	mov %c[cpu](%[area]), %%eax\n"
			      "	cmp %[processors], %%eax\n"
			      "	jae %l[failed]\n"
			      "	shl $6, %%rax\n"
			      "	mov (%[counters], %%rax), %%rcx\n"
			      "	.rept 200\n"
			      "	nop\n"
			      "	.endr\n"
			      "	inc %%rcx\n"
			      "	mov %%rcx, (%[counters], %%rax)\n"
			      "2:	jmp 5f\n"
			      "	.long %c[signature]\n"
			      "4:	jmp %l[failed]\n"
			      "5:\n"
			      :
			      : [area] "r"(area), [counters] "r"(counters), [processors] "i"(PROCESSORS),
				[signature] "i"(RSEQ_SIG), [sequence] "i"(offsetof(struct rseq, rseq_cs)),
				[cpu] "i"(offsetof(struct rseq, cpu_id))
			      : "rax", "rcx", "memory", "cc"
			      : failed);
	return 1;
failed:
	return 0;
}

static void *count(void *unused)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	(void)unused;
	for (uint64_t done = 0; done < wanted; done++)
		while (!add(area)) {
			if ((int32_t) * (volatile uint32_t *)&area->cpu_id >= 0)
				continue;
			__atomic_add_fetch(&others, 1, __ATOMIC_RELAXED);
			break;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum;

	wanted = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sum = others;
	for (int i = 0; i < PROCESSORS; i++)
		sum += counters[i].cnt;
	puts(sum == THREADS * wanted ? "right" : "wrong");
	return sum != THREADS * wanted;
}
