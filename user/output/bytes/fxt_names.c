/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/bytes/fxt_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"

struct fxt_names {
	char **texts;
	size_t text_cnt, text_cap;
	struct hash_index by_text;
	struct symbol **symbols;
	size_t symbol_cnt, symbol_cap;
	struct hash_index by_symbol;
};

int fxt_names_new(struct fxt_names **ret_names)
{
	struct fxt_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	*ret_names = names;
	return 0;
}

void fxt_names_free(struct fxt_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->text_cnt; i++)
		free(names->texts[i]);
	for (size_t i = 0; i < names->symbol_cnt; i++)
		free(names->symbols[i]);
	free(names->texts);
	free(names->symbols);
	hash_index_release(&names->by_text);
	hash_index_release(&names->by_symbol);
	free(names);
}

int fxt_names_text(struct fxt_names *names, const char *text, size_t len, const char **ret_text)
{
	CLEANUP(freep) char *copy = strndup(text, len);
	uint64_t hash;
	int err;

	if (!copy)
		return -ENOMEM;
	hash = hash_text(0, copy);
	for (size_t at = 0, i; (i = hash_index_next(&names->by_text, hash, &at)) != HASH_INDEX_END;) {
		if (strcmp(names->texts[i], copy))
			continue;
		*ret_text = names->texts[i];
		return 0;
	}
	err = hash_index_add(&names->by_text, hash, names->text_cnt);
	if (!err)
		err = ARRAY_PUSH(names->texts, names->text_cnt, names->text_cap, copy);
	if (!err)
		*ret_text = TAKE_PTR(copy);
	return err;
}

/* Texts are the same where their addresses are. */
static bool same_symbol(const struct symbol *a, const struct symbol *b)
{
	return a->name == b->name && a->object == b->object && a->file == b->file && a->line == b->line;
}

int fxt_names_symbol(struct fxt_names *names, const struct symbol *wanted, const struct symbol **ret_symbol)
{
	uint64_t hash = hash_number(hash_number(0, (uintptr_t)wanted->name), (uintptr_t)wanted->object);
	CLEANUP(freep) struct symbol *fresh = NULL;
	int err;

	hash = hash_number(hash_number(hash, (uintptr_t)wanted->file), wanted->line);
	for (size_t at = 0, i; (i = hash_index_next(&names->by_symbol, hash, &at)) != HASH_INDEX_END;) {
		if (!same_symbol(names->symbols[i], wanted))
			continue;
		*ret_symbol = names->symbols[i];
		return 0;
	}
	fresh = malloc(sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	*fresh = *wanted;
	err = hash_index_add(&names->by_symbol, hash, names->symbol_cnt);
	if (!err)
		err = ARRAY_PUSH(names->symbols, names->symbol_cnt, names->symbol_cap, fresh);
	if (!err)
		*ret_symbol = TAKE_PTR(fresh);
	return err;
}
