/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an allocation trace holds, as plain data: the terms are those of OCaml's memtrace
 * (https://github.com/janestreet/memtrace, trace.mli), whose file format reader.h and writer.h speak. A trace
 * is a sample: each word of an allocation is sampled by itself with the same probability.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MEMTRACE_VERSION = 3, MEMTRACE_DOMAIN_MAX = 0xffff };

struct memtrace_info {
	uint64_t version;   /* of the file that it was read from: 1 to 3 */
	uint64_t start_us;  /* when the trace began, since the epoch */
	double sample_rate; /* the probability with which a word is sampled */
	uint8_t word_bits;  /* 64 */
	uint64_t pid;	    /* of the program */
	uint16_t domain;    /* the one that wrote the beginning */
	char *executable;   /* each is text, never NULL, and the owner's of the struct */
	char *host;
	char *runtime_params; /* the OCaml runtime's, or anything else worth knowing */
	char *context;	      /* free text; "" in version 1 */
};

/* A place in the source. A code address may stand for several: inlined calls, the outermost first. */
struct memtrace_location {
	const char *file, *function;
	uint32_t line, start_char, end_char;
};

enum memtrace_kind { MEMTRACE_ALLOC, MEMTRACE_PROMOTE, MEMTRACE_COLLECT };

/* Where an object was allocated: in OCaml's minor or major heap, or outside of them (malloc). */
enum memtrace_source { MEMTRACE_MINOR, MEMTRACE_MAJOR, MEMTRACE_EXTERNAL, MEMTRACE_SOURCE_CNT };

struct memtrace_event {
	enum memtrace_kind kind;
	uint16_t domain;
	uint64_t time_us; /* since info.start_us; runs forward within a domain */
	uint64_t id;	  /* of the allocation: counted from 0 on, in the order of the file within a domain */
	/* what follows is an allocation's */
	uint64_t length;   /* words */
	uint64_t nsamples; /* how many of them were sampled */
	enum memtrace_source source;
	/* Its call stack: codes, the program's entry first, the place of the allocation last. */
	const uint64_t *frames;
	size_t frame_cnt;
	/*
	 * So many of them, from the first on, are the domain's last allocation's, too. More than frame_cnt
	 * where that one's stack was too deep to be written.
	 */
	size_t common_prefix;
};

/* The estimate of allocated bytes that the event's samples stand for. */
static inline double memtrace_bytes(const struct memtrace_info *info, const struct memtrace_event *event)
{
	return (double)event->nsamples / info->sample_rate * (info->word_bits / 8);
}
