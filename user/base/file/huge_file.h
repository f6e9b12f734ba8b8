/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory in huge pages that a program and we share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* An empty file without a name. Who maps it may ask for huge pages (madvise(2)). -1: there can be none. */
int huge_file_new(void);

/* The name that our file has for the process. False: it has none. */
bool huge_file_name(int fd, pid_t pid, char *ret_name, size_t size);
