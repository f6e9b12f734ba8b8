/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "output/bytes/output.h"

/* A JSON string (RFC 8259) with its quotes; bytes that are no UTF-8 become U+FFFD. */
void json_string(struct output *output, const char *text);

/* The same for JSON in a script element: nothing in it ends that, or begins a comment. */
void json_string_in_html(struct output *output, const char *text);
