/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The headers of a program that is about to run name the libraries that it needs. A running program has
 * mapped them, and those that it has loaded since. In another mount namespace (a container) only the mappings
 * count: our own libraries of the same name are other files.
 *
 * 	the executable and what it needs, where its tree is ours; else the executable
 * 	every file that is mapped, in the order of addresses
 */
#include "capture/target_resolve.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/spec.h"
#include "process/attach_check.h"
#include "process/maps.h"
#include "process/proc_status.h"

/* A name by which we can open the executable. */
static int find_exe(pid_t pid, const struct maps *maps, char **ret_path)
{
	struct stat st = {0};
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	stat(link, &st);
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct sideband_mapping *mapping = &maps->items[i].mapping;

		if (mapping->ino && mapping->ino == st.st_ino && mapping->name[0] == '/') {
			*ret_path = strdup(mapping->name);
			return *ret_path ? 0 : -ENOMEM;
		}
	}
	*ret_path = strdup(link);
	return *ret_path ? 0 : -ENOMEM;
}

/* "libc", "libc.so.6", or the end of a path: is the mapped file meant by it? */
static bool is_meant(const char *path, const char *file)
{
	const char *base = strrchr(path, '/') + 1;
	size_t path_len = strlen(path), len = strlen(file);

	if (file[0] == '/')
		return len <= path_len && !strcmp(path + path_len - len, file);
	return !strncmp(base, file, len) && (!base[len] || base[len] == '.' || base[len] == '-');
}

/*
 * In a file that the process maps though it was removed or replaced since: under its name there is another
 * one, which the process does not execute. -EACCES with a sentence: the place is in such a file, which this
 * user may not open.
 */
static int resolve_in_removed(struct trigger *ret_trigger, const struct trigger_spec *spec, pid_t pid,
			      const struct maps *maps, const char *exe, uint32_t action)
{
	/* Without a file's name the program itself comes first. */
	bool exe_is_due = !spec->file;
	int err;

	for (size_t i = 0; i < maps->cnt; i++) {
		const struct sideband_mapping *mapping = &maps->items[i].mapping;
		CLEANUP(freep) char *name = maps_removed_name(mapping);
		CLEANUP(freep) char *path = name ? maps_only_way(pid, mapping) : NULL;

		if (!path || (spec->file && !is_meant(name, spec->file)))
			continue;
		if (exe_is_due && !trigger_resolve_in(ret_trigger, spec, exe, action))
			return 0;
		exe_is_due = false;
		err = trigger_resolve_in(ret_trigger, spec, path, action);
		if (!err || err == -ENOMEM)
			return err;
		if (spec->file && access(path, R_OK))
			return fail(-EACCES,
				    "process %d executes a %s that was removed or replaced since: it takes "
				    "root to probe that file",
				    pid, name);
	}
	return -ENOENT;
}

static int resolve_in_maps(struct trigger *ret_trigger, const struct trigger_spec *spec,
			   const struct maps *maps, uint32_t action)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const char *path = maps->items[i].mapping.name;
		int err;

		if (!sideband_is_file(path) || (spec->file && !is_meant(path, spec->file)))
			continue;
		err = trigger_resolve_in(ret_trigger, spec, path, action);
		if (!err || err == -ENOMEM)
			return err;
	}
	return -ENOENT;
}

static int read_maps(struct maps *ret_maps, pid_t pid)
{
	int err = maps_read(ret_maps, pid);

	return err == -EACCES || err == -EPERM ? attach_refused(pid, -EPERM) : err;
}

/* Of processes with the same files, one speaks for all. */
struct seen {
	struct maps *items;
	size_t cnt, cap;
};

static void seen_release(struct seen *seen)
{
	for (size_t i = 0; i < seen->cnt; i++)
		maps_release(&seen->items[i]);
	free(seen->items);
}

/* The next mapping of a file from *at on, or NULL; *at is behind it. */
static const struct sideband_mapping *next_file(const struct maps *maps, size_t *at)
{
	while (*at < maps->cnt) {
		const struct sideband_mapping *mapping = &maps->items[(*at)++].mapping;

		if (sideband_is_file(mapping->name))
			return mapping;
	}
	return NULL;
}

