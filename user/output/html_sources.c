/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions are sorted by file and line, so that each file is read once, forwards, and lines that two of them
 * share are put once. A file's name comes from debug information that may be anybody's: only what is named as
 * source is read, so that no page holds a key or a password file.
 */
#include "output/html_sources.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file/path.h"
#include "base/file/plain_file.h"
#include "base/sort.h"

enum { LINES_BEFORE = 3, LINES_BEHIND = 30, LINE_ROOM = 240 };

static bool is_source(const char *path)
{
	static const char *const suffixes[] = {
		".c", ".cc", ".cpp", ".cxx", ".C",  ".h", ".hh",  ".hpp",   ".hxx", ".inc", ".ipp", ".tcc",
		".S", ".s",  ".rs",  ".go",  ".ml", ".d", ".zig", ".swift", ".f90", ".adb", ".m",   ".nim"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (path_ends_in(path, strlen(path), suffixes[i]))
			return true;
	return false;
}

/* Where the function's source is, to be freed; NULL: unknown, or no memory. */
static char *source_path(const struct symbol *symbol)
{
	char *path = NULL;

	if (!symbol->file || (symbol->file[0] != '/' && !symbol->file_dir))
		return NULL;
	if (symbol->file[0] == '/')
		return strdup(symbol->file);
	return asprintf(&path, "%s/%s", symbol->file_dir, symbol->file) < 0 ? NULL : path;
}

static bool is_same_file(const struct symbol *a, const struct symbol *b)
{
	return !strcmp(a->file, b->file) &&
	       !strcmp(a->file_dir ? a->file_dir : "", b->file_dir ? b->file_dir : "");
}

static int compare(const void *left, const void *right)
{
	const struct symbol *a = *(const struct symbol *const *)left,
			    *b = *(const struct symbol *const *)right;

	return strcmp(a->file, b->file)
		       ?: strcmp(a->file_dir ? a->file_dir : "", b->file_dir ? b->file_dir : "")
		       ?: ORDER_UP(a->line, b->line);
}

/* Whose source may be read, sorted. NULL: no memory. */
static const struct symbol **choose(const struct symbol *const *symbols, size_t cnt, size_t *ret_cnt)
{
	const struct symbol **chosen = calloc(cnt + 1, sizeof(*chosen));

	*ret_cnt = 0;
	for (size_t i = 0; chosen && i < cnt; i++)
		if (symbols[i]->file && symbols[i]->line && is_source(symbols[i]->file))
			chosen[(*ret_cnt)++] = symbols[i];
	if (chosen)
		sort_array(chosen, *ret_cnt, sizeof(*chosen), compare);
	return chosen;
}

/* Without its end, and cut if it is long. False: there is none. */
static bool read_line(FILE *file, char *line)
{
	int letter = 0;

	if (!fgets(line, LINE_ROOM, file))
		return false;
	for (bool is_cut = !strchr(line, '\n'); is_cut && letter != '\n' && letter != EOF;)
		letter = getc(file);
	line[strcspn(line, "\r\n")] = 0;
	return true;
}

/* The lines of functions of one file, as blocks without the lines in between. How many bytes were put. */
static size_t put_file(struct html_bytes *bytes, FILE *file, const struct symbol *const *symbols, size_t cnt,
		       size_t most)
{
	char line[LINE_ROOM];
	size_t put = 0, nth = 0;
	uint32_t number = 0, block_end = 0; /* 0: there is no block yet */

	while (put < most && (nth < cnt || number < block_end) && read_line(file, line)) {
		bool begins = number++ >= block_end;

		for (; nth < cnt && number + LINES_BEFORE >= symbols[nth]->line; nth++) {
			if (begins && number > block_end)
				html_put_text(bytes, "%s[%u,[", block_end ? "]]," : "", number);
			block_end = symbols[nth]->line + LINES_BEHIND;
		}
		if (number > block_end)
			continue;
		html_put_text(bytes, "%s", begins ? "" : ",");
		html_put_string(bytes, line);
		put += strlen(line) + 3;
	}
	html_put_text(bytes, "%s", block_end ? "]]" : "");
	return put;
}

int html_put_sources(struct html_bytes *bytes, const struct symbol *const *symbols, size_t cnt)
{
	size_t chosen_cnt, put = 0, files = 0;
	CLEANUP(freep) const struct symbol **chosen = choose(symbols, cnt, &chosen_cnt);

	if (!chosen)
		return -ENOMEM;
	html_put_text(bytes, ",\"sources\":{");
	for (size_t i = 0, next; i < chosen_cnt && put < HTML_SOURCE_MAX; i = next) {
		CLEANUP(freep) char *path = source_path(chosen[i]);
		FILE *file = path ? plain_file_stream(path) : NULL;

		for (next = i; next < chosen_cnt && is_same_file(chosen[next], chosen[i]);)
			next++;
		if (!file)
			continue;
		html_put_text(bytes, "%s", files++ ? "," : "");
		html_put_string(bytes, path);
		html_put_text(bytes, ":[");
		put += put_file(bytes, file, chosen + i, next - i, HTML_SOURCE_MAX - put);
		html_put(bytes, ']');
		fclose(file);
	}
	html_put(bytes, '}');
	return 0;
}
