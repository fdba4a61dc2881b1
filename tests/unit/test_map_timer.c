/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_timer in values: operations, firing, and its end with element, map and handle. */
#include "test.h"

#include "bpf/btf.h"
#include "bpf/prog.h"
#include "bpf/helpers.h"
#include "bpf/timer.h"
#include "hal_host.h"
#include "include/hal.h"
#include "support_map.h"

static struct bpf_prog prog;
static struct bpf_btf *btf;

/* ---- helpers, called as by a program: in a run of prog -----------------------------------------
 */

struct call {
	bpf_helper_fn fn;
	uint64_t r[3];
};

static uint64_t call_helper(void *arg)
{
	const struct call *c = arg;

	return c->fn(c->r[0], c->r[1], c->r[2], 0, 0);
}

static int in_run(bpf_helper_fn fn, void *r1, uint64_t r2, uint64_t r3)
{
	struct call call = { fn, { (uintptr_t)r1, r2, r3 } };
	struct run_ctx rc;
	uint64_t ret;

	memset(&rc, 0, sizeof(rc));
	rc.prog = &prog;
	return hal_run_enter(&rc, call_helper, &call, &ret) ? -EFAULT : (int)ret;
}

static int timer_init(void *timer, struct bpf_map *map, uint64_t flags)
{
	return in_run(helper_timer_init, timer, (uintptr_t)map, flags);
}

static int timer_set_callback(void *timer, uint64_t fn)
{
	return in_run(helper_timer_set_callback, timer, fn, 0);
}

static int timer_start(void *timer, uint64_t ns, uint64_t flags)
{
	return in_run(helper_timer_start, timer, ns, flags);
}

static int timer_cancel(void *timer)
{
	return in_run(helper_timer_cancel, timer, 0, 0);
}

/* What the callback saw and does. Called as machine code, so its address must be even. */
static struct {
	unsigned int calls;
	uint32_t key;
	void *value;
	struct bpf_map *map;
	unsigned int cpu;
	bool in_run;
	uint64_t again_ns;
	bool delete, cancel;
	int cancel_ret;
} seen;

__attribute__((aligned(16))) static uint64_t callback(uint64_t r1, uint64_t r2, uint64_t r3,
						      uint64_t r4, uint64_t r5)
{
	(void)r4;
	(void)r5;
	seen.calls++;
	seen.map = (struct bpf_map *)(uintptr_t)r1;
	memcpy(&seen.key, (const void *)(uintptr_t)r2, 4);
	seen.value = (void *)(uintptr_t)r3;
	seen.cpu = hal_cpu_id();
	seen.in_run = hal_run_current() != NULL;
	if (seen.again_ns)
		helper_timer_start(r3, seen.again_ns, 0, 0, 0);
	if (seen.cancel)
		seen.cancel_ret = (int)helper_timer_cancel(r3, 0, 0, 0, 0);
	if (seen.delete)
		seen.map->ops->delete(seen.map, &seen.key);
	return 0;
}

static void reaped(struct hal_deferred *d)
{
	(void)d;
}

static struct bpf_map *map_with_timer(enum bpf_map_type type, uint32_t flags)
{
	struct bpf_map *map;

	memset(&prog, 0, sizeof(prog));
	memset(&seen, 0, sizeof(seen));
	prog.refs = 1;
	prog.mode = PROG_MODE_FAST;
	prog.reap_fn = reaped;
	if (map_test_btf(&btf))
		return NULL;
	if (map_new_btf(&map, btf, type, 4, 24, 8, flags, MAP_TEST_INT, MAP_TEST_TIMER_VALUE))
		return NULL;
	map->reap_fn = reaped;
	return map;
}

static void done(struct bpf_map *map)
{
	/* As runtime/ does when the last handle goes. */
	map->urefs = 0;
	map->ops->release_uref(map);
	hal_quiesce_flush(true);
	CHECK_EQ(hal_host_timers_armed(), 0);
	CHECK_EQ(map->refs, 1);
	CHECK_EQ(prog.refs, 1);
	map_end(map);
	btf_free(btf);
}

static void *timer_at(struct bpf_map *map, uint32_t key)
{
	uint64_t value[3] = { 1, 2, key };

	if (map->type != BPF_MAP_TYPE_ARRAY)
		map->ops->update(map, &key, value, 0);
	return map->ops->lookup(map, &key);
}

