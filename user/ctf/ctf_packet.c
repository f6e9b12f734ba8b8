/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/ctf_packet.h"

#include "ctf/event.h"

struct ctf_packet ctf_packet_get(struct cursor *cursor)
{
	struct ctf_packet packet = {.magic = cursor_u32(cursor)};

	packet.bits = (int32_t)cursor_u32(cursor);
	packet.time_begin = (int64_t)cursor_u64(cursor);
	packet.time_end = (int64_t)cursor_u64(cursor);
	cursor_u32(cursor); /* how long writing took: nobody says */
	packet.version = cursor_u16(cursor);
	packet.pid = cursor_u64(cursor);
	if (packet.version >= CTF_DOMAIN_VERSION)
		packet.domain = cursor_u16(cursor);
	packet.check.ix = cursor_u16(cursor);
	packet.check.next = cursor_u16(cursor);
	packet.check.code = cursor_u64(cursor);
	packet.id_begin = (int64_t)cursor_u64(cursor);
	packet.id_end = (int64_t)cursor_u64(cursor);
	return packet;
}

void ctf_packet_put(uint8_t *at, const struct ctf_packet *packet)
{
	at = ctf_put_u32(at, packet->magic);
	at = ctf_put_u32(at, (uint32_t)packet->bits);
	at = ctf_put_u64(at, (uint64_t)packet->time_begin);
	at = ctf_put_u64(at, (uint64_t)packet->time_end);
	at = ctf_put_u32(at, 0);
	at = ctf_put_u16(at, MEMTRACE_VERSION);
	at = ctf_put_u64(at, packet->pid);
	at = ctf_put_u16(at, packet->domain);
	at = ctf_put_u16(at, packet->check.ix);
	at = ctf_put_u16(at, packet->check.next);
	at = ctf_put_u64(at, packet->check.code);
	at = ctf_put_u64(at, (uint64_t)packet->id_begin);
	ctf_put_u64(at, (uint64_t)packet->id_end);
}
