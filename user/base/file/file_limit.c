/* SPDX-License-Identifier: BSD-2-Clause */
/* The hard limit stays what it is: that is the administrator's. */
#include "base/file/file_limit.h"

#include <sys/resource.h>

void file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
