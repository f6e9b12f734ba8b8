/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The AUX area is mapped without PROT_WRITE: that is what makes the kernel overwrite it (perf_mmap(),
 * "aux_overwrite").
 */
#include "source/pt_event.h"

#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/reading.h"

int pt_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int pt_event_printk_id(void)
{
	int id = reading_number("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/id", -ENOENT);

	return id >= 0 ? id
		       : reading_number("/sys/kernel/debug/tracing/events/bpf_trace/bpf_trace_printk/id",
					-ENOENT);
}

int pt_event_redirect(int fd, int to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to) ? -errno : 0;
}

int pt_event_id(int fd, uint64_t *ret_id)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, ret_id) ? -errno : 0;
}

int pt_event_set_filter(int fd, const char *filter)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) ? -errno : 0;
}

int pt_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int pt_event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int pt_event_map(int fd, size_t data_size, size_t aux_size, bool to_be_read, struct pt_event_map *ret_map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct pt_event_map map = {.data_size = data_size, .aux_size = aux_size};
	void *at = mmap(NULL, page + data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int err;

	if (at == MAP_FAILED)
		return -errno;
	map.page = at;
	if (aux_size) {
		map.page->aux_offset = page + data_size;
		map.page->aux_size = aux_size;
		at = mmap(NULL, aux_size, to_be_read ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
			  (off_t)(page + data_size));
		if (at == MAP_FAILED) {
			err = -errno;
			munmap(map.page, page + data_size);
			return err;
		}
		map.aux = at;
	}
	*ret_map = map;
	return 0;
}

void pt_event_unmap(struct pt_event_map *map)
{
	if (map->aux)
		munmap(map->aux, map->aux_size);
	if (map->page)
		munmap(map->page, (size_t)sysconf(_SC_PAGESIZE) + map->data_size);
	*map = (struct pt_event_map){0};
}
