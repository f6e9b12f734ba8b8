/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of the room that there is each processor has the same part, and of that the samples three quarters: they
 * reach back as far as asked for, whatever the threads do besides.
 */
#include "source/samples/samples_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "bpf/samples.skel.h"
#include "source/samples/about.h"
#include "source/samples/code.h"
#include "source/samples/mapped.h"
#include "source/samples/perf_samples.h"
#include "source/samples/ring.h"
#include "source/samples/ring_writer.h"
#include "source/samples/ticks.h"
#include "source/samples/waiting.h"
#include "trigger/own_namespace.h"
#include "trigger/privilege.h"
#include "trigger/programs.h"

enum { NS_PER_S = 1000000000, TICKS_PART = 3, MOMENTS_PART = 1, PARTS = TICKS_PART + MOMENTS_PART };

/* ---- loading ---- */

static size_t ring_bytes(const struct samples *samples, enum samples_ring ring)
{
	static const unsigned int parts[SAMPLES_RING_CNT] = {
		[SAMPLES_TICKS] = TICKS_PART, [SAMPLES_MOMENTS] = MOMENTS_PART};
	size_t bytes = samples->config.ring_bytes / samples->cpu_cnt / PARTS * parts[ring];

	if (bytes < SAMPLES_RECORD_MAX)
		bytes = SAMPLES_RECORD_MAX;
	return bytes & ~(SAMPLES_ALIGN - 1ull);
}

static void set_up(struct samples *samples)
{
	const struct samples_config *config = &samples->config;
	struct samples_bpf *bpf = samples->bpf;
	struct bpf_program *const of_interrupts[] = {bpf->progs.on_irq,	    bpf->progs.on_irq_end,
						     bpf->progs.on_softirq, bpf->progs.on_softirq_end,
						     bpf->progs.on_clock,   bpf->progs.on_clock_end};

	for (enum samples_ring ring = 0; ring < SAMPLES_RING_CNT; ring++)
		bpf->rodata->ring_bytes[ring] = ring_bytes(samples, ring);
	bpf->rodata->secret = samples->secret;
	bpf->rodata->switch_every_ns = NS_PER_S / config->frequency;
	bpf->rodata->own_pid = (uint32_t)getpid();
	bpf->rodata->wait4_nr = SYS_wait4;
	bpf->rodata->tells_lives = config->lives;
	samples_about_calls(bpf->rodata->calls);
	for (size_t i = 0; config->events && i < config->events->cnt; i++)
		if (!samples_events_each_time(config->events, i))
			bpf->rodata->read_counters |= 1u << i;
	bpf_map__set_max_entries(bpf->maps.counters, SAMPLES_COUNTERS_MAX * samples->cpu_cnt);
	bpf_map__set_max_entries(bpf->maps.ticks, samples->cpu_cnt);
	bpf_map__set_max_entries(bpf->maps.moments, samples->cpu_cnt);
	bpf_map__set_value_size(bpf->maps.ticks,
				(uint32_t)ring_bytes(samples, SAMPLES_TICKS) + SAMPLES_RECORD_MAX);
	bpf_map__set_value_size(bpf->maps.moments,
				(uint32_t)ring_bytes(samples, SAMPLES_MOMENTS) + SAMPLES_RECORD_MAX);
	bpf_map__set_max_entries(bpf->maps.heads, SAMPLES_RING_CNT * samples->cpu_cnt);
	bpf_map__set_max_entries(bpf->maps.copies, SAMPLES_RING_CNT * samples->cpu_cnt);
	bpf_map__set_max_entries(bpf->maps.slots, SAMPLES_SLOTS * SAMPLES_RING_CNT * samples->cpu_cnt);
	bpf_program__set_autoload(bpf->progs.on_enter, config->syscalls);
	bpf_program__set_autoload(bpf->progs.on_leave, config->syscalls);
	bpf_program__set_autoload(bpf->progs.on_fault, config->page_faults);
	for (size_t i = 0; i < ARRAY_SIZE(of_interrupts); i++)
		bpf_program__set_autoload(of_interrupts[i], config->interrupts);
	bpf_program__set_autoload(bpf->progs.on_event, config->events);
	bpf_program__set_autoload(bpf->progs.on_fork, config->lives);
	samples_code_set_up(bpf);
	bpf->rodata->in_namespace = in_own_namespace();
	bpf_program__set_autoload(bpf->progs.learn_namespace, bpf->rodata->in_namespace);
	bpf_program__set_autoload(bpf->progs.learn_registers, bpf->rodata->has_cast);
}