static int start(struct bpf_map *map, uint32_t key, uint64_t ns)
{
	void *timer = timer_at(map, key);
	int err = timer_init(timer, map, 1);

	if (!err)
		err = timer_set_callback(timer, (uintptr_t)callback);
	return err ? err : timer_start(timer, ns, 0);
}

static const struct {
	enum bpf_map_type type;
	uint32_t flags;
} kinds[] = {
	{ BPF_MAP_TYPE_ARRAY, 0 },
	{ BPF_MAP_TYPE_HASH, 0 },
	{ BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_LRU_HASH, 0 },
};
#define FOR_EACH_KIND(map)                                                                         \
	for (size_t k_ = 0; k_ < ARRAY_SIZE(kinds); k_++)                                          \
		if (((map) = map_with_timer(kinds[k_].type, kinds[k_].flags)) == NULL)             \
			TEST_FAIL("no map");                                                       \
		else

TEST(timer_errors)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		void *timer = timer_at(map, 3);

		CHECK_EQ(map->has_timer, 1);
		CHECK_EQ(timer_init(timer, map, 2), -EINVAL);
		CHECK_EQ(timer_init(timer, map, 1ull << 32), -EINVAL);
		CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), -EINVAL);
		CHECK_EQ(timer_start(timer, 5, 0), -EINVAL);
		CHECK_EQ(timer_cancel(timer), -EINVAL);
		hal_host_fail_alloc(1, false);
		CHECK_EQ(timer_init(timer, map, 1), -ENOMEM);
		map->urefs = 0;
		CHECK_EQ(timer_init(timer, map, 1), -EPERM);
		map->urefs = 1;
		CHECK_EQ(timer_init(timer, map, 1), 0);
		CHECK_EQ(timer_init(timer, map, 1), -EBUSY);
		CHECK_EQ(timer_start(timer, 5, 0), -EINVAL); /* no callback yet */
		map->urefs = 0;
		CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), -EPERM);
		map->urefs = 1;
		CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), 0);
		CHECK_EQ(prog.refs, 2);
		CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), 0);
		CHECK_EQ(prog.refs, 2);
		CHECK_EQ(timer_start(timer, 5, 8), -EINVAL);
		CHECK_EQ(timer_cancel(timer), 0);
		CHECK_EQ(prog.refs, 1);
		CHECK_EQ(timer_start(timer, 5, 0), -EINVAL);
		done(map);
	}
}

TEST(timer_fires_with_key_and_value)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		CHECK_EQ(start(map, 5, 1000000), 0);
		CHECK_EQ(start(map, 2, 2000000), 0);
		hal_host_advance_ns(999000);
		CHECK_EQ(seen.calls, 0);
		hal_host_advance_ns(1000);
		CHECK_EQ(seen.calls, 1);
		CHECK_EQ(seen.key, 5);
		CHECK(seen.map == map);
		CHECK(seen.in_run);
		CHECK(!hal_run_current());
		hal_host_advance_ns(5000000);
		CHECK_EQ(seen.calls, 2);
		CHECK_EQ(seen.key, 2);
		seen.key = 2;
		CHECK(seen.value == map->ops->lookup(map, &seen.key));
		done(map);
	}
}

TEST(timer_absolute_restarted_cancelled)
{
	struct bpf_map *map = map_with_timer(BPF_MAP_TYPE_HASH, 0);
	void *timer;

	CHECK_EQ(start(map, 1, 1000), 0);
	timer = timer_at(map, 2);
	CHECK_EQ(timer_init(timer, map, 7), 0);
	CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), 0);
	CHECK_EQ(timer_start(timer, hal_ktime_ns() + 5000000, BPF_F_TIMER_ABS), 0);
	CHECK_EQ(timer_start(timer, hal_ktime_ns() + 9000000, BPF_F_TIMER_ABS), 0);
	hal_host_advance_ns(6000000);
	CHECK_EQ(seen.calls, 1);
	CHECK_EQ(seen.key, 1);
	CHECK_EQ(timer_cancel(timer), 1);
	hal_host_advance_ns(6000000);
	CHECK_EQ(seen.calls, 1);
	CHECK_EQ(timer_set_callback(timer, (uintptr_t)callback), 0);
	CHECK_EQ(timer_start(timer, UINT64_MAX, 0), 0); /* never */
	hal_host_advance_ns(1ull << 50);
	CHECK_EQ(seen.calls, 1);
	CHECK_EQ(timer_start(timer, 0, 0), 0);
	hal_host_advance_ns(1000);
	CHECK_EQ(seen.calls, 2);
	done(map);
}

