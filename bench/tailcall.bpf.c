/* SPDX-License-Identifier: BSD-2-Clause */
/* A chain of 8 tail calls, each hop with a constant index; the last returns 42. */
#include "bench.h"
int t0(struct xdp_md *), t1(struct xdp_md *), t2(struct xdp_md *), t3(struct xdp_md *),
	t4(struct xdp_md *), t5(struct xdp_md *), t6(struct xdp_md *), t7(struct xdp_md *);
struct {
	__uint(type, MAP_PROG_ARRAY);
	__uint(max_entries, 8);
	__uint(key_size, 4);
	__array(values, int(struct xdp_md *));
} jmp SEC(".maps") = {
	.values = { (void *)&t0, (void *)&t1, (void *)&t2, (void *)&t3, (void *)&t4, (void *)&t5,
		    (void *)&t6, (void *)&t7 },
};
#define T(n, next)                                                                                 \
	SEC("xdp") int t##n(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		tail_call(ctx, &jmp, next);                                                        \
		return 100 + n;                                                                    \
	}
T(0, 1) T(1, 2) T(2, 3) T(3, 4) T(4, 5) T(5, 6) T(6, 7) SEC("xdp") int t7(struct xdp_md *ctx)
{
	return 42;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	tail_call(ctx, &jmp, 0);
	return 99;
}
LICENSE;
