/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words without their leading zero bytes, for registers, most of which are small. First comes the byte count
 * of each word, four bits a word (the first word's in the low bits), then the bytes, lowest first.
 *
 *	0x1234, 0, 0x7f		02 01 | 34 12 | 7f
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PACKED_MAX(cnt) (((cnt) + 1) / 2 + (cnt) * sizeof(uint64_t))

/* Packs `cnt` words; `to` has room for PACKED_MAX(cnt). Returns the packed size in bytes. */
size_t packed_put(uint8_t *to, const uint64_t *words, size_t cnt);

/* The packed size of the `cnt` words at `from`; 0: they are damaged, or longer than `room` bytes. */
size_t packed_size(const uint8_t *from, size_t room, size_t cnt);

void packed_get(const uint8_t *from, uint64_t *ret_words, size_t cnt);

/* Word `nth` of `cnt`. */
uint64_t packed_nth(const uint8_t *from, size_t cnt, size_t nth);
