/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs read the file's inode, its name and that of its directory, which a descriptor stood for then.
 * It may stand for another one by now, or for none. So /proc is asked for the rest of the path only, and
 * believed only if the inode and the name are the same. All epolls have the same inode: how many files one
 * has is what the descriptor of that number has now.
 */
#include "source/samples/about.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/hash_index.h"

enum { FILES_MAX = 4096, PATH_BYTES = 4096, LISTENING = 10 /* TCP_LISTEN, of all families */ };

/* ---- system calls ---- */

void samples_about_calls(uint16_t calls[static SAMPLES_CALLS])
{
#define ARG(nth) ((nth) << SAMPLES_CALL_ARG)
	static const uint16_t others[SAMPLES_CALLS] = {
		[SYS_poll] = SAMPLES_CALL_POLL | SAMPLES_CALL_MS | ARG(2),
		[SYS_ppoll] = SAMPLES_CALL_POLL | SAMPLES_CALL_TIMESPEC | ARG(2),
		[SYS_select] = SAMPLES_CALL_TIMEVAL | ARG(4),
		[SYS_pselect6] = SAMPLES_CALL_TIMESPEC | ARG(4),
		[SYS_epoll_wait] = SAMPLES_CALL_MS | ARG(3),
		[SYS_epoll_pwait] = SAMPLES_CALL_MS | ARG(3),
		[SYS_epoll_pwait2] = SAMPLES_CALL_TIMESPEC | ARG(3),
		[SYS_futex] = SAMPLES_CALL_FUTEX | SAMPLES_CALL_TIMESPEC | ARG(3),
		[SYS_nanosleep] = SAMPLES_CALL_TIMESPEC | ARG(0),
		[SYS_clock_nanosleep] = SAMPLES_CALL_SLEEP | SAMPLES_CALL_TIMESPEC | ARG(2),
	};
#undef ARG

	for (int i = 0; i < SAMPLES_CALLS; i++)
		calls[i] = others[i] | (syscall_info(i)->first == SYSCALL_FD ? SAMPLES_CALL_FD : 0);
}

/* ---- what /proc knows ---- */

struct known_file {
	uint32_t pid;
	int32_t fd;
	uint64_t inode;
	char *path; /* NULL: it is another file now */
	int epoll_cnt;
};

struct samples_files {
	struct known_file *items;
	size_t cnt, cap;
	struct hash_index index;
};

int samples_files_new(struct samples_files **ret_files)
{
	*ret_files = calloc(1, sizeof(**ret_files));
	return *ret_files ? 0 : -ENOMEM;
}

void samples_files_free(struct samples_files *files)
{
	for (size_t i = 0; files && i < files->cnt; i++)
		free(files->items[i].path);
	if (files) {
		free(files->items);
		hash_index_release(&files->index);
	}
	free(files);
}

/* The path, if the inode is still the same one. */
static char *read_path(const char *link, uint64_t inode)
{
	char path[PATH_BYTES];
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	struct stat stats;

	if (len <= 0 || stat(link, &stats) || stats.st_ino != inode)
		return NULL;
	path[len] = '\0';
	return strdup(path);
}

static int count_epoll(uint32_t pid, int32_t fd)
{
	char path[64];
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;
	int cnt = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%" PRId32, pid, fd);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0)
		cnt += !strncmp(line, "tfd:", 4);
	if (file)
		fclose(file);
	return cnt;
}

static void look_up(struct known_file *known)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/fd/%" PRId32, known->pid, known->fd);
	known->path = read_path(link, known->inode);
	if (known->path && strstr(known->path, "[eventpoll]"))
		known->epoll_cnt = count_epoll(known->pid, known->fd);
}

/* NULL: not known. */
static const struct known_file *file_get(struct samples_files *files, const struct samples_record *record)
{
	struct known_file known = {.pid = record->pid, .fd = record->about.fd, .inode = record->about.inode};
	uint64_t hash = hash_number(hash_number(hash_number(0, known.pid), (uint32_t)known.fd), known.inode);

	for (size_t at = 0, i; files && (i = hash_index_next(&files->index, hash, &at)) != HASH_INDEX_END;) {
		const struct known_file *item = &files->items[i];

		if (item->pid == known.pid && item->fd == known.fd && item->inode == known.inode)
			return item;
	}
	if (!files || files->cnt == FILES_MAX)
		return NULL;
	look_up(&known);
	if (ARRAY_PUSH(files->items, files->cnt, files->cap, known)) {
		free(known.path);
		return NULL;
	}
	return hash_index_add(&files->index, hash, files->cnt - 1) ? NULL : &files->items[files->cnt - 1];
}

/* ---- words ---- */

struct endpoint {
	char text[INET6_ADDRSTRLEN + 16];
};

static struct endpoint endpoint(const struct samples_about *about, size_t nth, const char *except)
{
	bool is_ipv6 = about->record.about.form == SAMPLES_FORM_IPV6;
	const uint8_t *bytes = about->more + nth * (is_ipv6 ? 16 : 4);
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint16_t port = nth ? about->record.about.peer_port : about->record.about.own_port;
	char address[INET6_ADDRSTRLEN] = "";
	struct endpoint end;

