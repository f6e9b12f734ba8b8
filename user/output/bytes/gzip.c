/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each buffer is compressed by itself, by whichever thread is free, and ends at a byte (a full flush), so
 * that one behind the other they are one stream; a member for each would not do, since browsers read the
 * first one only. What is written does not depend on the number of threads, but for one thing: isa-l 2.30
 * takes a hash of its stream's address for that of a block's third byte, so that one block in some thousands
 * may be a few bytes longer or shorter. Buffers go round in a ring:
 *
 *	... | written | compressed, waits for the one before it | being compressed | full | being filled |
 *
 * Whoever compressed the one that is to be written next writes it, and those behind it that are ready. On one
 * processor there are no threads.
 */
#include "output/bytes/gzip.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/parallel.h"

enum { LEVEL = 1, THREADS_MAX = 4, BLOCKS_A_THREAD = 4 };
/* Where nothing can be compressed, stored blocks of 64 KB, each with a header of 5 bytes, and the flush. */
enum { OUT_BYTES = GZIP_BUFFER + GZIP_BUFFER / 64 + 1024 };

struct block {
	uint8_t in[GZIP_BUFFER], out[OUT_BYTES];
	size_t in_size, out_size;
	uint32_t crc; /* of `in` */
	bool is_last, is_ready;
};

struct worker {
	struct gzip *gzip;
	pthread_t thread;
	struct isal_zstream stream;
	uint8_t work[ISAL_DEF_LVL1_DEFAULT];
};

struct gzip {
	int (*write)(void *ctx, const uint8_t *bytes, size_t size);
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t full, done; /* one is, and is written */
	/* Blocks, since the beginning: full ones, those that a thread has, those written. */
	uint64_t filled, taken, written;
	bool is_writing, stops;
	int err;	    /* sticks */
	uint32_t crc, size; /* of all that is written, before compression */
	unsigned int thread_cnt, ring_cnt;
	struct worker *workers; /* one is there without a thread, too */
	struct block *ring;
};

/* ---- one block ---- */

static int compress_block(struct worker *worker, struct block *block)
{
	struct isal_zstream *stream = &worker->stream;

	isal_deflate_stateless_init(stream);
	stream->hist_bits = 0; /* the whole window: what stands there is not the library's to set */
	stream->gzip_flag = IGZIP_DEFLATE;
	stream->level = LEVEL;
	stream->level_buf = worker->work;
	stream->level_buf_size = sizeof(worker->work);
	stream->flush = block->is_last ? NO_FLUSH : FULL_FLUSH;
	stream->end_of_stream = block->is_last;
	stream->next_in = block->in;
	stream->avail_in = (uint32_t)block->in_size;
	stream->next_out = block->out;
	stream->avail_out = OUT_BYTES;
	if (isal_deflate_stateless(stream) != COMP_OK || stream->avail_in)
		return -EIO;
	block->out_size = OUT_BYTES - stream->avail_out;
	block->crc = crc32_gzip_refl(0, block->in, block->in_size);
	return 0;
}

/* RFC 1952: behind the data, its CRC and size, and nothing else that is known of it. */
static int write_block(struct gzip *gzip, const struct block *block)
{
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
	uint32_t trailer[2];
	int err = gzip->written ? 0 : gzip->write(gzip->ctx, header, sizeof(header));

	if (!err)
		err = gzip->write(gzip->ctx, block->out, block->out_size);
	gzip->crc = (uint32_t)crc32_combine(gzip->crc, block->crc, (z_off_t)block->in_size);
	gzip->size += (uint32_t)block->in_size;
	if (err || !block->is_last)
		return err;
	trailer[0] = htole32(gzip->crc);
	trailer[1] = htole32(gzip->size);
	return gzip->write(gzip->ctx, (const uint8_t *)trailer, sizeof(trailer));
}

/* ---- threads ---- */

static struct block *block_at(const struct gzip *gzip, uint64_t nth)
{
	return &gzip->ring[nth % gzip->ring_cnt];
}

/* The next full block is the worker's. Locked. NULL: there is none, and none will come. */
static struct block *take_block(struct gzip *gzip)
{
	while (gzip->taken == gzip->filled && !gzip->stops)
		pthread_cond_wait(&gzip->full, &gzip->lock);
	return gzip->stops ? NULL : block_at(gzip, gzip->taken++);
}

