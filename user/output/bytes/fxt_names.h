/* SPDX-License-Identifier: BSD-2-Clause */
/* The names and functions that an FXT file speaks of: each once, where it stays until all are freed. */
#pragma once

#include "base/cleanup.h"
#include "model/symbol.h"

struct fxt_names;

int fxt_names_new(struct fxt_names **ret_names);
void fxt_names_free(struct fxt_names *names);

/* That text, up to its first NUL, in *ret_text. 0 or -ENOMEM. */
int fxt_names_text(struct fxt_names *names, const char *text, size_t len, const char **ret_text);

/* A function of which the file tells this much, in texts of `names`; file may be NULL. 0 or -ENOMEM. */
int fxt_names_symbol(struct fxt_names *names, const struct symbol *wanted, const struct symbol **ret_symbol);

DEFINE_CLEANUP(struct fxt_names *, fxt_names_free)
