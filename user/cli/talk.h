/* SPDX-License-Identifier: BSD-2-Clause */
/* -v and -q: how much is said, as a child of the argp of each command. It has no input. */
#pragma once

#include <argp.h>

extern const struct argp talk_argp;
