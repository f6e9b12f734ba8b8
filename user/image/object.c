/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache is a list, which is enough: a process maps some dozens of files, and each is looked up once per
 * place.
 */
#include "image/object.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

struct object {
	char *path;
	pthread_mutex_t lock;
	bool opened;
	struct elf_file *elf;
};

struct image_objects {
	struct object **items;
	size_t cnt, cap;
	pthread_mutex_t lock;
};

int image_objects_new(struct image_objects **ret_objects)
{
	struct image_objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	pthread_mutex_init(&objects->lock, NULL);
	*ret_objects = objects;
	return 0;
}

static void object_free(struct object *object)
{
	elf_file_close(object->elf);
	pthread_mutex_destroy(&object->lock);
	free(object->path);
	free(object);
}

void image_objects_free(struct image_objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->cnt; i++)
		object_free(objects->items[i]);
	free(objects->items);
	pthread_mutex_destroy(&objects->lock);
	free(objects);
}

static struct object *object_new(const char *path)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->path = strdup(path);
	if (!object->path) {
		free(object);
		return NULL;
	}
	pthread_mutex_init(&object->lock, NULL);
	return object;
}

static struct object *find_or_add(struct image_objects *objects, const char *path)
{
	struct object *object;

	for (size_t i = 0; i < objects->cnt; i++)
		if (!strcmp(objects->items[i]->path, path))
			return objects->items[i];
	object = object_new(path);
	if (object && ARRAY_PUSH(objects->items, objects->cnt, objects->cap, object)) {
		object_free(object);
		return NULL;
	}
	return object;
}

struct object *object_get(struct image_objects *objects, const char *path)
{
	struct object *object;

	pthread_mutex_lock(&objects->lock);
	object = find_or_add(objects, path);
	pthread_mutex_unlock(&objects->lock);
	return object;
}

struct elf_file *object_lock(struct object *object)
{
	pthread_mutex_lock(&object->lock);
	if (!object->opened && elf_file_open(&object->elf, object->path))
		object->elf = NULL;
	object->opened = true;
	if (!object->elf)
		pthread_mutex_unlock(&object->lock);
	return object->elf;
}

void object_unlock(struct object *object)
{
	pthread_mutex_unlock(&object->lock);
}
