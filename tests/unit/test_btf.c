/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include "hal_host.h"
#include "include/err.h"
#include "support_btf.h"

/* 0 if it loads, else the error; nothing is kept. */
static int verdict(const struct btf_maker *b)
{
	struct bpf_btf *btf;
	int err = btf_load_made(b, &btf);

	if (!err)
		btf_free(btf);
	return err;
}

/* ---- what libbpf asks about -------------------------------------------------------------------
 */

TEST(libbpf_probe_func)
{
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_FUNC_PROTO, 0, 1), 0);
	btf_make_word(&b, btf_make_name(&b, "a"));
	btf_make_word(&b, 1);
	btf_make_type(&b, "x", BTF_MAKE_INFO(BTF_KIND_FUNC, 0, BTF_FUNC_STATIC), 2);
	CHECK_EQ(verdict(&b), 0);
	b.words[4 + 5 + 1] = BTF_MAKE_INFO(BTF_KIND_FUNC, 0, BTF_FUNC_GLOBAL);
	CHECK_EQ(verdict(&b), 0);
	b.words[4 + 5 + 1] = BTF_MAKE_INFO(BTF_KIND_FUNC, 0, BTF_FUNC_EXTERN);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(libbpf_probe_datasec)
{
	static const char *const names[] = { ".data", "?.data", "1 odd but printable" };

	for (int i = 0; i < 3; i++) {
		struct btf_maker b;

		btf_make_begin(&b);
		btf_make_type_int(&b, "int", 4);
		btf_make_type(&b, "x", BTF_MAKE_INFO(BTF_KIND_VAR, 0, 0), 1);
		btf_make_word(&b, BTF_VAR_STATIC);
		btf_make_type(&b, names[i], BTF_MAKE_INFO(BTF_KIND_DATASEC, 0, 1), 4);
		btf_make_word(&b, 2);
		btf_make_word(&b, 0);
		btf_make_word(&b, 4);
		CHECK_EQ(verdict(&b), 0);
	}
}

TEST(libbpf_probe_kinds)
{
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type(&b, "float", BTF_MAKE_INFO(BTF_KIND_FLOAT, 0, 0), 4);
	CHECK_EQ(verdict(&b), 0);

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "x", BTF_MAKE_INFO(BTF_KIND_VAR, 0, 0), 1);
	btf_make_word(&b, BTF_VAR_STATIC);
	btf_make_type(&b, "tag", BTF_MAKE_INFO(BTF_KIND_DECL_TAG, 0, 0), 2);
	btf_make_word(&b, ~0u);
	CHECK_EQ(verdict(&b), 0);

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "tag", BTF_MAKE_INFO(BTF_KIND_TYPE_TAG, 0, 0), 1);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 2);
	CHECK_EQ(verdict(&b), 0);

	btf_make_begin(&b);
	btf_make_type(&b, "e", BTF_MAKE_INFO(BTF_KIND_ENUM64, 0, 0), 8);
	CHECK_EQ(verdict(&b), 0);

	/* A kind of the future. */
	btf_make_begin(&b);
	btf_make_type(&b, "e", BTF_MAKE_INFO(BTF_KIND_MAX + 1, 0, 0), 8);
	CHECK_EQ(verdict(&b), -EINVAL);
}

/* ---- the header -------------------------------------------------------------------------------
 */

