/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libipt's statuses, which are negative pte_* codes. They overlap errno values (-pte_invalid equals -ENOENT),
 * so a variable called `status` holds the one and `err` the other, and only these functions lead from one to
 * the other.
 */
#pragma once

#include "model/branch.h"

/*
 * The errno for a status that is no matter of the trace, with the sentence "WHAT: libipt's words". `status` <
 * 0.
 */
int status_fail(int status, const char *what);

/*
 * The gap that a status < 0 means, or GAP_NONE where it is the program's failure and not the trace's: see
 * status_fail().
 */
enum branch_gap status_gap(int status);

/* libipt's positive code of a status < 0, for branch.detail. */
int status_detail(int status);
