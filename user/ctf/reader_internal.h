/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the reader share. */
#pragma once

#include "ctf/code_table.h"
#include "ctf/ctf_input.h"
#include "ctf/ctf_location.h"
#include "ctf/ctf_stack.h"
#include "ctf/reader.h"

/*
 * What a trace may make memory be taken for; a few bytes of it can stand for much. Each domain takes 160 KiB.
 */
enum { READER_DOMAINS_MAX = 4096, READER_FRAMES_MAX = 1 << 26 };

/* What a domain remembers from packet to packet. */
struct reader_domain {
	uint16_t id;
	struct ctf_stack stack;
	struct ctf_files files;
	int64_t last_time;
};

struct memtrace_reader {
	struct ctf_input input;
	char *name; /* for messages */
	bool skip_frames;
	struct memtrace_info info;
	struct code_table codes;
	struct memtrace_reader_counts counts;
	int err; /* sticks, and so does its sentence */
	char *message;

	const uint8_t *begin, *end; /* of the trace */
	struct ctf_packet packet;   /* whose events are read now */
	struct ctf_cursor cursor;   /* over them */
	uint64_t next_id;
	size_t frame_room;
	struct reader_domain *domain;
	struct reader_domain **domains; /* in the order in which they came */
	size_t domain_cnt, domain_cap;
};

/* -EBADMSG: the trace is wrong at byte `at`. */
int reader_damaged(struct memtrace_reader *reader, const uint8_t *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* -EBADMSG: what is read at the cursor began at `at`, and its packet ends too early. */
int reader_overrun(struct memtrace_reader *reader, const uint8_t *at);

/* The header that is next, which is sound. 1; 0: the trace ends before the header does. */
int reader_get_header(struct memtrace_reader *reader, struct ctf_cursor *cursor,
		      struct ctf_packet *ret_packet);

/* Goes on to the next packet. 1; 0 at the end. */
int reader_next_packet(struct memtrace_reader *reader);

/* Reads an event of the packet. 1: one for the caller; 0: one that is not. */
int reader_get_event(struct memtrace_reader *reader, struct memtrace_event *event);
