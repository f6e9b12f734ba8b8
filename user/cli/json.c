/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static void print(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

static yajl_gen to_stdout(bool is_indented)
{
	yajl_gen gen = yajl_gen_alloc(NULL);

	if (!gen)
		return NULL;
	yajl_gen_config(gen, yajl_gen_beautify, is_indented);
	yajl_gen_config(gen, yajl_gen_validate_utf8, 1);
	yajl_gen_config(gen, yajl_gen_print_callback, print, stdout);
	return gen;
}

yajl_gen json_to_stdout(void)
{
	return to_stdout(true);
}

yajl_gen json_lines_to_stdout(void)
{
	return to_stdout(false);
}

void json_text(yajl_gen gen, const char *text)
{
	CLEANUP(freep) char *clean = utf8_clean(text, 3 * strlen(text));

	yajl_gen_string(gen, (const unsigned char *)(clean ? clean : ""), clean ? strlen(clean) : 0);
}

static void json_number(yajl_gen gen, uint64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	yajl_gen_number(gen, digits, (size_t)len);
}

void json_key_null(yajl_gen gen, const char *key)
{
	json_text(gen, key);
	yajl_gen_null(gen);
}

void json_key_text(yajl_gen gen, const char *key, const char *text)
{
	json_text(gen, key);
	json_text(gen, text ? text : "");
}

void json_key_number(yajl_gen gen, const char *key, uint64_t number)
{
	json_text(gen, key);
	json_number(gen, number);
}

void json_key_integer(yajl_gen gen, const char *key, int64_t number)
{
	json_text(gen, key);
	yajl_gen_integer(gen, number);
}

void json_key_bool(yajl_gen gen, const char *key, bool is_so)
{
	json_text(gen, key);
	yajl_gen_bool(gen, is_so);
}

void json_key_hex(yajl_gen gen, const char *key, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%" PRIx64, number);
	json_key_text(gen, key, digits);
}

void json_key_map(yajl_gen gen, const char *key)
{
	json_text(gen, key);
	yajl_gen_map_open(gen);
}

void json_key_array(yajl_gen gen, const char *key)
{
	json_text(gen, key);
	yajl_gen_array_open(gen);
}
