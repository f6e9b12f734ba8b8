/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The USDT probes of OpenTelemetry's contract for memory profiling
 * (https://github.com/open-telemetry/opentelemetry-ebpf-profiler, design-docs/00003-memory-profiling):
 * provider otel_memory, for sampled allocations only. Each is a function that does nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Raised by the kernel while a tracer uses the probe. */
extern volatile uint16_t otel_memory_alloc_semaphore, otel_memory_free_semaphore;

/* weighted_bytes: the bytes that the sample stands for. Its expected sum is that of all allocated bytes. */
void otel_memory_alloc(void *address, size_t size, uint64_t weighted_bytes);
void otel_memory_free(void *address);

/* Our own probe: the end of this allocation will not be reported, because too many are alive. */
void trailcam_alloc_forgotten(void *address);
