/* SPDX-License-Identifier: BSD-2-Clause */
/* Power State Coordination Interface, DEN 0022: calls to the firmware above us. */
#pragma once

#include "include/base.h"

enum psci_conduit { PSCI_HVC, PSCI_SMC };

struct psci {
	enum psci_conduit conduit;
	uint32_t version; /* major << 16 | minor */
};

/*
 * Ask for the version. The conduit must be the one that the device tree names: the other goes to
 * nobody. 0, or -ENODEV for an answer that is no PSCI 0.2 or later.
 */
int psci_init(struct psci *p, enum psci_conduit conduit) __must_check;
/*
 * Start a core at a physical address with MMU off and context in its x0.
 * 0, -EALREADY (it runs, or was asked to), -EINVAL (no such core, bad address), -EPERM, -EIO.
 */
int psci_cpu_on(const struct psci *p, uint64_t mpidr, uint64_t entry_pa,
		uint64_t context) __must_check;
/* Return only if the firmware refuses. */
void psci_system_off(const struct psci *p);
void psci_system_reset(const struct psci *p);
