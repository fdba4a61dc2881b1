/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers and spin locks in map values. The value's 16 bytes hold a pointer to the timer's state,
 * which lives on the heap, and a lock for both. A callback is a run of its own, in the timer's
 * interrupt.
 */
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/interp.h"
#include "bpf/prog.h"
#include "bpf/timer.h"
#include "bpf/value_lock.h"

/* A callback holds up its CPU. */
#define CALLBACK_BUDGET_NS 10000000ull

#define CLOCK_REALTIME	0
#define CLOCK_MONOTONIC 1
#define CLOCK_BOOTTIME	7

struct timer_state {
	struct hal_timer hal;
	struct bpf_map *map; /* reference: an interrupt may be about to use it */
	uint8_t *value;
	uint64_t callback;
	struct bpf_prog *prog; /* reference, or NULL: no callback */
	uint32_t running_on;   /* CPU plus 1; 0: callback not running */
	uint32_t lock;	       /* callback, prog, stopped and arming; inside the slot's */
	uint8_t stopped;       /* the value is gone: never armed or called again */
	struct hal_deferred reap;
};

/* What struct bpf_timer holds. */
struct timer_slot {
	struct timer_state *state; /* NULL: not initialised */
	uint32_t lock;
	uint32_t pad;
};
_Static_assert(sizeof(struct timer_slot) == sizeof(struct bpf_timer), "one UAPI field");

static struct timer_slot *slot_lock(uint64_t timer, unsigned long *irq)
{
	struct timer_slot *slot = helper_ptr(timer);

	*irq = hal_irq_save();
	value_lock(&slot->lock);
	return slot;
}

static void slot_unlock(struct timer_slot *slot, unsigned long irq)
{
	value_unlock(&slot->lock);
	hal_irq_restore(irq);
}

/* ---- the callback's run ---------------------------------------------------------------------- */

struct fired {
	struct timer_state *t;
	uint64_t callback;
};

static uint64_t fire_call(void *arg)
{
	const struct fired *f = arg;
	struct bpf_map *map = f->t->map;
	struct run_ctx *rc = hal_run_current();
	const void *key;
	uint32_t index;
	uint64_t ret;

	/* From here on a grace period waits for us: the value, if it is not gone yet, stays. */
	if (__atomic_load_n(&f->t->stopped, __ATOMIC_SEQ_CST))
		return 0;
	key = map->ops->key_of(map, f->t->value, &index);
	interp_region_push(rc, (uintptr_t)key, map->key_size, false);
	ret = bpf_call_function(f->callback, (uintptr_t)map, (uintptr_t)key, (uintptr_t)f->t->value,
				0, 0);
	interp_region_pop(rc);
	return ret;
}

static void fire_run(struct timer_state *t, uint64_t callback, struct bpf_prog *prog)
{
	struct fired fired = { t, callback };
	struct run_ctx rc;
	uint64_t ret;

	memset(&rc, 0, sizeof(rc));
	rc.prog = prog;
	rc.cpu = hal_cpu_id();
	rc.loops_left = BPF_LOOPS_MAX;
	rc.deadline_ns = hal_ktime_ns() + CALLBACK_BUDGET_NS;
	rc.checked = prog->mode == PROG_MODE_CHECKED;
	rc.timer = t;
	if (hal_run_enter(&rc, fire_call, &fired, &ret))
		hal_log(4, "timer callback of %s ended early (%u)", prog->name, rc.end.why);
	helper_release_held(&rc);
}

/* Apart by this much, if it fires while its callback runs on another CPU. */
#define AGAIN_NS 10000

/* Claim the run of the callback: a reference on its program, or NULL. */
static struct bpf_prog *fire_begin(struct timer_state *t, uint64_t *callback)
{
	struct bpf_prog *prog;
	uint32_t idle = 0;

