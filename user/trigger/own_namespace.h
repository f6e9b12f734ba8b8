/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

#include "bpf/own_id.h"

/* Whether we are in a pid namespace other than the initial one. */
bool in_own_namespace(void);

/* Our pid namespace, for bpf/own_id.bpf.h; all 0 for the initial one. */
struct own_namespace own_namespace(void);
