/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include <linux/btf.h>

#include "bpf/btf.h"
#include "bpf/log.h"
#include "hal_host.h"
#include "include/err.h"

/* A builder of BTF: types as words, names as they come. */
struct builder {
	uint32_t words[1024];
	uint32_t nr;
	char names[2048];
	uint32_t names_len;
};

static void begin(struct builder *b)
{
	memset(b, 0, sizeof(*b));
	b->names_len = 1;
}

static uint32_t name(struct builder *b, const char *text)
{
	uint32_t off = b->names_len;

	if (!*text)
		return 0;
	memcpy(b->names + off, text, strlen(text) + 1);
	b->names_len += (uint32_t)strlen(text) + 1;
	return off;
}

static void word(struct builder *b, uint32_t w)
{
	b->words[b->nr++] = w;
}

#define INFO(kind, kflag, vlen) ((uint32_t)(kflag) << 31 | (uint32_t)(kind) << 24 | (vlen))

static void type(struct builder *b, const char *text, uint32_t info, uint32_t size_or_type)
{
	word(b, name(b, text));
	word(b, info);
	word(b, size_or_type);
}

static void type_int(struct builder *b, const char *text, uint32_t bytes)
{
	type(b, text, INFO(BTF_KIND_INT, 0, 0), bytes);
	word(b, BTF_INT_SIGNED << 24 | bytes * 8);
}

static void member(struct builder *b, const char *text, uint32_t of, uint32_t off)
{
	word(b, name(b, text));
	word(b, of);
	word(b, off);
}

static uint32_t finish(const struct builder *b, uint8_t *out)
{
	struct btf_header hdr = { .magic = BTF_MAGIC,
				  .version = BTF_VERSION,
				  .hdr_len = sizeof(hdr),
				  .type_len = b->nr * 4,
				  .str_off = b->nr * 4,
				  .str_len = b->names_len };

	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + sizeof(hdr), b->words, b->nr * 4);
	memcpy(out + sizeof(hdr) + b->nr * 4, b->names, b->names_len);
	return (uint32_t)sizeof(hdr) + b->nr * 4 + b->names_len;
}

static char log_text[4096];

static int load_bytes(const uint8_t *bytes, uint32_t size, struct bpf_btf **btf)
{
	/* Exact size, so that the sanitizer watches the end. */
	uint8_t *copy = malloc(size ? size : 1);
	struct bpf_log log;
	uint32_t true_size;
	int err;

	memcpy(copy, bytes, size);
	bpf_log_init(&log, BPF_LOG_LEVEL1, log_text, sizeof(log_text));
	err = btf_load(copy, size, &log, btf);
	if (bpf_log_finish(&log, &true_size))
		err = err ? err : -ENOSPC;
	free(copy);
	return err;
}

static int load(const struct builder *b, struct bpf_btf **btf)
{
	static uint8_t bytes[8192];

	return load_bytes(bytes, finish(b, bytes), btf);
}

/* 0 if it loads, else the error; nothing is kept. */
static int verdict(const struct builder *b)
{
	struct bpf_btf *btf;
	int err = load(b, &btf);

	if (!err)
		btf_free(btf);
	return err;
}

/* ---- what libbpf asks about -------------------------------------------------------------------
 */

TEST(libbpf_probe_func)
{
	struct builder b;

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "", INFO(BTF_KIND_FUNC_PROTO, 0, 1), 0);
	word(&b, name(&b, "a"));
	word(&b, 1);
	type(&b, "x", INFO(BTF_KIND_FUNC, 0, BTF_FUNC_STATIC), 2);
	CHECK_EQ(verdict(&b), 0);
	b.words[4 + 5 + 1] = INFO(BTF_KIND_FUNC, 0, BTF_FUNC_GLOBAL);
	CHECK_EQ(verdict(&b), 0);
	b.words[4 + 5 + 1] = INFO(BTF_KIND_FUNC, 0, BTF_FUNC_EXTERN);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(libbpf_probe_datasec)
{
	static const char *const names[] = { ".data", "?.data", "1 odd but printable" };

	for (int i = 0; i < 3; i++) {
		struct builder b;

		begin(&b);
		type_int(&b, "int", 4);
		type(&b, "x", INFO(BTF_KIND_VAR, 0, 0), 1);
		word(&b, BTF_VAR_STATIC);
		type(&b, names[i], INFO(BTF_KIND_DATASEC, 0, 1), 4);
		word(&b, 2);
		word(&b, 0);
		word(&b, 4);
		CHECK_EQ(verdict(&b), 0);
	}
}

