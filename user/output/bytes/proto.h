/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of protocol buffers, built in memory: https://protobuf.dev/programming-guides/encoding/. A message
 * in another is built first, then put in as bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All 0 at first. */
struct proto {
	uint8_t *bytes;
	size_t size, cap;
	bool no_memory; /* sticks; what did not fit is missing */
};

/* A number without a field: one of a packed list, which is a message of such. */
void proto_varint(struct proto *proto, uint64_t value);
void proto_number(struct proto *proto, uint32_t field, uint64_t value);
/* A number of 8 bytes (fixed64). */
void proto_fixed(struct proto *proto, uint32_t field, uint64_t value);
void proto_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t size);
/* The same without the bytes, which follow. */
void proto_begin(struct proto *proto, uint32_t field, size_t size);
void proto_text(struct proto *proto, uint32_t field, const char *text);

/* `inner`, which is empty afterwards. */
void proto_message(struct proto *proto, uint32_t field, struct proto *inner);

/* Fields that were built in another message. */
void proto_append(struct proto *proto, const uint8_t *fields, size_t size);

void proto_release(struct proto *proto);
