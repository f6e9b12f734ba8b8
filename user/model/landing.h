/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* Whether an exception that a call raises lands at a handler. */
enum landing {
	LANDING_UNKNOWN, /* no handler is known at that address */
	LANDING_NO,	 /* a handler of other calls */
	LANDING_YES,
};
