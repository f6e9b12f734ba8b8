/* SPDX-License-Identifier: BSD-2-Clause */
/* Uses series instead of libm, because a preloaded library should not add libm to a program. */
#include "preload/draw.h"

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t draw_seed(uint64_t number)
{
	number += 0x9e3779b97f4a7c15;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return number ^ number >> 31;
}

/* ln(x) of 1 <= x < 2: 2 artanh((x - 1) / (x + 1)) */
static double log_mantissa(double x)
{
	double z = (x - 1) / (x + 1), power = z, sum = 0;

	for (int i = 1; i < 24; i += 2) {
		sum += power / i;
		power *= z * z;
	}
	return 2 * sum;
}

/* -ln(number / 2^64), number > 0 */
static double minus_log(uint64_t number)
{
	int zeros = __builtin_clzll(number);
	double mantissa = (double)(number << zeros >> 11) * 0x1p-52;

	return (zeros + 1) * 0.693147180559945309417 - log_mantissa(mantissa);
}

int64_t draw_distance(uint64_t *seed, uint64_t interval)
{
	*seed += 0x9e3779b97f4a7c15;
	if (interval == 1)
		return 0;
	return (int64_t)(minus_log(draw_seed(*seed) | 1) * (double)interval) + 1;
}

/* 1 - exp(-x) by its series for small x; else by that of a half: 1 - (1 - p)^2 = p (2 - p) */
static double hit_probability(double x)
{
	double term = x, sum = 0;
	int halved = 0;

	if (x > 40)
		return 1;
	for (; x > 0.5; halved++)
		term = x /= 2;
	for (int i = 2; i < 16; i++) {
		sum += term;
		term *= -x / i;
	}
	while (halved--)
		sum *= 2 - sum;
	return sum;
}

uint64_t draw_weight(uint64_t size, uint64_t interval)
{
	if (interval == 1)
		return size;
	return (uint64_t)((double)size / hit_probability((double)size / (double)interval) + 0.5);
}
