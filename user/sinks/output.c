/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A regular file is written without a name (O_TMPFILE), so that a killed process leaves nothing behind, and gets a temporary name only to be
 * renamed over the old one. Where the file system cannot do that, it is written under the temporary name. Devices and pipes
 * are written as they are.
 */
#include "sinks/output.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

enum { BUFFER_BYTES = 1 << 16, GZIP_LEVEL = 1 };

/* igzip: several times as fast as zlib at its fastest, and not much larger. */
struct gzip {
	struct isal_zstream stream;
	uint8_t work[ISAL_DEF_LVL1_DEFAULT];
	uint8_t out[BUFFER_BYTES];
};

struct output {
	char *path;
	char *temporary; /* NULL: written in place */
	int fd;
	bool unnamed;	   /* `temporary` does not exist yet */
	struct gzip *gzip; /* NULL: plain */
	int err;	   /* sticks */
	uint64_t total;
	size_t used;
	uint8_t buffer[BUFFER_BYTES];
};

static void output_free(struct output *output)
{
	free(output->gzip);
	closep(&output->fd);
	free(output->path);
	free(output->temporary);
	free(output);
}

static int temporary_name(const char *path, char **ret_temporary)
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path + 1) : 0;

	if (asprintf(ret_temporary, "%.*s.%s.%d", dir_len, path, path + dir_len, (int)getpid()) < 0)
		return -ENOMEM;
	return 0;
}

static int open_regular(struct output *output)
{
	CLEANUP(freep) char *copy = strdup(output->path);
	int err = copy ? temporary_name(output->path, &output->temporary) : -ENOMEM;

	if (err)
		return err;
	output->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	output->unnamed = output->fd >= 0;
	if (output->fd < 0)
		output->fd = open(output->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
	return output->fd < 0 ? -errno : 0;
}

static int open_fd(struct output *output)
{
	struct stat st;

	if (!strcmp(output->path, "-")) {
		output->fd = dup(STDOUT_FILENO);
		return output->fd < 0 ? -errno : 0;
	}
	if (stat(output->path, &st) || S_ISREG(st.st_mode))
		return open_regular(output);
	output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
	return output->fd < 0 ? -errno : 0;
}

static bool is_gzip(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && !strcmp(path + len - 3, ".gz");
}

static int begin_gzip(struct output *output)
{
	struct gzip *gzip = malloc(sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	isal_deflate_init(&gzip->stream);
	gzip->stream.gzip_flag = IGZIP_GZIP;
	gzip->stream.level = GZIP_LEVEL;
	gzip->stream.level_buf = gzip->work;
	gzip->stream.level_buf_size = sizeof(gzip->work);
	output->gzip = gzip;
	return 0;
}

int output_open(struct output **ret_output, const char *path)
{
	struct output *output = calloc(1, sizeof(*output));
	int err;

	if (!output)
		return -ENOMEM;
	output->fd = -1;
	output->path = strdup(path);
	err = output->path ? open_fd(output) : -ENOMEM;
	if (!err && is_gzip(path))
		err = begin_gzip(output);
	if (err) {
		output_free(output);
		return fail_errno(err, "cannot write %s", path);
	}
	*ret_output = output;
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

static int compress_all(struct output *output, bool is_last)
{
	struct gzip *gzip = output->gzip;
	struct isal_zstream *stream = &gzip->stream;
	int err = 0;

	stream->next_in = output->buffer;
	stream->avail_in = (uint32_t)output->used;
	stream->end_of_stream = is_last;
	do {
		stream->next_out = gzip->out;
		stream->avail_out = sizeof(gzip->out);
		if (isal_deflate(stream) != COMP_OK)
			return -EIO;
		err = write_all(output->fd, gzip->out, sizeof(gzip->out) - stream->avail_out);
	} while (!err && !stream->avail_out);
	return err;
}

static void flush(struct output *output, bool is_last)
{
	if (output->err)
		;
	else if (!output->gzip)
		output->err = write_all(output->fd, output->buffer, output->used);
	else
		output->err = compress_all(output, is_last);
	output->used = 0;
}

void output_write(struct output *output, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	output->total += size;
	while (size) {
		size_t room = BUFFER_BYTES - output->used;
		size_t part = size < room ? size : room;

		memcpy(output->buffer + output->used, from, part);
		output->used += part;
		from += part;
		size -= part;
		if (output->used == BUFFER_BYTES)
			flush(output, false);
	}
}

void output_printf(struct output *output, const char *fmt, ...)
{
	CLEANUP(freep) char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		text = NULL;
		output->err = -ENOMEM;
		return;
	}
	output_write(output, text, (size_t)len);
}

static int give_name(struct output *output)
{
	char fd_path[64];

	if (!output->temporary)
		return 0;
	if (output->unnamed) {
		snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", output->fd);
		if (linkat(AT_FDCWD, fd_path, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW))
			return -errno;
		output->unnamed = false;
	}
	return rename(output->temporary, output->path) ? -errno : 0;
}

int output_close(struct output *output)
{
	CLEANUP(freep) char *path = strdup(output->path);
	int err;

	flush(output, true);
	if (!output->err)
		output->err = give_name(output);
	err = output->err;
	if (err) {
		output_abort(output);
		return fail_errno(err, "cannot write %s", path ? path : "the output");
	}
	output_free(output);
	return 0;
}

void output_abort(struct output *output)
{
	if (output->temporary && !output->unnamed)
		unlink(output->temporary);
	output_free(output);
}

uint64_t output_size(const struct output *output)
{
	return output->total;
}
