/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PSB is `02 82` eight times. The packets before it may end in the same bytes (a CYC 02 before a TNT 82),
 * and then the first match of the pattern is two bytes early:
 *
 *	... 02 82 | 02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 | 19 ...
 *	    ^ first match ^ the PSB
 *
 * No packet that may follow a PSB begins with `02 82` but another PSB, so the last alignment in the run is
 * the right one (libipt's own search takes the first, which is why decoders are put on PSBs found here).
 */
#include "decode/psb.h"

#include <intel-pt.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "decode/decoder.h"

enum { PASS_BYTES = 16 << 20 };

static const uint8_t psb_bytes[PSB_BYTES] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
};

/* The next PSB at or after `offset`, or `size`. */
static size_t psb_next(const uint8_t *bytes, size_t size, size_t offset)
{
	const uint8_t *hit = memmem(bytes + offset, size - offset, psb_bytes, PSB_BYTES);

	if (!hit)
		return size;
	offset = hit - bytes;
	while (size - offset >= PSB_BYTES + 2 && !memcmp(bytes + offset + PSB_BYTES, psb_bytes, 2))
		offset += 2;
	return offset;
}

void psb_pass(const struct decoder_config *config, size_t at, size_t *passed)
{
	if (!config || !config->passed || at - *passed < PASS_BYTES)
		return;
	config->passed(config->progress_ctx);
	*passed = at;
}

int decoder_find_psbs(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		      size_t **ret_offsets, size_t *ret_cnt)
{
	CLEANUP(freep) size_t *offsets = NULL;
	size_t cnt = 0, cap = 0, passed = 0;

	for (size_t at = size ? psb_next(bytes, size, 0) : 0; at < size;
	     at = psb_next(bytes, size, at + PSB_BYTES)) {
		int err = ARRAY_PUSH(offsets, cnt, cap, at);

		if (err)
			return fail(err, "no memory for the list of %zu PSBs", cnt);
		psb_pass(config, at, &passed);
	}
	*ret_offsets = TAKE_PTR(offsets);
	*ret_cnt = cnt;
	return 0;
}

/* The address of the first IP packet after a PSB: parts that it leaves out are 0. */
static uint64_t first_ip(const struct pt_packet_ip *packet)
{
	switch (packet->ipc) {
	case pt_ipc_update_16:
		return packet->ip & 0xffff;
	case pt_ipc_update_32:
		return packet->ip & 0xffffffff;
	case pt_ipc_update_48:
		return packet->ip & 0xffffffffffff;
	case pt_ipc_sext_48:
		return (uint64_t)((int64_t)(packet->ip << 16) >> 16);
	case pt_ipc_full:
		return packet->ip;
	default:
		return 0;
	}
}

void psb_header_read(struct pt_packet_decoder *packets, uint64_t offset, struct psb_header *ret_header)
{
	struct psb_header header = {0};
	struct pt_packet packet;

	if (pt_pkt_sync_set(packets, offset) >= 0 && pt_pkt_next(packets, &packet, sizeof(packet)) > 0) {
		while (pt_pkt_next(packets, &packet, sizeof(packet)) > 0 && packet.type != ppt_psbend &&
		       packet.type != ppt_psb && packet.type != ppt_ovf) {
			if (packet.type == ppt_tsc) {
				header.tsc = packet.payload.tsc.tsc;
				header.has_tsc = true;
			} else if (packet.type == ppt_fup && packet.payload.ip.ipc != pt_ipc_suppressed) {
				header.ip = first_ip(&packet.payload.ip);
				header.has_ip = true;
			}
		}
	}
	*ret_header = header;
}

/* The size of a packet that says nothing of where code is; 0: it is another. */
static size_t skippable(const uint8_t *at, const uint8_t *end)
{
	size_t size = 1;

	if ((*at & 3) == 3) { /* CYC */
		bool more = *at & 4;

		for (; more && at + size < end; size++)
			more = at[size] & 1;
		return size;
	}
	switch (*at) {
	case 0x00: /* PAD */
		return 1;
	case 0x19: /* TSC */
		return 8;
	case 0x59: /* MTC */
	case 0x99: /* MODE */
		return 2;
	}
	switch (*at == 0x02 && end - at > 1 ? at[1] : 0) {
	case 0x03: /* CBR */
		return 4;
	case 0x73: /* TMA */
	case 0xc8: /* VMCS */
		return 7;
	case 0x43: /* PIP */
		return 8;
	case 0xc3: /* MNT */
		return 11;
	default:
		return 0;
	}
}

bool psb_begins_tracing(const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		size_t size = skippable(at, end);

		if (!size)
			return (*at & 0x1f) == 0x11;
		if ((size_t)(end - at) < size)
			return false;
		at += size;
	}
	return false;
}
