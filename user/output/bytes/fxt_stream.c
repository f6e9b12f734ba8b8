/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing that a record says is believed before it is looked at: its size, what lies within it, what it
 * refers to. A record that makes no sense as a whole ends the file, since nobody knows where the next one
 * begins; a reference to nothing is an empty name, and is counted.
 */
#include "output/bytes/fxt_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/error.h"
#include "base/log.h"

enum { BUFFER_WORDS = 1 << 15, STRING_INLINE = 1 << 15 };
enum {
	RECORD_INIT = 1,
	RECORD_STRING = 2,
	RECORD_THREAD = 3,
	RECORD_EVENT = 4,
	RECORD_OBJECT = 7,
	RECORD_LARGE = 15
};
enum {
	ARG_INT32 = 1,
	ARG_UINT32 = 2,
	ARG_INT64 = 3,
	ARG_UINT64 = 4,
	ARG_STRING = 6,
	ARG_POINTER = 7,
	ARG_KOID = 8,
	ARG_BOOL = 9
};
enum { OBJECT_THREAD = 2 };

static const uint64_t magic = 0x0016547846040010ull;

_Static_assert((int)BUFFER_WORDS > (int)FXT_RECORD_WORDS, "any record fits");

struct fxt_stream {
	gzFile file;
	char *path;
	struct fxt_names *names;
	const char *strings[FXT_STRINGS + 1];
	struct {
		uint64_t pid, tid;
	} threads[FXT_THREADS + 1];
	uint64_t ticks_per_second;
	uint64_t unknown; /* references to nothing */
	uint64_t passed;  /* bytes before the buffer */
	size_t at, cnt;	  /* words read, words there are */
	bool ended;
	const char *damage; /* why it ended, NULL: it does so by itself */
	bool no_memory;
	uint64_t words[BUFFER_WORDS];
};

static uint64_t bits(uint64_t word, unsigned int low, unsigned int high)
{
	return word >> low & ((1ull << (high - low + 1)) - 1);
}

bool fxt_stream_is(const char *path)
{
	uint64_t word = 0;
	struct stat st;
	gzFile file;
	int got;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	file = gzopen(path, "rbe");
	got = file ? gzread(file, &word, sizeof(word)) : 0;
	if (file)
		gzclose(file);
	return got == sizeof(word) && word == magic;
}

int fxt_stream_open(struct fxt_stream **ret_stream, const char *path, struct fxt_names *names)
{
	CLEANUP(fxt_stream_closep) struct fxt_stream *stream = calloc(1, sizeof(*stream));

	if (!stream || !(stream->path = strdup(path)))
		return fail(-ENOMEM, "no memory to read %s", path);
	stream->names = names;
	stream->ticks_per_second = 1000000000;
	errno = ENOMEM;
	stream->file = gzopen(path, "rbe");
	if (!stream->file)
		return fail_errno(-errno, "cannot open %s", path);
	gzbuffer(stream->file, sizeof(stream->words));
	*ret_stream = TAKE_PTR(stream);
	return 0;
}

void fxt_stream_close(struct fxt_stream *stream)
{
	if (stream->file)
		gzclose(stream->file);
	free(stream->path);
	free(stream);
}

/* ---- bytes ---- */

static void end(struct fxt_stream *stream, const char *damage)
{
	stream->ended = true;
	stream->damage = stream->damage ? stream->damage : damage;
}

/* Why gzread() gave less than asked for. */
static const char *short_reason(gzFile file, size_t rest)
{
	int code;

	gzerror(file, &code);
	if (code == Z_OK || code == Z_STREAM_END)
		return rest ? "the file is cut off" : NULL;
	return code == Z_BUF_ERROR ? "the compressed data is cut off" : "the compressed data is damaged";
}

/* As many words as there is room for. */
static void fill(struct fxt_stream *stream)
{
	size_t kept = stream->cnt - stream->at, wanted;
	int got;

	memmove(stream->words, stream->words + stream->at, kept * sizeof(uint64_t));
	stream->passed += stream->at * sizeof(uint64_t);
	stream->at = 0;
	wanted = (BUFFER_WORDS - kept) * sizeof(uint64_t);
	got = gzread(stream->file, stream->words + kept, (unsigned int)wanted);
	stream->cnt = kept + (got > 0 ? (size_t)got / sizeof(uint64_t) : 0);
	if (got != (int)wanted)
		end(stream, short_reason(stream->file, got > 0 ? (size_t)got % sizeof(uint64_t) : 0));
}

