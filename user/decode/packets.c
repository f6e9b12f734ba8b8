/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets as text: mnemonic, then payload. ip packets show the form of compression and the bytes that stand
 * in the packet; TNT its bits, oldest first.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "decode/decoder.h"
#include "decode/libipt/setup.h"

enum { TEXT_BYTES = 128, PADDING = 32 };

static const char *name_of(const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_pad:
		return "pad";
	case ppt_psb:
		return "psb";
	case ppt_psbend:
		return "psbend";
	case ppt_fup:
		return "fup";
	case ppt_tip:
		return "tip";
	case ppt_tip_pge:
		return "tip.pge";
	case ppt_tip_pgd:
		return "tip.pgd";
	case ppt_ovf:
		return "ovf";
	case ppt_stop:
		return "stop";
	case ppt_exstop:
		return "exstop";
	case ppt_mwait:
		return "mwait";
	case ppt_pwre:
		return "pwre";
	case ppt_pwrx:
		return "pwrx";
	case ppt_vmcs:
		return "vmcs";
	case ppt_mnt:
		return "mnt";
	default:
		return "unknown";
	}
}

static void ip_text(const struct pt_packet *packet, char text[static TEXT_BYTES])
{
	static const int digits[] = {[pt_ipc_update_16] = 4,
				     [pt_ipc_update_32] = 8,
				     [pt_ipc_update_48] = 12,
				     [pt_ipc_sext_48] = 12,
				     [pt_ipc_full] = 16};
	const struct pt_packet_ip *ip = &packet->payload.ip;

	if (ip->ipc == pt_ipc_suppressed)
		snprintf(text, TEXT_BYTES, "%-8s %d:", name_of(packet), ip->ipc);
	else
		snprintf(text, TEXT_BYTES, "%-8s %d: %0*" PRIx64, name_of(packet), ip->ipc, digits[ip->ipc],
			 ip->ip);
}

static void tnt_text(const struct pt_packet *packet, char text[static TEXT_BYTES])
{
	const struct pt_packet_tnt *tnt = &packet->payload.tnt;
	char bits[65] = "";

	for (int i = 0; i < tnt->bit_size && i < 64; i++)
		bits[i] = tnt->payload >> (tnt->bit_size - 1 - i) & 1 ? '!' : '.';
	snprintf(text, TEXT_BYTES, "%-8s %s", packet->type == ppt_tnt_8 ? "tnt.8" : "tnt.64", bits);
}

static void mode_text(const struct pt_packet *packet, char text[static TEXT_BYTES])
{
	const struct pt_packet_mode *mode = &packet->payload.mode;

	if (mode->leaf == pt_mol_exec)
		snprintf(text, TEXT_BYTES, "mode.exec cs.l=%d cs.d=%d", mode->bits.exec.csl,
			 mode->bits.exec.csd);
	else
		snprintf(text, TEXT_BYTES, "mode.tsx intx=%d abrt=%d", mode->bits.tsx.intx,
			 mode->bits.tsx.abrt);
}

static void packet_text(const struct pt_packet *packet, char text[static TEXT_BYTES])
{
	switch (packet->type) {
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		ip_text(packet, text);
		break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		tnt_text(packet, text);
		break;
	case ppt_mode:
		mode_text(packet, text);
		break;
	case ppt_tsc:
		snprintf(text, TEXT_BYTES, "tsc      %" PRIx64, packet->payload.tsc.tsc);
		break;
	case ppt_cbr:
		snprintf(text, TEXT_BYTES, "cbr      %x", packet->payload.cbr.ratio);
		break;
	case ppt_tma:
		snprintf(text, TEXT_BYTES, "tma      ctc=%x fc=%x", packet->payload.tma.ctc,
			 packet->payload.tma.fc);
		break;
	case ppt_mtc:
		snprintf(text, TEXT_BYTES, "mtc      %x", packet->payload.mtc.ctc);
		break;
	case ppt_cyc:
		snprintf(text, TEXT_BYTES, "cyc      %" PRIx64, packet->payload.cyc.value);
		break;
	case ppt_pip:
		snprintf(text, TEXT_BYTES, "pip      %" PRIx64 "%s", packet->payload.pip.cr3,
			 packet->payload.pip.nr ? " nr" : "");
		break;
	case ppt_ptw:
		snprintf(text, TEXT_BYTES, "ptw      %" PRIx64, packet->payload.ptw.payload);
		break;
	default:
		snprintf(text, TEXT_BYTES, "%s", name_of(packet));
		break;
	}
}

static int list(struct pt_packet_decoder *decoder, int (*fn)(void *ctx, uint64_t offset, const char *text),
		void *ctx)
{
	int status = pt_pkt_sync_forward(decoder), stop = 0;

	while (status >= 0 && !stop) {
		char text[TEXT_BYTES] = "bad packet";
		struct pt_packet packet;
		uint64_t offset = 0;

		pt_pkt_get_offset(decoder, &offset);
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status == -pte_eos)
			break;
		if (status >= 0)
			packet_text(&packet, text);
		stop = fn(ctx, offset, text);
		if (status < 0)
			status = pt_pkt_sync_forward(decoder);
	}
	return stop;
}

int decoder_packets(const struct trace_params *params, const uint8_t *bytes, size_t size,
		    int (*fn)(void *ctx, uint64_t offset, const char *text), void *ctx)
{
	CLEANUP(freep) uint8_t *padded = calloc(1, size + PADDING);
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	int stop;

	if (!padded)
		return fail(-ENOMEM, "no memory for a trace of %zu bytes", size);
	if (!size)
		return 0;
	memcpy(padded, bytes, size);
	setup_config(&config, params, padded, padded + size);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		return fail(-ENOMEM, "no memory for a packet decoder");
	stop = list(decoder, fn, ctx);
	pt_pkt_free_decoder(decoder);
	return stop;
}
