/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/random.h"

#include <string.h>

#include "drivers/mmio.h"
#include "include/hal.h"
#include "kernel/cpu.h"

#define KEY_WORDS 8

#define BATCH_BLOCKS 4
#define BLOCK_WORDS  16

/* A batch of blocks: the first 32 bytes are the next key, the rest is handed out from its end. */
struct generator {
	uint32_t batch[BATCH_BLOCKS * BLOCK_WORDS];
	unsigned int left; /* words of the batch not handed out yet, and not of the key */
};
static struct generator generators[MAX_CPUS] __aligned(64);
/* From CPU 0, which has gathered more, for the others. */
static uint64_t seeds[MAX_CPUS][4];

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
static void chacha8(const uint32_t key[KEY_WORDS], const uint32_t input[4],
		    uint32_t out[BLOCK_WORDS])
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

/* The old key is overwritten, so that earlier outputs cannot be computed any more. */
static void refill(struct generator *g, uint64_t a, uint64_t b)
{
	uint32_t key[KEY_WORDS];
	uint32_t input[4] = { 0, (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b };

	memcpy(key, g->batch, sizeof(key));
	for (input[0] = 0; input[0] < BATCH_BLOCKS; input[0]++)
		chacha8(key, input, g->batch + input[0] * BLOCK_WORDS);
	g->left = ARRAY_SIZE(g->batch) - KEY_WORDS;
	memset(key, 0, sizeof(key));
}

uint64_t hal_random_u64(void)
{
	unsigned long flags = cpu_irq_save();
	struct generator *g = &generators[this_cpu()->id];
	uint32_t *word;
	uint64_t v;

	if (g->left == 0)
		refill(g, 0, 0);
	g->left -= 2;
	word = g->batch + KEY_WORDS + g->left;
	v = (uint64_t)word[1] << 32 | word[0];
	word[0] = word[1] = 0;
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

void random_init_cpu(const void *seed, size_t bytes)
{
	struct generator *g = &generators[this_cpu()->id];
	uint64_t v;

	for (size_t at = 0; at < bytes; at += sizeof(v)) {
		v = 0;
		memcpy(&v, (const uint8_t *)seed + at, MIN(bytes - at, sizeof(v)));
		refill(g, v, at);
	}
	for (unsigned int i = 0; i < 4; i++)
		if (read_rndr(&v))
			refill(g, v, i);
	if (this_cpu()->id != 0)
		for (unsigned int i = 0; i < ARRAY_SIZE(seeds[0]); i++)
			refill(g, seeds[this_cpu()->id][i], i);
	refill(g, SYSREG_READ(cntvct_el0), this_cpu()->mpidr);
	if (this_cpu()->id == 0)
		for (unsigned int i = 0; i < MAX_CPUS * ARRAY_SIZE(seeds[0]); i++)
			seeds[i / ARRAY_SIZE(seeds[0])][i % ARRAY_SIZE(seeds[0])] =
				hal_random_u64();
}
