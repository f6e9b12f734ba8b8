/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only place that converts libipt's errors to ours. Every error that damaged packets or a wrong image can
 * cause becomes a gap; the others are wrong calls of ours. libipt also reports out of memory if its event
 * queue is full, which damaged packets can cause, so that is a gap, too.
 */
#include "decode/libipt/status.h"

#include <errno.h>
#include <intel-pt.h>

#include "base/error.h"

static int status_errno(int status)
{
	switch (pt_errcode(status)) {
	case pte_nomem:
		return -ENOMEM;
	case pte_bad_file:
		return -ENOENT;
	case pte_invalid:
	case pte_bad_config:
		return -EINVAL;
	default:
		return -EIO;
	}
}

int status_fail(int status, const char *what)
{
	return fail(status_errno(status), "%s: %s", what, pt_errstr(pt_errcode(status)));
}

enum branch_gap status_gap(int status)
{
	switch (pt_errcode(status)) {
	case pte_invalid:
	case pte_bad_config:
		return GAP_NONE;
	case pte_nomap:
		return GAP_NO_CODE;
	default:
		return GAP_BAD_TRACE;
	}
}

int status_detail(int status)
{
	return pt_errcode(status);
}