static bool has(struct fxt_stream *stream, size_t cnt)
{
	if (stream->cnt - stream->at < cnt && !stream->ended)
		fill(stream);
	return stream->cnt - stream->at >= cnt;
}

static void skip(struct fxt_stream *stream, uint64_t cnt)
{
	while (cnt && has(stream, 1)) {
		size_t step = stream->cnt - stream->at;

		step = step < cnt ? step : (size_t)cnt;
		stream->at += step;
		cnt -= step;
	}
}

/* ---- what is in a record ---- */

struct cursor {
	const uint64_t *at, *end;
};

static uint64_t take(struct cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at++ : 0;
}

static const char *keep_text(struct fxt_stream *stream, const void *text, size_t len)
{
	const char *kept = "";

	if (fxt_names_text(stream->names, text, len, &kept))
		stream->no_memory = true;
	return kept;
}

/* A reference to the table, or the text itself, which follows. */
static const char *take_string(struct fxt_stream *stream, struct cursor *cursor, uint64_t ref)
{
	size_t len = ref & (STRING_INLINE - 1), room = (size_t)(cursor->end - cursor->at);
	const char *text = "";

	if (!ref)
		return text;
	if (ref & STRING_INLINE) {
		size_t size = (len + 7) / 8;

		if (size <= room)
			text = keep_text(stream, cursor->at, len);
		cursor->at += size <= room ? size : room;
		return text;
	}
	if (!stream->strings[ref]) {
		stream->unknown++;
		return text;
	}
	return stream->strings[ref];
}

static void take_value(struct fxt_stream *stream, struct cursor *cursor, uint64_t header,
		       struct fxt_read_arg *arg)
{
	switch (bits(header, 0, 3)) {
	case ARG_INT32:
		arg->value = (uint64_t)(int64_t)(int32_t)(header >> 32);
		break;
	case ARG_UINT32:
	case ARG_BOOL:
		arg->value = header >> 32;
		break;
	case ARG_INT64:
	case ARG_UINT64:
	case ARG_POINTER:
	case ARG_KOID:
		arg->is_address = bits(header, 0, 3) == ARG_POINTER;
		arg->value = take(cursor);
		break;
	case ARG_STRING:
		arg->text = take_string(stream, cursor, bits(header, 32, 47));
		break;
	default:
		break;
	}
}

static void take_args(struct fxt_stream *stream, struct cursor *cursor, size_t cnt,
		      struct fxt_read_event *event)
{
	for (size_t i = 0; i < cnt && cursor->at < cursor->end; i++) {
		struct fxt_read_arg *arg = &event->args[event->arg_cnt++];
		struct cursor one = *cursor;
		uint64_t header = take(&one), size = bits(header, 4, 15);

		*arg = (struct fxt_read_arg){0};
		if (size < (uint64_t)(cursor->end - cursor->at))
			one.end = cursor->at + size;
		arg->name = take_string(stream, &one, bits(header, 16, 31));
		take_value(stream, &one, header, arg);
		cursor->at = size && one.end > cursor->at ? one.end : cursor->end;
	}
}

