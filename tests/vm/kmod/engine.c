// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Follows user code instruction by instruction. A thread is entered just before it returns to user mode (task
 * work), and left whenever the kernel is seen to be entered: by a system call, a fault, an interrupt, a
 * breakpoint, or at the latest by a context switch or a signal. In between, each instruction ends in #DB,
 * which tells what the one before did.
 */
#include <asm/tsc.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <asm/debugreg.h> /* needs what the others include */

#include "internal.h"

enum { LOST_INSTRUCTIONS = 40, SYSCALL_BYTES = 2 };

static int overflow_every;
module_param(overflow_every, int, 0600);
MODULE_PARM_DESC(overflow_every, "lose packets after so many instructions; 0: never");

static bool idle;
module_param(idle, bool, 0600);
MODULE_PARM_DESC(idle, "execute nothing of what is traced from now on: programs run at full speed");

/* ---- tracing and not tracing ---- */

/* The branch to ip entered a range with TraceStop. */
static void trace_stop(struct soft_cpu *cpu, u64 ip)
{
	static const u8 packet[] = {0x02, 0x83};

	if (cpu->encoder.enabled)
		encoder_disable_at(&cpu->encoder, rdtsc(), ip);
	aux_ring_write(&cpu->encoder.ring, packet, sizeof(packet));
	cpu->status |= RTIT_STATUS_STOPPED;
}

static void enter(struct soft_cpu *cpu, struct pt_regs *regs)
{
	cpu->running = current;
	cpu->ip = regs->ip;
	cpu->losing = 0;
	regs->flags |= X86_EFLAGS_TF;
	if (soft_pt_in_stop_range(cpu, regs->ip))
		trace_stop(cpu, regs->ip);
	else if (soft_pt_in_filter(cpu, regs->ip))
		encoder_enable(&cpu->encoder, rdtsc(), regs->ip);
}

/* The thread has left user mode; `far`: by an instruction that says so. */
static void leave(struct soft_cpu *cpu, struct pt_regs *regs, bool far)
{
	cpu->running = NULL;
	regs->flags &= ~X86_EFLAGS_TF;
	if (cpu->losing) {
		cpu->losing = 0;
		cpu->encoder.enabled = false;
		encoder_overflow(&cpu->encoder, rdtsc(), 0);
	} else if (cpu->encoder.enabled && far) {
		encoder_disable(&cpu->encoder, rdtsc());
	} else if (cpu->encoder.enabled) {
		encoder_disable_async(&cpu->encoder, rdtsc(), regs->ip);
	}
}

static void resume(struct callback_head *work)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct soft_cpu *cpu;
	unsigned long flags;

	kfree(work);
	local_irq_save(flags);
	cpu = this_cpu_ptr(&soft_cpu);
	if (!idle && soft_pt_tracing(cpu) && cpu->running != current && user_64bit_mode(regs))
		enter(cpu, regs);
	local_irq_restore(flags);
}

/* The thread is entered when it returns to user mode. */
static void resume_later(struct task_struct *task)
{
	struct callback_head *work;

	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return;
	work = kmalloc(sizeof(*work), GFP_ATOMIC);
	if (!work)
		return;
	init_task_work(work, resume);
	if (task_work_add(task, work, TWA_RESUME))
		kfree(work);
}

void soft_pt_trace_on(struct soft_cpu *cpu)
{
	/* What the reader knew is of another time, maybe of another buffer. */
	cpu->encoder.full_ip = true;
	cpu->encoder.mode_known = false;
	cpu->encoder.return_cnt = 0;
	cpu->encoder.cyc_tsc = 0;
	cpu->encoder.mtc = 0;
	/* (SDM vol. 3, chapter 33, table of packet generation: TraceEn from 0 to 1 with PacketByteCnt = 0) */
	if (cpu->encoder.psb_at == U64_MAX)
		encoder_boundary(&cpu->encoder, rdtsc(), 0);
	resume_later(current);
}

void soft_pt_trace_off(struct soft_cpu *cpu)
{
	if (cpu->running)
		leave(cpu, task_pt_regs(cpu->running), false);
	encoder_flush(&cpu->encoder);
}