TEST(libbpf_probe_kinds)
{
	struct builder b;

	begin(&b);
	type(&b, "float", INFO(BTF_KIND_FLOAT, 0, 0), 4);
	CHECK_EQ(verdict(&b), 0);

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "x", INFO(BTF_KIND_VAR, 0, 0), 1);
	word(&b, BTF_VAR_STATIC);
	type(&b, "tag", INFO(BTF_KIND_DECL_TAG, 0, 0), 2);
	word(&b, ~0u);
	CHECK_EQ(verdict(&b), 0);

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "tag", INFO(BTF_KIND_TYPE_TAG, 0, 0), 1);
	type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 2);
	CHECK_EQ(verdict(&b), 0);

	begin(&b);
	type(&b, "e", INFO(BTF_KIND_ENUM64, 0, 0), 8);
	CHECK_EQ(verdict(&b), 0);

	/* A kind of the future. */
	begin(&b);
	type(&b, "e", INFO(BTF_KIND_MAX + 1, 0, 0), 8);
	CHECK_EQ(verdict(&b), -EINVAL);
}

/* ---- the header -------------------------------------------------------------------------------
 */

TEST(header)
{
	struct builder b;
	uint8_t bytes[256];
	struct bpf_btf *btf = NULL;
	struct btf_header *hdr = (void *)bytes;
	uint32_t size;

	begin(&b);
	type_int(&b, "int", 4);
	size = finish(&b, bytes);
	for (uint32_t cut = 0; cut < size; cut++)
		CHECK(load_bytes(bytes, cut, &btf) < 0);
	CHECK(!btf);
	hdr->magic++;
	CHECK_EQ(load_bytes(bytes, size, &btf), -EINVAL);
	hdr->magic--;
	hdr->version++;
	CHECK_EQ(load_bytes(bytes, size, &btf), -ENOTSUPP);
	hdr->version--;
	hdr->flags = 1;
	CHECK_EQ(load_bytes(bytes, size, &btf), -ENOTSUPP);
	hdr->flags = 0;
	hdr->hdr_len = ~0u;
	CHECK_EQ(load_bytes(bytes, size, &btf), -EINVAL);
	hdr->hdr_len = sizeof(*hdr);
	hdr->str_off += 4;
	CHECK_EQ(load_bytes(bytes, size, &btf), -EINVAL);
	hdr->str_off -= 4;
	CHECK_EQ(load_bytes(bytes, size + 1, &btf), -EINVAL);
	CHECK_STR(log_text, "Unsupported section found\n");
	CHECK_EQ(load_bytes(bytes, size, &btf), 0);
	CHECK_EQ(btf->type_cnt, 2);
	CHECK_EQ(btf->size, size);
	CHECK_MEM(btf->data, bytes, size);
	btf_free(btf);
}

TEST(header_of_the_future)
{
	struct builder b;
	uint8_t bytes[256] = { 0 }, longer[260];
	struct bpf_btf *btf = NULL;
	uint32_t size;

	begin(&b);
	type_int(&b, "int", 4);
	size = finish(&b, bytes);
	memcpy(longer, bytes, sizeof(struct btf_header));
	memset(longer + sizeof(struct btf_header), 0, 4);
	memcpy(longer + sizeof(struct btf_header) + 4, bytes + sizeof(struct btf_header),
	       size - sizeof(struct btf_header));
	((struct btf_header *)longer)->hdr_len += 4;
	CHECK_EQ(load_bytes(longer, size + 4, &btf), 0);
	btf_free(btf);
	longer[sizeof(struct btf_header)] = 1;
	CHECK_EQ(load_bytes(longer, size + 4, &btf), -E2BIG);
}

