/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include "support_btf.h"

static void query_all(const struct bpf_btf *btf)
{
	uint64_t sum = 0;

	for (uint32_t id = 0; id < btf->type_cnt + 2; id++) {
		sum += (uint64_t)btf_type_size(btf, id);
		sum += (uint64_t)btf_find_field(btf, id, "bpf_timer", 16, 8);
		sum += btf_skip_modifiers(btf, id, NULL) ? 1 : 0;
	}
	/* The queries are the test; the sum only keeps them. */
	CHECK(sum != 1);
}

static uint32_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

TEST(damaged_bytes_are_refused_or_harmless)
{
	struct btf_maker b;
	uint8_t good[2048], bad[2048];
	uint64_t seed = 1;
	uint32_t size;
	int loaded = 0;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_ARRAY, 0, 0), 0);
	btf_make_word(&b, 1);
	btf_make_word(&b, 1);
	btf_make_word(&b, 3);
	btf_make_type(&b, "s", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 3), 32);
	btf_make_member(&b, "a", 1, 0);
	btf_make_member(&b, "b", 2, 32);
	btf_make_member(&b, "c", 4, 128);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 3);
	btf_make_type(&b, "e", BTF_MAKE_INFO(BTF_KIND_ENUM, 0, 1), 4);
	btf_make_word(&b, btf_make_name(&b, "E"));
	btf_make_word(&b, 1);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_FUNC_PROTO, 0, 2), 1);
	btf_make_word(&b, btf_make_name(&b, "x"));
	btf_make_word(&b, 4);
	btf_make_word(&b, 0);
	btf_make_word(&b, 0);
	btf_make_type(&b, "f", BTF_MAKE_INFO(BTF_KIND_FUNC, 0, 1), 6);
	btf_make_type(&b, "v", BTF_MAKE_INFO(BTF_KIND_VAR, 0, 0), 3);
	btf_make_word(&b, 1);
	btf_make_type(&b, ".bss", BTF_MAKE_INFO(BTF_KIND_DATASEC, 0, 1), 32);
	btf_make_word(&b, 8);
	btf_make_word(&b, 0);
	btf_make_word(&b, 32);
	btf_make_type(&b, "tag", BTF_MAKE_INFO(BTF_KIND_DECL_TAG, 0, 0), 3);
	btf_make_word(&b, 2);
	size = btf_make_finish(&b, good);
	for (int round = 0; round < 30000; round++) {
		struct bpf_btf *btf;

		memcpy(bad, good, size);
		for (uint32_t n = rnd(&seed) % 4 + 1; n; n--) {
			uint32_t at = rnd(&seed) % size;

			bad[at] = rnd(&seed) % 2 ? (uint8_t)rnd(&seed)
						 : (uint8_t)(bad[at] ^ 1u << rnd(&seed) % 8);
		}
		if (btf_load_bytes(bad, size, &btf))
			continue;
		loaded++;
		query_all(btf);
		btf_free(btf);
	}
	CHECK(loaded > 100);
}