/* ---- what an instruction did ---- */

static u64 return_address(struct pt_regs *regs)
{
	u64 address = 0;

	copy_from_user_nofault(&address, (void __user *)regs->sp, sizeof(address));
	return address;
}

static void branch(struct soft_cpu *cpu, struct pt_regs *regs, enum soft_kind kind, u64 next)
{
	struct encoder *encoder = &cpu->encoder;
	u64 now = rdtsc();

	switch (kind) {
	case SOFT_COND:
		encoder_conditional(encoder, now, regs->ip != next);
		break;
	case SOFT_CALL_INDIRECT:
		encoder_push_return(encoder, return_address(regs));
		encoder_indirect(encoder, now, regs->ip);
		break;
	case SOFT_CALL:
		encoder_push_return(encoder, return_address(regs));
		break;
	case SOFT_INDIRECT:
		encoder_indirect(encoder, now, regs->ip);
		break;
	case SOFT_RETURN:
		encoder_return(encoder, now, regs->ip);
		break;
	default:
		break;
	}
}

static bool lose(struct soft_cpu *cpu, enum soft_kind kind)
{
	if (!overflow_every)
		return false;
	if (!cpu->losing && --cpu->until_overflow <= 0 && cpu->encoder.enabled &&
	    (kind == SOFT_COND || kind == SOFT_INDIRECT || kind == SOFT_RETURN)) {
		cpu->until_overflow = overflow_every;
		cpu->losing = LOST_INSTRUCTIONS;
		encoder_flush(&cpu->encoder);
	}
	return cpu->losing;
}

static void retire(struct soft_cpu *cpu, struct pt_regs *regs)
{
	bool traced = cpu->encoder.enabled, inside;
	struct soft_code code;
	enum soft_kind kind;
	u64 next = 0;

	soft_pt_read_code(cpu->ip, &code);
	if (soft_pt_is_mov_ss(&code)) {
		if (traced || cpu->losing)
			soft_pt_log(cpu->ip, regs->sp, cpu->losing);
		cpu->ip += SOFT_MOV_SS_BYTES;
		soft_pt_read_code(cpu->ip, &code);
	}
	kind = soft_pt_classify(cpu->ip, &code, &next);
	if (regs->ip == cpu->ip && kind == SOFT_OTHER)
		return; /* one iteration of a string instruction */
	if (traced || cpu->losing)
		soft_pt_log(cpu->ip, regs->sp, cpu->losing);
	cpu->ip = regs->ip;
	if (cpu->losing) {
		if (--cpu->losing == 0)
			encoder_overflow(&cpu->encoder, rdtsc(), regs->ip);
		return;
	}
	if (soft_pt_in_stop_range(cpu, regs->ip)) {
		trace_stop(cpu, regs->ip);
		return;
	}
	inside = soft_pt_in_filter(cpu, regs->ip);
	if (traced && !inside) {
		encoder_disable_at(&cpu->encoder, rdtsc(), regs->ip);
	} else if (traced) {
		branch(cpu, regs, kind, next);
		if (!lose(cpu, kind))
			encoder_boundary(&cpu->encoder, rdtsc(), regs->ip);
	} else if (inside) {
		encoder_enable(&cpu->encoder, rdtsc(), regs->ip);
	}
}

/* ---- where the kernel is entered ---- */

/* On the way to a uprobe's handler, or executing the copy of the probed instruction. */
static bool in_uprobe(void)
{
	return current->utask && current->utask->active_uprobe;
}

