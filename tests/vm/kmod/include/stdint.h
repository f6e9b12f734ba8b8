/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <linux/limits.h>
#include <linux/types.h>
#define UINT64_MAX U64_MAX
