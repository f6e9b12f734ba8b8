/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts under numbers, each below another one or below none: a tree of names (a call is below its caller), or
 * with one level the table of strings that formats refer to. The texts stay their owner's and must last as
 * long.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct name {
	uint32_t parent; /* 0: none */
	uint32_t hash, next;
	const char *text;
	uint64_t value; /* the owner's, 0 at first */
};

/* All 0 at first. Numbers count from 1: items[0] is no name. */
struct names {
	struct name *items;
	size_t cnt, cap;
	uint32_t *buckets;
	size_t bucket_cnt;
};

/* The number of the text below `parent`, a new one (the last: names.cnt - 1) if need be; 0: no memory. */
uint32_t names_get(struct names *names, uint32_t parent, const char *text);

void names_release(struct names *names);