	if (is_ipv6 && !memcmp(bytes, mapped, sizeof(mapped))) {
		bytes += sizeof(mapped);
		is_ipv6 = false;
	}
	inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes, address, sizeof(address));
	snprintf(end.text, sizeof(end.text), is_ipv6 ? "[%s]:%u" : "%s:%u", address, port);
	/* The same host is not named twice. */
	if (except && !strncmp(end.text, except, strlen(end.text) - strlen(strrchr(end.text, ':')) + 1))
		memmove(end.text, strrchr(end.text, ':'), strlen(strrchr(end.text, ':')) + 1);
	return end;
}

static char *inet_text(const struct samples_about *about)
{
	const char *kind = about->record.about.type == SOCK_DGRAM ? "UDP socket" : "socket";
	struct endpoint own = endpoint(about, 0, NULL), peer = endpoint(about, 1, own.text);
	char *text = NULL;
	int len;

	if (about->record.about.state == LISTENING)
		len = asprintf(&text, "%s listening at %s", kind, own.text);
	else if (about->record.about.peer_port)
		len = asprintf(&text, "%s %s <-> %s", kind, own.text, peer.text);
	else if (about->record.about.own_port)
		len = asprintf(&text, "%s %s", kind, own.text);
	else
		len = asprintf(&text, "%s without an address", kind);
	return len < 0 ? NULL : text;
}

static char *socket_text(const struct samples_about *about)
{
	uint8_t form = about->record.about.form;
	bool is_abstract = form == SAMPLES_FORM_UNIX && !*about->more;
	char *text = NULL;
	int len;

	if (form == SAMPLES_FORM_IPV4 || form == SAMPLES_FORM_IPV6)
		return inet_text(about);
	if (form == SAMPLES_FORM_UNIX)
		len = asprintf(&text, "Unix socket %s%.*s", is_abstract ? "@" : "",
			       (int)(SAMPLES_ABOUT_MORE - is_abstract),
			       (const char *)about->more + is_abstract);
	else if (about->record.about.family == AF_UNIX || !about->record.about.family)
		len = asprintf(&text, "%s %" PRIu64, about->record.about.family ? "Unix socket" : "socket",
			       (uint64_t)about->record.about.inode);
	else
		len = asprintf(&text, "socket of family %u", about->record.about.family);
	return len < 0 ? NULL : text;
}

/* "[eventfd]" to "eventfd"; "[eventpoll]" to "epoll of 12". */
static char *anonymous_text(const struct samples_about *about, const struct known_file *known)
{
	const char *name = (const char *)about->more;
	size_t cut = *name == '[' ? 1 : 0;
	char *text = NULL;
	int len;

	if (!strcmp(name, "[eventpoll]"))
		len = known && known->path ? asprintf(&text, "epoll of %d", known->epoll_cnt)
					   : asprintf(&text, "epoll");
	else
		len = asprintf(&text, "%.*s", (int)(strnlen(name, SAMPLES_COMPONENT) - 2 * cut), name + cut);
	return len < 0 ? NULL : text;
}

/* Whether the path ends with that name, or did before the file was deleted. */
static bool is_named(const char *path, const char *name)
{
	const char *last = strrchr(path, '/');
	size_t len = strlen(name);

	return last && !strncmp(last + 1, name, len) && (!last[1 + len] || last[1 + len] == ' ');
}

static char *path_text(const struct samples_about *about, const struct known_file *known)
{
	const char *name = (const char *)about->more;
	size_t len_of_name = strnlen(name, SAMPLES_ABOUT_MORE - 1);
	const char *directory = len_of_name + 1 < SAMPLES_ABOUT_MORE ? name + len_of_name + 1 : "";
	uint16_t mode = about->record.about.mode;
	const char *kind = S_ISFIFO(mode)  ? "pipe"
			   : S_ISCHR(mode) ? "device"
			   : S_ISDIR(mode) ? "directory"
					   : "file";
	char *text = NULL;
	int len;

	if (known && known->path && is_named(known->path, name))
		len = asprintf(&text, "%s %s", kind, known->path);
	else
		len = asprintf(&text, "%s %s%s%s%s", kind, *directory ? ".../" : "", directory,
			       *directory ? "/" : "", name);
	return len < 0 ? NULL : text;
}

char *samples_about_text(const struct samples_about *about, struct samples_files *files)
{
	const struct samples_record *record = &about->record;
	char *text = NULL;

	if (!record->about.mode && !record->about.inode)
		return NULL;
	if (S_ISSOCK(record->about.mode))
		return socket_text(about);
	if (record->about.form == SAMPLES_FORM_ANONYMOUS)
		return anonymous_text(about, file_get(files, record));
	if (record->about.form == SAMPLES_FORM_PATH)
		return path_text(about, file_get(files, record));
	if (S_ISFIFO(record->about.mode))
		return asprintf(&text, "pipe %" PRIu64, (uint64_t)record->about.inode) < 0 ? NULL : text;
	return asprintf(&text, "file of inode %" PRIu64, (uint64_t)record->about.inode) < 0 ? NULL : text;
}
