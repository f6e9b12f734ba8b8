/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Only call stacks are copied; events are decoded in place, and names point into the input. A packet is read
 * when the previous one is used up. The state of a domain is made with its first packet.
 */
#include "ctf/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file/reading.h"
#include "ctf/reader_internal.h"

/* ---- damage ---- */

int reader_damaged(struct memtrace_reader *reader, const uint8_t *at, const char *fmt, ...)
{
	CLEANUP(freep) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return fail(-EBADMSG, "%s: at byte %td, %s", reader->name, at - reader->begin,
		    text ? text : "no memory");
}

int reader_overrun(struct memtrace_reader *reader, const uint8_t *at)
{
	return reader_damaged(reader, at,
			      "an event goes on behind the end of its packet, which is at byte %td",
			      reader->cursor.end - reader->begin);
}

/* Of a file in which nothing could be read. */
static int no_trace(struct memtrace_reader *reader, const char *why)
{
	return fail(-EBADMSG, "%s is no allocation trace: %s", reader->name, why);
}

/* ---- events ---- */

static int stick(struct memtrace_reader *reader, int err)
{
	reader->err = err;
	reader->message = strdup(fail_message(err));
	return err;
}

int memtrace_reader_next(struct memtrace_reader *reader, struct memtrace_event *ret_event)
{
	int more;

	if (reader->err)
		return fail(reader->err, "%s", reader->message ? reader->message : "no memory");
	do {
		if (reader->cursor.at == reader->cursor.end) {
			more = reader_next_packet(reader);
			if (!more)
				return 0;
		} else {
			more = reader_get_event(reader, ret_event);
			if (more > 0)
				return 1;
		}
	} while (more >= 0);
	return stick(reader, more);
}

/* ---- the first packet ---- */

static int copy_texts(struct memtrace_info *info, const char *const *texts)
{
	info->executable = strdup(texts[0]);
	info->host = strdup(texts[1]);
	info->runtime_params = strdup(texts[2]);
	info->context = strdup(texts[3]);
	return info->executable && info->host && info->runtime_params && info->context ? 0 : -ENOMEM;
}

static int check_info(struct memtrace_reader *reader, const uint8_t *at)
{
	const struct memtrace_info *info = &reader->info;

	if (!(info->sample_rate > 0 && info->sample_rate <= 1))
		return reader_damaged(reader, at, "the sample rate is %g; it must be above 0, and at most 1",
				      info->sample_rate);
	if (info->word_bits != 32 && info->word_bits != 64)
		return reader_damaged(reader, at, "words are of %u bits; there are 32 and 64",
				      info->word_bits);
	return 0;
}

static int read_info(struct memtrace_reader *reader, const uint8_t *at)
{
	struct cursor *cursor = &reader->cursor;
	struct memtrace_info *info = &reader->info;
	const char *texts[4];
	uint64_t rate = cursor_u64(cursor);
	int err;

	memcpy(&info->sample_rate, &rate, sizeof(rate));
	info->word_bits = cursor_u8(cursor);
	for (size_t i = 0; i < 3; i++)
		texts[i] = ctf_get_text(cursor);
	info->pid = cursor_u64(cursor);
	texts[3] = reader->packet.version >= 2 ? ctf_get_text(cursor) : "";
	if (cursor->bad)
		return reader_overrun(reader, at);
	if (cursor->at != cursor->end)
		return reader_damaged(reader, cursor->at,
				      "%td bytes follow in the packet that tells how the trace was made",
				      cursor->end - cursor->at);
	err = check_info(reader, at);
	return err ? err : copy_texts(info, texts);
}

static int read_first_event(struct memtrace_reader *reader)
{
	const uint8_t *at = reader->cursor.at;
	uint32_t head = cursor_u32(&reader->cursor);

	if (reader->cursor.bad)
		return reader_overrun(reader, at);
	if (head >> CTF_TIME_BITS != CTF_INFO)
		return reader_damaged(
			reader, at, "the first event is of code %u, and must tell how the trace was made, 0",
			head >> CTF_TIME_BITS);
	if ((head & CTF_TIME_MASK) != ((uint64_t)reader->packet.time_begin & CTF_TIME_MASK))
		return reader_damaged(reader, at, "the first event's time is not its packet's begin");
	reader->info.version = reader->packet.version;
	reader->info.start_us = (uint64_t)reader->packet.time_begin;
	reader->info.domain = reader->packet.domain;
	return read_info(reader, at);
}

