/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace is a sequence of packets, each a header and events. The header gives the packet's size, the range
 * of times and allocation ids of its events, and one entry of the domain's code cache (ctf_stack.h) at the
 * packet's begin for the reader to check.
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
	CTF_SHORT = 100, /* plus the length, 1 to CTF_SHORT_MAX, of a minor allocation with one sample */
	CTF_SHORT_MAX = 16
};

/* The expected content of a cache entry; `ix` is CTF_NO_CHECK: no check. */
struct ctf_check {
	uint16_t ix, next;
	uint64_t code;
};

struct ctf_packet {
	uint32_t magic;
	int32_t bits;		      /* size of the packet with its header */
	int64_t time_begin, time_end; /* us since the epoch; the end is the last event's */
	uint16_t version;
	uint64_t pid;
	uint16_t domain;
	struct ctf_check check;
	int64_t id_begin, id_end; /* the first id, and one more than the last */
};

/* Reads a header. Sets the cursor's `bad` if the bytes end within it. */
struct ctf_packet ctf_packet_get(struct cursor *cursor);

/* Writes CTF_HEADER_SIZE bytes, as version 3. */
void ctf_packet_put(uint8_t *at, const struct ctf_packet *packet);
