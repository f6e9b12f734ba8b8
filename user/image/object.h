/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object: a file that is mapped somewhere, opened once for all images (image.h's image_objects are their
 * cache). Objects live as long as the cache.
 */
#pragma once

#include "elf/elf_file.h"
#include "image/image.h"

struct object;

/* The object of this file; nothing is opened yet. NULL: out of memory. Thread-safe. */
struct object *object_get(struct image_objects *objects, const char *path);

/*
 * The ELF file, or NULL where it is none, or missing. Locks the object, whatever it returns, until
 * object_unlock(): libelf and libdw are not for several threads at once.
 */
struct elf_file *object_lock(struct object *object);
void object_unlock(struct object *object);
