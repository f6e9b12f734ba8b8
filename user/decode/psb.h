/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSB packets, where decoding can begin, and what the packets up to their PSBEND say of that moment. The
 * search itself is decoder_find_psbs() in decode/decoder.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PSB_BYTES = 16 };

struct psb_header {
	uint64_t tsc; /* valid with has_tsc */
	uint64_t ip;  /* the next instruction to be executed, valid with has_ip; without it tracing is off */
	bool has_tsc, has_ip;
};

struct pt_packet_decoder;

/* Reads the packets after the PSB at `offset` up to PSBEND. What stands before damaged packets counts. */
void psb_header_read(struct pt_packet_decoder *packets, uint64_t offset, struct psb_header *ret_header);

struct pt_packet_ip;

/* The address that an IP packet means: `last_ip` is the one of the IP packet before it, 0 after a PSB. */
uint64_t psb_packet_ip(const struct pt_packet_ip *packet, uint64_t last_ip);

/*
 * Whether tracing begins behind the PSB+ that ends at `at`. Some processors put the address that it will
 * begin at into the PSB+ (errata BDM70, SKD024, SKL021, KBL021; others that libipt does not know, too). A
 * TIP.PGE that comes before anything has happened there means nothing else: where tracing is on, it has to
 * end before it begins.
 */
bool psb_begins_tracing(const uint8_t *at, const uint8_t *end);
