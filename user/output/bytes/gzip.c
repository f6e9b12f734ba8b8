/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/bytes/gzip.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdlib.h>

enum { LEVEL = 1, OUT_BYTES = 1 << 16 };

struct gzip {
	int (*write)(void *ctx, const uint8_t *bytes, size_t size);
	void *ctx;
	struct isal_zstream stream;
	uint8_t work[ISAL_DEF_LVL1_DEFAULT];
	uint8_t out[OUT_BYTES];
	uint8_t buffers[2][GZIP_BUFFER];
	unsigned int filling; /* which of them */
	pthread_t thread;
	bool has_thread; /* else it is done at once */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* The other buffer: what the thread is to do. */
	bool is_full, is_last, stops;
	size_t size;
	int err; /* sticks */
};

static int compress_buffer(struct gzip *gzip, uint8_t *bytes, size_t size, bool is_last)
{
	struct isal_zstream *stream = &gzip->stream;
	int err = 0;

	stream->next_in = bytes;
	stream->avail_in = (uint32_t)size;
	stream->end_of_stream = is_last;
	do {
		stream->next_out = gzip->out;
		stream->avail_out = OUT_BYTES;
		if (isal_deflate(stream) != COMP_OK)
			return -EIO;
		err = gzip->write(gzip->ctx, gzip->out, OUT_BYTES - stream->avail_out);
	} while (!err && !stream->avail_out);
	return err;
}

static void *work(void *arg)
{
	struct gzip *gzip = arg;

	pthread_mutex_lock(&gzip->lock);
	while (!gzip->stops) {
		int err;

		if (!gzip->is_full) {
			pthread_cond_wait(&gzip->changed, &gzip->lock);
			continue;
		}
		pthread_mutex_unlock(&gzip->lock);
		err = gzip->err ? 0
				: compress_buffer(gzip, gzip->buffers[!gzip->filling], gzip->size,
						  gzip->is_last);
		pthread_mutex_lock(&gzip->lock);
		gzip->err = gzip->err ? gzip->err : err;
		gzip->is_full = false;
		pthread_cond_broadcast(&gzip->changed);
	}
	pthread_mutex_unlock(&gzip->lock);
	return NULL;
}

int gzip_new(struct gzip **ret_gzip, int (*write)(void *ctx, const uint8_t *bytes, size_t size), void *ctx)
{
	struct gzip *gzip = malloc(sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->write = write;
	gzip->ctx = ctx;
	gzip->filling = 0;
	gzip->is_full = gzip->is_last = gzip->stops = false;
	gzip->err = 0;
	isal_deflate_init(&gzip->stream);
	gzip->stream.gzip_flag = IGZIP_GZIP;
	gzip->stream.level = LEVEL;
	gzip->stream.level_buf = gzip->work;
	gzip->stream.level_buf_size = sizeof(gzip->work);
	pthread_mutex_init(&gzip->lock, NULL);
	pthread_cond_init(&gzip->changed, NULL);
	gzip->has_thread = !pthread_create(&gzip->thread, NULL, work, gzip);
	*ret_gzip = gzip;
	return 0;
}

/* Until the thread has nothing to do. Locked. */
static void wait_idle(struct gzip *gzip)
{
	while (gzip->is_full)
		pthread_cond_wait(&gzip->changed, &gzip->lock);
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	if (gzip->has_thread) {
		pthread_mutex_lock(&gzip->lock);
		wait_idle(gzip);
		gzip->stops = true;
		pthread_cond_broadcast(&gzip->changed);
		pthread_mutex_unlock(&gzip->lock);
		pthread_join(gzip->thread, NULL);
	}
	pthread_cond_destroy(&gzip->changed);
	pthread_mutex_destroy(&gzip->lock);
	free(gzip);
}

uint8_t *gzip_buffer(struct gzip *gzip)
{
	return gzip->buffers[gzip->filling];
}

int gzip_push(struct gzip *gzip, size_t size, bool is_last)
{
	int err;

	if (!gzip->has_thread) {
		err = gzip->err ? gzip->err : compress_buffer(gzip, gzip_buffer(gzip), size, is_last);
		return gzip->err = err;
	}
	pthread_mutex_lock(&gzip->lock);
	wait_idle(gzip);
	gzip->filling = !gzip->filling;
	gzip->size = size;
	gzip->is_last = is_last;
	gzip->is_full = true;
	pthread_cond_broadcast(&gzip->changed);
	if (is_last)
		wait_idle(gzip);
	err = gzip->err;
	pthread_mutex_unlock(&gzip->lock);
	return err;
}