TEST(header)
{
	struct btf_maker b;
	uint8_t bytes[256];
	struct bpf_btf *btf = NULL;
	struct btf_header *hdr = (void *)bytes;
	uint32_t size;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	size = btf_make_finish(&b, bytes);
	for (uint32_t cut = 0; cut < size; cut++)
		CHECK(btf_load_bytes(bytes, cut, &btf) < 0);
	CHECK(!btf);
	hdr->magic++;
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), -EINVAL);
	hdr->magic--;
	hdr->version++;
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), -ENOTSUPP);
	hdr->version--;
	hdr->flags = 1;
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), -ENOTSUPP);
	hdr->flags = 0;
	hdr->hdr_len = ~0u;
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), -EINVAL);
	hdr->hdr_len = sizeof(*hdr);
	hdr->str_off += 4;
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), -EINVAL);
	hdr->str_off -= 4;
	CHECK_EQ(btf_load_bytes(bytes, size + 1, &btf), -EINVAL);
	CHECK_STR(btf_log_text, "Unsupported section found\n");
	CHECK_EQ(btf_load_bytes(bytes, size, &btf), 0);
	CHECK_EQ(btf->type_cnt, 2);
	CHECK_EQ(btf->size, size);
	CHECK_MEM(btf->data, bytes, size);
	btf_free(btf);
}

TEST(header_of_the_future)
{
	struct btf_maker b;
	uint8_t bytes[256] = { 0 }, longer[260];
	struct bpf_btf *btf = NULL;
	uint32_t size;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	size = btf_make_finish(&b, bytes);
	memcpy(longer, bytes, sizeof(struct btf_header));
	memset(longer + sizeof(struct btf_header), 0, 4);
	memcpy(longer + sizeof(struct btf_header) + 4, bytes + sizeof(struct btf_header),
	       size - sizeof(struct btf_header));
	((struct btf_header *)longer)->hdr_len += 4;
	CHECK_EQ(btf_load_bytes(longer, size + 4, &btf), 0);
	btf_free(btf);
	longer[sizeof(struct btf_header)] = 1;
	CHECK_EQ(btf_load_bytes(longer, size + 4, &btf), -E2BIG);
}

/* ---- types that refer to each other -----------------------------------------------------------
 */

TEST(list_node_may_point_to_itself)
{
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type(&b, "node", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 8);
	btf_make_member(&b, "next", 2, 0);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 1);
	CHECK_EQ(verdict(&b), 0);
}

TEST(struct_may_not_contain_itself)
{
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type(&b, "node", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 8);
	btf_make_member(&b, "next", 1, 0);
	CHECK_EQ(verdict(&b), -EINVAL);
	CHECK_STR(btf_log_text, "[1] STRUCT node: Loop detected\n");

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "a", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 8);
	btf_make_member(&b, "m", 3, 0);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_ARRAY, 0, 0), 0);
	btf_make_word(&b, 2);
	btf_make_word(&b, 1);
	btf_make_word(&b, 1);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(modifier_loops)
{
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_CONST, 0, 0), 2);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_VOLATILE, 0, 0), 1);
	CHECK_EQ(verdict(&b), -EINVAL);

	btf_make_begin(&b);
	btf_make_type(&b, "t", BTF_MAKE_INFO(BTF_KIND_TYPEDEF, 0, 0), 2);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 1);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(depth_is_bounded)
{
	struct btf_maker b;

	btf_make_begin(&b);
	for (uint32_t i = 1; i <= 31; i++)
		btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_CONST, 0, 0), i + 1);
	btf_make_type_int(&b, "int", 4);
	CHECK_EQ(verdict(&b), 0);

	btf_make_begin(&b);
	for (uint32_t i = 1; i <= 33; i++)
		btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_CONST, 0, 0), i + 1);
	btf_make_type_int(&b, "int", 4);
	CHECK_EQ(verdict(&b), -E2BIG);
}

