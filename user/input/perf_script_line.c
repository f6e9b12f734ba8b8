/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf pads its columns with blanks, and names may hold blanks, arrows and parentheses of their own, so each
 * field is taken from the side where it ends for sure:
 *
 *	PID/TID SEC.NSEC: PERIOD EVENT: FLAGS ADDR NAME+0xOFFSET (OBJECT) => ADDR NAME+0xOFFSET (OBJECT)
 *	<tab>ADDR NAME+0xOFFSET (OBJECT)
 *	 instruction trace error type T time SEC.NSEC cpu C pid P tid T ip 0xADDR code N: MESSAGE
 */
#include "input/perf_script_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static const char *word_end(const char *at)
{
	return at + strcspn(at, " \t");
}

/* "SEC.FRACTION"; the fraction has any number of digits. NULL: it is none. */
static const char *parse_time(const char *at, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = 100000000;
	char *end;
	uint64_t seconds = strtoull(at, &end, 10);

	if (end == at || *end != '.')
		return NULL;
	for (at = end + 1; isdigit((unsigned char)*at); at++, unit /= 10)
		ns += unit * (uint64_t)(*at - '0');
	*ret_ns = seconds * 1000000000 + ns;
	return at;
}

/* An address: a word of hexadecimal digits. */
static const char *parse_address(const char *at, uint64_t *ret_ip)
{
	const char *end = word_end(at);
	char *stop;

	*ret_ip = strtoull(at, &stop, 16);
	return stop == end && stop != at && isxdigit((unsigned char)*at) ? end : NULL;
}

static struct script_text trimmed(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	return (struct script_text){from, (size_t)(to - from)};
}

/* "NAME+0xOFFSET (OBJECT)", "[unknown] (OBJECT)", up to `end`. */
static void parse_symbol(const char *at, const char *end, struct script_place *place)
{
	const char *open = end, *plus = NULL;
	struct script_text whole = trimmed(at, end);

	if (whole.len && whole.at[whole.len - 1] == ')') {
		/*
		 * Objects may have parentheses: "(deleted)". The first one after a blank that follows the
		 * offset.
		 */
		for (open = whole.at; open < end; open++)
			if (*open == '(' && (open == whole.at || open[-1] == ' ') &&
			    (!strncmp(whole.at, "[unknown]", 9) ||
			     memmem(whole.at, (size_t)(open - whole.at), "+0x", 3)))
				break;
		if (open == end)
			open = memrchr(whole.at, '(', whole.len);
		if (open)
			place->object = trimmed(open + 1, whole.at + whole.len - 1);
		else
			open = end;
	}
	whole = trimmed(at, open < end ? open : end);
	for (size_t i = whole.len; i-- > 0 && !plus;)
		if (whole.at[i] == '+' && !strncmp(whole.at + i, "+0x", 3))
			plus = whole.at + i;
	place->named = whole.len && !(whole.len == 9 && !memcmp(whole.at, "[unknown]", 9));
	place->has_offset = plus != NULL;
	if (plus)
		place->offset = strtoull(plus + 3, NULL, 16);
	place->name = trimmed(whole.at, plus ? plus : whole.at + whole.len);
}

static bool parse_place(const char *at, const char *end, struct script_place *place)
{
	at = skip_blanks(at);
	at = parse_address(at, &place->ip);
	if (!at || at > end)
		return false;
	parse_symbol(at, end, place);
	return true;
}

/* ---- branches ---- */

static const struct {
	const char *words;
	enum branch_kind kind;
	uint8_t flags;
} kinds[] = {
	{"call", BRANCH_CALL, 0},
	{"return", BRANCH_RETURN, 0},
	{"jmp", BRANCH_JUMP, 0},
	{"jcc", BRANCH_COND, 0},
	{"syscall", BRANCH_SYSCALL, 0},
	{"sysret", BRANCH_SYSRET, 0},
	{"iret", BRANCH_SYSRET, 0},
	{"hw int", BRANCH_INTERRUPT, 0},
	{"int", BRANCH_SYSCALL, 0},
	{"async", BRANCH_INTERRUPT, 0},
	{"tx abrt", BRANCH_TX_ABORT, 0},
	{"tr strt", BRANCH_NONE, BRANCH_TRACE_START},
	{"tr strt jmp", BRANCH_NONE, BRANCH_TRACE_START},
	{"tr strt tr end", BRANCH_NONE, 0},
	{"tr end", BRANCH_INTERRUPT, BRANCH_TRACE_END},
	{"tr end async", BRANCH_INTERRUPT, BRANCH_TRACE_END},
	{"tr end hw int", BRANCH_INTERRUPT, BRANCH_TRACE_END},
	{"tr end call", BRANCH_CALL, BRANCH_TRACE_END},
	{"tr end return", BRANCH_RETURN, BRANCH_TRACE_END},
	{"tr end syscall", BRANCH_SYSCALL, BRANCH_TRACE_END},
	{"tr end int", BRANCH_SYSCALL, BRANCH_TRACE_END},
	{"tr end sysret", BRANCH_SYSRET, BRANCH_TRACE_END},
	{"tr end iret", BRANCH_SYSRET, BRANCH_TRACE_END},
	{"tr end jmp", BRANCH_JUMP, BRANCH_TRACE_END},
	{"tr end jcc", BRANCH_COND, BRANCH_TRACE_END},
	{"vmentry", BRANCH_SYSRET, 0},
	{"vmexit", BRANCH_INTERRUPT, 0},
};

