/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives each file named to a fuzz target once, where there is no fuzzer to do so. */
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint8_t input[1 << 20];

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "re");
		size_t size;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		size = fread(input, 1, sizeof(input), file);
		fclose(file);
		LLVMFuzzerTestOneInput(input, size);
	}
	printf("%d inputs\n", argc - 1);
	return argc < 2;
}