/* Those that are ready, in their order, unless a thread does so already. Locked. */
static void write_ready(struct gzip *gzip)
{
	struct block *block;

	if (gzip->is_writing)
		return;
	gzip->is_writing = true;
	while ((block = block_at(gzip, gzip->written))->is_ready) {
		int err = gzip->err;

		pthread_mutex_unlock(&gzip->lock);
		if (!err)
			err = write_block(gzip, block);
		pthread_mutex_lock(&gzip->lock);
		block->is_ready = false;
		if (err)
			gzip->err = err;
		gzip->written++;
		pthread_cond_signal(&gzip->done);
	}
	gzip->is_writing = false;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct gzip *gzip = worker->gzip;
	struct block *block;

	pthread_mutex_lock(&gzip->lock);
	while ((block = take_block(gzip))) {
		int err = gzip->err;

		pthread_mutex_unlock(&gzip->lock);
		if (!err)
			err = compress_block(worker, block);
		pthread_mutex_lock(&gzip->lock);
		if (err)
			gzip->err = err;
		block->is_ready = true;
		write_ready(gzip);
	}
	pthread_mutex_unlock(&gzip->lock);
	return NULL;
}

static void start_threads(struct gzip *gzip, unsigned int cnt)
{
	for (; gzip->thread_cnt < cnt; gzip->thread_cnt++) {
		struct worker *worker = &gzip->workers[gzip->thread_cnt];

		/* Fewer than wanted are slower, not wrong. */
		if (pthread_create(&worker->thread, NULL, work, worker))
			return;
	}
}

static void stop_threads(struct gzip *gzip)
{
	pthread_mutex_lock(&gzip->lock);
	gzip->stops = true;
	pthread_cond_broadcast(&gzip->full);
	pthread_mutex_unlock(&gzip->lock);
	for (unsigned int i = 0; i < gzip->thread_cnt; i++)
		pthread_join(gzip->workers[i].thread, NULL);
}

/* ---- the file ---- */

int gzip_new(struct gzip **ret_gzip, int (*write)(void *ctx, const uint8_t *bytes, size_t size), void *ctx)
{
	unsigned int cpus = parallel_cpu_cnt(), cnt = cpus < THREADS_MAX ? cpus : THREADS_MAX;
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->write = write;
	gzip->ctx = ctx;
	gzip->ring_cnt = cnt > 1 ? cnt * BLOCKS_A_THREAD : 1;
	gzip->workers = malloc(cnt * sizeof(*gzip->workers));
	gzip->ring = calloc(gzip->ring_cnt, sizeof(*gzip->ring));
	pthread_mutex_init(&gzip->lock, NULL);
	pthread_cond_init(&gzip->full, NULL);
	pthread_cond_init(&gzip->done, NULL);
	if (!gzip->workers || !gzip->ring) {
		gzip_free(gzip);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < cnt; i++)
		gzip->workers[i].gzip = gzip;
	if (cnt > 1)
		start_threads(gzip, cnt);
	*ret_gzip = gzip;
	return 0;
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	stop_threads(gzip);
	pthread_cond_destroy(&gzip->full);
	pthread_cond_destroy(&gzip->done);
	pthread_mutex_destroy(&gzip->lock);
	free(gzip->workers);
	free(gzip->ring);
	free(gzip);
}

uint8_t *gzip_buffer(struct gzip *gzip)
{
	return block_at(gzip, gzip->filled)->in;
}

static int push_alone(struct gzip *gzip, struct block *block)
{
	int err = gzip->err ? gzip->err : compress_block(gzip->workers, block);

	if (!err)
		err = write_block(gzip, block);
	gzip->filled++;
	gzip->written++;
	return gzip->err = err;
}

int gzip_push(struct gzip *gzip, size_t size, bool is_last)
{
	struct block *block = block_at(gzip, gzip->filled);
	uint64_t left = is_last ? 0 : gzip->ring_cnt - 1;
	int err;

	block->in_size = size;
	block->is_last = is_last;
	if (!gzip->thread_cnt)
		return push_alone(gzip, block);
	pthread_mutex_lock(&gzip->lock);
	gzip->filled++;
	pthread_cond_signal(&gzip->full);
	while (gzip->filled - gzip->written > left)
		pthread_cond_wait(&gzip->done, &gzip->lock);
	err = gzip->err;
	pthread_mutex_unlock(&gzip->lock);
	return err;
}