bool memtrace_reader_is(const char *path)
{
	const uint32_t magic = CTF_MAGIC;

	return reading_has(path, &magic, sizeof(magic), sizeof(magic));
}

static int read_first(struct memtrace_reader *reader)
{
	struct cursor cursor = {.at = reader->begin, .end = reader->end};
	uint32_t magic = CTF_MAGIC;
	size_t size;
	int err;

	if (cursor.at == cursor.end)
		return no_trace(reader, "it is empty");
	if ((size_t)(cursor.end - cursor.at) < sizeof(magic) || memcmp(cursor.at, &magic, sizeof(magic)) != 0)
		return no_trace(reader, *cursor.at == 0x1f
						? "it looks compressed: zcat FILE | trailcam memtrace ... -"
						: "it does not begin with the bytes c1 1f fc c1");
	err = reader_get_header(reader, &cursor, &reader->packet);
	if (err < 0)
		return err;
	size = (size_t)reader->packet.bits / 8;
	if (!err || size > (size_t)(reader->end - reader->begin))
		return reader_damaged(reader, reader->end, "the trace ends within its first packet");
	cursor.end = reader->begin + size;
	reader->cursor = cursor;
	err = read_first_event(reader);
	reader->packet.id_end = 0; /* of the first packet, nobody counts allocations */
	return err;
}

/* ---- life ---- */

/* Takes the input over. */
static int open_input(struct memtrace_reader **ret_reader, const char *name, struct ctf_input *input,
		      const struct memtrace_reader_config *config)
{
	struct memtrace_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader) {
		ctf_input_release(input);
		return -ENOMEM;
	}
	reader->input = *input;
	reader->begin = input->bytes;
	reader->end = input->bytes + input->size;
	reader->frame_room = READER_FRAMES_MAX;
	reader->skip_frames = config && config->skip_frames;
	reader->name = strdup(name);
	err = reader->name ? read_first(reader) : -ENOMEM;
	if (err) {
		memtrace_reader_close(reader);
		return err;
	}
	*ret_reader = reader;
	return 0;
}

int memtrace_reader_open(struct memtrace_reader **ret_reader, const char *path,
			 const struct memtrace_reader_config *config)
{
	struct ctf_input input;
	int err = ctf_input_open(&input, path);

	return err ? err
		   : open_input(ret_reader, strcmp(path, "-") ? path : "standard input", &input, config);
}

int memtrace_reader_open_bytes(struct memtrace_reader **ret_reader, const char *name, const void *bytes,
			       size_t size, const struct memtrace_reader_config *config)
{
	struct ctf_input input = {.bytes = bytes, .size = size};

	return open_input(ret_reader, name, &input, config);
}

void memtrace_reader_close(struct memtrace_reader *reader)
{
	for (size_t i = 0; i < reader->domain_cnt; i++) {
		ctf_stack_release(&reader->domains[i]->stack);
		free(reader->domains[i]);
	}
	free(reader->domains);
	code_table_release(&reader->codes);
	ctf_input_release(&reader->input);
	free(reader->info.executable);
	free(reader->info.host);
	free(reader->info.runtime_params);
	free(reader->info.context);
	free(reader->message);
	free(reader->name);
	free(reader);
}

const struct memtrace_info *memtrace_reader_info(const struct memtrace_reader *reader)
{
	return &reader->info;
}

int memtrace_reader_locations(struct memtrace_reader *reader, uint64_t code,
			      const struct memtrace_location **ret_locations)
{
	const struct known_code *found = code_table_find(&reader->codes, code);

	if (!found)
		return fail(-ENOENT, "%s does not tell what code %#" PRIx64 " stands for", reader->name,
			    code);
	*ret_locations = found->locations;
	return (int)found->location_cnt;
}

struct memtrace_reader_counts memtrace_reader_counts(const struct memtrace_reader *reader)
{
	struct memtrace_reader_counts counts = reader->counts;

	counts.bytes = (uint64_t)(reader->cursor.at - reader->begin);
	counts.size = (uint64_t)(reader->end - reader->begin);
	return counts;
}
