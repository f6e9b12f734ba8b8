/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the reader. */
#pragma once

#include "ctf/code_table.h"
#include "ctf/ctf_input.h"
#include "ctf/ctf_location.h"
#include "ctf/ctf_stack.h"
#include "ctf/reader.h"

/*
 * Limits on the memory that a trace can claim, because a few of its bytes can stand for much. Each domain
 * takes 160 KiB.
 */
enum { READER_DOMAINS_MAX = 4096, READER_FRAMES_MAX = 1 << 26 };

/* The state of a domain between packets. */
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
	int err; /* first error, permanent, with its sentence */
	char *message;

	const uint8_t *begin, *end; /* of the trace */
	struct ctf_packet packet;   /* the current packet */
	struct cursor cursor;	    /* over its events */
	uint64_t next_id;
	size_t frame_room;
	struct reader_domain *domain;
	struct reader_domain **domains; /* in order of appearance */
	size_t domain_cnt, domain_cap;
};

/* -EBADMSG: the trace is wrong at byte `at`. */
int reader_damaged(struct memtrace_reader *reader, const uint8_t *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* -EBADMSG: the item that begins at `at` is longer than its packet. */
int reader_overrun(struct memtrace_reader *reader, const uint8_t *at);

/* Reads and checks the next header. 1; 0: the trace ends within it; -EBADMSG. */
int reader_get_header(struct memtrace_reader *reader, struct cursor *cursor, struct ctf_packet *ret_packet);

/* Reads the next packet's header. 1; 0 at the end. */
int reader_next_packet(struct memtrace_reader *reader);

/* Reads an event of the packet. 1: an event for the caller; 0: another. */
int reader_get_event(struct memtrace_reader *reader, struct memtrace_event *event);