/* In this process, if it was loaded. */
static int run_once(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_program__autoload(program) ? bpf_prog_test_run_opts(bpf_program__fd(program), &options)
					      : 0;
}

/* This process is in the namespace. */
static int learn(const struct samples_bpf *bpf)
{
	int err = run_once(bpf->progs.learn_registers);

	if (!err)
		err = run_once(bpf->progs.learn_namespace);
	return err ? fail_errno(err, "cannot learn where the kernel keeps a thread's registers and numbers")
		   : 0;
}

/* libbpf's own, the session's, probes', and the files that are written. */
enum { MORE_DESCRIPTORS = 16 };

/* Else one of many steps fails, and says less. A program has a link beside it, an event two descriptors. */
static int check_descriptors(const struct samples *samples)
{
	size_t cnt =
		MORE_DESCRIPTORS + 2 * samples->cpu_cnt * (1 + samples_events_cnt(samples->config.events));
	struct bpf_program *program;
	struct bpf_map *map;

	bpf_object__for_each_map(map, samples->bpf->obj)
	{
		cnt++;
	}
	bpf_object__for_each_program(program, samples->bpf->obj)
	{
		cnt += bpf_program__autoload(program) ? 2 : 0;
	}
	return privilege_check_descriptors(cnt, "--source samples");
}

static int load(struct samples *samples)
{
	int err;

	programs_quiet_libbpf();
	samples->bpf = samples_bpf__open();
	if (!samples->bpf)
		return fail_errno(-errno, "cannot open the BPF programs");
	set_up(samples);
	err = check_descriptors(samples);
	if (err)
		return err;
	err = samples_bpf__load(samples->bpf);
	if (err && privilege_is_descriptors(err))
		return privilege_fail_descriptors();
	if (err == -EPERM)
		return privilege_fail_bpf();
	if (err == -ENOMEM)
		return fail(err, "no memory for rings of %zu KiB (--snapshot-size)",
			    samples->config.ring_bytes >> 10);
	return err ? fail_errno(err, "the kernel does not accept the BPF programs (-v shows why)")
		   : learn(samples->bpf);
}

static int map_rings(struct samples *samples)
{
	const struct samples_bpf *bpf = samples->bpf;
	int err = mapped_map(&samples->rings[SAMPLES_TICKS], bpf->maps.ticks);

	if (!err)
		err = mapped_map(&samples->rings[SAMPLES_MOMENTS], bpf->maps.moments);
	return err ? err : mapped_map(&samples->heads, bpf->maps.heads);
}

static int make_readers(struct samples *samples)
{
	samples->readers = calloc(SAMPLES_RING_CNT * samples->cpu_cnt, sizeof(*samples->readers));
	if (!samples->readers)
		return -ENOMEM;
	for (uint32_t i = 0; i < SAMPLES_RING_CNT * samples->cpu_cnt; i++)
		samples->readers[i] =
			(struct samples_reader){.cpu = (int32_t)(i / SAMPLES_RING_CNT),
						.ring = i % SAMPLES_RING_CNT,
						.secret = samples->secret,
						.bytes = ring_bytes(samples, i % SAMPLES_RING_CNT)};
	return 0;
}

/* ---- without BPF: the same rings in memory of our own ---- */

static int make_rings(struct samples *samples)
{
	size_t cnt = SAMPLES_RING_CNT * samples->cpu_cnt;
	int err = mapped_new(&samples->heads, sizeof(struct samples_head), cnt);

	for (enum samples_ring ring = 0; ring < SAMPLES_RING_CNT && !err; ring++)
		err = mapped_new(&samples->rings[ring],
				 (ring_bytes(samples, ring) + SAMPLES_RECORD_MAX + SAMPLES_ALIGN - 1) &
					 ~(SAMPLES_ALIGN - 1ull),
				 samples->cpu_cnt);
	samples->writers = err ? NULL : calloc(cnt, sizeof(*samples->writers));
	if (!samples->writers)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct mapped *ring = &samples->rings[i % SAMPLES_RING_CNT];

		samples->writers[i] =
			(struct samples_writer){.bytes = ring->bytes + i / SAMPLES_RING_CNT * ring->each,
						.size = ring_bytes(samples, i % SAMPLES_RING_CNT),
						.head = (struct samples_head *)samples->heads.bytes + i,
						.secret = samples->secret};
	}
	return 0;
}

