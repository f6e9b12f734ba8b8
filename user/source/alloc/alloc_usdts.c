/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators that sample by themselves report it through the USDT probes of OpenTelemetry's contract
 * (preload/probes.h). A compiler may have put each probe in several places.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/args/usdt_args.h"
#include "probe/probe.h"
#include "source/alloc/allocators.h"

static const struct known {
	const char *provider, *name;
	size_t arg_cnt;
	enum alloc_call call;
} known[] = {
	{"otel_memory", "alloc", 3, ALLOC_USDT_ALLOC},
	{"otel_memory", "free", 1, ALLOC_USDT_FREE},
	{"trailcam", "alloc_forgotten", 1, ALLOC_USDT_FORGOTTEN},
};

static const struct known *find_known(const struct elf_usdt *usdt)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(usdt->provider, known[i].provider) && !strcmp(usdt->name, known[i].name))
			return &known[i];
	return NULL;
}

static int add(struct alloc_functions *functions, struct elf_file *file, const struct elf_usdt *usdt,
	       const struct known *kind)
{
	struct alloc_function function = {
		.role = {.function = (uint16_t)functions->cnt, .call = (uint8_t)kind->call}};
	size_t cnt;
	int err = usdt_args_parse(usdt, file, function.args, ALLOC_USDT_ARGS, &cnt);

	if (err)
		return err;
	if (cnt < kind->arg_cnt)
		return fail(-ENOTSUP, "usdt:%s:%s in %s has %zu arguments, not %zu", usdt->provider,
			    usdt->name, elf_file_path(file), cnt, kind->arg_cnt);
	if (functions->cnt == ALLOC_USDT_MAX)
		return fail(-ENOTSUP, "%s has otel_memory's probes in more than %d places",
			    elf_file_path(file), ALLOC_USDT_MAX);
	err = probe_init_usdt(&function.probe, file, usdt);
	if (err)
		return err;
	function.name = strdup(function.probe.symbol);
	if (!function.name || ARRAY_PUSH(functions->items, functions->cnt, functions->cap, function)) {
		probe_release(&function.probe);
		free(function.name);
		return -ENOMEM;
	}
	return 0;
}

static bool has(const struct elf_usdt_list *list, enum alloc_call call)
{
	for (size_t i = 0; i < list->cnt; i++) {
		const struct known *kind = find_known(&list->items[i]);

		if (kind && kind->call == call)
			return true;
	}
	return false;
}

int alloc_usdts_of_file(struct alloc_functions *functions, struct elf_file *file, bool ours, bool *ret_any)
{
	CLEANUP(elf_usdt_list_release) struct elf_usdt_list list = {0};
	int err = elf_file_usdts(file, &list);

	*ret_any = has(&list, ALLOC_USDT_ALLOC) && (!ours || has(&list, ALLOC_USDT_FORGOTTEN));
	for (size_t i = 0; i < list.cnt && *ret_any && !err; i++) {
		const struct known *kind = find_known(&list.items[i]);

		if (kind)
			err = add(functions, file, &list.items[i], kind);
	}
	return err;
}
