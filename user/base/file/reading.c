/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/reading.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

bool reading_text(const char *path, char *text, size_t size)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "re");

	if (!file || !fgets(text, (int)size, file))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

int reading_number(const char *path, int otherwise)
{
	char text[64];

	return reading_text(path, text, sizeof(text)) ? atoi(text) : otherwise;
}

bool reading_has(const char *path, const void *mark, size_t size, size_t within)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char head[4096];
	ssize_t len = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ? 0 : read(fd, head, within);

	return len > 0 && memmem(head, (size_t)len, mark, size);
}
