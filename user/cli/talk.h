/* SPDX-License-Identifier: BSD-2-Clause */
/* -v and -q: how many messages to print. A child of the argp of each command; it has no input. */
#pragma once

#include <argp.h>

extern const struct argp talk_argp;
