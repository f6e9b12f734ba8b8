/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters are programs for the kernel's old BPF machine: two registers, 16 words of memory, jumps forward
 * only. They are run here by the same rules as there.
 */
#include "arch/x86_64/call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t code, uint32_t a, uint32_t by)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + by;
	case BPF_SUB:
		return a - by;
	case BPF_MUL:
		return a * by;
	case BPF_DIV:
		return by ? a / by : 0;
	case BPF_OR:
		return a | by;
	case BPF_AND:
		return a & by;
	case BPF_XOR:
		return a ^ by;
	case BPF_LSH:
		return a << (by & 31);
	case BPF_RSH:
		return a >> (by & 31);
	default:
		return -a;
	}
}

static bool jumps(uint16_t code, uint32_t a, uint32_t to)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == to;
	case BPF_JGT:
		return a > to;
	case BPF_JGE:
		return a >= to;
	default:
		return a & to;
	}
}

static uint32_t loaded(const struct machine *machine, const struct sock_filter *insn,
		       const struct seccomp_data *data)
{
	uint32_t word = 0;

	switch (BPF_MODE(insn->code)) {
	case BPF_IMM:
		return insn->k;
	case BPF_MEM:
		return insn->k < BPF_MEMWORDS ? machine->memory[insn->k] : 0;
	case BPF_LEN:
		return sizeof(*data);
	default:
		if (insn->k <= sizeof(*data) - sizeof(word))
			memcpy(&word, (const char *)data + insn->k, sizeof(word));
		return word;
	}
}

uint32_t filter_action(const struct sock_filter *filter, size_t cnt, const struct seccomp_data *data)
{
	struct machine machine = {0};

	for (size_t i = 0; i < cnt; i++) {
		const struct sock_filter *insn = &filter[i];
		const uint32_t by = BPF_SRC(insn->code) == BPF_X ? machine.x : insn->k;

		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			machine.a = loaded(&machine, insn, data);
			break;
		case BPF_LDX:
			machine.x = loaded(&machine, insn, data);
			break;
		case BPF_ST:
		case BPF_STX:
			if (insn->k < BPF_MEMWORDS)
				machine.memory[insn->k] =
					BPF_CLASS(insn->code) == BPF_ST ? machine.a : machine.x;
			break;
		case BPF_ALU:
			machine.a = calculate(insn->code, machine.a, by);
			break;
		case BPF_JMP:
			if (BPF_OP(insn->code) == BPF_JA)
				i += insn->k;
			else
				i += jumps(insn->code, machine.a, by) ? insn->jt : insn->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(insn->code) == BPF_A ? machine.a : insn->k;
		default:
			if (BPF_MISCOP(insn->code) == BPF_TAX)
				machine.x = machine.a;
			else
				machine.a = machine.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static uint32_t action_for(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call)
{
	struct seccomp_data data = {.nr = (int)call->number, .arch = AUDIT_ARCH_X86_64};

	memcpy(data.args, call->args, sizeof(data.args));
	return filter_action(filter, cnt, &data) & SECCOMP_RET_ACTION_FULL;
}

static bool is_allowed(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

bool filter_allows(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call)
{
	return is_allowed(action_for(filter, cnt, call));
}

bool filter_is_survived(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call)
{
	uint32_t action = action_for(filter, cnt, call);

	return is_allowed(action) || action == SECCOMP_RET_ERRNO;
}