static int open_perf(struct samples *samples)
{
	const struct perf_samples_config config = {.frequency = samples->config.frequency,
						   .follow_forks = samples->config.follow_forks,
						   .events = samples->config.events,
						   .cpu_cnt = samples->cpu_cnt,
						   .writers = samples->writers};

	return perf_samples_new(&samples->perf, &config);
}

/* ---- attaching ---- */

static int add_link(struct samples *samples, struct bpf_link *link, const char *what)
{
	int err = -errno;

	if (!link)
		return fail_errno(err, "cannot attach to %s", what);
	if (!ARRAY_PUSH(samples->links, samples->link_cnt, samples->link_cap, link))
		return 0;
	bpf_link__destroy(link);
	return -ENOMEM;
}

/* The event's number, as the snapshot has them, becomes the program's cookie. */
static int attach_ticks(struct samples *samples, const struct samples_ticks *ticks,
			const struct bpf_program *program, uint32_t event)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = event);
	int err = 0;

	for (size_t i = 0; i < ticks->cnt && !err; i++) {
		/* The link closes what it was given. */
		int fd = dup(ticks->fds[i]);

		err = fd < 0 ? fail_errno(-errno, "no file descriptor is left")
			     : add_link(samples,
					bpf_program__attach_perf_event_opts(program, fd,
									    event ? &options : NULL),
					ticks->event);
	}
	return err;
}

/* The programs may read it on each processor. */
static int share_counter(struct samples *samples, const struct samples_ticks *ticks, uint32_t nth)
{
	int map = bpf_map__fd(samples->bpf->maps.counters);

	for (size_t i = 0; i < ticks->cnt; i++) {
		uint32_t key = (uint32_t)ticks->cpus[i] * SAMPLES_COUNTERS_MAX + nth;

		if (bpf_map_update_elem(map, &key, &ticks->fds[i], BPF_ANY))
			return fail_errno(-errno, "the kernel does not let BPF read %s", ticks->event);
	}
	return 0;
}

static int attach_events(struct samples *samples)
{
	uint32_t frequency = samples->config.frequency;
	int err = samples_ticks_open(&samples->ticks, frequency);

	if (!err)
		err = attach_ticks(samples, &samples->ticks, samples->bpf->progs.on_tick, 0);
	for (size_t i = 0; i < samples_events_cnt(samples->config.events) && !err; i++) {
		err = samples_events_open(samples->config.events, i, frequency, &samples->counts[i]);
		if (!err)
			err = attach_ticks(samples, &samples->counts[i], samples->bpf->progs.on_event,
					   (uint32_t)i + 1);
		if (!err && !samples_events_each_time(samples->config.events, i))
			err = share_counter(samples, &samples->counts[i], (uint32_t)i);
	}
	return err;
}

static bool is_attached_apart(const struct samples_bpf *bpf, const struct bpf_program *program)
{
	return program == bpf->progs.on_task || program == bpf->progs.on_map ||
	       program == bpf->progs.on_move || program == bpf->progs.on_mapping ||
	       program == bpf->progs.on_area;
}

static int attach(struct samples *samples)
{
	struct bpf_program *program;
	int err = attach_events(samples);

	bpf_object__for_each_program(program, samples->bpf->obj)
	{
		if (err || !bpf_program__autoload(program) ||
		    bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT ||
		    bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT ||
		    is_attached_apart(samples->bpf, program))
			continue;
		err = add_link(samples, bpf_program__attach(program), bpf_program__section_name(program));
	}
	if (!err)
		samples_code_attach(samples->bpf);
	samples->waiting.iterator = err ? NULL : bpf_program__attach_iter(samples->bpf->progs.on_task, NULL);
	return !err && !samples->waiting.iterator ? fail_errno(-errno, "cannot list the threads that wait")
						  : err;
}

/* The kernel lowers its limit by itself where ticks took long. */
static uint32_t default_frequency(void)
{
	uint32_t max = samples_ticks_max();

	if (max >= SAMPLES_FREQUENCY_DEFAULT)
		return SAMPLES_FREQUENCY_DEFAULT;
	log_say("%u samples a second are taken, not %d: this machine allows no more (sysctl "
		"kernel.perf_event_max_sample_rate)",
		max, SAMPLES_FREQUENCY_DEFAULT);
	return max;
}

