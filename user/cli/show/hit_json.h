/* SPDX-License-Identifier: BSD-2-Clause */
/* A hit as JSON: the same keys wherever hits are written so. They are listed in trailcam(1). */
#pragma once

#include "cli/json.h"
#include "model/timeline.h"

/* The members of an open map. Numbers of hits begin with 1. */
void hit_json(yajl_gen gen, const struct timeline *timeline, size_t index);
