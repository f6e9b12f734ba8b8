/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a page's data before compression: numbers, and JSON as text. */
#pragma once

#include "output/bytes/gzip.h"

struct html_bytes {
	struct gzip *gzip;
	size_t used; /* of its buffer */
	int err;     /* sticks */
};

void html_put(struct html_bytes *bytes, uint8_t byte);

/* LEB128. */
void html_put_number(struct html_bytes *bytes, uint64_t number);

/* At most 255 bytes. */
void html_put_text(struct html_bytes *bytes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As a JSON string. */
void html_put_string(struct html_bytes *bytes, const char *string);

/* ,"NAME":"STRING"; NULL is an empty one. */
void html_put_member(struct html_bytes *bytes, const char *name, const char *string);

/* The end. 0 or the first error. */
int html_end(struct html_bytes *bytes);
