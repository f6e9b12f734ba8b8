/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits that no probe makes: the registers come from ptrace. */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "process/proc_status.h"
#include "source/step/step_internal.h"

/*
 * Follows the frame pointers, each at [rbp] with the return address above it, as long as they lead up the
 * stack.
 */
static void walk_stack(const struct step_thread *thread, struct caught_hit *hit)
{
	uint64_t frame = hit->regs[HIT_RBP];

	hit->stack[hit->hit.stack_cnt++] = hit->regs[HIT_RIP];
	while (hit->hit.stack_cnt < HIT_STACK_MAX && frame) {
		uint64_t next, ret;

		errno = 0;
		next = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)frame, NULL);
		ret = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)(frame + sizeof(uint64_t)),
				       NULL);
		if (errno)
			return;
		hit->stack[hit->hit.stack_cnt++] = ret;
		if (next <= frame)
			return;
		frame = next;
	}
}

void step_describe_thread(struct step *step, const struct step_thread *thread, struct caught_hit *ret_hit)
{
	struct caught_hit caught = {.hit = {.time_ns = step_now(step),
					    .pid = (uint32_t)thread->process->pid,
					    .tid = (uint32_t)thread->tid}};
	struct hit *hit = &caught.hit;
	struct user_regs_struct regs = {0};
	char comm[HIT_COMM_BYTES + 1] = "";

	hit->begin_ns = hit->time_ns;
	ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs);
	memcpy(caught.regs, &regs, sizeof(caught.regs)); /* begins like struct pt_regs */
	errno = 0;
	hit->return_address =
		(uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)caught.regs[HIT_RSP], NULL);
	if (errno)
		hit->return_address = 0;
	walk_stack(thread, &caught);
	proc_status_text(thread->tid, "Name", comm, sizeof(comm));
	memcpy(hit->comm, comm, sizeof(hit->comm));
	*ret_hit = caught;
}