static bool same_files(const struct maps *a, const struct maps *b)
{
	const struct sideband_mapping *x, *y;
	size_t at = 0, other = 0;

	do {
		x = next_file(a, &at);
		y = next_file(b, &other);
	} while (x && y && x->ino == y->ino && x->maj == y->maj && x->min == y->min);
	return !x && !y;
}

static bool is_seen(const struct seen *seen, const struct maps *maps)
{
	for (size_t i = 0; i < seen->cnt; i++)
		if (same_files(&seen->items[i], maps))
			return true;
	return false;
}

static int resolve_with_maps(struct trigger *ret_trigger, const char *text, pid_t pid,
			     const struct maps *maps, uint32_t action)
{
	CLEANUP(trigger_spec_release) struct trigger_spec spec = {0};
	CLEANUP(freep) char *exe = NULL;
	int err = trigger_spec_parse(&spec, text);

	if (!err)
		err = find_exe(pid, maps, &exe);
	if (!err)
		err = resolve_in_removed(ret_trigger, &spec, pid, maps, exe, action);
	if (err != -ENOENT)
		return err;
	err = maps_shares_tree(pid) ? trigger_resolve(ret_trigger, text, exe, action)
	      : spec.file	    ? -ENOENT
				    : trigger_resolve_in(ret_trigger, &spec, exe, action);
	if (err != -ENOENT)
		return err;
	err = resolve_in_maps(ret_trigger, &spec, maps, action);
	/* Once more, for its sentence. */
	return err == -ENOENT ? trigger_resolve(ret_trigger, text, exe, action) : err;
}

/* Without probes, if that is what another process has told. */
static int resolve_in_process(struct trigger *ret_trigger, struct seen *seen, const char *text, pid_t pid,
			      uint32_t action)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = read_maps(&maps, pid);

	if (err || is_seen(seen, &maps))
		return err;
	err = resolve_with_maps(ret_trigger, text, pid, &maps, action);
	/* What is about to end speaks for itself alone: its files may be gone by now. */
	if ((err && err != -ENOENT) || proc_is_ending(pid))
		return err;
	if (ARRAY_PUSH(seen->items, seen->cnt, seen->cap, maps))
		return -ENOMEM;
	maps = (struct maps){0};
	return err;
}

static bool same_place(const struct probe *a, const struct probe *b)
{
	struct stat x, y;

	return a->file_offset == b->file_offset && !stat(a->path, &x) && !stat(b->path, &y) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool has_probe(const struct trigger *trigger, const struct probe *probe)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		if (same_place(&trigger->probes[i], probe))
			return true;
	return false;
}

/* Moves over the probes of places that are new. */
static int take_probes(struct trigger *trigger, struct trigger *from)
{
	size_t left = 0;
	int err = 0;

	for (size_t i = 0; i < from->probe_cnt; i++) {
		if (!err && !has_probe(trigger, &from->probes[i]))
			err = ARRAY_PUSH(trigger->probes, trigger->probe_cnt, trigger->probe_cap,
					 from->probes[i]);
		else
			from->probes[left++] = from->probes[i];
	}
	from->probe_cnt = left;
	return err;
}

int target_resolve(struct trigger *ret_trigger, const char *spec, const pid_t *pids, size_t pid_cnt,
		   uint32_t action)
{
	CLEANUP(trigger_release) struct trigger trigger = {.action = action};
	CLEANUP(seen_release) struct seen seen = {0};
	int missing = 0;

	for (size_t i = 0; i < pid_cnt; i++) {
		CLEANUP(trigger_release) struct trigger one = {0};
		int err = resolve_in_process(&one, &seen, spec, pids[i], action);

		if (!err)
			err = take_probes(&trigger, &one);
		if (err && proc_is_ending(pids[i]))
			missing = fail(-ESRCH, "process %d has ended", pids[i]);
		else if (err == -ENOENT)
			missing = err;
		else if (err)
			return err;
	}
	if (!trigger.probe_cnt)
		return missing;
	trigger.name = strdup(spec);
	if (!trigger.name)
		return -ENOMEM;
	*ret_trigger = trigger;
	trigger = (struct trigger){0};
	return 0;
}