static int on_debug(struct die_args *args)
{
	struct soft_cpu *cpu = this_cpu_ptr(&soft_cpu);
	unsigned long *dr6 = (unsigned long *)args->err;
	struct pt_regs *regs = args->regs;

	if (!user_mode(regs) || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	if (cpu->running != current) {
		/*
		 * The last instruction before tracing ended; a step that somebody else wants is none of ours.
		 */
		if (in_uprobe() || test_thread_flag(TIF_SINGLESTEP))
			return NOTIFY_DONE;
		regs->flags &= ~X86_EFLAGS_TF;
	} else {
		retire(cpu, regs);
		if (in_uprobe()) {
			leave(cpu, regs, false);
			resume_later(current);
			return NOTIFY_DONE;
		}
		if (!soft_pt_tracing(cpu))
			leave(cpu, regs, false);
	}
	*dr6 &= ~DR_STEP;
	return *dr6 & DR_TRAP_BITS ? NOTIFY_DONE : NOTIFY_STOP;
}

/* Uprobes look at the trap flag: it must be as the program has it. */
static int on_breakpoint(struct die_args *args)
{
	struct soft_cpu *cpu = this_cpu_ptr(&soft_cpu);
	struct pt_regs *regs = args->regs;
	int len; /* int3 is cc or cd 03 */
	u8 last;

	if (!user_mode(regs) || cpu->running != current)
		return NOTIFY_DONE;
	len = copy_from_user_nofault(&last, (void __user *)(regs->ip - 1), 1) || last != 0x03 ? 1 : 2;
	regs->ip -= len;
	leave(cpu, regs, false);
	regs->ip += len;
	resume_later(current);
	return NOTIFY_DONE;
}

static int on_die(struct notifier_block *block, unsigned long event, void *args)
{
	unsigned long flags;
	int ret = NOTIFY_DONE;

	local_irq_save(flags);
	if (event == DIE_DEBUG)
		ret = on_debug(args);
	else if (event == DIE_INT3)
		ret = on_breakpoint(args);
	local_irq_restore(flags);
	return ret;
}

static struct notifier_block die_block = {.notifier_call = on_die, .priority = INT_MAX};

/*
 * The kernel was entered by a system call if there is a number of one, and the instruction that makes it is
 * behind us: it may be interrupted before its hook sees it, and on its way back.
 */
static void leave_if_running(void)
{
	struct soft_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&soft_cpu);
	if (cpu->running == current) {
		struct pt_regs *regs = task_pt_regs(current);
		bool far = (long)regs->orig_ax >= 0 && regs->ip == cpu->ip + SYSCALL_BYTES;

		if (far && (cpu->encoder.enabled || cpu->losing))
			soft_pt_log(cpu->ip, regs->sp, cpu->losing);
		leave(cpu, regs, far);
		resume_later(current);
	}
	local_irq_restore(flags);
}

static void on_entry(void *data)
{
	leave_if_running();
}

/*
 * A processor that traces whoever runs there goes on with the next one; else the driver turns it on by
 * itself.
 */
static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	leave_if_running();
	if (soft_pt_tracing(this_cpu_ptr(&soft_cpu)))
		resume_later(next);
}

/* ---- the module ---- */

static const struct hook {
	const char *name;
	void *fn;
} hooks[] = {
	{"sys_enter", on_entry},	   {"sched_switch", on_switch},
	{"signal_deliver", on_entry},	   {"page_fault_user", on_entry},
	{"local_timer_entry", on_entry},   {"reschedule_entry", on_entry},
	{"call_function_entry", on_entry}, {"call_function_single_entry", on_entry},
};

static void attach(struct tracepoint *tp, void *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			tracepoint_probe_register(tp, hooks[i].fn, NULL);
}

static int __init soft_pt_init(void)
{
	int cpu, err = soft_pt_log_init();

	if (err)
		return err;
	for_each_possible_cpu(cpu)
	{
		struct soft_cpu *soft = per_cpu_ptr(&soft_cpu, cpu);

		soft->params.max_nonturbo_ratio = tsc_khz / 100000;
		soft->params.tsc_ctc_ratio_n = SOFT_CRYSTAL_RATIO;
		soft->params.tsc_ctc_ratio_d = 1;
		soft->encoder.params = &soft->params;
		soft->encoder.psb_at = U64_MAX;
	}
	soft_pt_output_init();
	err = register_die_notifier(&die_block);
	if (err)
		return err;
	for_each_kernel_tracepoint(attach, NULL);
	return soft_pt_driver();
}

module_init(soft_pt_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a software processor under the intel_pt driver");
