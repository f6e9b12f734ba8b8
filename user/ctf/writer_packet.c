/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "ctf/writer_internal.h"

enum { IDS_A_CHUNK = 10000 };
enum { INFO_NUMBERS = 100 }; /* bytes that are enough for what is no text */

static const struct ctf_check no_check = {.ix = CTF_NO_CHECK};

static void take_ids(struct memtrace_writer *writer, struct writer_domain *domain)
{
	if (domain->next_id == domain->ids_end) {
		domain->next_id = writer->next_chunk;
		writer->next_chunk += IDS_A_CHUNK;
		domain->ids_end = writer->next_chunk;
	}
	domain->first_id = domain->next_id;
}

static void write_packet(struct memtrace_writer *writer, uint8_t *bytes, size_t size,
			 struct ctf_packet packet)
{
	packet.magic = CTF_MAGIC;
	packet.bits = (int32_t)(8 * size);
	packet.pid = writer->pid;
	ctf_packet_put(bytes, &packet);
	output_write(writer->config.output, bytes, size);
}

uint8_t *writer_put_head(uint8_t *at, unsigned int code, int64_t time)
{
	return ctf_put_u32(at, code << CTF_TIME_BITS | ((uint32_t)time & CTF_TIME_MASK));
}

/* What the code stands for, as an event. Its size, or what locate() returned. */
static int format_code(struct memtrace_writer *writer, uint8_t *bytes, uint64_t code)
{
	const struct memtrace_location *locations = NULL;
	const uint8_t *end;
	int cnt = writer->config.locate(writer->config.ctx, code, &locations);

	if (cnt < 0)
		return cnt;
	end = ctf_locations_put(writer_put_head(bytes, CTF_LOCATION, writer->domain->time_begin),
				&writer->domain->files, code, locations, (size_t)cnt);
	return end ? (int)(end - bytes) : -ENOMEM;
}

static void write_codes_packet(struct memtrace_writer *writer, uint8_t *bytes, size_t size)
{
	const struct writer_domain *domain = writer->domain;

	write_packet(writer, bytes, size,
		     (struct ctf_packet){.time_begin = domain->time_begin,
					 .time_end = domain->time_begin,
					 .domain = domain->id,
					 .check = no_check,
					 .id_begin = (int64_t)domain->first_id,
					 .id_end = (int64_t)domain->first_id});
}

/* A packet is full when less than CTF_LOCATIONS_BYTES is left, or the next event does not fit. */
static int write_codes(struct memtrace_writer *writer)
{
	uint8_t packet[WRITER_PACKET_SIZE], event[sizeof(uint32_t) + CTF_LOCATIONS_BYTES];
	size_t used = CTF_HEADER_SIZE;

	for (size_t i = 0; i < writer->missed.cnt; i++) {
		int size = format_code(writer, event, writer->missed.codes[i]);

		if (size < 0)
			return size;
		if (WRITER_PACKET_SIZE - used <= CTF_LOCATIONS_BYTES ||
		    WRITER_PACKET_SIZE - used < (size_t)size) {
			write_codes_packet(writer, packet, used);
			used = CTF_HEADER_SIZE;
		}
		memcpy(packet + used, event, (size_t)size);
		used += (size_t)size;
	}
	if (writer->missed.cnt)
		write_codes_packet(writer, packet, used);
	return 0;
}

int writer_flush_at(struct memtrace_writer *writer, int64_t now)
{
	struct writer_domain *domain = writer->domain;
	int err = write_codes(writer);

	if (err)
		return err;
	write_packet(writer, writer->packet, writer->used,
		     (struct ctf_packet){.time_begin = domain->time_begin,
					 .time_end = domain->time_end,
					 .domain = domain->id,
					 .check = domain->check,
					 .id_begin = (int64_t)domain->first_id,
					 .id_end = (int64_t)domain->next_id});
	writer->used = CTF_HEADER_SIZE;
	writer->missed.cnt = 0;
	domain->time_begin = domain->time_end = now;
	domain->check = ctf_cache_check(&domain->cache);
	take_ids(writer, domain);
	return 0;
}

/* ---- how the trace was made ---- */

int writer_put_info(struct memtrace_writer *writer, const struct memtrace_info *info)
{
	const char *const texts[] = {info->executable, info->host, info->runtime_params, info->context};
	uint8_t *at = writer->packet + CTF_HEADER_SIZE;
	size_t size = INFO_NUMBERS;
	uint64_t rate;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		size += strlen(texts[i]);
	if (size > WRITER_PACKET_SIZE - CTF_HEADER_SIZE)
		return fail(
			-EINVAL,
			"the names of the program and its parameters take %zu bytes; a trace has room for %d",
			size - INFO_NUMBERS, WRITER_PACKET_SIZE - CTF_HEADER_SIZE - INFO_NUMBERS);
	memcpy(&rate, &info->sample_rate, sizeof(rate));
	at = writer_put_head(at, CTF_INFO, writer->start_us);
	at = ctf_put_u64(at, rate);
	at = ctf_put_u8(at, info->word_bits);
	for (size_t i = 0; i < 3; i++)
		at = ctf_put_text(at, texts[i]);
	at = ctf_put_text(ctf_put_u64(at, info->pid), info->context);
	write_packet(writer, writer->packet, (size_t)(at - writer->packet),
		     (struct ctf_packet){.time_begin = writer->start_us,
					 .time_end = writer->start_us,
					 .domain = info->domain,
					 .check = no_check});
	return 0;
}

/* ---- domains ---- */

static int add_domain(struct memtrace_writer *writer, uint16_t id)
{
	struct writer_domain *domain = calloc(1, sizeof(*domain));

	if (ARRAY_TAKE(writer->domains, writer->domain_cnt, writer->domain_cap, domain))
		return -ENOMEM;
	domain->id = id;
	domain->check = no_check;
	domain->time_begin = domain->time_end = writer->start_us;
	domain->cache.check_ix = CTF_CHECK_FIRST;
	take_ids(writer, domain);
	writer->domain = domain;
	return 0;
}

int writer_use_domain(struct memtrace_writer *writer, uint16_t id)
{
	int err = 0;

	if (writer->domain && writer->domain->id == id)
		return 0;
	if (writer->domain)
		err = writer_flush_at(writer, writer->domain->time_end);
	if (err)
		return err;
	for (size_t i = 0; i < writer->domain_cnt; i++)
		if (writer->domains[i]->id == id) {
			writer->domain = writer->domains[i];
			return 0;
		}
	return add_domain(writer, id);
}