TEST(bad_references)
{
	static const uint32_t kinds[] = { BTF_KIND_PTR, BTF_KIND_CONST, BTF_KIND_VAR,
					  BTF_KIND_FUNC };

	for (size_t i = 0; i < 4; i++) {
		struct btf_maker b;

		btf_make_begin(&b);
		btf_make_type(&b, i < 2 ? "" : "x", BTF_MAKE_INFO(kinds[i], 0, 0), 77);
		if (kinds[i] == BTF_KIND_VAR)
			btf_make_word(&b, 0);
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
		struct btf_maker b;

		btf_make_begin(&b);
		btf_make_type_int(&b, "int", 4);
		btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 1);
		btf_make_type(&b, "fwd", BTF_MAKE_INFO(BTF_KIND_FWD, 0, 0), 0);
		btf_make_type(&b, "s", BTF_MAKE_INFO(BTF_KIND_STRUCT, cases[i].kflag, 1),
			      cases[i].size);
		btf_make_member(&b, "m", cases[i].of, cases[i].off);
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
		struct btf_maker b;

		btf_make_begin(&b);
		btf_make_type_int(&b, "int", 4);
		btf_make_type(&b, cases[i].text, BTF_MAKE_INFO(BTF_KIND_TYPEDEF, 0, 0), 1);
		CHECK_EQ(verdict(&b), cases[i].err);
	}
}

TEST(sizes_and_queries)
{
	struct btf_maker b;
	struct bpf_btf *btf;
	uint32_t res;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);			       /* 1 */
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_ARRAY, 0, 0), 0); /* 2: int[3] */
	btf_make_word(&b, 1);
	btf_make_word(&b, 1);
	btf_make_word(&b, 3);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_ARRAY, 0, 0), 0); /* 3: int[5][3] */
	btf_make_word(&b, 2);
	btf_make_word(&b, 1);
	btf_make_word(&b, 5);
	btf_make_type(&b, "t", BTF_MAKE_INFO(BTF_KIND_TYPEDEF, 0, 0), 3); /* 4 */
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_CONST, 0, 0), 4);	  /* 5 */
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_PTR, 0, 0), 5);	  /* 6 */
	btf_make_type(&b, "v", BTF_MAKE_INFO(BTF_KIND_VAR, 0, 0), 5);	  /* 7 */
	btf_make_word(&b, 1);
	CHECK_EQ(btf_load_made(&b, &btf), 0);
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
	struct btf_maker b;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "", BTF_MAKE_INFO(BTF_KIND_ARRAY, 0, 0), 0);
	btf_make_word(&b, 1);
	btf_make_word(&b, 1);
	btf_make_word(&b, 0x40000000);
	CHECK_EQ(verdict(&b), -EINVAL);
}

TEST(find_field)
{
	struct btf_maker b;
	struct bpf_btf *btf;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	btf_make_type(&b, "bpf_spin_lock", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 4); /* 2 */
	btf_make_member(&b, "val", 1, 0);
	btf_make_type(&b, "value", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 2), 8); /* 3 */
	btf_make_member(&b, "n", 1, 0);
	btf_make_member(&b, "lock", 2, 32);
	btf_make_type(&b, "two", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 2), 8); /* 4 */
	btf_make_member(&b, "a", 2, 0);
	btf_make_member(&b, "b", 2, 32);
	btf_make_type(&b, "none", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 4); /* 5 */
	btf_make_member(&b, "n", 1, 0);
	btf_make_type(&b, "var", BTF_MAKE_INFO(BTF_KIND_VAR, 0, 0), 2); /* 6 */
	btf_make_word(&b, 0);
	btf_make_type(&b, ".data", BTF_MAKE_INFO(BTF_KIND_DATASEC, 0, 1), 16); /* 7 */
	btf_make_word(&b, 6);
	btf_make_word(&b, 12);
	btf_make_word(&b, 4);
	btf_make_type(&b, "odd", BTF_MAKE_INFO(BTF_KIND_STRUCT, 0, 1), 8); /* 8 */
	btf_make_member(&b, "lock", 2, 8);
	CHECK_EQ(btf_load_made(&b, &btf), 0);
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
	struct btf_maker b;
	struct bpf_btf *btf = NULL;

	btf_make_begin(&b);
	btf_make_type_int(&b, "int", 4);
	for (unsigned long n = 1;; n++) {
		hal_host_fail_alloc(n, false);
		int err = btf_load_made(&b, &btf);

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
