/* SPDX-License-Identifier: BSD-2-Clause */
/* The floor: an XDP program that does nothing. Its cost per run is the dispatcher's, and is
 * subtracted from the others. */
#include "bench.h"
SEC("xdp") int bench(struct xdp_md *ctx)
{
	return 2;
}
LICENSE;
