/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample's stack is what the kernel walked by frame pointers, or the kernel's part of it and a copy of the
 * user's, which is unwound here by call frame information in the image of that time. Return addresses stand
 * behind their calls, perhaps in the next function: they are looked up one byte before.
 */
#include "rebuild/samples/sample_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "image/unwind.h"

enum { FRAMES_MAX = 1024 };

static bool has_kernel_name(struct history *history, uint64_t ip)
{
	const struct symbol *symbol = image_symbol_at(history->kernel, 0, ip);

	return symbol && symbol->named;
}

/* Where the program was, and where it goes on below the kernel's part, no call stands before the address. */
static size_t add_ip(struct history *history, uint64_t *ips, size_t cnt, uint64_t ip)
{
	if (cnt && arch_is_kernel(ips[cnt - 1]) == arch_is_kernel(ip))
		ip--;
	if (arch_is_kernel(ip) && !has_kernel_name(history, ip))
		ip = SAMPLE_KERNEL_IP;
	if (ip == SAMPLE_KERNEL_IP && cnt && ips[cnt - 1] == SAMPLE_KERNEL_IP)
		return cnt;
	ips[cnt] = ip;
	return cnt + 1;
}

/* Outside of all that is mapped: a frame pointer that was none. Where it ran is told in any case. */
static bool is_nowhere(struct history *history, const struct stack_sample *sample, uint64_t ip)
{
	const struct history_process *process = history_process(history, sample->pid);

	return process && !arch_is_kernel(ip) &&
	       !image_section_at(process->image, image_version_at(process->image, sample->time_ns), ip - 1);
}

/* Of a stack that could not be copied they tell where it ran. */
static bool has_only_registers(const struct stack_sample *sample)
{
	return sample->flags & SAMPLE_HAS_REGS &&
	       (!sample->ip_cnt || arch_is_kernel(sample->ips[sample->ip_cnt - 1]));
}

/* A thread of the kernel's in the process: it has no code of its own. */
static bool is_worker(const struct stack_sample *sample)
{
	return sample->flags & SAMPLE_HAS_REGS && !sample->regs[HIT_IP] && !sample->regs[HIT_SP];
}

/* The user's part: where it ran, or where it called the kernel. */
static void unwind(struct history *history, const struct stack_sample *sample, struct unwound *unwound)
{
	struct history_process *process = history_process(history, sample->pid);
	uint8_t room[SAMPLE_STACK_MAX];

	if (process && !is_worker(sample) && (sample->stack_size || has_only_registers(sample)))
		unwind_frames(process->image, image_version_at(process->image, sample->time_ns), sample->regs,
			      stack_sample_stack(sample, room), sample->stack_size, unwound);
}

/* Up to `cap` frames, as the kernel walked them: all, or its own part only. Returns how many. */
static size_t read_walked(struct history *history, const struct stack_sample *sample, bool is_all,
			  uint64_t *ips)
{
	size_t cnt = 0;

	for (size_t i = 0; i < sample->ip_cnt; i++) {
		uint64_t ip = sample->ips[i];

		if (cnt && !arch_is_kernel(ips[cnt - 1]) && is_nowhere(history, sample, ip))
			break;
		if (is_all || arch_is_kernel(ip))
			cnt = add_ip(history, ips, cnt, ip);
	}
	return cnt;
}

int sample_stack_new(struct sample_stack *ret_stack, size_t cnt)
{
	*ret_stack = (struct sample_stack){.ips = calloc(2 * cnt, sizeof(*ret_stack->ips)), .cnt = cnt};
	if (!ret_stack->ips)
		return -ENOMEM;
	ret_stack->cfas = ret_stack->ips + cnt;
	return 0;
}

uint64_t sample_stack_leaf(const struct stack_sample *sample)
{
	if (sample->flags & SAMPLE_HAS_REGS)
		return sample->regs[HIT_IP];
	for (size_t i = 0; i < sample->ip_cnt; i++)
		if (!arch_is_kernel(sample->ips[i]))
			return sample->ips[i];
	return 0;
}

int sample_stack_read(struct history *history, const struct stack_sample *sample,
		      struct sample_stack *ret_stack)
{
	uint64_t ips[FRAMES_MAX], cfas[FRAMES_MAX];
	struct unwound user = {
		.ips = ips, .cfas = cfas, .cap = FRAMES_MAX, .is_left_out = sample->flags & SAMPLE_LEFT_OUT};
	size_t cap;

	unwind(history, sample, &user);
	/* What the kernel walks there ends at the first function without a frame pointer. */
	if (!user.cnt && sample->kind != SAMPLE_EVENT) {
		ret_stack->leaf = sample_stack_leaf(sample);
		return 0;
	}
	cap = sample->ip_cnt + user.cnt;
	if (!cap)
		return 0;
	if (sample_stack_new(ret_stack, cap))
		return -ENOMEM;
	ret_stack->cnt = read_walked(history, sample, !user.cnt, ret_stack->ips);
	for (size_t i = 0; i < user.cnt; i++) {
		ret_stack->cfas[ret_stack->cnt] = cfas[i];
		ret_stack->cnt = add_ip(history, ret_stack->ips, ret_stack->cnt, ips[i]);
	}
	if (user.cnt)
		ret_stack->reached = user.is_whole ? 0 : user.reached;
	else if (sample->flags & SAMPLE_IS_CUT)
		ret_stack->reached = 1;
	return 0;
}
