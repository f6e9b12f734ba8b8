/* SPDX-License-Identifier: BSD-2-Clause */
/* Where exceptions land: which calls have which handler. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "elf/landing.h"

/* Calls in [start, end) have their exceptions come down at `handler`. Virtual addresses of the file. */
struct elf_handler {
	uint64_t start, end, handler;
};

/*
 * All of them, sorted by start and disjoint: where one is inside another, the inner one counts. From the
 * unwinding tables (C++, Rust), and for OCaml from its note or the shape of its code (elf_ocaml_handlers.c).
 * Read once; what is damaged is left out.
 */
const struct elf_handler *elf_file_handlers(struct elf_file *file, size_t *ret_cnt);

/* Whether an exception from the call at `call` comes down at `handler`; `call` 0: from any. */
enum landing elf_file_catches(struct elf_file *file, uint64_t call, uint64_t handler);
