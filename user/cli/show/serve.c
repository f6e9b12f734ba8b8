/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each connection is a process of its own, since browsers open some that they never use. The one that gave
 * out the file tells so by an eventfd. One that does not ask in time is ended, and there are never more than
 * a few.
 */
#include "cli/show/serve.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/write_all.h"

enum { PORT = 9001, REQUEST_MAX = 16384, TIMEOUT_SECONDS = 60, REQUEST_SECONDS = 10, CONNECTIONS_MAX = 16 };

struct served {
	int file;
	const char *name;
	int done_fd; /* an eventfd */
};

int serve_listen(int *ret_fd)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CLEANUP(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)))
		return fail_errno(-errno, "cannot make a socket");
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, 16)) {
		if (errno == EADDRINUSE)
			return fail(-EADDRINUSE,
				    "port %d of 127.0.0.1 is in use, and the viewer loads from no other: end "
				    "the program that listens there (ss -ltnp 'sport = :%d' shows it)",
				    PORT, PORT);
		return fail_errno(-errno, "cannot listen on 127.0.0.1:%d", PORT);
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* ---- one connection, in its process ---- */

/* Up to the empty line. False: it does not come. */
static bool read_request(int fd, char *request)
{
	size_t size = 0;

	while (size < REQUEST_MAX - 1) {
		ssize_t got = recv(fd, request + size, REQUEST_MAX - 1 - size, 0);

		if (got <= 0)
			return false;
		size += (size_t)got;
		request[size] = 0;
		if (strstr(request, "\r\n\r\n"))
			return true;
	}
	return false;
}

static int send_head(int fd, const char *status, off_t size)
{
	char head[512];
	int len = snprintf(head, sizeof(head),
			   "HTTP/1.1 %s\r\n"
			   "Access-Control-Allow-Origin: " SERVE_VIEWER "\r\n"
			   "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
			   "Access-Control-Allow-Headers: *\r\n"
			   "Access-Control-Allow-Private-Network: true\r\n"
			   "Content-Type: application/octet-stream\r\n"
			   "Content-Length: %jd\r\n"
			   "Cache-Control: no-store\r\n"
			   "Connection: close\r\n\r\n",
			   status, (intmax_t)size);

	return write_all(fd, (const uint8_t *)head, (size_t)len);
}

static bool send_file(int fd, int file, off_t size)
{
	char rest[256];
	off_t sent = 0;

	while (sent < size)
		if (sendfile(fd, file, &sent, (size_t)(size - sent)) <= 0)
			return false;
	/* Closed before the other side has all, the connection would be reset. */
	shutdown(fd, SHUT_WR);
	while (recv(fd, rest, sizeof(rest), 0) > 0)
		;
	return true;
}

/* Whether the file was fetched. */
static bool answer(int fd, const struct served *served)
{
	char request[REQUEST_MAX], wanted[REQUEST_MAX];
	char method[8] = "", target[REQUEST_MAX] = "";
	struct stat st;

	if (fstat(served->file, &st) || !read_request(fd, request))
		return false;
	alarm(0);
	sscanf(request, "%7s %16383s", method, target);
	snprintf(wanted, sizeof(wanted), "/%s", served->name);
	if (!strcasestr(request, "\r\nHost: " SERVE_HOST "\r\n")) {
		/* Another name for this machine: a page elsewhere tries to read what is here. */
		send_head(fd, "403 Forbidden", 0);
	} else if (!strcmp(method, "OPTIONS")) {
		send_head(fd, "204 No Content", 0);
	} else if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		send_head(fd, "405 Method Not Allowed", 0);
	} else if (strcmp(target, wanted)) {
		send_head(fd, "404 Not Found", 0);
	} else {
		return !send_head(fd, "200 OK", st.st_size) && !strcmp(method, "GET") &&
		       send_file(fd, served->file, st.st_size);
	}
	return false;
}

static void __attribute__((noreturn)) serve_connection(int fd, const struct served *served)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(REQUEST_SECONDS); /* for the request as a whole, however it dribbles in */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	_exit(answer(fd, served) ? eventfd_write(served->done_fd, 1) : 0);
}

/* ---- the loop ---- */

/* A place for one more connection; NULL: so many are open that another is closed at once. */
static pid_t *free_place(pid_t *connections)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (!connections[i] || waitpid(connections[i], NULL, WNOHANG))
			return &connections[i];
	return NULL;
}

static int accept_one(int listen_fd, const struct served *served, pid_t *connections)
{
	CLEANUP(closep) int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	pid_t *place = fd < 0 ? NULL : free_place(connections);

	if (!place)
		return 0;
	*place = fork();
	if (!*place)
		serve_connection(fd, served);
	if (*place > 0)
		return 0;
	*place = 0;
	return fail_errno(-errno, "cannot serve the trace");
}

static int open_signals(int *ret_fd)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

int serve_once(int listen_fd, const char *path, const char *name, bool *ret_interrupted)
{
	CLEANUP(closep) int file = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(closep) int done_fd = eventfd(0, EFD_CLOEXEC);
	CLEANUP(closep) int signals = -1;
	pid_t connections[CONNECTIONS_MAX] = {0};
	const struct served served = {.file = file, .name = name, .done_fd = done_fd};
	int err = 0;

	if (file < 0)
		return fail_errno(-errno, "cannot read %s", path);
	err = open_signals(&signals);
	while (!err) {
		struct pollfd fds[] = {{.fd = listen_fd, .events = POLLIN},
				       {.fd = signals, .events = POLLIN},
				       {.fd = done_fd, .events = POLLIN}};

		if (poll(fds, 3, -1) < 0)
			continue;
		*ret_interrupted = fds[1].revents;
		if (fds[1].revents || fds[2].revents)
			return 0;
		err = accept_one(listen_fd, &served, connections);
	}
	return err;
}