/* The words up to the first address, without "(x)" (in a transaction) and the like. */
static const char *parse_kind(const char *at, struct branch *branch)
{
	char words[64] = "";
	size_t len = 0;
	uint64_t ip;

	for (at = skip_blanks(at); *at && !parse_address(at, &ip); at = skip_blanks(word_end(at))) {
		size_t word = (size_t)(word_end(at) - at);

		if (*at == '(')
			continue;
		if (len + word + 2 > sizeof(words))
			return NULL;
		if (len)
			words[len++] = ' ';
		memcpy(words + len, at, word);
		len += word;
		words[len] = '\0';
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(words, kinds[i].words))
			continue;
		branch->kind = (uint8_t)kinds[i].kind;
		branch->flags = kinds[i].flags;
		return at;
	}
	return NULL;
}

/* The last arrow that an address follows. */
static const char *find_arrow(const char *at)
{
	const char *found = NULL;
	uint64_t ip;

	while ((at = strstr(at, " => "))) {
		if (parse_address(skip_blanks(at + 4), &ip))
			found = at;
		at += 4;
	}
	return found;
}

static bool parse_branch(struct script_line *line, const char *at)
{
	const char *arrow;

	at = parse_kind(at, &line->branch);
	arrow = at ? find_arrow(at) : NULL;
	if (!arrow || !parse_place(at, arrow, &line->from) ||
	    !parse_place(arrow + 4, arrow + strlen(arrow), &line->to))
		return false;
	line->is_branch = true;
	line->branch.tsc = line->time_ns;
	line->branch.from = line->branch.flags & BRANCH_TRACE_START ? 0 : line->from.ip;
	line->branch.to = line->branch.flags & BRANCH_TRACE_END ? 0 : line->to.ip;
	return true;
}

/* ---- lines ---- */

/* " instruction trace error type 1 time 1.2 cpu 0 pid 1 tid 1 ip 0x10 code 7: Overflow packet" */
static bool parse_error(struct script_line *line, const char *text)
{
	const char *time = strstr(text, " time "), *pid = strstr(text, " pid "), *tid = strstr(text, " tid ");
	const char *code = strstr(text, " code "), *message = code ? strstr(code, ": ") : NULL;

	if (!pid || !tid || !message)
		return false;
	line->type = SCRIPT_ERROR;
	line->pid = (int32_t)strtol(pid + 5, NULL, 10);
	line->tid = (int32_t)strtol(tid + 5, NULL, 10);
	line->has_time = time && parse_time(time + 6, &line->time_ns);
	line->message = trimmed(message + 2, message + strlen(message));
	return true;
}

static bool is_event(struct script_text event, const char *name)
{
	return event.len == strlen(name) && !memcmp(event.at, name, event.len);
}

/* PERIOD EVENT: ... */
static bool parse_event(struct script_line *line, const char *at)
{
	const char *end;
	char *stop;

	at = skip_blanks(at);
	line->period = strtoull(at, &stop, 10);
	if (stop != at && (*stop == ' ' || *stop == '\t'))
		at = skip_blanks(stop);
	end = word_end(at);
	if (end == at || end[-1] != ':')
		return parse_branch(line,
				    at); /* without the fields "event" and "period" it can be nothing else */
	line->event = (struct script_text){at, strcspn(at, "/:")};
	line->message = trimmed(end, end + strlen(end));
	if (is_event(line->event, "branches"))
		return parse_branch(line, end);
	return true;
}

/* An event with an address of its own: "ADDR IP NAME+0xOFFSET (OBJECT)" or without ADDR. */
static void parse_event_place(struct script_line *line)
{
	const char *at = line->message.at, *end, *next;
	uint64_t ip;

	if (line->is_branch || !line->message.len || !(next = parse_address(at, &ip)))
		return;
	end = at + line->message.len;
	line->has_place = parse_place(next, end, &line->to) || parse_place(at, end, &line->to);
}

static bool parse_header(struct script_line *line, const char *at)
{
	char *end;

	line->type = SCRIPT_HEADER;
	line->pid = (int32_t)strtol(at, &end, 10);
	if (end == at || *end != '/')
		return false;
	at = end + 1;
	line->tid = (int32_t)strtol(at, &end, 10);
	if (end == at)
		return false;
	at = parse_time(skip_blanks(end), &line->time_ns);
	if (!at || *at != ':')
		return false;
	line->has_time = true;
	if (!parse_event(line, at + 1))
		return false;
	parse_event_place(line);
	return true;
}

bool script_line_parse(struct script_line *ret_line, const char *text)
{
	const char *at = skip_blanks(text);

	*ret_line = (struct script_line){0};
	if (!*at || *at == '#')
		return true;
	if (!strncmp(at, "instruction trace error", 23))
		return parse_error(ret_line, text);
	if (*text == '\t') {
		ret_line->type = SCRIPT_FRAME;
		return parse_place(at, at + strlen(at), &ret_line->from);
	}
	return parse_header(ret_line, at);
}