static void fill_in(struct samples_config *config)
{
	if (!config->frequency)
		config->frequency = default_frequency();
	if (!config->ring_bytes)
		config->ring_bytes = SAMPLES_RING_DEFAULT;
}

const char *samples_lack(void)
{
	const char *lacks = privilege_bpf_lacks();

	if (lacks || !access("/sys/kernel/btf/vmlinux", R_OK))
		return lacks;
	return "the kernel's BTF (/sys/kernel/btf/vmlinux)";
}

static int open_bpf(struct samples *samples)
{
	int err = load(samples);

	if (!err)
		err = map_rings(samples);
	if (!err)
		err = samples_open_lives(samples);
	return err ? err : attach(samples);
}

static int open_without_bpf(struct samples *samples)
{
	int err = make_rings(samples);

	return err ? err : open_perf(samples);
}

int samples_new(struct samples **ret_samples, const struct samples_config *config)
{
	CLEANUP(samples_freep) struct samples *samples = calloc(1, sizeof(*samples));
	int err;

	if (!samples)
		return -ENOMEM;
	samples->config = *config;
	fill_in(&samples->config);
	samples->cpu_cnt = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (getrandom(&samples->secret, sizeof(samples->secret), 0) != sizeof(samples->secret))
		return fail_errno(-errno, "the kernel gives no random numbers");
	err = make_readers(samples);
	if (!err)
		err = samples_lack() ? open_without_bpf(samples) : open_bpf(samples);
	if (!err)
		*ret_samples = TAKE_PTR(samples);
	return err;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->link_cnt; i++)
		bpf_link__destroy(samples->links[i]);
	free(samples->links);
	ring_buffer__free(samples->lives);
	waiting_release(&samples->waiting);
	waiting_threads_release(&samples->first);
	samples_ticks_release(&samples->ticks);
	for (size_t i = 0; i < samples_events_cnt(samples->config.events); i++)
		samples_ticks_release(&samples->counts[i]);
	perf_samples_free(samples->perf);
	for (size_t i = 0; samples->writers && i < SAMPLES_RING_CNT * samples->cpu_cnt; i++)
		samples_writer_release(&samples->writers[i]);
	free(samples->writers);
	for (size_t i = 0; samples->readers && i < SAMPLES_RING_CNT * samples->cpu_cnt; i++)
		samples_reader_release(&samples->readers[i]);
	free(samples->readers);
	for (enum samples_ring ring = 0; ring < SAMPLES_RING_CNT; ring++)
		mapped_release(&samples->rings[ring]);
	mapped_release(&samples->heads);
	samples_bpf__destroy(samples->bpf);
	free(samples);
}

/* ---- recording ---- */

/* Who waits is asked at once: they may not do so for long. */
static int start_by_bpf(struct samples *samples)
{
	int err;

	samples->bpf->bss->recording = true;
	samples_keep_waiting(samples);
	err = samples_ticks_enable(&samples->ticks);
	for (size_t i = 0; i < samples_events_cnt(samples->config.events) && !err; i++)
		err = samples_ticks_enable(&samples->counts[i]);
	return err;
}

int samples_start(struct samples *samples)
{
	int err;

	samples->started_ns = clock_kernel_ns();
	samples->is_recording = true;
	if (!samples->perf)
		return start_by_bpf(samples);
	err = perf_samples_start(samples->perf);
	samples_keep_waiting(samples);
	return err;
}

void samples_stop(struct samples *samples)
{
	samples_list_waiting(samples);
	samples->is_recording = false;
	if (samples->perf) {
		perf_samples_stop(samples->perf);
		return;
	}
	samples->bpf->bss->recording = false;
	samples_ticks_disable(&samples->ticks);
	for (size_t i = 0; i < samples_events_cnt(samples->config.events); i++)
		samples_ticks_disable(&samples->counts[i]);
}

int samples_drain(struct samples *samples)
{
	return samples->perf ? perf_samples_drain(samples->perf) : 0;
}

int samples_drain_ms(const struct samples *samples)
{
	return samples->perf ? perf_samples_drain_ms(samples->perf) : -1;
}

size_t samples_ring_bytes(const struct samples *samples)
{
	return samples->config.ring_bytes;
}

uint64_t samples_unready_cnt(const struct samples *samples)
{
	return samples->perf ? 0 : samples->bpf->bss->unready_cnt;
}

const char *samples_event(const struct samples *samples)
{
	return samples->perf ? perf_samples_event(samples->perf) : samples->ticks.event;
}
