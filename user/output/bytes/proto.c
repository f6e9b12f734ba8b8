/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/bytes/proto.h"

#include <string.h>

#include "base/array.h"

enum { WIRE_NUMBER = 0, WIRE_FIXED = 1, WIRE_BYTES = 2, VARINT_MAX = 10 };

static bool reserve(struct proto *proto, size_t size)
{
	if (proto->cap - proto->size < size &&
	    array_reserve(&proto->bytes, &proto->cap, proto->size + size, 1))
		proto->no_memory = true;
	return !proto->no_memory;
}

static void put_varint(struct proto *proto, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		proto->bytes[proto->size++] = (uint8_t)(value | 0x80);
	proto->bytes[proto->size++] = (uint8_t)value;
}

void proto_varint(struct proto *proto, uint64_t value)
{
	if (reserve(proto, VARINT_MAX))
		put_varint(proto, value);
}

void proto_number(struct proto *proto, uint32_t field, uint64_t value)
{
	if (!reserve(proto, 2 * VARINT_MAX))
		return;
	put_varint(proto, (uint64_t)field << 3 | WIRE_NUMBER);
	put_varint(proto, value);
}

void proto_fixed(struct proto *proto, uint32_t field, uint64_t value)
{
	if (!reserve(proto, VARINT_MAX + sizeof(value)))
		return;
	put_varint(proto, (uint64_t)field << 3 | WIRE_FIXED);
	memcpy(proto->bytes + proto->size, &value, sizeof(value));
	proto->size += sizeof(value);
}

void proto_append(struct proto *proto, const uint8_t *fields, size_t size)
{
	if (!size || !reserve(proto, size))
		return;
	memcpy(proto->bytes + proto->size, fields, size);
	proto->size += size;
}

void proto_begin(struct proto *proto, uint32_t field, size_t size)
{
	if (!reserve(proto, 2 * VARINT_MAX))
		return;
	put_varint(proto, (uint64_t)field << 3 | WIRE_BYTES);
	put_varint(proto, size);
}

void proto_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t size)
{
	proto_begin(proto, field, size);
	proto_append(proto, bytes, size);
}

void proto_text(struct proto *proto, uint32_t field, const char *text)
{
	proto_bytes(proto, field, text, strlen(text));
}

void proto_message(struct proto *proto, uint32_t field, struct proto *inner)
{
	proto_bytes(proto, field, inner->bytes, inner->size);
	proto->no_memory |= inner->no_memory;
	inner->size = 0;
}

void proto_release(struct proto *proto)
{
	free(proto->bytes);
	*proto = (struct proto){0};
}
