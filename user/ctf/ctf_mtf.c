/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/ctf_mtf.h"

#include <string.h>

unsigned int ctf_names_find(const struct ctf_names *names, const char *text)
{
	unsigned int place = 0;

	while (place < CTF_MTF_SIZE && names->texts[place] && strcmp(names->texts[place], text) != 0)
		place++;
	return place < CTF_MTF_SIZE && names->texts[place] ? place : CTF_MTF_NEW;
}

const char *ctf_names_use(struct ctf_names *names, unsigned int place)
{
	const char *text = names->texts[place];

	if (!text)
		return NULL;
	memmove(&names->texts[1], &names->texts[0], place * sizeof(*names->texts));
	return names->texts[0] = text;
}

const char *ctf_names_push(struct ctf_names *names, const char *text)
{
	const char *dropped = names->texts[CTF_MTF_SIZE - 1];

	memmove(&names->texts[1], &names->texts[0], sizeof(names->texts) - sizeof(*names->texts));
	names->texts[0] = text;
	return dropped;
}

static void move_functions(struct ctf_files *files, unsigned int place, struct ctf_names *functions)
{
	memmove(&files->functions[1], &files->functions[0], place * sizeof(*files->functions));
	files->functions[0] = functions;
}

const char *ctf_files_use(struct ctf_files *files, unsigned int place)
{
	const char *text = ctf_names_use(&files->names, place);

	if (text)
		move_functions(files, place, files->functions[place]);
	return text;
}

const char *ctf_files_push(struct ctf_files *files, const char *text)
{
	const char *dropped = ctf_names_push(&files->names, text);
	struct ctf_names *functions = files->functions[CTF_MTF_SIZE - 1];

	for (size_t i = 0; !functions; i++)
		if (!files->functions[i])
			functions = &files->tables[i];
	move_functions(files, CTF_MTF_SIZE - 1, functions);
	return dropped;
}
