/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters come first, each with its own value; fields follow, while there is room. Each of them is memory
 * that the kernel must read, in the time of the program, so there is a budget. Nobody has asked for it, so
 * what is not in memory stays out, and what is volatile, a device's registers perhaps, is not read.
 */
#include "condition/condition_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bpf/hit_action.h"
#include "condition/condition.h"
#include "condition/condition_fields.h"
#include "condition/condition_tree.h"
#include "elf/elf_file.h"
#include "model/trigger.h"
#include "probe/args/arg_layout.h"

enum { BUDGET_BYTES = 256, TEXT_BYTES = 64, WORD_BYTES = 8, FIELDS_MAX = 8, FUNCTIONS_MAX = 8 };

struct listing {
	const struct field_lookup *lookup;
	struct prints *prints;
	bool is_alone; /* there is no other function, which may have other parameters */
	size_t budget; /* bytes of memory that may still be read */
	struct {
		const char *name;
		unsigned int nth;
	} args[PRINTS_MAX]; /* whose fields are looked at */
	size_t arg_cnt;
	size_t nth, field_cnt; /* the argument whose fields are listed */
};

static int add_item(struct listing *listing, const char *name, struct print_item item)
{
	struct prints *prints = listing->prints;

	item.name = strdup(name);
	if (!item.name) {
		node_free(item.root);
		return -ENOMEM;
	}
	prints_place(prints, &item);
	prints->items[prints->cnt++] = item;
	return 0;
}

static bool is_full(const struct listing *listing)
{
	return listing->prints->cnt == PRINTS_MAX;
}

static int add_lack(struct listing *listing, const char *name, const char *why)
{
	return is_full(listing) ? 0 : add_item(listing, name, (struct print_item){.lack = why});
}

static bool take(struct listing *listing, size_t bytes)
{
	if (bytes > listing->budget)
		return false;
	listing->budget -= bytes;
	return true;
}

/* The length of a slice. */
static int add_length(struct listing *listing, const char *of, struct condition_node **count)
{
	char name[256];

	if (is_full(listing) || snprintf(name, sizeof(name), "len(%s)", of) >= (int)sizeof(name))
		return 0;
	return add_item(listing, name, (struct print_item){.root = TAKE_PTR(*count)});
}

/* As a text where there is room for it, else as an address. */
static int add_value(struct listing *listing, const char *name, unsigned int nth, const char *path,
		     struct print_item item)
{
	CLEANUP(node_freep) struct condition_node *node = NULL;
	CLEANUP(node_freep) struct condition_node *count = NULL;
	struct elf_field field = {0};
	int err = node_add(&node, nth == ELF_RESULT ? NODE_RET : NODE_ARG,
			   (struct value_type){.size = 8, .is_signed = true});

	if (err)
		return err;
	node->number = nth;
	err = condition_value(listing->lookup, nth, path, &node, &field);
	if (err == -ENOMEM)
		return err;
	if (err)
		return item.lack ? add_lack(listing, name, item.lack) : 0;
	item.lack = NULL;
	item.max = field.array_bytes && field.array_bytes < TEXT_BYTES ? field.array_bytes : TEXT_BYTES;
	item.is_text = field.is_text && take(listing, item.max);
	if (!item.is_text && field.cnt > field.in_register && !take(listing, field.cnt * WORD_BYTES))
		return 0;
	if (item.is_text && field.cnt == field.in_register && nth != ELF_RESULT)
		item.address_arg = (uint8_t)(nth + field.skip + 1);
	if (!item.is_text)
		count = TAKE_PTR(node->count);
	item.root = TAKE_PTR(node);
	err = add_item(listing, name, item);
	return err || !count ? err : add_length(listing, name, &count);
}

static const char *why_not(int kind)
{
	return kind == ELF_PARAMETER_FLOAT ? "it is in a vector register"
					   : "it is in no register for integers";
}

