// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Random numbers and weights of samples. The library is loaded into every program and therefore
 * does without libm: 1e-12 is more than enough here.
 */
#include "chance.h"

#include <string.h>

#include "area.h"

#define LN_2 0.69314718055994530942

uint64_t mtag__chance_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* The natural logarithm of a normal, positive number: of the exponent, and of 2/3 <= m < 4/3. */
static double ln(double x)
{
	uint64_t bits;
	double m, z, term, sum = 0;
	int exponent, i;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int)(bits >> 52) - 1023;
	bits = (bits & (~UINT64_C(0) >> 12)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof(m));
	if (m >= 4.0 / 3) {
		m /= 2;
		exponent++;
	}
	z = (m - 1) / (m + 1);
	term = z;
	for (i = 1; i < 23; i += 2) {
		sum += term / i;
		term *= z * z;
	}
	return 2 * sum + exponent * LN_2;
}

/* 1 - exp(-x) for x >= 0; with all its digits for a small x. */
static double one_less_exp(double x)
{
	double term, sum, halves = 1;
	int i;

	if (x > 40)
		return 1;
	/* exp(-x) = exp(-x / 2^n)^(2^n), and 1 - y^2 = (1 - y) (1 + y). */
	while (x > 0.25) {
		x /= 2;
		halves++;
	}
	term = x;
	sum = 0;
	for (i = 2; i < 12; i++) {
		sum += term;
		term *= -x / i;
	}
	for (; halves > 1; halves--)
		sum *= 2 - sum;
	return sum;
}

uint64_t mtag__chance_distance(uint64_t *state, uint64_t period)
{
	/* Within (0, 1], in steps of 2^-53. */
	double u = (double)((mtag__chance_next(state) >> 11) + 1) / (double)(UINT64_C(1) << 53);

	return (uint64_t)(-ln(u) * (double)period);
}

uint64_t mtag__chance_weight(uint64_t drawn, uint64_t period)
{
	const double one = (double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT);
	double p = one_less_exp((double)drawn / (double)period);

	return p >= 1 ? (uint64_t)one : (uint64_t)(one / p);
}

int mtag__chance_stays(uint64_t *state, uint64_t weight, uint64_t later)
{
	double u = (double)(mtag__chance_next(state) >> 11) / (double)(UINT64_C(1) << 53);

	return u * (double)later < (double)weight;
}

uint64_t mtag__chance_grown(uint64_t weight, uint64_t later, uint64_t more)
{
	const uint64_t one = UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT;
	uint64_t less = (uint64_t)((double)(weight - one) * ((double)later / (double)more));

	/* Large weights are rounded. */
	return weight - less < one ? one : weight - less;
}

uint64_t mtag__chance_times(uint64_t *state, uint64_t value, uint64_t weight)
{
	double exact =
		(double)value * (double)weight / (double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT);
	double u = (double)(mtag__chance_next(state) >> 11) / (double)(UINT64_C(1) << 53);

	return (uint64_t)(exact + u);
}
