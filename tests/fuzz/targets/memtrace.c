/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation trace of any content: what is read of it can be written, and is the same when that is read.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/reader.h"
#include "ctf/writer.h"

enum { NEVER_CUT = 409 }; /* frames of a call stack that always fit */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Of a reader that is at the end: nothing becomes known between two questions. */
static int locate(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	int cnt = memtrace_reader_locations(ctx, code, ret_locations);

	return cnt < 0 ? 0 : cnt;
}

static struct memtrace_reader *open_bytes(const void *bytes, size_t size, bool skip_frames)
{
	struct memtrace_reader_config config = {.skip_frames = skip_frames};
	struct memtrace_reader *reader = NULL;

	return memtrace_reader_open_bytes(&reader, "input", bytes, size, &config) ? NULL : reader;
}

static void read_all(struct memtrace_reader *reader)
{
	struct memtrace_event event;

	while (memtrace_reader_next(reader, &event) > 0)
		if (event.kind == MEMTRACE_ALLOC && event.frame_cnt)
			abort();
}

/* An output into the file, which is not there by name. */
static struct output *output_into(int fd)
{
	struct output *output;
	int saved = dup(STDOUT_FILENO);

	if (dup2(fd, STDOUT_FILENO) < 0 || output_open(&output, "-") || dup2(saved, STDOUT_FILENO) < 0)
		abort();
	close(saved);
	return output;
}

/* How many events were written; -1: not all that can be read. */
static long copy(struct memtrace_reader *reader, struct memtrace_reader *names, int fd)
{
	CLEANUP(memtrace_writer_freep) struct memtrace_writer *writer = NULL;
	struct memtrace_writer_config config = {
		.info = memtrace_reader_info(reader), .locate = locate, .ctx = names};
	struct memtrace_event event;
	long cnt = 0;
	int err;

	config.output = output_into(fd);
	err = memtrace_writer_new(&writer, &config);
	while (!err && memtrace_reader_next(reader, &event) > 0) {
		err = memtrace_writer_put(writer, &event, NULL);
		cnt++;
	}
	if (!err)
		err = memtrace_writer_flush(writer);
	return output_close(config.output) || err ? -1 : cnt;
}

/* But for ids, which are given anew. */
static bool is_same(const struct memtrace_event *a, const struct memtrace_event *b)
{
	if (a->kind != b->kind || a->domain != b->domain || a->time_us != b->time_us)
		return false;
	if (a->kind != MEMTRACE_ALLOC)
		return true;
	return a->length == b->length && a->nsamples == b->nsamples && a->source == b->source &&
	       b->frame_cnt <= a->frame_cnt && (b->frame_cnt == a->frame_cnt || a->frame_cnt > NEVER_CUT) &&
	       (!b->frame_cnt || !memcmp(a->frames, b->frames, b->frame_cnt * sizeof(*b->frames)));
}

static void compare(const uint8_t *bytes, size_t size, const void *copied, size_t copied_size, long cnt)
{
	struct memtrace_reader *reader = open_bytes(bytes, size, false);
	struct memtrace_reader *copy_reader = open_bytes(copied, copied_size, false);
	struct memtrace_event a, b;

	while (cnt--)
		if (memtrace_reader_next(reader, &a) != 1 || memtrace_reader_next(copy_reader, &b) != 1 ||
		    !is_same(&a, &b))
			abort();
	if (memtrace_reader_next(copy_reader, &b) != 0)
		abort();
	memtrace_reader_close(reader);
	memtrace_reader_close(copy_reader);
}

static long copy_into(const uint8_t *bytes, size_t size, int fd)
{
	CLEANUP(memtrace_reader_closep) struct memtrace_reader *names = open_bytes(bytes, size, true);
	CLEANUP(memtrace_reader_closep) struct memtrace_reader *reader = open_bytes(bytes, size, false);

	if (!names || !reader)
		return -1;
	read_all(names);
	return copy(reader, names, fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(closep) int fd = memfd_create("copy", MFD_CLOEXEC);
	void *copied;
	size_t copied_size;
	long cnt;

	fail_reset();
	cnt = copy_into(bytes, size, fd);
	if (cnt < 0)
		return 0;
	copied_size = (size_t)lseek(fd, 0, SEEK_END);
	copied = mmap(NULL, copied_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (copied == MAP_FAILED)
		abort();
	compare(bytes, size, copied, copied_size, cnt);
	munmap(copied, copied_size);
	return 0;
}
