/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/ctf_location.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

static unsigned int take_bits(uint64_t *packed, unsigned int bits)
{
	unsigned int value = (unsigned int)(*packed & ((1u << bits) - 1));

	*packed >>= bits;
	return value;
}

static int no_such(const char *what, unsigned int place)
{
	return fail(-EBADMSG, "a location names %s %u of the latest ones, and there are fewer so far", what,
		    place);
}

int ctf_location_get(struct memtrace_location *location, struct cursor *cursor, struct ctf_files *files)
{
	uint64_t packed = cursor_u32(cursor);
	unsigned int file, function;

	packed |= (uint64_t)cursor_u16(cursor) << 32;
	location->line = take_bits(&packed, CTF_LINE_BITS);
	location->start_char = take_bits(&packed, CTF_START_BITS);
	location->end_char = take_bits(&packed, CTF_END_BITS);
	file = take_bits(&packed, CTF_NAME_BITS);
	function = take_bits(&packed, CTF_NAME_BITS);
	if (cursor->bad)
		return 0;
	if (file == CTF_MTF_NEW)
		ctf_files_push(files, ctf_get_text(cursor));
	else if (!ctf_files_use(files, file))
		return no_such("file", file);
	location->file = files->names.texts[0];
	if (function == CTF_MTF_NEW)
		ctf_names_push(files->functions[0], ctf_get_text(cursor));
	else if (!ctf_names_use(files->functions[0], function))
		return no_such("function", function);
	location->function = files->functions[0]->texts[0];
	return 0;
}

/* ---- writing ---- */

static void free_names(struct ctf_names *names)
{
	for (size_t i = 0; i < CTF_MTF_SIZE; i++)
		free((char *)names->texts[i]);
	*names = (struct ctf_names){0};
}

void ctf_files_free(struct ctf_files *files)
{
	free_names(&files->names);
	for (size_t i = 0; i < CTF_MTF_SIZE; i++)
		free_names(&files->tables[i]);
}

/* Its place; -ENOMEM. */
static int put_file(struct ctf_files *files, const char *text)
{
	unsigned int place = ctf_names_find(&files->names, text);
	char *copy;

	if (place != CTF_MTF_NEW) {
		ctf_files_use(files, place);
		return (int)place;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free((char *)ctf_files_push(files, copy));
	free_names(files->functions[0]);
	return CTF_MTF_NEW;
}

static int put_function(struct ctf_names *names, const char *text)
{
	unsigned int place = ctf_names_find(names, text);
	char *copy;

	if (place != CTF_MTF_NEW) {
		ctf_names_use(names, place);
		return (int)place;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free((char *)ctf_names_push(names, copy));
	return CTF_MTF_NEW;
}

/* The largest number stands for all above, too. */
static uint64_t clamp(uint32_t value, unsigned int bits)
{
	uint32_t max = (1u << bits) - 1;

	return value < max ? value : max;
}

static uint8_t *put_location(uint8_t *at, struct ctf_files *files, const struct memtrace_location *location)
{
	int file = put_file(files, location->file);
	int function = file < 0 ? file : put_function(files->functions[0], location->function);
	uint64_t packed;

	if (function < 0)
		return NULL;
	packed = (uint64_t)function << CTF_NAME_BITS | (uint64_t)file;
	packed = packed << CTF_END_BITS | clamp(location->end_char, CTF_END_BITS);
	packed = packed << CTF_START_BITS | clamp(location->start_char, CTF_START_BITS);
	packed = packed << CTF_LINE_BITS | clamp(location->line, CTF_LINE_BITS);
	at = ctf_put_u32(at, (uint32_t)packed);
	at = ctf_put_u16(at, (uint16_t)(packed >> 32));
	if (file == CTF_MTF_NEW)
		at = ctf_put_text(at, location->file);
	if (function == CTF_MTF_NEW)
		at = ctf_put_text(at, location->function);
	return at;
}

static bool fits(const struct memtrace_location *locations, size_t cnt)
{
	size_t size = sizeof(uint64_t) + 1;

	for (size_t i = 0; i < cnt && size <= CTF_LOCATIONS_BYTES; i++)
		size += CTF_LOCATION_BYTES + strlen(locations[i].file) + 1 + strlen(locations[i].function) +
			1;
	return cnt <= CTF_LOCATIONS_MAX && size <= CTF_LOCATIONS_BYTES;
}

uint8_t *ctf_locations_put(uint8_t *at, struct ctf_files *files, uint64_t code,
			   const struct memtrace_location *locations, size_t cnt)
{
	static const struct memtrace_location unknown = {"<unknown>", "??", 1, 1, 1};

	if (!fits(locations, cnt)) {
		locations = &unknown;
		cnt = 1;
	}
	at = ctf_put_u64(at, code);
	at = ctf_put_u8(at, (uint8_t)cnt);
	for (size_t i = 0; i < cnt && at; i++)
		at = put_location(at, files, &locations[i]);
	return at;
}
