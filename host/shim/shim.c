/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * barebpf-shim.so: `barebpf exec` preloads it into a bpf(2) client. Everything else is in
 * host/common, which the CLI shares.
 */
#include "host/common/client.h"

__attribute__((constructor)) static void shim_start(void)
{
	/* Without a broker in the environment every replaced function passes on. */
	if (client_open_env())
		return;
}
