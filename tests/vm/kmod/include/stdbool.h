/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <linux/stddef.h>
#include <linux/types.h>
