/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pure code (lib bpf maps jit wire runtime) may ask of the machine: link-time functions, three
 * implementations: kernel/hal_arm64.c (the board), tests/unit/hal_host.c (host and qemu-aarch64
 * tests, with fault injection) and host/hal_cli.c (what the CLI needs of it).
 *
 * Context words used in all headers:
 *   thread   the server loop or console on CPU 0, or a function called by hal_cpu_call
 *   run      inside a program (any CPU); may also be inside an interrupt (hook programs)
 *   irq      interrupt handler
 *   any      all of these
 */
#pragma once

#include "include/base.h"

/* ---- memory --------------------------------------------------------------------------------- */

/* Zeroed heap memory, 16-byte aligned, or NULL. Accounted. Context: thread. */
void *hal_alloc(size_t bytes) __must_check;
/* p from hal_alloc or NULL. Context: thread. */
void hal_free(void *p);

/*
 * Heap memory that may be taken and given back while programs run (map elements without
 * preallocation). Never sleeps; not zeroed; 8-byte aligned; NULL when its reserve is used up.
 * Context: any.
 */
void *hal_alloc_atomic(size_t bytes) __must_check;
void hal_free_atomic(void *p);

/*
 * Map memory: zeroed, page aligned, virtually contiguous, never executable, in the top 4 GB of the
 * address space (any address in it is built by ADRP+ADD or MOVN+MOVK). 2 MB blocks back it where
 * the size justifies them, 4 KB pages else. NULL when there is none. Context: thread.
 */
void *hal_map_alloc(size_t bytes) __must_check;
/* bytes as given to hal_map_alloc. */
void hal_map_free(void *p, size_t bytes);
/*
 * Map memory whose last part is seen twice, so that what runs over its end goes on at its start:
 * [head_bytes][bytes][the same bytes again]. Both are multiples of 4 KB, bytes is not 0. Context:
 * thread.
 */
void *hal_map_alloc_mirror(size_t head_bytes, size_t bytes) __must_check;
void hal_map_free_mirror(void *p, size_t head_bytes, size_t bytes);

/*
 * Per-CPU memory: one zeroed copy a possible CPU, at equal offsets. The result is a base to give to
 * hal_percpu_ptr, not an address to read. align is a power of two <= 64. Context: thread.
 */
void *hal_percpu_alloc(size_t bytes, size_t align) __must_check;
void hal_percpu_free(void *base, size_t bytes);
/* Address of cpu's copy. Context: any. */
void *hal_percpu_ptr(void *base, unsigned int cpu);

/* ---- CPUs ----------------------------------------------------------------------------------- */

/* Number of this CPU, 0 .. hal_cpu_count()-1. Stable while interrupts are masked or in a run. */
unsigned int hal_cpu_id(void);
/* Possible CPUs (what a client sees in /sys/devices/system/cpu/possible); constant after boot. */
unsigned int hal_cpu_count(void);
/* Mask interrupts on this CPU; returns what hal_irq_restore takes. Nests. Context: any. */
unsigned long hal_irq_save(void);
void hal_irq_restore(unsigned long flags);
/*
 * Call fn(arg) on a CPU and wait for its end. 0, -EINVAL (no such CPU), -ENODEV (CPU not
 * online). On the caller's own CPU it is a plain call. Context: thread.
 */
int hal_cpu_call(unsigned int cpu, void (*fn)(void *arg), void *arg) __must_check;

/* ---- time and chance ------------------------------------------------------------------------ */

/* Monotonic nanoseconds since boot. Context: any. */
uint64_t hal_ktime_ns(void);
/* Unpredictable bits for map secrets and get_prandom_u32; not for long-term keys. Context: any. */
uint64_t hal_random_u64(void);

/*
 * One-shot timer. fn runs in irq context on the CPU that armed it, with interrupts masked. The
 * memory belongs to the caller; zero it before first use.
 */
struct hal_timer {
	void (*fn)(struct hal_timer *t);
	uint64_t expires_ns; /* absolute, hal_ktime_ns clock */
	void *priv[4];	     /* the implementation's */
};
/* (Re-)arm. Context: any. */
void hal_timer_arm(struct hal_timer *t, uint64_t expires_ns);
/* Returns true if it was armed. With wait, returns only when fn is not running (thread only). */
bool hal_timer_cancel(struct hal_timer *t, bool wait);

/* ---- reclamation ---------------------------------------------------------------------------- */

/*
 * A CPU is quiescent when it is in no run and in no server request. hal_quiesce_wait returns after
 * every CPU was quiescent at least once since the call; the caller counts as quiescent.
 * Context: thread.
 */
void hal_quiesce_wait(void);
/* Call fn(d) after a grace period, in thread context, later. d is part of the object to free. */
struct hal_deferred {
	struct hal_deferred *next;
	void (*fn)(struct hal_deferred *d);
	uint64_t stamp;
};
/* Context: any. */
void hal_quiesce_defer(struct hal_deferred *d, void (*fn)(struct hal_deferred *d));
/* Run what is due; with wait, everything queued before the call. Context: thread. */
void hal_quiesce_flush(bool wait);

/* ---- runs and faults ------------------------------------------------------------------------ */

struct run_ctx;
/* The innermost run on this CPU, or NULL. Context: any. */
struct run_ctx *hal_run_current(void);
/*
 * Call fn(arg) as a run: run_ctx becomes this CPU's current one (nested in an outer one, if any)
 * and a fault or hal_run_abort inside ends fn and comes back here. 0 with *ret set, or -EFAULT
 * with rc->end filled in. Context: thread, irq.
 */
int hal_run_enter(struct run_ctx *rc, uint64_t (*fn)(void *arg), void *arg,
		  uint64_t *ret) __must_check;
/* End the current run at once; rc->end says why (set by the caller). Context: run. */
void hal_run_abort(struct run_ctx *rc) __attribute__((noreturn));
/*
 * Copy n bytes from an address that may be bad. 0, or -EFAULT with dst zeroed. Device memory
 * and unmapped addresses give -EFAULT. Context: any.
 */
int hal_probe_read(void *dst, const void *src, size_t n) __must_check;

/* ---- words ---------------------------------------------------------------------------------- */

/* A line of bpf_trace_printk output (what trace_pipe shows). Context: any. */
void hal_trace(const char *text, size_t len);
/* A line of the board's own log. level as in Linux: 3 error, 4 warning, 6 info, 7 debug. */
void hal_log(int level, const char *fmt, ...) __printf_like(2, 3);

/* ---- the board's own devices, for programs (bpf/helpers_board.c) ------------------------------
 */

/*
 * General purpose pins by the chip's numbers. get: 0 or 1. All: -errno; -ENODEV no pins here,
 * -EINVAL no such pin, -EBUSY the pin is the board's (console). Context: any.
 */
int hal_gpio_get(unsigned int pin);
int hal_gpio_set(unsigned int pin, bool high);
/* Input, or output at the level that was set last. */
int hal_gpio_set_output(unsigned int pin, bool output);
/*
 * Text for whoever looks at the serial line, between the frames, all or nothing. 0, -E2BIG, -EINVAL
 * (a zero byte, which ends frames), -EAGAIN (no room now). Context: any.
 */
int hal_line_write(const char *text, size_t len);
/* enum board_id of include/barebpf_helpers.h. Context: any. */
uint32_t hal_board_id(void);
/* The system counter (CNTVCT_EL0) and its rate. Context: any. */
uint64_t hal_counter(void);
uint64_t hal_counter_hz(void);
