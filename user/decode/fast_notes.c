/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets about something other than control flow: power states, PTWRITE, MWAIT. */
#include "decode/code_insn.h"
#include "decode/fast_internal.h"

bool fast_pass_event(struct fast *fast, size_t size)
{
	if (!fast_has_bytes(fast, size))
		return false;
	fast->at += size;
	if (fast_is_in_event(fast))
		return fast_decline(fast, "an event within an event");
	fast_take_event_time(fast);
	return true;
}

bool fast_on_power_entry(struct fast *fast)
{
	if (!fast_pass_event(fast, 4))
		return false;
	fast_emit_event(fast, EVENT_POWER_ENTRY, 0, fast->at[-1]);
	return true;
}

bool fast_on_power_exit(struct fast *fast)
{
	if (!fast_pass_event(fast, 7))
		return false;
	/* Wake reasons: bit 0, an interrupt; bit 2, a store; bit 3, the hardware. */
	fast_emit_event(fast, EVENT_POWER_EXIT, 0,
			fast->at[-5] | (fast->at[-4] & 1) << 8 | (fast->at[-4] & 0xc) << 7);
	return true;
}

bool fast_on_stopped(struct fast *fast)
{
	if (!fast_pass_event(fast, 2))
		return false;
	fast_emit_event(fast, EVENT_STOPPED, 0, 0);
	return true;
}

bool fast_pass_before_fup(struct fast *fast, size_t size, enum branch_event event)
{
	if (!fast_has_bytes(fast, size))
		return false;
	fast->at += size;
	if ((!fast->node && !fast->is_lost) || fast_is_in_event(fast))
		return fast_decline(fast, "an event that is out of place");
	fast->fup_use = FUP_POSITION;
	fast->event = event;
	fast->event_payload = 0;
	if (size > 2)
		fast->event_payload = fast_little_endian(fast->at - (size - 2), (unsigned int)size - 2);
	return true;
}

bool fast_on_ptwrite(struct fast *fast)
{
	uint8_t opcode = fast->at[1];
	size_t size = 2 + (opcode & 0x20 ? 8 : 4);
	uint64_t payload, ip = 0;

	if (opcode & 0x40)
		return fast_is_damaged(fast, "a PTW packet that cannot be read");
	if (opcode & 0x80)
		return fast_pass_before_fup(fast, size, EVENT_PTWRITE);
	if (!fast_has_bytes(fast, size))
		return false;
	fast->at += size;
	if ((!fast->node && !fast->is_lost) || fast_is_in_event(fast))
		return fast_decline(fast, "a PTW packet that is out of place");
	payload = fast_little_endian(fast->at - (size - 2), (unsigned int)size - 2);
	fast_take_event_time(fast);
	if (fast->node && !fast_advance(fast, &(struct sought){.is_it = code_insn_is_ptwrite, .ret_ip = &ip}))
		return false;
	fast_emit_event(fast, EVENT_PTWRITE, ip, payload);
	return true;
}
