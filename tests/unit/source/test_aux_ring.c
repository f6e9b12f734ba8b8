/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>

#include "source/aux_ring.h"

enum { SIZE = 4096 };

/* Byte number n of the stream. */
static uint8_t nth(uint64_t n)
{
	return (uint8_t)(n * 7 + n / 256);
}

static void write_stream(struct aux_ring *ring, uint64_t until, size_t chunk)
{
	while (ring->head < until) {
		uint8_t bytes[300];
		size_t size = until - ring->head < chunk ? until - ring->head : chunk;

		for (size_t i = 0; i < size; i++)
			bytes[i] = nth(ring->head + i);
		aux_ring_write(ring, bytes, size);
	}
}

/* Whatever was written, the linear copy is the stream's last bytes. */
TEST(test_holds_the_newest)
{
	static const uint64_t lengths[] = {0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 1000 * SIZE + 77};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t chunk = 1; chunk < 300; chunk += 97) {
			struct aux_ring ring;
			uint8_t *bytes;
			size_t size;
			uint64_t offset;

			assert_ok(aux_ring_init(&ring, SIZE));
			write_stream(&ring, lengths[i], chunk);
			assert_ok(aux_ring_linearise(&ring, &bytes, &size, &offset));
			assert_int_equal(size, lengths[i] < SIZE ? lengths[i] : SIZE);
			assert_int_equal(size, aux_ring_held(&ring));
			assert_int_equal(offset + size, lengths[i]);
			for (size_t at = 0; at < size; at++)
				assert_int_equal(bytes[at], nth(offset + at));
			free(bytes);
			aux_ring_release(&ring);
		}
	}
}

/* A ring behind another one: the last bytes of both. */
TEST(test_appends)
{
	static const uint64_t lengths[] = {0, 1, SIZE - 1, SIZE, SIZE + 1, 5 * SIZE + 77};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			struct aux_ring ring, more;
			uint64_t all = lengths[i] + lengths[k];

			assert_ok(aux_ring_init(&ring, SIZE));
			assert_ok(aux_ring_init(&more, SIZE));
			write_stream(&ring, lengths[i], 299);
			while (more.head < lengths[k]) {
				uint8_t byte = nth(lengths[i] + more.head);

				aux_ring_write(&more, &byte, 1);
			}
			aux_ring_append(&ring, &more);
			assert_int_equal(ring.head, all);
			for (uint64_t n = all < SIZE ? 0 : all - SIZE; n < all; n++)
				assert_int_equal(ring.bytes[n % SIZE], nth(n));
			aux_ring_release(&ring);
			aux_ring_release(&more);
		}
	}
}

TEST_MAIN(NULL, NULL)
