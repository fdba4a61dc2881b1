/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiler and arithmetic basics that every folder uses; the lowest layer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __must_check
#define __must_check __attribute__((warn_unused_result))
#endif
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif
#ifndef __packed
#define __packed __attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(n) __attribute__((aligned(n)))
#endif
#define __printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BIT(n)	      (1ull << (n))
/* n must be a power of two */
#define ROUND_UP(x, n)	 (((x) + ((__typeof__(x))(n) - 1)) & ~((__typeof__(x))(n) - 1))
#define ROUND_DOWN(x, n) ((x) & ~((__typeof__(x))(n) - 1))
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) min_a_ = (a);                                                        \
		__typeof__(b) min_b_ = (b);                                                        \
		min_a_ < min_b_ ? min_a_ : min_b_;                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) max_a_ = (a);                                                        \
		__typeof__(b) max_b_ = (b);                                                        \
		max_a_ > max_b_ ? max_a_ : max_b_;                                                 \
	})
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* One untorn access that the compiler neither repeats nor merges; no ordering between CPUs. */
#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
