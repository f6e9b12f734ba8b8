/* SPDX-License-Identifier: BSD-2-Clause */
/* Exception handlers: which call has which handler. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "model/landing.h"

/* Exceptions from calls in [start, end) land at `handler`. Virtual addresses of the file. */
struct elf_handler {
	uint64_t start, end, handler;
};

/*
 * All handlers, sorted by start and disjoint: nested ranges are resolved to the inner one. They come from the
 * unwinding tables (C++, Rust), and for OCaml from its note or the shape of its code (elf_ocaml_handlers.c).
 * Read once; damaged entries are left out.
 */
const struct elf_handler *elf_file_handlers(struct elf_file *file, size_t *ret_cnt);

/* Whether an exception from the call at `call` lands at `handler`; `call` 0: from any call. */
enum landing elf_file_catches(struct elf_file *file, uint64_t call, uint64_t handler);
