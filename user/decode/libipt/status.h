/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libipt's statuses are negative pte_* codes. They overlap errno values (-pte_invalid equals -ENOENT). So
 * variables called `status` hold these and `err` hold errnos, and only these functions convert between them.
 */
#pragma once

#include "model/branch.h"

/*
 * The errno of a status that is not caused by the trace, with the sentence "WHAT: libipt's words". `status` <
 * 0.
 */
int status_fail(int status, const char *what);

/* The gap for a status < 0; GAP_NONE if the program failed, not the trace: see status_fail(). */
enum branch_gap status_gap(int status);

/* libipt's positive code for a status < 0, for branch.detail. */
int status_detail(int status);
