/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that keep the stream exact for libipt and perf alike:
 *
 * - Buffered TNT bits go out before any packet that carries an ip, and before PSB and OVF. TIPs are never
 *   deferred.
 *
 * - The first ip after a PSB or OVF is written in full: a PSB resets the last ip to 0, but perf keeps the old
 *   one. A suppressed ip leaves it unchanged.
 *
 * - A return is compressed to a taken TNT bit when its target is on top of the return stack. On a mismatch
 *   libipt keeps its stack and perf pops: ours is emptied, so that neither decoder uses its own. It is also
 *   emptied at PSB and OVF, as in the processor.
 *
 * - Timing: before each packet of a branch there are timing packets that advance the reader's clock to that
 *   branch: an MTC for the last crystal tick passed, and a CYC for the cycles since the last packet. A CYC
 *   precedes each MTC, so that a reader that calibrates cycles against MTCs finds them consistent. The core
 *   runs at its nominal ratio: a cycle is a TSC tick. After a long pause (the 8-bit MTC would wrap) TSC and
 *   TMA give the full time, too.
 *
 * 	PSB+:	PSB  TSC  TMA  CBR  MODE.TSX  [MODE.Exec  FUP(next ip)]  PSBEND		[..]: while tracing
 */
#include "source/encoder.h"

#include <string.h>

enum {
	MTC_FREQ = 8,	     /* an MTC every 2^8 crystal ticks: 102.4 us */
	CRYSTAL_RATIO = 400, /* TSC ticks per crystal tick: 2.5 MHz */
	NOMINAL_RATIO = 10,  /* of 100 MHz */
	MTC_BITS = 8,	     /* of its payload */
	MTC_GAP_MAX = 200,   /* of 256: beyond this the full time is written */
	TNT_SHORT_BITS = 6,
	PSB_PERIOD_DEFAULT = 4096,
};

struct trace_params encoder_default_params(void)
{
	return (struct trace_params){
		.pmu_type = 6,
		.config = TRACE_CONFIG_PT | TRACE_CONFIG_CYC | TRACE_CONFIG_MTC | TRACE_CONFIG_TSC |
			  TRACE_CONFIG_BRANCH | (uint64_t)MTC_FREQ << TRACE_CONFIG_MTC_SHIFT |
			  1ull << TRACE_CONFIG_PSB_SHIFT,
		.max_nonturbo_ratio = NOMINAL_RATIO,
		.tsc_ctc_ratio_n = CRYSTAL_RATIO,
		.tsc_ctc_ratio_d = 1,
	};
}

struct trace_clock encoder_default_clock(void)
{
	return (struct trace_clock){.mult = 1};
}

int encoder_init(struct encoder *encoder, const struct trace_params *params, size_t ring_size)
{
	*encoder = (struct encoder){.params = params, .psb_at = UINT64_MAX};
	/* A small ring must hold several PSBs: bytes before the first one cannot be decoded. */
	encoder->psb_period = ring_size / 8 < PSB_PERIOD_DEFAULT ? ring_size / 8 : PSB_PERIOD_DEFAULT;
	return aux_ring_init(&encoder->ring, ring_size);
}

void encoder_release(struct encoder *encoder)
{
	aux_ring_release(&encoder->ring);
}

static void put(struct encoder *encoder, const void *bytes, size_t size)
{
	aux_ring_write(&encoder->ring, bytes, size);
}

/* ---- timing ---- */

static uint64_t crystal_ticks(const struct encoder *encoder, uint64_t tsc)
{
	return tsc * encoder->params->tsc_ctc_ratio_d / encoder->params->tsc_ctc_ratio_n;
}

static uint64_t crystal_tsc(const struct encoder *encoder, uint64_t ticks)
{
	return ticks * encoder->params->tsc_ctc_ratio_n / encoder->params->tsc_ctc_ratio_d;
}

static unsigned int mtc_freq(const struct encoder *encoder)
{
	return (encoder->params->config & TRACE_CONFIG_MTC_MASK) >> TRACE_CONFIG_MTC_SHIFT;
}

/* TSC, and TMA that ties it to the crystal clock. */
static void put_tsc(struct encoder *encoder, uint64_t tsc)
{
	uint64_t ticks = crystal_ticks(encoder, tsc);
	uint64_t fast = tsc - crystal_tsc(encoder, ticks);
	uint8_t packet[15] = {0x19};

	for (int i = 0; i < 7; i++)
		packet[1 + i] = (uint8_t)(tsc >> 8 * i);
	packet[8] = 0x02;
	packet[9] = 0x73;
	packet[10] = (uint8_t)ticks;
	packet[11] = (uint8_t)(ticks >> 8);
	packet[13] = (uint8_t)fast;
	packet[14] = (fast >> 8) & 1;
	put(encoder, packet, sizeof(packet));
	encoder->cyc_tsc = tsc;
	encoder->mtc = ticks >> mtc_freq(encoder);
}

