/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "process/vdso.h"
#include "source/code_store.h"

enum { PAGE = 4096 };

struct page {
	uint64_t addr;
	uint64_t from_ns;    /* as in code_copy */
	uint64_t checked_ns; /* nobody sees each instruction: last known to be like this */
	bool can_change;
	uint8_t executed[PAGE / 8]; /* a bit for each byte, where it can change */
	uint8_t bytes[PAGE];
};

/* Former contents of a page. */
struct past_page {
	struct page *page;
	char *name; /* of its mapping */
};

struct code_store {
	struct code_store_config config;
	pid_t pid;
	int mem_fd;
	const struct maps *maps;
	struct page **pages; /* sorted by address */
	size_t page_cnt, page_cap;
	struct past_page *past; /* by time */
	size_t past_cnt, past_cap;
	uint64_t change_cnt;
	struct vdso_list vdsos;
	struct insn *cache; /* CACHE_SLOTS of them */
};

/* The page that holds addr, captured now if it is new; NULL: it is not code, or cannot be read. */
struct page *code_store_page(struct code_store *store, uint64_t addr, uint64_t now);

/* The page has new content since from_ns. The old content is kept only if some of it was executed. */
void code_store_change_page(struct code_store *store, struct page *page, const struct map *map,
			    uint64_t from_ns);