	value_lock(&t->lock);
	prog = t->stopped ? NULL : t->prog;
	if (prog && !__atomic_compare_exchange_n(&t->running_on, &idle, hal_cpu_id() + 1, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		hal_timer_arm(&t->hal, hal_ktime_ns() + AGAIN_NS);
		prog = NULL;
	}
	if (prog) {
		bpf_prog_ref(prog);
		*callback = t->callback;
	}
	value_unlock(&t->lock);
	return prog;
}

/* Interrupt, interrupts masked. The value may be gone; the state is not, until the grace is over.
 */
static void timer_fire(struct hal_timer *hal)
{
	struct timer_state *t = container_of(hal, struct timer_state, hal);
	uint64_t callback;
	struct bpf_prog *prog = fire_begin(t, &callback);

	if (!prog)
		return;
	fire_run(t, callback, prog);
	__atomic_store_n(&t->running_on, 0, __ATOMIC_SEQ_CST);
	bpf_prog_put(prog);
}

/* Slot locked, or the state in no slot any more. Returns what was there, to be put. */
static struct bpf_prog *set_callback(struct timer_state *t, struct bpf_prog *prog,
				     uint64_t callback, bool stop)
{
	struct bpf_prog *old;

	value_lock(&t->lock);
	old = t->prog;
	t->prog = prog;
	t->callback = callback;
	if (stop)
		__atomic_store_n(&t->stopped, 1, __ATOMIC_SEQ_CST);
	value_unlock(&t->lock);
	return old;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static struct timer_state *state_new(struct bpf_map *map, uint64_t timer)
{
	struct timer_state *t = hal_alloc_atomic(sizeof(*t));

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->hal.fn = timer_fire;
	t->map = map;
	t->value = (uint8_t *)helper_ptr(timer) - map->timer_off;
	return t;
}

HELPER_DEF(timer_init)
{
	struct bpf_map *map = helper_map(r2);
	struct timer_slot *slot;
	struct timer_state *t;
	unsigned long irq;
	int err = 0;

	if (r3 != CLOCK_MONOTONIC && r3 != CLOCK_REALTIME && r3 != CLOCK_BOOTTIME)
		return helper_ret(-EINVAL);
	if (!map->has_timer || !map->ops->key_of)
		return helper_ret(-EINVAL);
	t = state_new(map, r1);
	slot = slot_lock(r1, &irq);
	if (slot->state)
		err = -EBUSY;
	else if (!t)
		err = -ENOMEM;
	else
		__atomic_store_n(&slot->state, t, __ATOMIC_SEQ_CST);
	/*
	 * Nobody could delete the value any more, and with it the timer. The last handle may go
	 * just now: either its owner sees the timer, or we see that.
	 */
	if (!err && !__atomic_load_n(&map->urefs, __ATOMIC_SEQ_CST)) {
		slot->state = NULL;
		err = -EPERM;
	}
	if (!err)
		bpf_map_ref(map);
	slot_unlock(slot, irq);
	if (err)
		hal_free_atomic(t);
	return helper_ret(err);
}

HELPER_DEF(timer_set_callback)
{
	struct bpf_prog *prog = bpf_function_prog(r2), *old = NULL;
	struct timer_slot *slot;
	unsigned long irq;
	int err = 0;

	if (!prog)
		prog = hal_run_current()->prog;
	slot = slot_lock(r1, &irq);
	if (!slot->state) {
		err = -EINVAL;
	} else if (!__atomic_load_n(&slot->state->map->urefs, __ATOMIC_ACQUIRE)) {
		err = -EPERM;
	} else {
		bpf_prog_ref(prog);
		old = set_callback(slot->state, prog, r2, false);
	}
	slot_unlock(slot, irq);
	if (old)
		bpf_prog_put(old);
	return helper_ret(err);
}

HELPER_DEF(timer_start)
{
	struct timer_slot *slot;
	uint64_t at_ns;
	unsigned long irq;
	int err = 0;

	/* A timer fires on the CPU that armed it anyway. */
	if (r3 & ~(uint64_t)(BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN))
		return helper_ret(-EINVAL);
	if (r3 & BPF_F_TIMER_ABS || __builtin_add_overflow(hal_ktime_ns(), r2, &at_ns))
		at_ns = r3 & BPF_F_TIMER_ABS ? r2 : UINT64_MAX;
	slot = slot_lock(r1, &irq);
	if (!slot->state || !slot->state->prog) {
		err = -EINVAL;
	} else {
		value_lock(&slot->state->lock);
		hal_timer_arm(&slot->state->hal, at_ns);
		value_unlock(&slot->state->lock);
	}
	slot_unlock(slot, irq);
	return helper_ret(err);
}

/* Is this CPU inside a timer's callback, however deep? */
static bool in_callback(const struct timer_state *t, bool any)
{
	for (const struct run_ctx *rc = hal_run_current(); rc; rc = rc->outer) {
		if (rc->timer && (any || rc->timer == t))
			return true;
	}
	return false;
}

static bool running(const struct timer_state *t)
{
	return __atomic_load_n(&t->running_on, __ATOMIC_SEQ_CST);
}

HELPER_DEF(timer_cancel)
{
	struct bpf_prog *old = NULL;
	struct timer_state *t;
	struct timer_slot *slot;
	unsigned long irq;
	bool armed;

	slot = slot_lock(r1, &irq);
	t = slot->state;
	/* Two callbacks that cancel each other would wait for each other. */
	if (!t || in_callback(t, false) || (in_callback(t, true) && running(t))) {
		slot_unlock(slot, irq);
		return helper_ret(t ? -EDEADLK : -EINVAL);
	}
	old = set_callback(t, NULL, 0, false);
	armed = hal_timer_cancel(&t->hal, false);
	slot_unlock(slot, irq);
	while (running(t))
		value_relax();
	if (old)
		bpf_prog_put(old);
	return armed;
}

static void state_reap(struct hal_deferred *d)
{
	struct timer_state *t = container_of(d, struct timer_state, reap);
	struct bpf_map *map = t->map;

	hal_timer_cancel(&t->hal, true);
	hal_free_atomic(t);
	bpf_map_put(map);
}

void bpf_timer_cancel_and_free(struct bpf_timer *timer)
{
	struct bpf_prog *old = NULL;
	struct timer_state *t;
	struct timer_slot *slot = (void *)timer;
	unsigned long irq;

	/* Most fields never had one. */
	if (!__atomic_load_n(&slot->state, __ATOMIC_SEQ_CST))
		return;
	slot = slot_lock((uintptr_t)timer, &irq);
	t = slot->state;
	slot->state = NULL;
	if (t) {
		old = set_callback(t, NULL, 0, true);
		hal_timer_cancel(&t->hal, false);
	}
	slot_unlock(slot, irq);
	if (!t)
		return;
	if (old)
		bpf_prog_put(old);
	hal_quiesce_defer(&t->reap, state_reap);
}

/* ---- spin locks ------------------------------------------------------------------------------ */

static void end_badly(struct run_ctx *rc, uint64_t addr) __attribute__((noreturn));

static void end_badly(struct run_ctx *rc, uint64_t addr)
{
	rc->end = (struct run_end){
		.why = RUN_END_BAD_CALL, .insn = ~0u, .addr = addr, .prog = rc->prog
	};
	hal_run_abort(rc);
}

/*
 * One lock at a time, as the verifier has it; a run that was not verified ends rather than wait for
 * itself with interrupts masked.
 */
HELPER_DEF(spin_lock)
{
	struct run_ctx *rc = hal_run_current();
	unsigned long irq;

	for (uint32_t i = 0; i < rc->held_nr; i++) {
		if (rc->held[i].kind == RUN_HELD_SPIN_LOCK)
			end_badly(rc, r1);
	}
	irq = hal_irq_save();
	value_lock(helper_ptr(r1));
	if (!helper_hold(rc, RUN_HELD_SPIN_LOCK, NULL, helper_ptr(r1))) {
		value_unlock(helper_ptr(r1));
		hal_irq_restore(irq);
		end_badly(rc, r1);
	}
	rc->lock_irq = irq;
	return 0;
}

HELPER_DEF(spin_unlock)
{
	struct run_ctx *rc = hal_run_current();

	if (!helper_unhold(rc, RUN_HELD_SPIN_LOCK, helper_ptr(r1)))
		end_badly(rc, r1);
	value_unlock(helper_ptr(r1));
	hal_irq_restore(rc->lock_irq);
	return 0;
}
