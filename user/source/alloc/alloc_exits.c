/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A return probe replaces the return address on the stack, and an exception that passes there ends the
 * program: no unwinding information covers that address. So the probes for the return of operator new are on
 * its return instructions:
 *
 * 	_Znwm:	...			fallback:	...
 * 		ja   fallback				ret	(probe)
 * 		...
 * 		ret	(probe)
 *
 * The cost is one single step for each call. Exceptions do not pass C functions: their callers are not
 * compiled for that.
 */
#include "source/alloc/alloc_exits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/exits/exits.h"
#include "probe/probe.h"

bool alloc_exits_throws(const char *name)
{
	static const char *const prefixes[] = {"_Znw", "_Zna", "tc_new", "mi_new"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return !strstr(name, "nothrow");
	return false;
}

/* A work list: functions still to be examined follow those that were. */
struct reached {
	uint64_t *addrs;
	size_t cnt, cap;
};

static void reached_release(struct reached *reached)
{
	free(reached->addrs);
}

static int reach(struct reached *reached, uint64_t addr)
{
	for (size_t i = 0; i < reached->cnt; i++)
		if (reached->addrs[i] == addr)
			return 0;
	return ARRAY_PUSH(reached->addrs, reached->cnt, reached->cap, addr);
}

static int add_return(struct alloc_functions *functions, struct elf_file *file, uint64_t addr)
{
	struct probe probe;
	int err = probe_init(&probe, file, addr, "a return instruction");

	if (err)
		return err;
	for (size_t i = 0; i < functions->exit_cnt; i++) {
		if (functions->exits[i].file_offset != probe.file_offset ||
		    strcmp(functions->exits[i].path, probe.path))
			continue;
		probe_release(&probe);
		return 0;
	}
	err = ARRAY_PUSH(functions->exits, functions->exit_cnt, functions->exit_cap, probe);
	if (err)
		probe_release(&probe);
	return err;
}

/*
 * A jump through the PLT goes to the file's own function of that name, unless another file's comes first: its
 * returns are not seen then, and the call is forgotten.
 */
static bool find_target(struct elf_file *file, uint64_t target, uint64_t *ret_addr)
{
	const struct elf_symbol *symbol = target ? elf_file_symbol_at(file, target) : NULL;
	const struct elf_symbol *own[8];
	char name[1024];
	size_t cnt;

	*ret_addr = target;
	if (!symbol || !symbol->is_plt)
		return target;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(symbol->name, "@"), symbol->name);
	cnt = elf_file_find(file, name, own, ARRAY_SIZE(own));
	for (size_t i = 0; i < cnt && i < ARRAY_SIZE(own); i++) {
		if (own[i]->is_plt)
			continue;
		*ret_addr = own[i]->addr;
		return true;
	}
	return false;
}

static int add_exit(struct alloc_functions *functions, struct elf_file *file, struct reached *reached,
		    const struct exit *exit)
{
	uint64_t target;

	if (exit->kind == EXIT_RETURN)
		return add_return(functions, file, exit->addr);
	if (!find_target(file, exit->target, &target))
		return fail(-ENOTSUP, "at 0x%llx in %s it jumps to another library or to an unknown address",
			    (unsigned long long)exit->addr, elf_file_path(file));
	return reach(reached, target);
}

int alloc_exits_add(struct alloc_functions *functions, struct elf_file *file, uint64_t addr)
{
	CLEANUP(reached_release) struct reached reached = {0};
	int err = reach(&reached, addr);

	for (size_t i = 0; i < reached.cnt && !err; i++) {
		CLEANUP(exits_release) struct exits exits = {0};

		err = exits_find(file, reached.addrs[i], &exits);
		for (size_t j = 0; j < exits.cnt && !err; j++)
			err = add_exit(functions, file, &reached, &exits.items[j]);
	}
	return err;
}

/* 1: yes. A program cannot load a file that cannot be read. */
static int calls_new(void *ctx, const char *path)
{
	static const char *const names[] = {"_Znwm", "_Znam"};
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbol;
	int called = 0;

	(void)ctx;
	if (elf_file_open(&file, path))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char import[32];

		if (elf_file_find(file, names[i], &symbol, 1))
			return 0;
		snprintf(import, sizeof(import), "%s@plt", names[i]);
		called |= elf_file_find(file, import, &symbol, 1) > 0;
	}
	return called;
}

bool alloc_exits_are_called(const char *exe)
{
	return calls_new(NULL, exe) || elf_library_each(exe, calls_new, NULL) > 0;
}
