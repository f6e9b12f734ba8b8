/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace is packets, one behind the other, and a packet is a header and events. The header says how large
 * the packet is, which times and allocation ids its events have, and lets the reader check one entry of the
 * domain's cache of codes (ctf_stack.h) as it was when the packet was begun.
 */
#pragma once

#include "ctf/ctf_cursor.h"

enum { CTF_MAGIC = 0xc1fc1fc1u };
enum { CTF_HEADER_SIZE = 68, CTF_DOMAIN_SIZE = 2, CTF_DOMAIN_VERSION = 3 }; /* older headers have no domain */
enum { CTF_NO_CHECK = 0xffff };
enum { CTF_TIME_BITS = 25, CTF_TIME_MASK = (1 << CTF_TIME_BITS) - 1 };

enum ctf_event {
	CTF_INFO,
	CTF_LOCATION,
	CTF_ALLOC,
	CTF_PROMOTE,
	CTF_COLLECT,
	CTF_SHORT = 100, /* and the length, 1 to CTF_SHORT_MAX, of a minor allocation of one sample */
	CTF_SHORT_MAX = 16
};

/* What an entry of the cache must hold; `ix` is CTF_NO_CHECK: nothing is to be checked. */
struct ctf_check {
	uint16_t ix, next;
	uint64_t code;
};

struct ctf_packet {
	uint32_t magic;
	int32_t bits;		      /* the size of the packet, its header included */
	int64_t time_begin, time_end; /* us since the epoch; the end is the last event's */
	uint16_t version;
	uint64_t pid;
	uint16_t domain;
	struct ctf_check check;
	int64_t id_begin, id_end; /* the first id, and the one behind the last */
};

/* Where the bytes end before the header does, the cursor says overrun. */
struct ctf_packet ctf_packet_get(struct ctf_cursor *cursor);

/* CTF_HEADER_SIZE bytes, of version 3. */
void ctf_packet_put(uint8_t *at, const struct ctf_packet *packet);