static int add_parameter(void *ctx, const struct elf_parameter *parameter)
{
	struct listing *listing = ctx;
	struct print_item item = {0};
	struct elf_name found;
	int err;

	if (is_full(listing))
		return 0;
	err = listing->lookup->find_name(listing->lookup->ctx, parameter->name, &found);
	if (err == -ENOMEM)
		return err;
	if (err || found.is_constant)
		return !listing->is_alone ? 0 : add_lack(listing, parameter->name, why_not(parameter->kind));
	/* The fields of a struct are listed instead. */
	item.lack = parameter->kind == ELF_PARAMETER_STRUCT ? NULL : why_not(parameter->kind);
	listing->args[listing->arg_cnt].name = parameter->name;
	listing->args[listing->arg_cnt++].nth = found.nth;
	return add_value(listing, parameter->name, found.nth, "", item);
}

static int add_field(void *ctx, const char *path)
{
	struct listing *listing = ctx;
	char name[256];

	if (is_full(listing) || listing->field_cnt == FIELDS_MAX || !strncmp(path, "->_vptr", 7))
		return 0;
	listing->field_cnt++;
	if (snprintf(name, sizeof(name), "%s%s", listing->args[listing->nth].name, path) >= (int)sizeof(name))
		return 0;
	return add_value(listing, name, listing->args[listing->nth].nth, path, (struct print_item){0});
}

static int add_fields(struct listing *listing, struct elf_file *file, const struct probe *probe)
{
	int err = 0;

	for (listing->nth = 0; listing->nth < listing->arg_cnt && !err; listing->nth++) {
		listing->field_cnt = 0;
		err = elf_file_each_field(file, probe->addr, listing->args[listing->nth].nth, add_field,
					  listing);
	}
	return err;
}

static bool is_at_return(const struct trigger_rule *rule)
{
	return !rule->is_span &&
	       (rule->slower_than_ns || (rule->condition && condition_asks_return(rule->condition)));
}

/* A result that cannot be read, or none, is left out. */
static int add_result(struct listing *listing)
{
	struct elf_field field;
	int err = listing->lookup->find(listing->lookup->ctx, ELF_RESULT, "", &field);

	if (err)
		return err == -ENOMEM ? err : 0;
	return add_value(listing, "ret", ELF_RESULT, "", (struct print_item){.is_result = true});
}

/* NULL: there is none, or they are too many. */
static const struct probe *find_function(const struct trigger *trigger, bool *ret_is_alone)
{
	const struct probe *first = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct probe *probe = &trigger->probes[i];

		if (probe->at == PROBE_CALL_END)
			continue;
		if (probe->layout->convention != ARGS_C && probe->layout->convention != ARGS_GO)
			return NULL;
		first = first ? first : probe;
		cnt++;
	}
	*ret_is_alone = cnt == 1;
	return cnt <= FUNCTIONS_MAX ? first : NULL;
}

static int list(struct listing *listing, const struct trigger *trigger, const struct probe *probe)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	int err = elf_file_open(&file, probe->path);

	if (!err && is_at_return(&trigger->rule))
		err = add_result(listing);
	if (!err)
		err = elf_file_each_parameter(file, probe->addr, add_parameter, listing);
	return err ? err : add_fields(listing, file, probe);
}

int condition_add_values(struct trigger *trigger, const struct field_lookup *lookup)
{
	CLEANUP(prints_freep) struct prints *prints = calloc(1, sizeof(*prints));
	struct listing listing = {.lookup = lookup, .prints = prints, .budget = BUDGET_BYTES};
	const struct probe *probe = find_function(trigger, &listing.is_alone);
	int err;

	if (!prints)
		return -ENOMEM;
	if (!probe || trigger->action & HIT_START)
		return 0;
	prints->is_automatic = true;
	err = list(&listing, trigger, probe);
	if (err == -ENOMEM)
		return err;
	if (!err && prints->cnt)
		trigger->rule.prints = TAKE_PTR(prints);
	return 0;
}
