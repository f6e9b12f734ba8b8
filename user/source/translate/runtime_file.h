/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime (user/translate), as a part of this program. */
#pragma once

#include <stdint.h>

extern const uint8_t runtime_file_begin[], runtime_file_end[];
