/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on standard output, for scripts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <yajl/yajl_gen.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(yajl_gen, yajl_gen_free)

/* Indented. NULL: no memory. */
yajl_gen json_to_stdout(void);

/* A line for each value at the top, which yajl_gen_reset(gen, "\n") ends. NULL: no memory. */
yajl_gen json_lines_to_stdout(void);

/* Converts the text to valid UTF-8; NULL after a key becomes "". */
void json_text(yajl_gen gen, const char *text);
void json_key_text(yajl_gen gen, const char *key, const char *text);
void json_key_null(yajl_gen gen, const char *key);
void json_key_number(yajl_gen gen, const char *key, uint64_t number);
void json_key_integer(yajl_gen gen, const char *key, int64_t number);
void json_key_bool(yajl_gen gen, const char *key, bool is_so);
void json_key_hex(yajl_gen gen, const char *key, uint64_t number);

/* Opens the key's value; yajl_gen_map_close() or yajl_gen_array_close() closes it. */
void json_key_map(yajl_gen gen, const char *key);
void json_key_array(yajl_gen gen, const char *key);