TEST(timer_periodic_by_itself)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		seen.again_ns = 1000000;
		CHECK_EQ(start(map, 1, 1000000), 0);
		hal_host_advance_ns(10500000);
		CHECK(seen.calls >= 9 && seen.calls <= 10);
		done(map);
	}
}

TEST(timer_callback_cannot_cancel_itself_but_delete_itself)
{
	struct bpf_map *map = map_with_timer(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC);
	uint32_t key = 4;

	seen.cancel = seen.delete = true;
	CHECK_EQ(start(map, key, 1000), 0);
	hal_host_advance_ns(1000000);
	CHECK_EQ(seen.calls, 1);
	CHECK_EQ(seen.cancel_ret, -EDEADLK);
	CHECK(!map->ops->lookup(map, &key));
	CHECK_EQ(hal_host_irq_depth(), 0);
	done(map);
}

TEST(timer_ends_with_its_element)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		uint64_t value[3] = { 0xff, 0xff, 9 };
		uint32_t key = 1;

		CHECK_EQ(start(map, key, 1000000), 0);
		CHECK_EQ(hal_host_timers_armed(), 1);
		/* A new value has no timer, whatever its bytes say. */
		CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
		CHECK_EQ(hal_host_timers_armed(), 0);
		if (map->type != BPF_MAP_TYPE_ARRAY) {
			CHECK_EQ(start(map, key, 1000000), 0);
			CHECK_EQ(bpf_map_sys_lookup_delete(map, &key, value, 0), 0);
			CHECK_EQ(value[0], 0);
			CHECK_EQ(value[2], 1);
			CHECK_EQ(hal_host_timers_armed(), 0);
			CHECK_EQ(start(map, key, 1000000), 0);
			CHECK_EQ(map->ops->delete(map, &key), 0);
			CHECK_EQ(hal_host_timers_armed(), 0);
		}
		if (map->type == BPF_MAP_TYPE_LRU_HASH) {
			CHECK_EQ(start(map, key, 1000000), 0);
			for (key = 100; key < 150; key++)
				CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
			CHECK_EQ(hal_host_timers_armed(), 0);
		}
		hal_host_advance_ns(10000000);
		CHECK_EQ(seen.calls, 0);
		done(map);
	}
}

TEST(timer_ends_with_the_last_handle)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		for (uint32_t key = 0; key < 8; key++)
			CHECK_EQ(start(map, key, 1000000 + key), 0);
		CHECK_EQ(map->refs, 9);
		CHECK_EQ(prog.refs, 9);
		CHECK_EQ(hal_host_timers_armed(), 8);
		done(map);
		CHECK_EQ(seen.calls, 0);
	}
}

/* A pointer to a deleted element still makes a timer; it ends with the handle or the element. */
TEST(timer_in_a_deleted_element)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		uint32_t key = 1;
		void *stale = timer_at(map, key);

		if (map->type != BPF_MAP_TYPE_ARRAY)
			CHECK_EQ(map->ops->delete(map, &key), 0);
		CHECK_EQ(timer_init(stale, map, 1), 0);
		CHECK_EQ(timer_set_callback(stale, (uintptr_t)callback), 0);
		CHECK_EQ(timer_start(stale, 1000, 0), 0);
		done(map);
		CHECK_EQ(seen.calls, 0);
	}
}

TEST(timer_field_is_not_for_programs)
{
	struct bpf_map *map;

	FOR_EACH_KIND(map)
	{
		uintptr_t at = (uintptr_t)timer_at(map, 1);

		CHECK(bpf_map_owns_timer(map, at));
		CHECK(!bpf_map_owns_timer(map, at + 8));
		CHECK(!bpf_map_owns_lock(map, at));
		CHECK(!map->ops->owns_value(map, at, 8));
		CHECK(!map->ops->owns_value(map, at + 15, 2));
		CHECK(map->ops->owns_value(map, at + 16, 8));
		done(map);
	}
}