static void put_cyc(struct encoder *encoder, uint64_t tsc)
{
	uint64_t cycles = tsc - encoder->cyc_tsc;
	uint8_t packet[10];
	size_t len = 0;

	if (!cycles || !(encoder->params->config & TRACE_CONFIG_CYC))
		return;
	packet[len++] = (uint8_t)((cycles & 0x1f) << 3 | (cycles > 0x1f ? 4 : 0) | 3);
	for (cycles >>= 5; cycles; cycles >>= 7)
		packet[len++] = (uint8_t)((cycles & 0x7f) << 1 | (cycles > 0x7f));
	put(encoder, packet, len);
	encoder->cyc_tsc = tsc;
}

static void put_clocks(struct encoder *encoder, uint64_t tsc)
{
	uint64_t mtc = crystal_ticks(encoder, tsc) >> mtc_freq(encoder);

	if (mtc != encoder->mtc) {
		uint8_t packet[2] = {0x59, (uint8_t)mtc};

		put_cyc(encoder, crystal_tsc(encoder, mtc << mtc_freq(encoder)));
		put(encoder, packet, sizeof(packet));
		encoder->mtc = mtc;
	}
	put_cyc(encoder, tsc);
}

/*
 * From an MTC to the next one a reader sees no whole turns of their payload. To one that calibrates cycles
 * against them, the clocks stood still for as long as the whole turns of the pause took.
 */
static void put_pause(struct encoder *encoder, uint64_t tsc)
{
	uint64_t turn = crystal_tsc(encoder, 1ull << (mtc_freq(encoder) + MTC_BITS));

	put_clocks(encoder, tsc - (tsc - encoder->cyc_tsc) / turn * turn);
	put_tsc(encoder, tsc);
}

/* Writes packets that advance the reader's clock to `tsc`. */
static void put_timing(struct encoder *encoder, uint64_t tsc)
{
	uint64_t mtc;

	if (tsc <= encoder->cyc_tsc)
		return;
	mtc = crystal_ticks(encoder, tsc) >> mtc_freq(encoder);
	if (!(encoder->params->config & TRACE_CONFIG_MTC))
		put_cyc(encoder, tsc);
	else if (mtc - encoder->mtc > MTC_GAP_MAX)
		put_pause(encoder, tsc);
	else
		put_clocks(encoder, tsc);
}

/* ---- branches ---- */

/*
 * The packet's time is that of its newest bit. Oldest bit highest, below the stop bit: 0b0000_1abc with bit 0
 * zero.
 */
void encoder_flush(struct encoder *encoder)
{
	uint8_t packet;

	if (!encoder->tnt_cnt)
		return;
	put_timing(encoder, encoder->tnt_tsc);
	packet = (uint8_t)((1u << encoder->tnt_cnt | encoder->tnt_bits) << 1);
	put(encoder, &packet, 1);
	encoder->tnt_cnt = 0;
	encoder->tnt_bits = 0;
}

void encoder_time(struct encoder *encoder, uint64_t tsc)
{
	encoder_flush(encoder);
	put_timing(encoder, tsc);
}

void encoder_conditionals(struct encoder *encoder, uint64_t tsc, uint64_t taken, unsigned int cnt)
{
	while (cnt) {
		unsigned int room = TNT_SHORT_BITS - encoder->tnt_cnt, some = cnt < room ? cnt : room;

		cnt -= some;
		encoder->tnt_bits =
			encoder->tnt_bits << some | ((uint32_t)(taken >> cnt) & ((1u << some) - 1));
		encoder->tnt_tsc = tsc;
		encoder->led_to = 0;
		encoder->tnt_cnt += (uint8_t)some;
		if (encoder->tnt_cnt == TNT_SHORT_BITS)
			encoder_flush(encoder);
	}
}

enum ip_packet { PACKET_TIP = 0x0d, PACKET_TIP_PGE = 0x11, PACKET_TIP_PGD = 0x01, PACKET_FUP = 0x1d };

/* The shortest form that gives the ip from the last one (SDM table "FUP/TIP IP Reconstruction"). */
static void put_ip(struct encoder *encoder, enum ip_packet opcode, uint64_t ip)
{
	uint64_t changed = ip ^ encoder->last_ip;
	uint8_t packet[9], form;
	size_t len;

	if (encoder->full_ip)
		changed = UINT64_MAX;
	encoder->full_ip = false;
	if (!(changed >> 16))
		form = 1, len = 2;
	else if (!(changed >> 32))
		form = 2, len = 4;
	else if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip)
		form = 3, len = 6;
	else if (!(changed >> 48))
		form = 4, len = 6;
	else
		form = 6, len = 8;
	packet[0] = (uint8_t)(opcode | form << 5);
	memcpy(packet + 1, &ip, len);
	put(encoder, packet, 1 + len);
	encoder->last_ip = encoder->led_to = ip;
	encoder->led_by_branch = opcode == PACKET_TIP;
}

static void put_pgd_suppressed(struct encoder *encoder)
{
	uint8_t packet = PACKET_TIP_PGD;

	put(encoder, &packet, 1);
}

