/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-stepping in the table of sources. */
#include "source/source.h"

const struct source source_step = {
	.name = "step",
	.can = SOURCE_HOLDS | SOURCE_SLOWS | SOURCE_RUN_AUTO,
	.options = OPTION_STEPPING,
};
