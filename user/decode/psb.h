/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSB packets, where decoding can begin, and the state in the packets up to PSBEND. decoder_find_psbs() in
 * decode/decoder.h finds them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSB_BYTES = 16 };

struct psb_header {
	uint64_t tsc; /* valid with has_tsc */
	uint64_t ip;  /* the next instruction, valid with has_ip; without it tracing is off */
	bool has_tsc, has_ip;
};

struct pt_packet_decoder;

/* Reads the packets from the PSB at `offset` to PSBEND; on damage, only those before it. */
void psb_header_read(struct pt_packet_decoder *packets, uint64_t offset, struct psb_header *ret_header);

struct decoder_config;

/* The stream was read up to `at`. Calls config->passed() for it now and then. *passed is 0 at first. */
void psb_pass(const struct decoder_config *config, size_t at, size_t *passed);

/*
 * Whether tracing begins only after the PSB+ that ends at `at`. Some processors already put the address where
 * it will begin into the PSB+ (errata BDM70, SKD024, SKL021, KBL021, and others unknown to libipt). A TIP.PGE
 * before any other event reveals this: if tracing were on, it would have to end first.
 */
bool psb_begins_tracing(const uint8_t *at, const uint8_t *end);
