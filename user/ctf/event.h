/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of an allocation trace as plain data, in the terms of OCaml's memtrace
 * (https://github.com/janestreet/memtrace, trace.mli), whose file format reader.h and writer.h use. A trace
 * is a sample: each allocated word is sampled independently with the same probability.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MEMTRACE_VERSION = 3, MEMTRACE_DOMAIN_MAX = 0xffff };

struct memtrace_info {
	uint64_t version;   /* of the file read: 1 to 3 */
	uint64_t start_us;  /* begin of the trace, us since the epoch */
	double sample_rate; /* probability that a word is sampled */
	uint8_t word_bits;  /* 64 */
	uint64_t pid;	    /* of the program */
	uint16_t domain;    /* that wrote the first packet */
	char *executable;   /* texts are never NULL, and owned by the struct's owner */
	char *host;
	char *runtime_params; /* the OCaml runtime's, or other notes */
	char *context;	      /* free text; "" in version 1 */
};

/* A place in the source. A code may have several: inlined calls, outermost first. */
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
	uint64_t time_us; /* since info.start_us; monotonic within a domain */
	uint64_t id;	  /* of the allocation: counted from 0 in file order within a domain */
	/* the rest is for MEMTRACE_ALLOC only */
	uint64_t length;   /* words */
	uint64_t nsamples; /* how many of them were sampled */
	enum memtrace_source source;
	/* The call stack as codes: first the program's entry, last the place of the allocation. */
	const uint64_t *frames;
	size_t frame_cnt;
	/*
	 * How many of the first frames are also the domain's last allocation's. More than frame_cnt if that
	 * stack was too deep to be written.
	 */
	size_t common_prefix;
};
