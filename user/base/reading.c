/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
