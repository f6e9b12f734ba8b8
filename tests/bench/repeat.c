/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A large recording from a small one: its trace several times, one behind the other, each repetition later
 * than the one before, as a program would write it that does its work again. Only the TSC packets change:
 * what lies between two of them tells differences. Between repetitions packets are lost: what was open ends
 * where control is back in its callers, instead of lying below all that comes later.
 *
 *	repeat TIMES RECORDING LARGE
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/libipt/setup.h"
#include "figures.h"
#include "recording/recording.h"

enum { TSC_BYTES = 7 };

static const uint8_t overflow[] = {0x02, 0xf3};

/* Where a packet's payload is, and its time. */
struct stamp_at {
	size_t at;
	uint64_t tsc;
};

static struct stamp_at *find_stamps(const struct snapshot *snapshot, const struct aux_trace *aux,
				    size_t *ret_cnt)
{
	struct stamp_at *stamps = calloc(aux->size / (1 + TSC_BYTES) + 1, sizeof(*stamps));
	struct pt_packet_decoder *packets;
	struct pt_packet packet;
	struct pt_config config;
	uint64_t offset;

	setup_config(&config, &snapshot->params, aux->bytes, aux->bytes + aux->size);
	packets = pt_pkt_alloc_decoder(&config);
	if (!stamps || !packets || pt_pkt_sync_forward(packets) < 0)
		die("packets", -ENOMEM);
	*ret_cnt = 0;
	while (!pt_pkt_get_offset(packets, &offset) && pt_pkt_next(packets, &packet, sizeof(packet)) > 0)
		if (packet.type == ppt_tsc)
			stamps[(*ret_cnt)++] = (struct stamp_at){offset + 1, packet.payload.tsc.tsc};
	pt_pkt_free_decoder(packets);
	return stamps;
}

static void repeat(const struct snapshot *snapshot, struct aux_trace *aux, size_t times)
{
	size_t cnt, size = aux->size;
	struct stamp_at *stamps = find_stamps(snapshot, aux, &cnt);
	uint64_t length = cnt ? stamps[cnt - 1].tsc - stamps[0].tsc + (1 << 20) : 0;
	size_t each = size + sizeof(overflow);
	uint8_t *bytes = malloc(each * times);

	if (!bytes)
		die("memory", -ENOMEM);
	for (size_t i = 0; i < times; i++) {
		memcpy(bytes + i * each, aux->bytes, size);
		memcpy(bytes + i * each + size, overflow, sizeof(overflow));
		for (size_t j = 0; j < cnt; j++) {
			uint64_t tsc = stamps[j].tsc + i * length;

			memcpy(bytes + i * each + stamps[j].at, &tsc, TSC_BYTES);
		}
	}
	free(stamps);
	/* Of a loaded recording they are the file's. */
	aux->bytes = bytes;
	aux->size = each * times;
	aux->is_borrowed = aux->is_mapped = false;
}

int main(int argc, char **argv)
{
	struct snapshot *snapshot;
	int err;

	if (argc != 4 || !atoi(argv[1])) {
		fprintf(stderr, "usage: repeat TIMES RECORDING LARGE\n");
		return 2;
	}
	err = recording_load(&snapshot, argv[2]);
	if (err)
		die(argv[2], err);
	repeat(snapshot, &snapshot->aux[0], (size_t)atoi(argv[1]));
	err = recording_save(snapshot, argv[3]);
	if (err)
		die(argv[3], err);
	snapshot_free(snapshot);
	return 0;
}
