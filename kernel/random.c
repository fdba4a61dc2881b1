/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/random.h"

#include <string.h>

#include "drivers/mmio.h"
#include "include/hal.h"
#include "kernel/cpu.h"

#define KEY_WORDS 8

struct generator {
	uint32_t key[KEY_WORDS];
	uint64_t out[4]; /* the half of a block that is not the next key */
	unsigned int left;
};
static struct generator generators[MAX_CPUS] __aligned(64);

static __always_inline uint32_t rotate(uint32_t v, unsigned int n)
{
	return v << n | v >> (32 - n);
}

static __always_inline void quarter(uint32_t *x, unsigned int a, unsigned int b, unsigned int c,
				    unsigned int d)
{
	x[a] += x[b];
	x[d] = rotate(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotate(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotate(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotate(x[b] ^ x[c], 7);
}

/* The ChaCha block function (RFC 8439 section 2.3) with 8 rounds. */
static void chacha8(const uint32_t key[KEY_WORDS], const uint32_t input[4], uint32_t out[16])
{
	uint32_t x[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	uint32_t start[16];

	memcpy(x + 4, key, KEY_WORDS * sizeof(*key));
	memcpy(x + 12, input, 4 * sizeof(*input));
	memcpy(start, x, sizeof(x));
	for (unsigned int round = 0; round < 8; round += 2) {
		quarter(x, 0, 4, 8, 12);
		quarter(x, 1, 5, 9, 13);
		quarter(x, 2, 6, 10, 14);
		quarter(x, 3, 7, 11, 15);
		quarter(x, 0, 5, 10, 15);
		quarter(x, 1, 6, 11, 12);
		quarter(x, 2, 7, 8, 13);
		quarter(x, 3, 4, 9, 14);
	}
	for (unsigned int i = 0; i < 16; i++)
		out[i] = x[i] + start[i];
}

/* One block: half of it replaces the key, so that earlier outputs cannot be computed any more. */
static void refill(struct generator *g, const uint32_t input[4])
{
	uint32_t block[16];

	chacha8(g->key, input, block);
	memcpy(g->key, block, sizeof(g->key));
	memcpy(g->out, block + KEY_WORDS, sizeof(g->out));
	g->left = ARRAY_SIZE(g->out);
}

uint64_t hal_random_u64(void)
{
	static const uint32_t none[4];
	unsigned long flags = cpu_irq_save();
	struct generator *g = &generators[this_cpu()->id];
	uint64_t v;

	if (g->left == 0)
		refill(g, none);
	v = g->out[--g->left];
	g->out[g->left] = 0;
	cpu_irq_restore(flags);
	return v;
}

/* RNDR (FEAT_RNG): false where there is none, or it has nothing now. */
static bool read_rndr(uint64_t *v)
{
	uint64_t fail;

	if ((SYSREG_READ(id_aa64isar0_el1) >> 60) == 0)
		return false;
	__asm__ volatile("mrs %0, S3_3_C2_C4_0; cset %1, eq" : "=r"(*v), "=r"(fail)::"cc");
	return !fail;
}

static void absorb(struct generator *g, uint64_t a, uint64_t b)
{
	const uint32_t input[4] = { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
				    (uint32_t)(b >> 32) };

	refill(g, input);
}

void random_init_cpu(const void *seed, size_t bytes)
{
	struct generator *g = &generators[this_cpu()->id];
	uint64_t v;

	for (size_t at = 0; at < bytes; at += sizeof(v)) {
		v = 0;
		memcpy(&v, (const uint8_t *)seed + at, MIN(bytes - at, sizeof(v)));
		absorb(g, v, at);
	}
	for (unsigned int i = 0; i < 4; i++)
		if (read_rndr(&v))
			absorb(g, v, i);
	/* The other CPUs start from what CPU 0 has gathered. */
	if (this_cpu()->id != 0)
		absorb(g, generators[0].out[0], generators[0].out[1]);
	absorb(g, SYSREG_READ(cntvct_el0), this_cpu()->mpidr);
	g->left = 0;
}