static uint64_t to_ns(const struct fxt_stream *stream, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000 / stream->ticks_per_second;

	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

static void read_event(struct fxt_stream *stream, struct cursor cursor, struct fxt_read_event *event)
{
	uint64_t header = take(&cursor), type = bits(header, 16, 19), thread = bits(header, 24, 31);

	bool is_flow = type == FXT_FLOW_BEGIN || type == FXT_FLOW_END;

	*event = (struct fxt_read_event){.type = type < FXT_READ_OTHER || is_flow ? (enum fxt_read_type)type
										  : FXT_READ_OTHER};
	event->time_ns = to_ns(stream, take(&cursor));
	if (thread) {
		event->pid = stream->threads[thread].pid;
		event->tid = stream->threads[thread].tid;
		stream->unknown += !event->pid && !event->tid;
	} else {
		event->pid = take(&cursor);
		event->tid = take(&cursor);
	}
	take_string(stream, &cursor, bits(header, 32, 47));
	event->name = take_string(stream, &cursor, bits(header, 48, 63));
	take_args(stream, &cursor, bits(header, 20, 23), event);
	if (type == FXT_READ_COMPLETE)
		event->end_ns = to_ns(stream, take(&cursor));
	if (is_flow)
		event->end_ns = take(&cursor);
}

/* The name of a thread; false: of something else. */
static bool read_object(struct fxt_stream *stream, struct cursor cursor, struct fxt_read_event *event)
{
	uint64_t header = take(&cursor);

	if (bits(header, 16, 23) != OBJECT_THREAD)
		return false;
	*event = (struct fxt_read_event){.type = FXT_READ_THREAD, .tid = take(&cursor)};
	event->name = take_string(stream, &cursor, bits(header, 24, 39));
	take_args(stream, &cursor, bits(header, 40, 43), event);
	for (size_t i = 0; i < event->arg_cnt; i++)
		if (!strcmp(event->args[i].name, "process"))
			event->pid = event->args[i].value;
	return true;
}

static void define_string(struct fxt_stream *stream, struct cursor cursor)
{
	uint64_t header = take(&cursor), index = bits(header, 16, 30), len = bits(header, 32, 46);
	size_t room = (size_t)(cursor.end - cursor.at) * sizeof(uint64_t);

	if (index)
		stream->strings[index] = keep_text(stream, cursor.at, len < room ? len : room);
}

static void define_thread(struct fxt_stream *stream, struct cursor cursor)
{
	uint64_t index = bits(take(&cursor), 16, 23);

	if (index) {
		stream->threads[index].pid = take(&cursor);
		stream->threads[index].tid = take(&cursor);
	}
}

/* Whether the record is an event. */
static bool read_record(struct fxt_stream *stream, struct cursor cursor, struct fxt_read_event *event)
{
	switch (bits(*cursor.at, 0, 3)) {
	case RECORD_INIT:
		take(&cursor);
		stream->ticks_per_second = take(&cursor);
		stream->ticks_per_second += !stream->ticks_per_second;
		return false;
	case RECORD_STRING:
		define_string(stream, cursor);
		return false;
	case RECORD_THREAD:
		define_thread(stream, cursor);
		return false;
	case RECORD_EVENT:
		read_event(stream, cursor, event);
		return true;
	case RECORD_OBJECT:
		return read_object(stream, cursor, event);
	default:
		return false;
	}
}

/* Once. */
static void warn(struct fxt_stream *stream)
{
	if (stream->damage)
		log_warn("%s: %s: the trace ends there, after %" PRIu64 " bytes", stream->path,
			 stream->damage, stream->passed + stream->at * sizeof(uint64_t));
	if (stream->unknown)
		log_warn("%s: references to names or threads without a definition: %" PRIu64, stream->path,
			 stream->unknown);
	stream->damage = NULL;
	stream->unknown = 0;
	stream->ended = true;
	stream->cnt = stream->at;
}

int fxt_stream_next(struct fxt_stream *stream, struct fxt_read_event *event)
{
	while (has(stream, 1) && !stream->no_memory) {
		uint64_t header = stream->words[stream->at];
		bool is_large = bits(header, 0, 3) == RECORD_LARGE, is_event;
		uint64_t size = bits(header, 4, is_large ? 35 : 15);
		struct cursor cursor;

		if (is_large && size) {
			skip(stream, size);
			continue;
		}
		if (!size || !has(stream, size)) {
			end(stream, size ? "a record is cut off" : "a record has no size");
			break;
		}
		cursor.at = stream->words + stream->at;
		cursor.end = cursor.at + size;
		is_event = read_record(stream, cursor, event);
		stream->at += size;
		if (is_event)
			return 1;
	}
	if (!stream->no_memory)
		warn(stream);
	return stream->no_memory ? -ENOMEM : 0;
}
