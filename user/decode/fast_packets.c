/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets (SDM vol. 3, "Intel Processor Trace", "Packet Definitions"). What is reserved must be 0, or is left
 * to the reference decoder.
 */
#include "decode/fast_internal.h"

#include "decode/code_insn.h"

/* ---- packets ---- */

/* The packet's bytes, and its address. *ret_has_ip is false where it is suppressed. */
static bool read_ip(struct fast *fast, bool *ret_has_ip, uint64_t *ret_ip)
{
	static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0xff, 8, 0xff};
	unsigned int compression = *fast->at >> 5, size = sizes[compression];
	uint64_t value, mask;

	if (size == 0xff)
		return fast_is_damaged(fast, "an address that cannot be read");
	if (!fast_has_bytes(fast, 1 + size))
		return false;
	value = fast_little_endian(fast->at + 1, size);
	fast->at += 1 + size;
	*ret_has_ip = size;
	if (!size)
		return true;
	mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
	if (compression == 3)
		value = (uint64_t)((int64_t)(value << 16) >> 16);
	else
		value |= fast->last_ip & ~mask;
	*ret_ip = fast->last_ip = value;
	return true;
}

static bool on_tip(struct fast *fast)
{
	bool has_ip;
	uint64_t ip;

	if (!read_ip(fast, &has_ip, &ip))
		return false;
	if (!has_ip)
		return fast_is_damaged(fast, "a packet without its address");
	if (fast->fup_use != FUP_ASYNC)
		return fast_decline(fast, "a TIP packet that is out of place");
	return fast->in_event ? fast_on_event_tip(fast, ip) : fast_on_branch_tip(fast, ip);
}

static bool on_ip_packet(struct fast *fast, uint8_t opcode)
{
	bool has_ip;
	uint64_t ip;

	if (!read_ip(fast, &has_ip, &ip))
		return false;
	if (opcode != 0x01 && !has_ip)
		return fast_is_damaged(fast, "a packet without its address");
	if (opcode == 0x1d)
		return fast_on_fup(fast, ip);
	if (fast->fup_use != FUP_ASYNC)
		return fast_decline(fast, "a FUP packet is missing");
	if (opcode == 0x11)
		return fast_on_pge(fast, ip);
	if (fast->next_has_mode)
		return fast_decline(fast, "tracing ends in place of a branch to another mode");
	if (fast->is_lost) {
		fast->is_lost = false; /* nothing is traced any more, so nothing more is lost */
		fast->depth = 0;
		return true;
	}
	if (fast->in_event)
		return fast_on_event_pgd(fast);
	return has_ip ? fast_on_pgd_to(fast, ip) : fast_on_pgd(fast);
}

static bool on_cyc(struct fast *fast)
{
	const uint8_t *at = fast->at;
	uint64_t value = *at >> 3;
	unsigned int shift = 5;
	bool more = *at++ & 4;

	while (more) {
		if (at == fast->end)
			return fast_is_damaged(fast, "a packet that is cut off");
		if (shift > 54)
			return fast_is_damaged(fast, "a CYC packet that is too long");
		value |= (uint64_t)(*at >> 1) << shift;
		shift += 7;
		more = *at++ & 1;
	}
	/* Erratum SKD007: the 02 f3 behind the first byte is an OVF. */
	if (fast->odd_cycles && (value & ~31ull) == 32 && at - fast->at == 2 && at < fast->end && *at == 0xf3)
		return fast_decline(fast, "an overflow of a processor with errata");
	fast->at = at;
	return timing_cyc(&fast->timing, value) || fast_is_damaged(fast, "a CYC packet that makes no sense");
}

static bool on_mode(struct fast *fast, bool in_header)
{
	uint8_t mode;

	if (!fast_has_bytes(fast, 2))
		return false;
	mode = fast->at[1];
	fast->at += 2;
	switch (mode >> 5) {
	case 0: /* MODE.Exec: CS.L, CS.D */
		if ((mode & 3) != 1 && (mode & 3) != 2)
			return fast_is_damaged(fast, "16-bit code");
		if (in_header && fast->has_mode && fast->memory->is_64 != (mode & 1))
			return fast_decline(fast, "a PSB+ with two modes");
		fast->next_has_mode = true;
		fast->mode_tsc = fast_time(fast);
		fast->mode_while_off = !in_header && !fast->node && !fast->is_lost;
		fast->next_is_64 = mode & 1;
		if (in_header || !fast->node)
			fast_use_next_mode(fast);
		return true;
	case 1: /* MODE.TSX: in a transaction, aborted */
		if (in_header || (!fast->node && !fast->is_lost))
			return true;
		if (fast_is_in_event(fast))
			return fast_decline(fast, "a transaction within an event");
		fast->fup_use = mode & 2 ? FUP_TX_ABORT : FUP_POSITION;
		fast->event = EVENT_CNT;
		return true;
	default:
		return fast_is_damaged(fast, "a MODE packet that is not known");
	}
}

