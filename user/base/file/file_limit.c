/* SPDX-License-Identifier: BSD-2-Clause */
/* The hard limit stays what it is: that is the administrator's. */
#include "base/file/file_limit.h"

void file_limit_raise(struct rlimit *ret_before)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	getrlimit(RLIMIT_NOFILE, &limit);
	*ret_before = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
