/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A regular file is written without a name (O_TMPFILE), so that a killed process leaves nothing behind, and
 * gets a temporary name only to be renamed over the old one. Where the file system cannot do that, it is
 * written under the temporary name. Devices and pipes are written as they are. Standard output is, too, by
 * whatever name: had its file been replaced, what the program writes there would be lost.
 */
#include "output/bytes/output.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file/path.h"
#include "base/write_all.h"
#include "output/bytes/gzip.h"
#include "output/bytes/zstd_file.h"

struct output {
	struct output_room room; /* first: output_take() */
	char *path;
	char *temporary; /* NULL: written in place */
	int fd;
	bool unnamed;	   /* `temporary` does not exist yet */
	struct gzip *gzip; /* these two: NULL if it is none */
	struct zstd_file *zstd;
	int err; /* sticks */
	uint64_t flushed;
	uint8_t *buffer; /* GZIP_BUFFER bytes; gzip's, or its own */
};

/* A trace holds arguments and memory of a process that others may not read. */
enum { OUTPUT_MODE = 0600 };

static const char gz[] = ".gz", zst[] = ".zst";

static void output_free(struct output *output)
{
	if (output->gzip)
		gzip_free(output->gzip);
	else
		free(output->buffer);
	zstd_file_free(output->zstd);
	closep(&output->fd);
	free(output->path);
	free(output->temporary);
	free(output);
}

static int temporary_name(const char *path, char **ret_temporary)
{
	const char *name = path_name(path);

	if (asprintf(ret_temporary, "%.*s.%s.%d", (int)(name - path), path, name, (int)getpid()) < 0)
		return -ENOMEM;
	return 0;
}

static int open_regular(struct output *output)
{
	CLEANUP(freep) char *copy = strdup(output->path);
	int err = copy ? temporary_name(output->path, &output->temporary) : -ENOMEM;

	if (err)
		return err;
	output->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, OUTPUT_MODE);
	output->unnamed = output->fd >= 0;
	if (output->fd < 0)
		output->fd = open(output->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, OUTPUT_MODE);
	return output->fd < 0 ? -errno : 0;
}

/* The standard stream that is this file already; -1: none. */
static int standard_fd(const struct stat *st)
{
	struct stat standard;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (S_ISREG(st->st_mode) && !fstat(fd, &standard) && standard.st_dev == st->st_dev &&
		    standard.st_ino == st->st_ino)
			return fd;
	return -1;
}

/* The kernel follows the link, and decides whether this user may; then the file is replaced where it is. */
static int open_linked(struct output *output)
{
	CLEANUP(closep) int fd = open(output->path, O_WRONLY | O_CLOEXEC);
	char fd_path[64], path[PATH_MAX];
	ssize_t len;

	if (fd < 0)
		return -errno;
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	len = readlink(fd_path, path, sizeof(path) - 1);
	if (len < 0)
		return -errno;
	free(output->path);
	output->path = strndup(path, (size_t)len);
	return output->path ? open_regular(output) : -ENOMEM;
}

static int open_fd(struct output *output)
{
	struct stat st, link;
	int standard;

	if (!strcmp(output->path, "-")) {
		output->fd = dup(STDOUT_FILENO);
		return output->fd < 0 ? -errno : 0;
	}
	if (stat(output->path, &st))
		return open_regular(output);
	standard = standard_fd(&st);
	if (standard < 0 && S_ISREG(st.st_mode))
		return !lstat(output->path, &link) && S_ISLNK(link.st_mode) ? open_linked(output)
									    : open_regular(output);
	output->fd = standard < 0 ? open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : dup(standard);
	return output->fd < 0 ? -errno : 0;
}

static int write_compressed(void *ctx, const uint8_t *bytes, size_t size)
{
	const struct output *output = ctx;

	return write_all(output->fd, bytes, size);
}

size_t output_plain_len(const char *path)
{
	size_t len = strlen(path);

	if (path_ends_in(path, len, gz))
		return len - strlen(gz);
	return path_ends_in(path, len, zst) ? len - strlen(zst) : len;
}

static void empty_buffer(struct output *output)
{
	output->room = (struct output_room){output->buffer, output->buffer + GZIP_BUFFER};
}

static size_t used(const struct output *output)
{
	return (size_t)(output->room.at - output->buffer);
}

static int begin_buffer(struct output *output)
{
	const char *suffix = output->path + output_plain_len(output->path);
	int err = 0;

	if (!strcmp(suffix, gz))
		err = gzip_new(&output->gzip, write_compressed, output);
	else if (!strcmp(suffix, zst))
		err = zstd_file_new(&output->zstd, output->fd);
	if (!err)
		output->buffer = output->gzip ? gzip_buffer(output->gzip) : malloc(GZIP_BUFFER);
	if (err || !output->buffer)
		return -ENOMEM;
	empty_buffer(output);
	return 0;
}

int output_check(const char *path)
{
	CLEANUP(freep) char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return -ENOMEM;
	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st)) {
		if (errno == ENOENT && !lstat(path, &st))
			return fail(-ENOENT,
				    "cannot write %s: it is a symbolic link to a file that does not exist",
				    path);
		return errno == ENOENT && !access(dirname(copy), W_OK)
			       ? 0
			       : fail_errno(-errno, "cannot write %s", path);
	}
	if (S_ISDIR(st.st_mode))
		return fail(-EISDIR, "cannot write %s: it is a directory; give the name of a file", path);
	if (S_ISBLK(st.st_mode))
		return fail(-ENOTBLK, "cannot write %s: it is a block device; give the name of a file", path);
	return access(path, W_OK) ? fail_errno(-errno, "cannot write %s", path) : 0;
}

int output_open(struct output **ret_output, const char *path)
{
	int err = output_check(path);
	struct output *output = err ? NULL : calloc(1, sizeof(*output));

	if (err)
		return err;
	if (!output)
		return -ENOMEM;
	output->fd = -1;
	output->path = strdup(path);
	err = output->path ? open_fd(output) : -ENOMEM;
	if (!err)
		err = begin_buffer(output);
	if (err) {
		output_free(output);
		return fail_errno(err, "cannot write %s", path);
	}
	*ret_output = output;
	return 0;
}

static int write_part(struct output *output, bool is_last)
{
	if (output->zstd)
		return zstd_file_push(output->zstd, output->buffer, used(output), is_last);
	return write_all(output->fd, output->buffer, used(output));
}

static void flush(struct output *output, bool is_last)
{
	int err;

	output->flushed += used(output);
	if (output->gzip) {
		err = gzip_push(output->gzip, used(output), is_last);
		output->buffer = gzip_buffer(output->gzip);
	} else {
		err = output->err ? 0 : write_part(output, is_last);
	}
	output->err = output->err ? output->err : err;
	empty_buffer(output);
}

void output_write(struct output *output, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size) {
		size_t room = (size_t)(output->room.end - output->room.at);
		size_t part = size < room ? size : room;

		memcpy(output->room.at, from, part);
		output->room.at += part;
		from += part;
		size -= part;
		if (output->room.at == output->room.end)
			flush(output, false);
	}
}

void output_printf(struct output *output, const char *fmt, ...)
{
	CLEANUP(freep) char *text = NULL;
	char line[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if ((size_t)len < sizeof(line)) {
		output_write(output, line, (size_t)len);
		return;
	}
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
		return fail_errno(err, "cannot write %s",
				  !path		       ? "the output"
				  : !strcmp(path, "-") ? "to standard output"
						       : path);
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
	return output->flushed + used(output);
}