/* TSC, MTC, MODE */
static bool on_19(struct fast *fast, bool in_header)
{
	switch (*fast->at) {
	case 0x19:
		if (!fast_has_bytes(fast, 8))
			return false;
		timing_tsc(&fast->timing, fast_little_endian(fast->at + 1, 7), in_header);
		fast->at += 8;
		return true;
	case 0x59:
		if (!fast_has_bytes(fast, 2))
			return false;
		fast->at += 2;
		return timing_mtc(&fast->timing, fast->at[-1]) ||
		       fast_is_damaged(fast, "an MTC packet that makes no sense");
	case 0x99:
		return on_mode(fast, in_header);
	default:
		return fast_is_damaged(fast, "a packet that is not known");
	}
}

static bool on_tma(struct fast *fast)
{
	if (!fast_has_bytes(fast, 7))
		return false;
	/* CTC, a byte that is 0, and 9 bits of the fast counter */
	fast->at += 7;
	return (!fast->at[-3] && !(fast->at[-1] & 0xfe) &&
		timing_tma(&fast->timing, (uint32_t)fast_little_endian(fast->at - 5, 2),
			   (uint32_t)fast_little_endian(fast->at - 2, 2))) ||
	       fast_is_damaged(fast, "a TMA packet that makes no sense");
}

static bool on_cbr(struct fast *fast, bool in_header)
{
	if (!fast_has_bytes(fast, 4))
		return false;
	fast->at += 4;
	if (!timing_cbr(&fast->timing, fast->at[-2], in_header))
		return fast_is_damaged(fast, "a CBR packet that makes no sense");
	if (in_header)
		return true;
	fast_take_event_time(fast);
	fast_emit_event(fast, EVENT_FREQUENCY, 0, fast->at[-2]);
	return true;
}

static bool on_pip(struct fast *fast, bool in_header)
{
	if (!fast_has_bytes(fast, 8))
		return false;
	fast->at += 8;
	if (in_header || !fast->node)
		return true;
	if (fast_is_in_event(fast))
		return fast_decline(fast, "another address space within an event");
	fast_take_event_time(fast);
	return fast_advance(fast, &(struct sought){.is_it = code_insn_is_mov_cr3});
}

static bool on_tnt64(struct fast *fast)
{
	uint64_t payload;
	unsigned int cnt;

	if (!fast_has_bytes(fast, 8))
		return false;
	payload = fast_little_endian(fast->at + 2, 6);
	fast->at += 8;
	if (payload < 2)
		return fast_is_damaged(fast, "an empty TNT packet");
	cnt = 63 - (unsigned int)__builtin_clzll(payload);
	return fast_on_tnt(fast, payload << (64 - cnt), cnt);
}

/* A TNT packet, and those right behind it, which have the same time. */
static bool on_tnt8(struct fast *fast, const uint8_t *end)
{
	const uint8_t *at = fast->at;
	uint64_t bits = 0;
	unsigned int sum = 0;

	do {
		unsigned int cnt = 31 - (unsigned int)__builtin_clz(*at) - 1;

		bits = bits << cnt | (*at >> 1 & ((1u << cnt) - 1));
		sum += cnt;
		at++;
	} while (at < end && !(*at & 1) && *at > 2 && sum <= 64 - 6);
	fast->at = at;
	return fast_on_tnt(fast, bits << (64 - sum), sum);
}