/* ---- types that refer to each other -----------------------------------------------------------
 */

TEST(list_node_may_point_to_itself)
{
	struct builder b;

	begin(&b);
	type(&b, "node", INFO(BTF_KIND_STRUCT, 0, 1), 8);
	member(&b, "next", 2, 0);
	type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 1);
	CHECK_EQ(verdict(&b), 0);
}

TEST(struct_may_not_contain_itself)
{
	struct builder b;

	begin(&b);
	type(&b, "node", INFO(BTF_KIND_STRUCT, 0, 1), 8);
	member(&b, "next", 1, 0);
	CHECK_EQ(verdict(&b), -EINVAL);
	CHECK_STR(log_text, "[1] STRUCT node: Loop detected\n");

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "a", INFO(BTF_KIND_STRUCT, 0, 1), 8);
	member(&b, "m", 3, 0);
	type(&b, "", INFO(BTF_KIND_ARRAY, 0, 0), 0);
	word(&b, 2);
	word(&b, 1);
	word(&b, 1);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(modifier_loops)
{
	struct builder b;

	begin(&b);
	type(&b, "", INFO(BTF_KIND_CONST, 0, 0), 2);
	type(&b, "", INFO(BTF_KIND_VOLATILE, 0, 0), 1);
	CHECK_EQ(verdict(&b), -EINVAL);

	begin(&b);
	type(&b, "t", INFO(BTF_KIND_TYPEDEF, 0, 0), 2);
	type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 1);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(depth_is_bounded)
{
	struct builder b;

	begin(&b);
	for (uint32_t i = 1; i <= 31; i++)
		type(&b, "", INFO(BTF_KIND_CONST, 0, 0), i + 1);
	type_int(&b, "int", 4);
	CHECK_EQ(verdict(&b), 0);

	begin(&b);
	for (uint32_t i = 1; i <= 33; i++)
		type(&b, "", INFO(BTF_KIND_CONST, 0, 0), i + 1);
	type_int(&b, "int", 4);
	CHECK_EQ(verdict(&b), -E2BIG);
}

TEST(bad_references)
{
	static const uint32_t kinds[] = { BTF_KIND_PTR, BTF_KIND_CONST, BTF_KIND_VAR,
					  BTF_KIND_FUNC };

	for (size_t i = 0; i < 4; i++) {
		struct builder b;

		begin(&b);
		type(&b, i < 2 ? "" : "x", INFO(kinds[i], 0, 0), 77);
		if (kinds[i] == BTF_KIND_VAR)
			word(&b, 0);
		CHECK_EQ(verdict(&b), -EINVAL);
	}
}

/* What struct members may be, and where. */
TEST(member_placement)
{
	static const struct {
		uint32_t of, off, kflag, size;
		int err;
	} cases[] = {
		{ 1, 0, 0, 4, 0 },
		{ 1, 32, 0, 8, 0 },
		{ 1, 8, 0, 4, -EINVAL },
		{ 1, 33, 0, 8, -EINVAL },
		{ 2, 0, 0, 8, 0 },
		{ 2, 4, 0, 16, -EINVAL },
		{ 2, 8, 0, 8, -EINVAL },
		{ 3, 0, 0, 8, -EINVAL },
		{ 1, 3u << 24, 1, 4, 0 },
		{ 1, 33u << 24, 1, 8, -EINVAL },
		{ 2, 3u << 24, 1, 8, -EINVAL },
		{ 1, 4 | 3u << 24, 1, 4, 0 },
		{ 1, 30 | 3u << 24, 1, 4, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct builder b;

		begin(&b);
		type_int(&b, "int", 4);
		type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 1);
		type(&b, "fwd", INFO(BTF_KIND_FWD, 0, 0), 0);
		type(&b, "s", INFO(BTF_KIND_STRUCT, cases[i].kflag, 1), cases[i].size);
		member(&b, "m", cases[i].of, cases[i].off);
		if (verdict(&b) != cases[i].err)
			TEST_FAIL("case %zu: %d", i, verdict(&b));
	}
}

