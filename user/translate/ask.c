/* SPDX-License-Identifier: BSD-2-Clause */
/* What the runtime asks trailcam, which is outside. A thread waits until it is answered, or trailcam dies. */
#include "translate/runtime.h"

#include <linux/futex.h>
#include <linux/time_types.h>
#include <sys/syscall.h>

#include "translate/offsets.h"

bool tracer_is_dead(void)
{
	return ((volatile const uint8_t *)shared()->tracer)[SHARED_TRACER_IS_DEAD];
}

enum give_back leaving(void)
{
	enum give_back leave = (enum give_back)__atomic_load_n(&shared()->leave, __ATOMIC_ACQUIRE);

	return leave ? leave : tracer_is_dead() ? GIVE_END : GIVE_NOTHING;
}

/* Waits for the answer. False: there is nobody to give one. */
static bool ask(struct context *context, enum request request)
{
	const struct __kernel_timespec moment = {.tv_nsec = 20000000};

	if (leaving())
		return false;
	__atomic_store_n(&context->request, request, __ATOMIC_RELEASE);
	__atomic_add_fetch(&shared()->requests, 1, __ATOMIC_RELEASE);
	call(SYS_futex, (uintptr_t)&shared()->requests, FUTEX_WAKE, 1, 0);
	while (__atomic_load_n(&context->request, __ATOMIC_ACQUIRE)) {
		if (leaving())
			return false;
		call(SYS_futex, (uintptr_t)&context->request, FUTEX_WAIT, request, (uintptr_t)&moment);
	}
	return true;
}

bool ask_original(struct context *context, uint64_t guest)
{
	context->next = guest;
	return context->original_at == guest || ask(context, REQUEST_ORIGINAL);
}

bool ask_executable(struct context *context, uint64_t guest)
{
	context->next = guest;
	return ask(context, REQUEST_EXECUTABLE);
}

bool ask_mapping(struct context *context, uint64_t addr)
{
	context->next = addr;
	return ask(context, REQUEST_MAPPING);
}

void ask_maps(struct context *context)
{
	ask(context, REQUEST_MAPS);
}
