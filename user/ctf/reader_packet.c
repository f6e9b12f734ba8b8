/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers are not trusted: the packet's size and its ranges are checked before use. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "ctf/reader_internal.h"

static size_t header_size(const struct ctf_packet *packet)
{
	return CTF_HEADER_SIZE - (packet->version < CTF_DOMAIN_VERSION ? CTF_DOMAIN_SIZE : 0);
}

static int check_packet(struct memtrace_reader *reader, const uint8_t *at, const struct ctf_packet *packet)
{
	/* memtrace takes 0 for version 1. */
	if (packet->version > MEMTRACE_VERSION)
		return reader_damaged(reader, at,
				      "a packet is of format version %u; what can be read is 1 to %d",
				      packet->version, MEMTRACE_VERSION);
	if (packet->bits < 0 || (size_t)packet->bits / 8 < header_size(packet))
		return reader_damaged(reader, at,
				      "a packet's size is %" PRId32 " bits; its header alone has %zu",
				      packet->bits, 8 * header_size(packet));
	if (packet->time_begin > packet->time_end)
		return reader_damaged(reader, at, "a packet ends %" PRIu64 " us before it begins",
				      (uint64_t)packet->time_begin - (uint64_t)packet->time_end);
	if (packet->id_begin > packet->id_end)
		return reader_damaged(reader, at,
				      "a packet's allocation ids begin at %" PRId64 " and end at %" PRId64,
				      packet->id_begin, packet->id_end);
	return 0;
}

int reader_get_header(struct memtrace_reader *reader, struct cursor *cursor, struct ctf_packet *ret_packet)
{
	const uint8_t *at = cursor->at;
	struct ctf_packet packet = ctf_packet_get(cursor);
	int err;

	if (!cursor->bad || cursor->end - at >= (ptrdiff_t)sizeof(packet.magic))
		if (packet.magic != CTF_MAGIC)
			return reader_damaged(reader, at,
					      "there is %08" PRIx32 " where a packet begins with %08x",
					      packet.magic, CTF_MAGIC);
	if (cursor->bad)
		return 0;
	err = check_packet(reader, at, &packet);
	if (err)
		return err;
	*ret_packet = packet;
	return 1;
}

static int check_cache(struct memtrace_reader *reader, const uint8_t *at, const struct ctf_check *check)
{
	const struct ctf_cache *cache = reader->domain->stack.cache;
	uint64_t code = 0;
	uint16_t next = 0;

	if (check->ix == CTF_NO_CHECK || reader->skip_frames)
		return 0;
	if (check->ix >= CTF_CACHE_SIZE)
		return reader_damaged(reader, at,
				      "a packet checks entry %u of the cache of codes, which has %d",
				      check->ix, CTF_CACHE_SIZE);
	if (cache) {
		code = cache->codes[check->ix];
		next = cache->next[check->ix];
	}
	if (code != check->code || next != check->next)
		return reader_damaged(
			reader, at,
			"call stacks have come apart: entry %u of the cache of codes is %#" PRIx64
			" before entry %u here, and was %#" PRIx64 " before entry %u for the writer",
			check->ix, code, next, check->code, check->next);
	return 0;
}

static int add_domain(struct memtrace_reader *reader, const uint8_t *at, uint16_t id)
{
	struct reader_domain *domain;

	if (reader->domain_cnt == READER_DOMAINS_MAX)
		return reader_damaged(reader, at, "there are more than %d domains", READER_DOMAINS_MAX);
	domain = calloc(1, sizeof(*domain));
	if (ARRAY_TAKE(reader->domains, reader->domain_cnt, reader->domain_cap, domain))
		return -ENOMEM;
	domain->id = id;
	domain->last_time = (int64_t)reader->info.start_us;
	reader->domain = domain;
	return 0;
}

static int use_domain(struct memtrace_reader *reader, const uint8_t *at, uint16_t id)
{
	for (size_t i = 0; i < reader->domain_cnt; i++)
		if (reader->domains[i]->id == id) {
			reader->domain = reader->domains[i];
			return 0;
		}
	return add_domain(reader, at, id);
}

/* A packet of the program's, from `at` to the cursor's end. */
static int begin_packet(struct memtrace_reader *reader, const uint8_t *at)
{
	int err = use_domain(reader, at, reader->packet.domain);

	reader->next_id = (uint64_t)reader->packet.id_begin;
	return err ? err : check_cache(reader, at, &reader->packet.check);
}

static int check_end(struct memtrace_reader *reader)
{
	if (reader->next_id == (uint64_t)reader->packet.id_end)
		return 0;
	return reader_damaged(reader, reader->cursor.at,
			      "the allocation after a packet is %" PRId64 ", and its header says %" PRId64,
			      (int64_t)reader->next_id, reader->packet.id_end);
}

int reader_next_packet(struct memtrace_reader *reader)
{
	const uint8_t *at = reader->cursor.end;
	struct cursor cursor = {.at = at, .end = reader->end};
	struct ctf_packet packet;
	int err = check_end(reader);

	if (err)
		return err;
	if (at == reader->end)
		return 0;
	err = reader_get_header(reader, &cursor, &packet);
	if (err < 0)
		return err;
	if (!err || (size_t)packet.bits / 8 > (size_t)(reader->end - at)) {
		reader->counts.truncated = 1;
		reader->cursor = (struct cursor){.at = reader->end, .end = reader->end};
		return 0;
	}
	cursor.end = at + (size_t)packet.bits / 8;
	reader->cursor = cursor;
	if (packet.pid != reader->info.pid) {
		reader->counts.foreign_packets++;
		reader->cursor.at = cursor.end;
		return 1;
	}
	reader->packet = packet;
	err = begin_packet(reader, at);
	return err ? err : 1;
}
