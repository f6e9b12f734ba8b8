/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs read of a file, in words; of this process's own files, the rest of it, too. */
#include "source/samples/about.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assertions.h"

static void assert_text(const struct samples_about *about, const char *expected)
{
	char *text = samples_about_text(about, NULL);

	if (!expected)
		assert_null(text);
	else
		assert_string_equal(text, expected);
	free(text);
}

static struct samples_about inet(uint8_t form, const void *own, const void *peer, uint16_t own_port,
				 uint16_t peer_port)
{
	size_t each = form == SAMPLES_FORM_IPV6 ? 16 : 4;
	struct samples_about about = {
		.record.about = {.mode = S_IFSOCK,
				 .family = form == SAMPLES_FORM_IPV6 ? AF_INET6 : AF_INET,
				 .type = SOCK_STREAM,
				 .form = form,
				 .state = 1,
				 .own_port = own_port,
				 .peer_port = peer_port}};

	memcpy(about.more, own, each);
	memcpy(about.more + each, peer, each);
	return about;
}

TEST(test_sockets)
{
	static const uint8_t here[4] = {127, 0, 0, 1}, there[4] = {10, 0, 0, 7}, any[16],
			     home[16] = {[15] = 1}, mapped[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
	struct samples_about about = inet(SAMPLES_FORM_IPV4, here, here, 6379, 51234);

	assert_text(&about, "socket 127.0.0.1:6379 <-> :51234");
	about = inet(SAMPLES_FORM_IPV4, here, there, 51234, 443);
	assert_text(&about, "socket 127.0.0.1:51234 <-> 10.0.0.7:443");
	about = inet(SAMPLES_FORM_IPV4, any, any, 80, 0);
	about.record.about.state = 10;
	assert_text(&about, "socket listening at 0.0.0.0:80");
	about.record.about.state = 7;
	about.record.about.type = SOCK_DGRAM;
	assert_text(&about, "UDP socket 0.0.0.0:80");
	about.record.about.own_port = 0;
	assert_text(&about, "UDP socket without an address");
	about = inet(SAMPLES_FORM_IPV6, home, home, 1, 2);
	assert_text(&about, "socket [::1]:1 <-> :2");
	about = inet(SAMPLES_FORM_IPV6, mapped, mapped, 1, 2);
	assert_text(&about, "socket 127.0.0.1:1 <-> :2");
}

TEST(test_other_sockets)
{
	struct samples_about about = {.record.about = {.mode = S_IFSOCK, .family = AF_UNIX, .inode = 77}};

	assert_text(&about, "Unix socket 77");
	about.record.about.form = SAMPLES_FORM_UNIX;
	strcpy((char *)about.more, "/run/x.sock");
	assert_text(&about, "Unix socket /run/x.sock");
	memcpy(about.more, "\0hidden", 8);
	assert_text(&about, "Unix socket @hidden");
	about.record.about.form = SAMPLES_FORM_NONE;
	about.record.about.family = AF_NETLINK;
	assert_text(&about, "socket of family 16");
}

TEST(test_files)
{
	struct samples_about about = {.record.about = {.mode = S_IFIFO, .inode = 77}};

	assert_text(&about, "pipe 77");
	about.record.about.form = SAMPLES_FORM_PATH;
	memcpy(about.more, "fifo\0spool", 11);
	assert_text(&about, "pipe .../spool/fifo");
	about.record.about.mode = S_IFREG;
	memcpy(about.more, "x.db\0", 6);
	assert_text(&about, "file x.db");
	memset(about.more, 'x', sizeof(about.more) - 1);
	about.more[sizeof(about.more) - 1] = '\0';
	free(samples_about_text(&about, NULL)); /* reads nothing behind it */
	about.record.about.form = SAMPLES_FORM_ANONYMOUS;
	strcpy((char *)about.more, "[eventfd]");
	assert_text(&about, "eventfd");
	strcpy((char *)about.more, "[eventpoll]");
	assert_text(&about, "epoll");
	assert_text(&(struct samples_about){0}, NULL);
}

/* ---- what /proc adds ---- */

static void assert_known(const struct samples_about *about, struct samples_files *files, const char *expected)
{
	char *text = samples_about_text(about, files);

	assert_string_equal(text, expected);
	free(text);
}

static struct samples_about file_of(int fd, uint8_t form, const char *name)
{
	struct samples_about about = {.record = {.pid = (uint32_t)getpid(), .about = {.fd = fd}}};
	struct stat stats;

	assert_int_equal(fstat(fd, &stats), 0);
	about.record.about.inode = stats.st_ino;
	about.record.about.mode = (uint16_t)stats.st_mode;
	about.record.about.form = form;
	strcpy((char *)about.more, name);
	return about;
}

TEST(test_whole_path)
{
	char path[] = "/tmp/trailcam-about-XXXXXX", expected[64];
	int fd = mkstemp(path);
	struct samples_about about = file_of(fd, SAMPLES_FORM_PATH, strrchr(path, '/') + 1), other = about;
	struct samples_files *files;

	snprintf(expected, sizeof(expected), "file %s", path);
	assert_ok(samples_files_new(&files));
	assert_known(&about, files, expected);
	other.record.about.inode++; /* another file had this number then */
	snprintf(expected, sizeof(expected), "file %s", strrchr(path, '/') + 1);
	assert_known(&other, files, expected);
	close(fd);
	unlink(path);
	samples_files_free(files);
}

TEST(test_epoll)
{
	int ends[2], epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	struct samples_about about = file_of(epoll, SAMPLES_FORM_ANONYMOUS, "[eventpoll]");
	struct samples_files *files;

	assert_int_equal(pipe(ends), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[i], &event), 0);
	assert_ok(samples_files_new(&files));
	assert_known(&about, files, "epoll of 2");
	close(epoll);
	samples_files_free(files);
	assert_ok(samples_files_new(&files));
	assert_known(&about, files, "epoll");
	samples_files_free(files);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_calls)
{
	uint16_t calls[SAMPLES_CALLS];

	samples_about_calls(calls);
	assert_int_equal(calls[SYS_read], SAMPLES_CALL_FD);
	assert_int_equal(calls[SYS_getpid], 0);
	assert_int_equal(calls[SYS_epoll_wait], SAMPLES_CALL_FD | SAMPLES_CALL_MS | 3 << SAMPLES_CALL_ARG);
}

TEST_MAIN(NULL, NULL)
