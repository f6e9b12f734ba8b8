/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader of Perfetto's protobuf, as trace_processor does it: by field numbers, with the strings that a
 * sequence has told.
 */
#pragma once

#include "read_trace.h"

enum { PF_FIELDS = 64, PF_STRINGS = 200000 };

struct pf_span {
	const uint8_t *at, *end;
};

/* A field of a message: its number, and either a value or bytes. False: the end. */
static inline bool pf_next(struct pf_span *message, uint32_t *field, uint64_t *value, struct pf_span *bytes)
{
	uint64_t numbers[2] = {0};

	if (message->at == message->end)
		return false;
	for (size_t i = 0; i < 2; i++) {
		unsigned int shift = 0;
		uint8_t byte;

		do {
			assert_true(message->at < message->end && shift < 64);
			byte = *message->at++;
			numbers[i] |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80);
	}
	*field = (uint32_t)(numbers[0] >> 3);
	*value = numbers[1];
	*bytes = (struct pf_span){NULL, NULL};
	if ((numbers[0] & 7) == 2) {
		assert_true(numbers[1] <= (size_t)(message->end - message->at));
		*bytes = (struct pf_span){message->at, message->at + numbers[1]};
		message->at += numbers[1];
	} else if ((numbers[0] & 7) == 1) {
		message->at += 7; /* the first of its eight bytes is read */
	} else {
		assert_int_equal(numbers[0] & 7, 0);
	}
	return true;
}

/* The last value of each field. */
struct pf_message {
	uint64_t values[PF_FIELDS];
	struct pf_span bytes[PF_FIELDS];
	bool has[PF_FIELDS];
};

static inline struct pf_message pf_read(struct pf_span span)
{
	struct pf_message message = {0};
	struct pf_span bytes;
	uint32_t field;
	uint64_t value;

	while (pf_next(&span, &field, &value, &bytes)) {
		assert_true(field < PF_FIELDS);
		message.values[field] = value;
		message.bytes[field] = bytes;
		message.has[field] = true;
	}
	return message;
}

struct pf_source {
	char *file;
	uint64_t line;
};

struct pf_reader {
	struct read_trace *trace;
	struct pf_source *sources; /* by number */
	char **strings[30];	   /* by list and number */
	uint64_t uuids[2000], tids[2000];
	size_t track_cnt, about_cnt;
	bool cleared;
};

static inline char *pf_text(struct pf_span span)
{
	return strndup((const char *)span.at, (size_t)(span.end - span.at));
}

static inline void pf_interned(struct pf_reader *reader, struct pf_span interned)
{
	struct pf_span entry;
	uint32_t list;
	uint64_t unused;

	while (pf_next(&interned, &list, &unused, &entry)) {
		struct pf_message string = pf_read(entry);

		assert_true(list < 30 && string.values[1] && string.values[1] < PF_STRINGS);
		if (list == 4) {
			assert_true(string.has[2] && string.has[3] &&
				    !reader->sources[string.values[1]].file);
			reader->sources[string.values[1]] =
				(struct pf_source){pf_text(string.bytes[2]), string.values[4]};
			continue;
		}
		if (!reader->strings[list])
			reader->strings[list] = calloc(PF_STRINGS, sizeof(char *));
		assert_null(reader->strings[list][string.values[1]]);
		reader->strings[list][string.values[1]] = pf_text(string.bytes[2]);
	}
}

static inline const char *pf_string(const struct pf_reader *reader, uint32_t list, uint64_t number)
{
	assert_true(reader->strings[list] && number && number < PF_STRINGS);
	assert_non_null(reader->strings[list][number]);
	return reader->strings[list][number];
}

static inline void pf_track(struct pf_reader *reader, struct pf_span span)
{
	struct pf_message track = pf_read(span), thread = pf_read(track.bytes[4]);

	assert_true(track.values[1]);
	for (size_t i = 0; i < reader->track_cnt; i++)
		assert_true(reader->uuids[i] != track.values[1]);
	assert_true(reader->track_cnt < 2000);
	reader->uuids[reader->track_cnt] = track.values[1];
	reader->tids[reader->track_cnt++] = thread.values[2];
	if (!track.has[4]) {
		assert_true(track.has[3] || track.has[8] ||
			    (track.values[1] == 1 << 30 && !memcmp(track.bytes[2].at, "hits", 4)));
		return;
	}
	assert_true(thread.values[1] && thread.values[2] && thread.has[5]);
	reader->trace->thread_cnt++;
}

static inline void pf_annotation(const struct pf_reader *reader, struct pf_span span,
				 struct read_slice *slice, unsigned int *known)
{
	struct pf_message note = pf_read(span);
	const char *name = pf_string(reader, 3, note.values[1]);