/* After an OVF, timing packets may stand before the FUP that ends it. */
static bool on_ovf(struct fast *fast)
{
	bool has_ip = false, has_fup = false, was_on, has_moved = fast->has_moved;
	uint64_t ip = 0;

	if (fast->odd_overflows)
		return fast_decline(fast, "an overflow of a processor with errata");
	if (fast_is_in_event(fast))
		return fast_decline(fast, "an overflow within an event");
	was_on = fast->node;
	fast_take_event_time(fast);
	fast->at += 2;
	fast->last_ip = 0;
	timing_overflow(&fast->timing);
	while (fast->at < fast->end && !has_fup) {
		uint8_t byte = *fast->at;
		bool ok;

		if (!byte) {
			fast->at++;
			ok = true;
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else if (byte == 0x19 || byte == 0x59) {
			ok = on_19(fast, false);
		} else if (byte == 0x02 && fast->end - fast->at > 1 && fast->at[1] == 0x73) {
			ok = on_tma(fast);
		} else if ((byte & 0x1f) == 0x1d) {
			ok = read_ip(fast, &has_ip, &ip);
			if (ok && !has_ip)
				return fast_decline(fast, "an overflow that ends nowhere");
			has_fup = true;
		} else {
			break;
		}
		if (!ok)
			return false;
	}
	/* The FUP belongs to the event, and the time in between; libipt notices as it hands out a block. */
	if (was_on && has_ip && has_moved)
		fast_take_event_time(fast);
	return fast_on_overflow(fast, has_ip, ip);
}

/* 02 xx */
static bool on_extended(struct fast *fast, bool in_header)
{
	if (!fast_has_bytes(fast, 2))
		return false;
	switch (fast->at[1]) {
	case 0x73:
		return on_tma(fast);
	case 0x03:
		return on_cbr(fast, in_header);
	case 0x43:
		return on_pip(fast, in_header);
	case 0xc8: /* VMCS */
		if (!in_header)
			return fast_decline(fast, "a VMCS packet");
		if (!fast_has_bytes(fast, 7))
			return false;
		fast->at += 7;
		return true;
	}
	if (in_header)
		return fast_decline(fast, "a packet in a PSB+ that does not belong there");
	switch (fast->at[1]) {
	case 0xa3:
		return on_tnt64(fast);
	case 0xf3:
		return on_ovf(fast);
	case 0x83: /* TraceStop */
		return fast->node ? fast_decline(fast, "tracing stops while it is on")
				  : fast_pass_event(fast, 2);
	case 0x22: /* PWRE */
		return fast_on_power_entry(fast);
	case 0xa2: /* PWRX */
		return fast_on_power_exit(fast);
	case 0x62: /* EXSTOP */
		return fast_on_stopped(fast);
	case 0xe2: /* EXSTOP with a FUP */
		return fast_pass_before_fup(fast, 2, EVENT_STOPPED);
	case 0xc2: /* MWAIT */
		return fast_pass_before_fup(fast, 10, EVENT_MWAIT);
	case 0xc3: /* MNT */
		if (!fast_has_bytes(fast, 11))
			return false;
		return fast->at[2] == 0x88 ? fast_pass_event(fast, 11)
					   : fast_is_damaged(fast, "a packet that is not known");
	default:
		if ((fast->at[1] & 0x1f) == 0x12)
			return fast_on_ptwrite(fast);
		return fast_is_damaged(fast, "a packet that is not known");
	}
}

/* From the PSB to its PSBEND. */
bool fast_read_header(struct fast *fast)
{
	bool has_ip = false;
	uint64_t ip = 0;

	fast->at += PSB_BYTES;
	while (fast->at < fast->end) {
		uint8_t byte = *fast->at;
		bool ok;

		if (!byte) {
			fast->at++;
			ok = true;
		} else if (byte == 0x02) {
			if (fast->end - fast->at > 1 && fast->at[1] == 0x23) {
				fast->at += 2;
				fast->before_tsc = fast->tsc;
				fast_take_event_time(fast);
				if (has_ip && !fast->has_mode)
					return fast_decline(fast, "code of a mode that is not known");
				return !has_ip || psb_begins_tracing(fast->at, fast->end) ||
				       fast_go_to(fast, ip);
			}
			ok = on_extended(fast, true);
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else if ((byte & 0x1f) == 0x19) {
			ok = on_19(fast, true);
		} else if ((byte & 0x1f) == 0x1d) {
			ok = read_ip(fast, &has_ip, &ip);
			if (ok && !has_ip)
				return fast_decline(fast, "a PSB+ that is nowhere");
		} else {
			return fast_decline(fast, "a packet in a PSB+ that does not belong there");
		}
		if (!ok)
			return false;
	}
	return fast_decline(fast, "a PSB+ that is cut off");
}

/* Those that begin before `end`. */
static bool read_packets(struct fast *fast, const uint8_t *end)
{
	while (fast->at < end) {
		const uint8_t *packet = fast->at;
		size_t cnt = fast->out->cnt;
		uint8_t byte = *packet;
		bool ok = true;

		if (!(byte & 1)) {
			if (byte > 2) {
				ok = on_tnt8(fast, end);
			} else if (byte) {
				ok = on_extended(fast, false);
			} else {
				fast->at++;
			}
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else {
			switch (byte & 0x1f) {
			case 0x0d:
				ok = on_tip(fast);
				break;
			case 0x01:
			case 0x11:
			case 0x1d:
				ok = on_ip_packet(fast, byte & 0x1f);
				break;
			case 0x19:
				ok = on_19(fast, false);
				break;
			default:
				ok = fast_is_damaged(fast, "a packet that is not known");
			}
		}
		if (__builtin_expect(!ok, 0) && !fast_lose(fast, packet, cnt))
			return false;
	}
	return true;
}

bool fast_read_all_packets(struct fast *fast)
{
	if (fast->end - fast->at > ENDING_BYTES && !read_packets(fast, fast->end - ENDING_BYTES))
		return false;
	fast->is_ending = true;
	fast_choose_branches(fast);
	return read_packets(fast, fast->end);
}
