/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sleep or a poll(2) that a stop interrupted goes on as restart_syscall(2): the thread's registers are
 * those of the call, but for its number. That stands in the code before the place where the call returns to.
 */
#include "rebuild/samples/restarted.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file/plain_file.h"
#include "rebuild/samples/sample_stack.h"

/* -1: not known. */
static int32_t number_at(struct history *history, const struct stack_sample *sample)
{
	const struct history_process *process = history_process(history, sample->pid);
	uint64_t at = sample_stack_leaf(sample) - ARCH_CALLING_SIZE;
	const struct image_section *section =
		process ? image_section_at(process->image, image_version_at(process->image, sample->time_ns),
					   at)
			: NULL;
	CLEANUP(closep) int fd = section && section->path ? plain_file_open(section->path) : -1;
	uint8_t code[ARCH_CALLING_SIZE];

	if (fd < 0 ||
	    pread(fd, code, sizeof(code), (off_t)(at - section->addr + section->file_offset)) != sizeof(code))
		return -1;
	return arch_called(code);
}

const struct stack_sample *restarted_sample(struct restarted *restarted, struct history *history,
					    const struct stack_sample *sample)
{
	int32_t number = sample->call.nr == SYS_restart_syscall && sample->kind == SAMPLE_SWITCH_OUT
				 ? number_at(history, sample)
				 : -1;
	struct stack_sample *copy;

	if (number < 0)
		return sample;
	copy = malloc(sizeof(*copy));
	if (ARRAY_TAKE(restarted->samples, restarted->cnt, restarted->cap, copy))
		return NULL;
	*copy = *sample;
	copy->call.nr = number;
	return copy;
}

void restarted_release(struct restarted *restarted)
{
	for (size_t i = 0; i < restarted->cnt; i++)
		free(restarted->samples[i]);
	free(restarted->samples);
}
