/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the writer share. */
#pragma once

#include "ctf/ctf_location.h"
#include "ctf/ctf_stack.h"
#include "ctf/writer.h"

enum { WRITER_PACKET_SIZE = 1 << 15 };

struct writer_domain {
	uint16_t id;
	struct ctf_check check;
	int64_t time_begin, time_end; /* of the packet */
	uint64_t first_id, next_id;   /* of the packet */
	uint64_t ids_end;	      /* of the chunk that they are of */
	struct ctf_write_cache cache;
	struct ctf_files files;
	uint64_t *frames; /* of the last allocation */
	size_t frame_cnt, frame_cap;
};

struct memtrace_writer {
	struct memtrace_writer_config config;
	int64_t start_us;
	uint64_t pid;
	int err; /* sticks */
	uint64_t next_chunk;
	struct ctf_missed missed;
	struct writer_domain *domain; /* whose packet this is */
	size_t used;
	uint8_t packet[WRITER_PACKET_SIZE];
	struct writer_domain **domains; /* in the order in which they came */
	size_t domain_cnt, domain_cap;
};

/* The info's own packet. -EINVAL with a sentence: it is too long. */
int writer_put_info(struct memtrace_writer *writer, const struct memtrace_info *info);

uint8_t *writer_put_head(uint8_t *at, unsigned int code, int64_t time);

/* Writes out the packet and what its codes stand for. The next one begins at `now`. */
int writer_flush_at(struct memtrace_writer *writer, int64_t now);

/* The packet is this domain's from now on. */
int writer_use_domain(struct memtrace_writer *writer, uint16_t id);
