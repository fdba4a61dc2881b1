/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_OBJ_GET_INFO_BY_FD. Info structs are in and out: the client sets buffers and their sizes, the
 * answer says how much there is and fills what fits.
 */
#include "runtime/cmd.h"

#include "bpf/xlate.h"
#include "runtime/load.h"

/* min(size, what the client knows) bytes of the struct, and how many they are. */
static int info_put(struct bpf_call *call, const void *info, uint32_t size)
{
	__typeof__(call->attr.bpf.info) *attr = &call->attr.bpf.info;
	uint32_t len = MIN(attr->info_len, size);
	int err = cmd_put(call, attr->info, info, len);

	if (!err)
		attr->info_len = len;
	return err;
}

/*
 * An array of the answer: `have` elements of elem_bytes at src go to the client's buffer as far as
 * its *want goes; *want becomes have.
 */
static int put_array(struct bpf_call *call, uint64_t user, uint32_t *want, const void *src,
		     uint32_t have, uint32_t elem_bytes)
{
	uint32_t n = MIN(*want, have);

	*want = have;
	return n ? cmd_put(call, user, src, (uint64_t)n * elem_bytes) : 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

static int rec_sizes(struct bpf_prog_info *info)
{
	if ((info->nr_func_info || info->func_info_rec_size) &&
	    info->func_info_rec_size != sizeof(struct bpf_func_info))
		return -EINVAL;
	if ((info->nr_line_info || info->line_info_rec_size) &&
	    info->line_info_rec_size != sizeof(struct bpf_line_info))
		return -EINVAL;
	if ((info->nr_jited_line_info || info->jited_line_info_rec_size) &&
	    info->jited_line_info_rec_size != sizeof(__u64))
		return -EINVAL;
	info->func_info_rec_size = sizeof(struct bpf_func_info);
	info->line_info_rec_size = sizeof(struct bpf_line_info);
	info->jited_line_info_rec_size = sizeof(__u64);
	return 0;
}

static int put_map_ids(struct bpf_call *call, const struct bpf_prog *prog,
		       struct bpf_prog_info *info)
{
	uint32_t n = MIN(info->nr_map_ids, prog->map_cnt);
	uint8_t *ids;
	int err;

	info->nr_map_ids = prog->map_cnt;
	if (!n)
		return 0;
	err = cmd_out(call, info->map_ids, (uint64_t)n * sizeof(uint32_t), &ids);
	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		__builtin_memcpy(ids + i * sizeof(uint32_t), &prog->maps[i]->id, sizeof(uint32_t));
	return 0;
}

/* Instructions as dumps show them, and a tag per function; both from one copy. */
static int put_insns(struct bpf_call *call, const struct bpf_prog *prog, struct bpf_prog_info *info)
{
	uint32_t bytes = prog->insn_cnt * (uint32_t)sizeof(struct bpf_insn);
	uint32_t funcs = MAX(prog->subprog_cnt, 1u);
	uint32_t nr_tags = MIN(info->nr_prog_tags, funcs);
	struct bpf_insn *insns;
	uint8_t *tags = NULL;
	int err;

	info->nr_prog_tags = funcs;
	if (!info->xlated_prog_len && !nr_tags) {
		info->xlated_prog_len = bytes;
		return 0;
	}
	insns = hal_alloc(bytes);
	if (!insns)
		return -ENOMEM;
	xlate_dump(prog, insns);
	err = put_array(call, info->xlated_prog_insns, &info->xlated_prog_len, insns, bytes, 1);
	if (!err && nr_tags)
		err = cmd_out(call, info->prog_tags, (uint64_t)nr_tags * BPF_TAG_SIZE, &tags);
	for (uint32_t i = 0; !err && i < nr_tags; i++) {
		const struct bpf_subprog *sub = &prog->subprogs[i];

		if (funcs == 1)
			__builtin_memcpy(tags, prog->tag, BPF_TAG_SIZE);
		else
			load_tag(insns + sub->start, sub->end - sub->start,
				 tags + i * BPF_TAG_SIZE);
	}
	hal_free(insns);
	return err;
}

static int put_records(struct bpf_call *call, const struct bpf_prog *prog,
		       struct bpf_prog_info *info)
{
	int err = put_array(call, info->func_info, &info->nr_func_info, prog->func_info,
			    prog->func_info_cnt, sizeof(struct bpf_func_info));

	if (!err)
		err = put_array(call, info->line_info, &info->nr_line_info, prog->line_info,
				prog->line_info_cnt, sizeof(struct bpf_line_info));
	return err;
}

static void clear_jited(struct bpf_prog_info *info)
{
	info->jited_prog_len = 0;
	info->nr_jited_ksyms = 0;
	info->nr_jited_func_lens = 0;
	info->nr_jited_line_info = 0;
}

static int prog_info(struct bpf_call *call, const struct bpf_prog *prog)
{
	struct rt_prog_sums sums;
	struct bpf_prog_info info;
	int err;

	__builtin_memset(&info, 0, sizeof(info));
	err = cmd_copy_struct(call, call->attr.bpf.info.info, call->attr.bpf.info.info_len, &info,
			      sizeof(info));
	if (err)
		return err;
	info.type = prog->type;
	info.id = prog->id;
	info.load_time = prog->load_time_ns;
	info.created_by_uid = prog->created_by_uid;
	info.gpl_compatible = prog->gpl ? 1 : 0;
	info.ifindex = 0;
	info.netns_dev = info.netns_ino = 0;
	info.verified_insns = prog->verified_insns;
	info.btf_id = prog->btf ? prog->btf->id : 0;
	info.attach_btf_obj_id = info.attach_btf_id = 0;
	__builtin_memcpy(info.tag, prog->tag, sizeof(info.tag));
	__builtin_memcpy(info.name, prog->name, sizeof(info.name));
	rt_prog_sums(prog, &sums);
	info.run_cnt = sums.runs;
	info.run_time_ns = sums.run_ns;
	info.recursion_misses = sums.misses;
	err = put_map_ids(call, prog, &info);
	if (!err)
		err = rec_sizes(&info);
	if (!err)
		err = put_insns(call, prog, &info);
	if (!err)
		err = put_records(call, prog, &info);
	if (err)
		return err;
	clear_jited(&info);
	return info_put(call, &info, sizeof(info));
}

/* ---- maps, BTF ------------------------------------------------------------------------------- */

static int map_info(struct bpf_call *call, const struct bpf_map *map)
{
	struct bpf_map_info info;
	int err = cmd_copy_struct(call, call->attr.bpf.info.info, call->attr.bpf.info.info_len,
				  &info, sizeof(info));

	if (err)
		return err;
	__builtin_memset(&info, 0, sizeof(info));
	info.type = map->type;
	info.id = map->id;
	info.key_size = map->key_size;
	info.value_size = map->value_size;
	info.max_entries = map->max_entries;
	info.map_flags = map->map_flags;
	info.map_extra = map->map_extra;
	__builtin_memcpy(info.name, map->name, sizeof(info.name));
	if (map->btf) {
		info.btf_id = map->btf->id;
		info.btf_key_type_id = map->btf_key_type_id;
		info.btf_value_type_id = map->btf_value_type_id;
	}
	return info_put(call, &info, sizeof(info));
}

static int btf_info(struct bpf_call *call, const struct bpf_btf *btf)
{
	struct bpf_btf_info info;
	int err;

	__builtin_memset(&info, 0, sizeof(info));
	err = cmd_copy_struct(call, call->attr.bpf.info.info, call->attr.bpf.info.info_len, &info,
			      sizeof(info));
	if (!err)
		err = put_array(call, info.btf, &info.btf_size, btf->data, btf->size, 1);
	if (err)
		return err;
	if (!info.name != !info.name_len)
		return -EINVAL;
	/* Only a kernel's own BTF has a name. */
	if (info.name)
		err = cmd_put(call, info.name, "", 1);
	if (err)
		return err;
	info.name_len = 0;
	info.id = btf->id;
	info.kernel_btf = 0;
	return info_put(call, &info, sizeof(info));
}

int64_t cmd_obj_info(struct rt *rt, struct bpf_call *call)
{
	int err;
	const struct rt_handle *h = rt_handle_find(rt, call->attr.bpf.info.bpf_fd, &err);

	/* Linux answers this one call with -EBADFD. */
	if (!h)
		return err == -EBADF ? -EBADFD : err;
	switch (h->kind) {
	case RT_PROG:
		return prog_info(call, h->obj);
	case RT_MAP:
		return map_info(call, h->obj);
	case RT_BTF:
		return btf_info(call, h->obj);
	default:
		return -EINVAL;
	}
}
