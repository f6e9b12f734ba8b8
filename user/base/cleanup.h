/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scope-bound ownership: a variable marked CLEANUP(fn) is released when it goes out of scope, on every path.
 * TAKE_PTR and TAKE_FD pass the ownership on.
 *
 *	CLEANUP(freep) char *line = NULL;
 *	CLEANUP(closep) int fd = open(...);
 *	...
 *	*ret_fd = TAKE_FD(fd);
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define TAKE_PTR(ptr)                       \
	({                                  \
		__auto_type _taken = (ptr); \
		(ptr) = NULL;               \
		_taken;                     \
	})

#define TAKE_FD(fd)                   \
	({                            \
		int _taken_fd = (fd); \
		(fd) = -1;            \
		_taken_fd;            \
	})

/* Defines NAMEp(), which releases *ptr with `fn` if it is set: for use in CLEANUP(). */
#define DEFINE_CLEANUP(type, fn)            \
	static inline void fn##p(type *ptr) \
	{                                   \
		if (*ptr)                   \
			fn(*ptr);           \
	}

static inline void freep(void *ptr)
{
	free(*(void **)ptr);
}

static inline void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}
