/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime (user/translate), as a part of this program. */
#pragma once

#include <stdint.h>

/* A file of its own for probes, from this offset on, as far as mappings of this program are concerned. */
extern const uint8_t nops_begin[];

extern const uint8_t runtime_file_begin[], runtime_file_end[];