static void put_mode_exec(struct encoder *encoder)
{
	static const uint8_t long_mode[] = {0x99, 0x01};

	put(encoder, long_mode, sizeof(long_mode));
	encoder->mode_known = true;
}

static void forget_returns(struct encoder *encoder)
{
	encoder->return_cnt = 0;
}

/* ---- PSB and OVF ---- */

static const uint8_t MODE_TSX[] = {0x99, 0x20};

static void put_psb(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	static const uint8_t psbend[] = {0x02, 0x23};
	const uint8_t cbr[] = {0x02, 0x03, encoder->params->max_nonturbo_ratio, 0};

	encoder_flush(encoder);
	/* Its TSC alone would keep the time since the last MTC from a reader that calibrates cycles. */
	if (encoder->psb_at != UINT64_MAX)
		put_timing(encoder, tsc);
	encoder->psb_at = encoder->ring.head;
	encoder->psb_wanted = false;
	encoder->mode_known = false;
	encoder->full_ip = true;
	forget_returns(encoder);
	put(encoder, psb, sizeof(psb));
	put_tsc(encoder, tsc);
	put(encoder, cbr, sizeof(cbr));
	put(encoder, MODE_TSX, sizeof(MODE_TSX));
	if (encoder->enabled) {
		put_mode_exec(encoder);
		put_ip(encoder, PACKET_FUP, ip);
	}
	put(encoder, psbend, sizeof(psbend));
}

static bool psb_due(const struct encoder *encoder)
{
	return encoder->psb_wanted || encoder->psb_at == UINT64_MAX ||
	       encoder->ring.head - encoder->psb_at >= encoder->psb_period;
}

void encoder_boundary(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	if (psb_due(encoder))
		put_psb(encoder, tsc, ip);
}

void encoder_overflow(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	static const uint8_t ovf[] = {0x02, 0xf3};

	encoder_flush(encoder);
	forget_returns(encoder);
	put(encoder, ovf, sizeof(ovf));
	put_tsc(encoder, tsc);
	encoder->full_ip = true;
	if (encoder->enabled)
		put_ip(encoder, PACKET_FUP, ip);
}

/* ---- what the program does ---- */

void encoder_enable(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	encoder_boundary(encoder, tsc, ip);
	put_timing(encoder, tsc);
	if (!encoder->mode_known)
		put_mode_exec(encoder);
	put_ip(encoder, PACKET_TIP_PGE, ip);
	encoder->enabled = true;
}

void encoder_disable(struct encoder *encoder, uint64_t tsc)
{
	encoder_time(encoder, tsc);
	put_pgd_suppressed(encoder);
	encoder->enabled = false;
}

void encoder_disable_async(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	encoder_time(encoder, tsc);
	put_ip(encoder, PACKET_FUP, ip);
	put_pgd_suppressed(encoder);
	encoder->enabled = false;
}

void encoder_disable_at(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	encoder_time(encoder, tsc);
	put_ip(encoder, PACKET_TIP_PGD, ip);
	encoder->enabled = false;
}

void encoder_conditional(struct encoder *encoder, uint64_t tsc, bool taken)
{
	encoder_conditionals(encoder, tsc, taken, 1);
}

void encoder_indirect(struct encoder *encoder, uint64_t tsc, uint64_t to)
{
	encoder_time(encoder, tsc);
	put_ip(encoder, PACKET_TIP, to);
}

static void put_position(struct encoder *encoder, uint64_t ip)
{
	put(encoder, MODE_TSX, sizeof(MODE_TSX));
	put_ip(encoder, PACKET_FUP, ip);
}

/*
 * To a reader, a branch that leads to such a packet has its time: behind one that has a packet of its own,
 * another one is put before. Where control is said to be already, readers would see it stand still.
 */
void encoder_position(struct encoder *encoder, uint64_t tsc, uint64_t ip)
{
	encoder_flush(encoder);
	if (encoder->led_to == ip)
		return;
	if (encoder->led_to && encoder->led_by_branch)
		put_position(encoder, encoder->led_to);
	put_timing(encoder, tsc);
	put_position(encoder, ip);
}

void encoder_push_return(struct encoder *encoder, uint64_t return_address)
{
	encoder->returns[encoder->return_top++ % ENCODER_RETURN_STACK] = return_address;
	if (encoder->return_cnt < ENCODER_RETURN_STACK)
		encoder->return_cnt++;
}

void encoder_return(struct encoder *encoder, uint64_t tsc, uint64_t to)
{
	bool compression = !(encoder->params->config & TRACE_CONFIG_NORETCOMP);

	if (compression && encoder->return_cnt &&
	    encoder->returns[(encoder->return_top - 1) % ENCODER_RETURN_STACK] == to) {
		encoder->return_top--;
		encoder->return_cnt--;
		encoder_conditional(encoder, tsc, true);
		return;
	}
	forget_returns(encoder);
	encoder_indirect(encoder, tsc, to);
}
