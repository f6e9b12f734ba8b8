/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damages a recording at random, loads and decodes it all the way to FXT, many times over: it must end in a
 * trace or in a sentence, never in a crash or a hang. Meant for a build with sanitizers. Usage: damage
 * RECORDING ROUNDS [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "output/sink.h"
#include "rebuild/decode.h"
#include "recording/recording.h"

static uint64_t state;

/* xorshift64: the same rounds for the same seed, everywhere. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	uint8_t *bytes;

	if (!file || fstat(fileno(file), &st)) {
		perror(path);
		exit(2);
	}
	bytes = malloc((size_t)st.st_size);
	*ret_size = fread(bytes, 1, (size_t)st.st_size, file);
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(2);
	}
}

/*
 * One in three is cut off; the others have up to 16 bits flipped or bytes replaced, half of them in the first
 * 2 KiB.
 */
static size_t damage(uint8_t *bytes, size_t size)
{
	uint64_t kind = next_random() % 3, cnt = 1 + next_random() % 16;
	size_t reach = next_random() % 2 && size > 2048 ? 2048 : size;

	if (kind == 0)
		return next_random() % (size + 1);
	for (uint64_t i = 0; i < cnt; i++) {
		if (kind == 1)
			bytes[next_random() % reach] ^= (uint8_t)(1u << next_random() % 8);
		else
			bytes[next_random() % reach] = (uint8_t)next_random();
	}
	return size;
}

/* 1: a trace came out; 0: refused with a sentence. */
static int try_decode(const char *path)
{
	struct decode_config config = {.threads = 1, .source_lines = false};
	struct snapshot *snapshot = NULL;
	struct decoded *decoded = NULL;
	struct output *output;
	int err;

	fail_reset();
	err = recording_load(&snapshot, path);
	if (!err)
		err = decode_snapshot(&decoded, snapshot, &config);
	if (!err && !timeline_is_valid(decoded_timeline(decoded))) {
		printf("the timeline is not valid: %s\n", path);
		exit(1);
	}
	if (!err)
		err = output_open(&output, "/dev/null");
	if (!err) {
		err = sink_fxt.write(decoded_timeline(decoded), output);
		if (err)
			output_abort(output);
		else
			err = output_close(output);
	}
	decoded_free(decoded);
	snapshot_free(snapshot);
	if (err && !strcmp(fail_message(err), strerror(-err))) {
		printf("refused without a sentence: %d\n", err);
		exit(1);
	}
	return !err;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/trailcam-damage-XXXXXX", path[64], source[4096];
	size_t size, decoded = 0, rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint8_t *good, *bad;

	if (!rounds || !mkdtemp(dir)) {
		fputs("usage: damage RECORDING ROUNDS [SEED]\n", stderr);
		return 2;
	}
	state = argc > 3 ? strtoull(argv[3], NULL, 10) : 88172645463325252ull;
	snprintf(source, sizeof(source), "%s/data", argv[1]);
	snprintf(path, sizeof(path), "%s/data", dir);
	good = read_file(source, &size);
	bad = malloc(size);
	for (size_t i = 0; i < rounds; i++) {
		memcpy(bad, good, size);
		write_file(path, bad, damage(bad, size));
		decoded += (size_t)try_decode(dir);
	}
	if (!decoded) {
		puts("nothing was decoded at all");
		return 1;
	}
	printf("%zu rounds: %zu decoded, %zu refused\n", rounds, decoded, rounds - decoded);
	unlink(path);
	rmdir(dir);
	free(good);
	free(bad);
	return 0;
}