TEST(names)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = { { "ok_1", 0 },
		      { "1bad", -EINVAL },
		      { "with space", -EINVAL },
		      { "", -EINVAL },
		      { "a.b", 0 } };

	for (size_t i = 0; i < 5; i++) {
		struct builder b;

		begin(&b);
		type_int(&b, "int", 4);
		type(&b, cases[i].text, INFO(BTF_KIND_TYPEDEF, 0, 0), 1);
		CHECK_EQ(verdict(&b), cases[i].err);
	}
}

TEST(sizes_and_queries)
{
	struct builder b;
	struct bpf_btf *btf;
	uint32_t res;

	begin(&b);
	type_int(&b, "int", 4);			     /* 1 */
	type(&b, "", INFO(BTF_KIND_ARRAY, 0, 0), 0); /* 2: int[3] */
	word(&b, 1);
	word(&b, 1);
	word(&b, 3);
	type(&b, "", INFO(BTF_KIND_ARRAY, 0, 0), 0); /* 3: int[5][3] */
	word(&b, 2);
	word(&b, 1);
	word(&b, 5);
	type(&b, "t", INFO(BTF_KIND_TYPEDEF, 0, 0), 3); /* 4 */
	type(&b, "", INFO(BTF_KIND_CONST, 0, 0), 4);	/* 5 */
	type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 5);	/* 6 */
	type(&b, "v", INFO(BTF_KIND_VAR, 0, 0), 5);	/* 7 */
	word(&b, 1);
	CHECK_EQ(load(&b, &btf), 0);
	CHECK_EQ(btf_type_size(btf, 1), 4);
	CHECK_EQ(btf_type_size(btf, 3), 60);
	CHECK_EQ(btf_type_size(btf, 5), 60);
	CHECK_EQ(btf_type_size(btf, 6), 8);
	CHECK_EQ(btf_type_size(btf, 7), 60);
	CHECK_EQ(btf_type_size(btf, 0), -EINVAL);
	CHECK_EQ(btf_type_size(btf, 8), -EINVAL);
	CHECK(btf_skip_modifiers(btf, 5, &res) == btf_type_get(btf, 3));
	CHECK_EQ(res, 3);
	CHECK(!btf_type_get(btf, 8));
	CHECK_STR(btf_name(btf, btf_type_get(btf, 4)->name_off), "t");
	CHECK_STR(btf_name(btf, 0), "");
	CHECK(!btf_name(btf, 1u << 20));
	btf_free(btf);
}

