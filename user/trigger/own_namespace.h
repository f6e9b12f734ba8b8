/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "bpf/own_id.h"

/* Our pid namespace, for bpf/own_id.bpf.h; all 0 for the initial one. */
struct own_namespace own_namespace(void);
