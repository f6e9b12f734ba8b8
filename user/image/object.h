/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object: a mapped file, opened once for all images. Objects live as long as their cache (image_objects).
 */
#pragma once

#include "elf/elf_file.h"
#include "image/image.h"

struct object;

/* The object of this file, not opened yet. NULL: out of memory. Thread-safe. */
struct object *object_get(struct image_objects *objects, const char *path);

/*
 * The ELF file, locked until object_unlock(), because libelf and libdw are not thread-safe. NULL: missing, or
 * not an ELF file; nothing is locked.
 */
struct elf_file *object_lock(struct object *object);
void object_unlock(struct object *object);
