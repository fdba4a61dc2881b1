/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/psci.h"

#include "include/err.h"

#define PSCI_VERSION	  0x84000000u
#define PSCI_CPU_ON	  0xc4000003u
#define PSCI_SYSTEM_OFF	  0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u

#define PSCI_INVALID_PARAMETERS -2
#define PSCI_DENIED		-3
#define PSCI_ALREADY_ON		-4
#define PSCI_ON_PENDING		-5
#define PSCI_INVALID_ADDRESS	-9

/* SMC Calling Convention 1.0, DEN 0028: x0-x3 return results, x4-x17 may be changed. */
static int64_t call(enum psci_conduit conduit, uint64_t fn, uint64_t a1, uint64_t a2, uint64_t a3)
{
	register uint64_t x0 __asm__("x0") = fn;
	register uint64_t x1 __asm__("x1") = a1;
	register uint64_t x2 __asm__("x2") = a2;
	register uint64_t x3 __asm__("x3") = a3;

#define CLOBBERS                                                                                   \
	"x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",       \
		"x17", "memory", "cc"
	if (conduit == PSCI_SMC)
		__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::CLOBBERS);
	else
		__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::CLOBBERS);
#undef CLOBBERS
	return (int64_t)x0;
}

int psci_init(struct psci *p, enum psci_conduit conduit)
{
	int64_t version = (int32_t)call(conduit, PSCI_VERSION, 0, 0, 0);

	if (version < 2)
		return -ENODEV;
	*p = (struct psci){ .conduit = conduit, .version = (uint32_t)version };
	return 0;
}

int psci_cpu_on(const struct psci *p, uint64_t mpidr, uint64_t entry_pa, uint64_t context)
{
	switch ((int32_t)call(p->conduit, PSCI_CPU_ON, mpidr, entry_pa, context)) {
	case 0:
		return 0;
	case PSCI_ALREADY_ON:
	case PSCI_ON_PENDING:
		return -EALREADY;
	case PSCI_INVALID_PARAMETERS:
	case PSCI_INVALID_ADDRESS:
		return -EINVAL;
	case PSCI_DENIED:
		return -EPERM;
	default:
		return -EIO;
	}
}

void psci_system_off(const struct psci *p)
{
	call(p->conduit, PSCI_SYSTEM_OFF, 0, 0, 0);
}

void psci_system_reset(const struct psci *p)
{
	call(p->conduit, PSCI_SYSTEM_RESET, 0, 0, 0);
}
