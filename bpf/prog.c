/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/prog.h"

#include "bpf/interp.h"

void bpf_prog_free_parts(struct bpf_prog *prog)
{
	interp_free(prog->interp);
	hal_percpu_free(prog->stats, sizeof(struct prog_stats));
	hal_free(prog->line_info);
	hal_free(prog->func_info);
	hal_free(prog->maps);
	hal_free(prog->subprogs);
	hal_free(prog->aux);
	hal_free(prog->insns);
	hal_free(prog->orig);
}