TEST(array_too_large)
{
	struct builder b;

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "", INFO(BTF_KIND_ARRAY, 0, 0), 0);
	word(&b, 1);
	word(&b, 1);
	word(&b, 0x40000000);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(find_field)
{
	struct builder b;
	struct bpf_btf *btf;

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "bpf_spin_lock", INFO(BTF_KIND_STRUCT, 0, 1), 4); /* 2 */
	member(&b, "val", 1, 0);
	type(&b, "value", INFO(BTF_KIND_STRUCT, 0, 2), 8); /* 3 */
	member(&b, "n", 1, 0);
	member(&b, "lock", 2, 32);
	type(&b, "two", INFO(BTF_KIND_STRUCT, 0, 2), 8); /* 4 */
	member(&b, "a", 2, 0);
	member(&b, "b", 2, 32);
	type(&b, "none", INFO(BTF_KIND_STRUCT, 0, 1), 4); /* 5 */
	member(&b, "n", 1, 0);
	type(&b, "var", INFO(BTF_KIND_VAR, 0, 0), 2); /* 6 */
	word(&b, 0);
	type(&b, ".data", INFO(BTF_KIND_DATASEC, 0, 1), 16); /* 7 */
	word(&b, 6);
	word(&b, 12);
	word(&b, 4);
	type(&b, "odd", INFO(BTF_KIND_STRUCT, 0, 1), 8); /* 8 */
	member(&b, "lock", 2, 8);
	CHECK_EQ(load(&b, &btf), 0);
	CHECK_EQ(btf_find_field(btf, 3, "bpf_spin_lock", 4, 4), 4);
	CHECK_EQ(btf_find_field(btf, 4, "bpf_spin_lock", 4, 4), -E2BIG);
	CHECK_EQ(btf_find_field(btf, 5, "bpf_spin_lock", 4, 4), -ENOENT);
	CHECK_EQ(btf_find_field(btf, 3, "bpf_spin_lock", 8, 4), -ENOENT);
	CHECK_EQ(btf_find_field(btf, 7, "bpf_spin_lock", 4, 4), 12);
	CHECK_EQ(btf_find_field(btf, 8, "bpf_spin_lock", 4, 4), -EINVAL);
	CHECK_EQ(btf_find_field(btf, 99, "bpf_spin_lock", 4, 4), -ENOENT);
	btf_free(btf);
}

TEST(allocation_failures)
{
	struct builder b;
	struct bpf_btf *btf = NULL;

	begin(&b);
	type_int(&b, "int", 4);
	for (unsigned long n = 1;; n++) {
		hal_host_fail_alloc(n, false);
		int err = load(&b, &btf);

		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
		CHECK(!btf);
		CHECK_EQ(test_leaked_bytes(), 0);
	}
	hal_host_fail_alloc(0, false);
	btf_free(btf);
}

/* ---- damaged BTF ------------------------------------------------------------------------------
 */

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
	struct builder b;
	uint8_t good[2048], bad[2048];
	uint64_t seed = 1;
	uint32_t size;
	int loaded = 0;

	begin(&b);
	type_int(&b, "int", 4);
	type(&b, "", INFO(BTF_KIND_ARRAY, 0, 0), 0);
	word(&b, 1);
	word(&b, 1);
	word(&b, 3);
	type(&b, "s", INFO(BTF_KIND_STRUCT, 0, 3), 32);
	member(&b, "a", 1, 0);
	member(&b, "b", 2, 32);
	member(&b, "c", 4, 128);
	type(&b, "", INFO(BTF_KIND_PTR, 0, 0), 3);
	type(&b, "e", INFO(BTF_KIND_ENUM, 0, 1), 4);
	word(&b, name(&b, "E"));
	word(&b, 1);
	type(&b, "", INFO(BTF_KIND_FUNC_PROTO, 0, 2), 1);
	word(&b, name(&b, "x"));
	word(&b, 4);
	word(&b, 0);
	word(&b, 0);
	type(&b, "f", INFO(BTF_KIND_FUNC, 0, 1), 6);
	type(&b, "v", INFO(BTF_KIND_VAR, 0, 0), 3);
	word(&b, 1);
	type(&b, ".bss", INFO(BTF_KIND_DATASEC, 0, 1), 32);
	word(&b, 8);
	word(&b, 0);
	word(&b, 32);
	type(&b, "tag", INFO(BTF_KIND_DECL_TAG, 0, 0), 3);
	word(&b, 2);
	size = finish(&b, good);
	for (int round = 0; round < 30000; round++) {
		struct bpf_btf *btf;

		memcpy(bad, good, size);
		for (uint32_t n = rnd(&seed) % 4 + 1; n; n--) {
			uint32_t at = rnd(&seed) % size;

			bad[at] = rnd(&seed) % 2 ? (uint8_t)rnd(&seed)
						 : (uint8_t)(bad[at] ^ 1u << rnd(&seed) % 8);
		}
		if (load_bytes(bad, size, &btf))
			continue;
		loaded++;
		query_all(btf);
		btf_free(btf);
	}
	CHECK(loaded > 100);
}
