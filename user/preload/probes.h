/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The USDT probes of OpenTelemetry's contract for memory profiling
 * (https://github.com/open-telemetry/opentelemetry-ebpf-profiler, design-docs/00003-memory-profiling):
 * provider otel_memory, for sampled allocations only. Each is a function that does nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Raised while somebody listens. */
extern volatile uint16_t otel_memory_alloc_semaphore, otel_memory_free_semaphore;

/* weighted_bytes: what the allocation stands for, so that the expected sum is that of all bytes. */
void otel_memory_alloc(void *address, size_t size, uint64_t weighted_bytes);
void otel_memory_free(void *address);

/* Ours: an allocation whose end will not be told, because too many are alive. */
void trailcam_alloc_forgotten(void *address);