	if (slice && !strcmp(name, "object"))
		slice->object = strdup(pf_string(reader, 29, note.values[17]));
	*known += !strcmp(name, "arg0") && note.values[7] == 0xabc;
	*known += !strcmp(name, "ss") && note.values[7] == 0x2b;
	*known += !strcmp(name, "comm") && !memcmp(note.bytes[6].at, "sixteen bytes!!!", 16);
	*known += !strcmp(name, "stack") && note.has[6];
}

static inline void pf_event(struct pf_reader *reader, uint64_t time, struct pf_span span)
{
	struct pf_message event = pf_read(span);
	struct read_slice *slice = NULL;
	struct pf_span field;
	unsigned int known = 0;
	uint64_t tid = 0, value;
	uint32_t number;
	size_t track = 0;

	while (track < reader->track_cnt && reader->uuids[track] != event.values[11])
		track++;
	assert_true(track < reader->track_cnt && reader->cleared);
	tid = reader->tids[track];
	if (event.values[9] == 1)
		slice = read_begin(reader->trace, tid, time, pf_string(reader, 2, event.values[10]));
	while (pf_next(&span, &number, &value, &field))
		if (number == 4)
			pf_annotation(reader, field, slice, &known);
	if (slice && event.has[34]) {
		const struct pf_source *source = &reader->sources[event.values[34]];

		assert_non_null(source->file);
		slice->file = strdup(source->file);
		slice->line = source->line;
	}
	if (event.values[9] == 2)
		read_end(reader->trace, tid, time);
	if (event.values[11] == 1 << 30) {
		assert_true(event.values[9] == 3);
		reader->about_cnt += !strcmp(pf_string(reader, 2, event.values[10]), "trace begins");
	} else if (event.values[9] == 3) {
		bool is_hit = !strcmp(pf_string(reader, 1, event.values[3]), "hit");

		assert_int_equal(known, is_hit ? 4 : 0);
		read_moment(reader->trace, tid, time, is_hit, pf_string(reader, 2, event.values[10]));
	}
	if (event.values[9] == 4) {
		assert_int_equal(event.values[30], time * 10);
		reader->trace->counter_cnt++;
	}
}

/* Time 0 on each clock. */
static inline void pf_clocks(struct pf_reader *reader, struct pf_span snapshot)
{
	struct pf_span span;
	uint64_t unused;
	uint32_t field;

	while (pf_next(&snapshot, &field, &unused, &span)) {
		struct pf_message clock = pf_read(span);

		assert_int_equal(field, 1);
		if (clock.values[1] == 1)
			reader->trace->realtime_ns = clock.values[2];
		else
			assert_true(clock.values[1] == 6 && !clock.values[2]);
	}
}

static inline void pf_packet(struct pf_reader *reader, struct pf_span span)
{
	struct pf_message packet = pf_read(span);

	assert_int_equal(packet.values[10], 1);
	reader->cleared |= packet.values[13] == 1;
	if (packet.has[6])
		pf_clocks(reader, packet.bytes[6]);
	if (packet.has[12])
		pf_interned(reader, packet.bytes[12]);
	if (packet.has[60])
		pf_track(reader, packet.bytes[60]);
	if (packet.has[11]) {
		assert_true(packet.has[8]);
		assert_int_equal(packet.values[13], 2);
		pf_event(reader, packet.values[8], packet.bytes[11]);
	}
}

static inline struct read_trace *read_pftrace(char *bytes, size_t size)
{
	struct pf_reader *reader = calloc(1, sizeof(*reader));
	struct pf_span trace = {(uint8_t *)bytes, (uint8_t *)bytes + size}, packet;
	struct read_trace *read = reader->trace = calloc(1, sizeof(*read));
	uint32_t field;
	uint64_t unused;

	reader->sources = calloc(PF_STRINGS, sizeof(*reader->sources));
	while (pf_next(&trace, &field, &unused, &packet)) {
		assert_int_equal(field, 1);
		pf_packet(reader, packet);
	}
	assert_true(reader->cleared);
	assert_int_equal(reader->about_cnt, 1);
	assert_int_equal(read->open_cnt, 0);
	for (size_t i = 0; i < ARRAY_SIZE(reader->strings); i++) {
		for (size_t j = 0; reader->strings[i] && j < PF_STRINGS; j++)
			free(reader->strings[i][j]);
		free(reader->strings[i]);
	}
	for (size_t i = 0; i < PF_STRINGS; i++)
		free(reader->sources[i].file);
	free(reader->sources);
	free(reader);
	return read;
}
