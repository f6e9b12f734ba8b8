/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/show/hit_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_state(yajl_gen gen, const struct hit *hit)
{
	char name[8];

	json_key_map(gen, "args");
	for (size_t i = 0; i < HIT_ARG_CNT; i++) {
		if (!(hit->args_known & 1u << i))
			continue;
		snprintf(name, sizeof(name), "arg%zu", i);
		json_key_hex(gen, name, hit_arg(hit, i));
	}
	yajl_gen_map_close(gen);
	json_key_map(gen, "registers");
	for (unsigned int i = 0; i < HIT_REG_CNT; i++)
		if (hit_reg_name(i))
			json_key_hex(gen, hit_reg_name(i), hit_reg(hit, i));
	yajl_gen_map_close(gen);
	json_key_hex(gen, "return_address", hit->return_address);
}

static void put_values(yajl_gen gen, const struct timeline_hit *placed)
{
	json_key_map(gen, "values");
	for (size_t i = 0; i < placed->value_cnt; i++) {
		const struct timeline_value *value = &placed->values[i];

		if (!value->text)
			json_key_null(gen, value->name);
		else if (value->kind == VALUE_NUMBER)
			json_key_integer(gen, value->name, strtoll(value->text, NULL, 10));
		else
			json_key_text(gen, value->name, value->text);
	}
	yajl_gen_map_close(gen);
}

static void put_stack(yajl_gen gen, const struct timeline_hit *placed)
{
	json_key_array(gen, "stack");
	for (size_t i = 0; i < placed->hit->stack_cnt; i++) {
		yajl_gen_map_open(gen);
		json_key_hex(gen, "ip", placed->hit->stack[i]);
		json_key_text(gen, "name", placed->stack_symbols[i] ? placed->stack_symbols[i]->name : "?");
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	json_key_bool(gen, "stack_is_cut", placed->hit->action & HIT_CUT);
}

void hit_json(yajl_gen gen, const struct timeline *timeline, size_t index)
{
	const struct timeline_hit *placed = &timeline->hits[index];
	const struct hit *hit = placed->hit;
	char comm[HIT_COMM_BYTES + 1] = "";

	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	json_key_number(gen, "number", index + 1);
	json_key_text(gen, "trigger", timeline_trigger(timeline, placed->hit));
	json_key_number(gen, "time_ns", placed->time_ns);
	json_key_number(gen, "monotonic_ns", hit->time_ns);
	json_key_number(gen, "pid", hit->pid);
	json_key_number(gen, "tid", hit->tid);
	json_key_text(gen, "comm", comm);
	json_key_number(gen, "cpu", hit->cpu);
	json_key_number(gen, "elapsed_ns", hit->time_ns - hit->begin_ns);
	json_key_number(gen, "goroutine", hit->goroutine);
	json_key_number(gen, "trace_stopped_after_ns", hit->stopped_ns ? hit->stopped_ns - hit->time_ns : 0);
	put_state(gen, hit);
	put_values(gen, placed);
	put_stack(gen, placed);
}
