/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupts, which take time from the thread that runs. Only bpf/samples.bpf.c includes this. */
#pragma once

struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

/* When those began that this processor is in. */
struct interrupts {
	__u64 began_ns[SAMPLES_IRQ_FORMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline int interrupt_begins(enum samples_interrupt form)
{
	__u32 zero = 0;
	struct interrupts *here = bpf_map_lookup_elem(&interrupts, &zero);

	if (here && recording)
		here->began_ns[form] = bpf_ktime_get_ns();
	return 0;
}

/* Who runs has lost the time. */
static __always_inline int interrupt_ends(enum samples_interrupt form, __u32 number, const char *name)
{
	__u32 zero = 0;
	struct interrupts *here = bpf_map_lookup_elem(&interrupts, &zero);
	__u64 id = ids_here(), began_ns = here ? here->began_ns[form] : 0;
	struct samples_record *record;
	struct place place;

	if (!recording || !began_ns || !is_target(id >> 32))
		return 0;
	here->began_ns[form] = 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_INTERRUPT, id >> 32, (__u32)id, began_ns);
	record->interrupt.end_ns = bpf_ktime_get_ns();
	record->interrupt.number = number;
	record->interrupt.form = form;
	record->interrupt.name[0] = '\0';
	if (name)
		bpf_probe_read_kernel_str(record->interrupt.name, sizeof(record->interrupt.name), name);
	commit(&place, record, sizeof(*record));
	return 0;
}

/* (int irq, struct irqaction *action) */
SEC("tp_btf/irq_handler_entry")
int on_irq(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_DEVICE);
}

/* (int irq, struct irqaction *action, int result) */
SEC("tp_btf/irq_handler_exit")
int on_irq_end(__u64 *ctx)
{
	const struct irqaction *action = (void *)ctx[1];

	return interrupt_ends(SAMPLES_IRQ_DEVICE, (__u32)ctx[0], action->name);
}

/* (unsigned int number) */
SEC("tp_btf/softirq_entry")
int on_softirq(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_SOFT);
}

SEC("tp_btf/softirq_exit")
int on_softirq_end(__u64 *ctx)
{
	return interrupt_ends(SAMPLES_IRQ_SOFT, (__u32)ctx[0], NULL);
}

/* (int vector) */
SEC("tp_btf/local_timer_entry")
int on_clock(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_CLOCK);
}

SEC("tp_btf/local_timer_exit")
int on_clock_end(__u64 *ctx)
{
	(void)ctx;
	return interrupt_ends(SAMPLES_IRQ_CLOCK, 0, NULL);
}
