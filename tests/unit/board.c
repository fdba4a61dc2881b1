/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What board_discover() makes of real device trees (dumped from QEMU when the test is built), of
 * trees for the wrong machine and of none.
 */
#include "board_memory.h"

TEST(virt)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(note.text, "");
	CHECK_STR(info.name, "qemu-virt");
	CHECK_STR(info.model, "linux,dummy-virt");
	CHECK(info.from_tree);
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0x40000000);
	CHECK_EQ(info.ram[0].size_bytes, 512u << 20);
	CHECK_EQ(info.n_uarts, 1);
	CHECK_EQ(info.uart[0].type, BOARD_UART_PL011);
	CHECK_EQ(info.uart[0].base_pa, 0x09000000);
	CHECK_EQ(info.uart[0].size_bytes, 0x1000);
	CHECK_EQ(info.uart[0].intid, 33);
	CHECK_EQ(info.uart[0].clock_hz, 24000000);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.gic.dist.base_pa, 0x08000000);
	CHECK_EQ(info.gic.cpu.base_pa, 0x08010000);
	CHECK_EQ(info.timer_virt_intid, 27);
	CHECK_EQ(info.timer_phys_intid, 30);
	CHECK_EQ(info.pmu_ppi_intid, 23);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_HVC);
	CHECK(info.has_psci);
	CHECK_EQ(info.n_cpus, 4);
	for (unsigned int i = 0; i < 4; i++)
		CHECK_EQ(info.cpu[i].mpidr, i);
	CHECK_STR(info.bootargs, "test=1");
	CHECK(!info.bootargs_cut);
	CHECK_EQ(info.fdt.base_pa, FDT_PA);
	CHECK_EQ(info.fdt.size_bytes, 1 << 20);
	CHECK_EQ(info.rng_seed_bytes, 32);
	CHECK_EQ(info.watchdog_type, BOARD_WATCHDOG_NONE);
	CHECK_EQ(info.gpio_type, BOARD_GPIO_PL061);
	CHECK_EQ(info.gpio.base_pa, 0x09030000);
	memory_free();
}

TEST(virt_variants)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt-el2", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_SMC);
	CHECK_EQ(info.n_cpus, 1);

	CHECK(load_tree("virt-secure", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0x40000000);
	CHECK_EQ(info.n_uarts, 1);
	CHECK_EQ(info.uart[0].base_pa, 0x09000000);

	CHECK(load_tree("virt-gicv3", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.gic.type, BOARD_GIC_V3);
	CHECK_EQ(info.gic.n_redists, 1);
	CHECK_EQ(info.gic.redist[0].base_pa, 0x080a0000);
	CHECK_EQ(info.uart[0].intid, 33);

	/* More cores than fit, affinity 1 in use, and the boot core is not the tree's first. */
	CHECK(load_tree("virt-16", false));
	boot.mpidr = 0x81000003;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_cpus, 16);
	CHECK_EQ(info.n_cpus_ignored, 4);
	memory_free();
}

TEST(boot_core_comes_first)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", false));
	boot.mpidr = 0x80000002;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_cpus, 4);
	CHECK_EQ(info.cpu[0].mpidr, 2);
	CHECK_EQ(info.cpu[1].mpidr, 0);
	CHECK_EQ(info.cpu[2].mpidr, 1);
	CHECK_EQ(info.cpu[3].mpidr, 3);
	memory_free();
}

TEST(rpi4)
{
	struct board_boot boot = boot_on_rpi4();
	bool has_slots = false, has_memreserve = false, has_initrd = false;

	CHECK(load_tree("rpi4", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(note.text, "");
	CHECK_STR(info.name, "rpi4");
	CHECK_STR(info.model, "Raspberry Pi 4 Model B");
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0);
	CHECK_EQ(info.ram[0].size_bytes, 0x3c000000);
	/* UART3 to 5 are disabled in the tree. */
	CHECK_EQ(info.n_uarts, 2);
	CHECK_EQ(info.uart[0].type, BOARD_UART_PL011);
	CHECK_EQ(info.uart[0].base_pa, 0xfe201000);
	CHECK_EQ(info.uart[0].intid, 153);
	CHECK_EQ(info.uart[0].clock_hz, 48000000);
	CHECK_EQ(info.uart[1].type, BOARD_UART_MINI);
	CHECK_EQ(info.uart[1].base_pa, 0xfe215040);
	CHECK_EQ(info.uart[1].intid, 125);
	/* Asked for by the boot arguments. */
	CHECK_EQ(info.console_uart, 1);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.gic.dist.base_pa, 0xff841000);
	CHECK_EQ(info.gic.cpu.base_pa, 0xff842000);
	CHECK_EQ(info.cpu_method, BOARD_CPU_SPIN_TABLE);
	CHECK(!info.has_psci);
	CHECK_EQ(info.n_cpus, 4);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(info.cpu[i].mpidr, i);
		CHECK_EQ(info.cpu[i].release_pa, 0xd8 + 8 * i);
		CHECK_EQ(info.cpu[i].pmu_spi, 48 + i);
	}
	CHECK_EQ(info.pmu_ppi_intid, 23);
	CHECK_EQ(info.watchdog_type, BOARD_WATCHDOG_BCM);
	CHECK_EQ(info.watchdog.base_pa, 0xfe100000);
	CHECK_EQ(info.gpio_type, BOARD_GPIO_BCM2711);
	CHECK_EQ(info.gpio.base_pa, 0xfe200000);
	CHECK_EQ(info.mailbox.base_pa, 0xfe00b880);
	CHECK_EQ(info.initrd.base_pa, 0x8000000);
	for (unsigned int i = 0; i < info.n_reserved; i++) {
		const struct board_reserved *r = &info.reserved[i];

		has_slots |= r->type == BOARD_RESERVED_SPIN_TABLE && r->range.base_pa == 0 &&
			     r->range.size_bytes == 4096;
		has_memreserve |= r->type == BOARD_RESERVED_FIRMWARE && r->range.base_pa == 0;
		has_initrd |= r->type == BOARD_RESERVED_INITRD &&
			      r->range.size_bytes == info.initrd.size_bytes;
	}
	CHECK(has_slots);
	CHECK(has_memreserve);
	CHECK(has_initrd);
	memory_free();
}

TEST(wrong_machine)
{
	struct board_boot boot = boot_on_rpi4();

	/* The tree is sound, but its RAM is elsewhere. */
	CHECK(load_tree("virt", true));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "rpi4");
	CHECK(!info.from_tree);
	CHECK(strstr(note.text, "does not hold this image"));
	CHECK_EQ(info.uart[info.console_uart].base_pa, 0xfe201000);

	boot = boot_on_virt();
	CHECK(load_tree("rpi4", true));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "qemu-virt");
	CHECK(!info.from_tree);
	memory_free();
}

TEST(no_tree)
{
	struct board_boot boot = boot_on_rpi4();
	struct board_info untouched;

	memory_free();
	/* What QEMU passes for a raspi4b without -dtb: an ATAGS list. */
	boot.fdt_pa = 0x100;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "rpi4");
	CHECK(!info.from_tree);
	CHECK(note.text[0]);
	CHECK_EQ(info.n_cpus, 4);
	CHECK_EQ(info.cpu[3].release_pa, 0xf0);

	boot = boot_on_virt();
	boot.fdt_pa = 0;
	boot.entry_el = 2;
	boot.id_aa64pfr0 = 1 << 24;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "qemu-virt");
	CHECK_EQ(info.gic.type, BOARD_GIC_V3);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_SMC);
	boot.id_aa64pfr0 = 0;
	boot.entry_el = 1;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_HVC);

	/* A board that is known but not supported: the message has somewhere to go. */
	boot = boot_on_rpi4();
	boot.fdt_pa = 0x100;
	boot.midr = MIDR_A53;
	memset(&untouched, 0x5a, sizeof(untouched));
	info = untouched;
	CHECK_EQ(board_discover(&boot, &info, &note), -ENODEV);
	CHECK_MEM(&info, &untouched, sizeof(info));
	CHECK_EQ(note.uart.base_pa, 0x3f201000);
	CHECK(strstr(note.text, "not supported"));

	/* Nothing at all is known. */
	boot.midr = MIDR_MAX;
	CHECK_EQ(board_discover(&boot, &info, &note), -ENODEV);
	CHECK_EQ(note.uart.type, BOARD_UART_NONE);
	CHECK(strstr(note.text, "unknown"));
	CHECK(!board_guess_uart(&boot, &note.uart));
}

/* Addresses in x0 that no tree can have. */
TEST(wild_pointer)
{
	static const uint64_t wild[] = { 1, FDT_PA + 4, UINT64_MAX, UINT64_MAX - 7, 0x12345678 };
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", true));
	for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
		boot.fdt_pa = wild[i];
		CHECK_EQ(board_discover(&boot, &info, &note), 0);
		CHECK(!info.from_tree);
	}
	memory_free();
}

TEST(boot_args)
{
	struct board_info args = { .bootargs = "a=1 bb  a=22 flag x=abcdefgh= c= last" };
	char out[8] = "keep";

	CHECK_EQ(board_get_arg(&args, "a", out, sizeof(out)), 2);
	CHECK_STR(out, "22");
	CHECK_EQ(board_get_arg(&args, "flag", out, sizeof(out)), 0);
	CHECK_STR(out, "");
	CHECK_EQ(board_get_arg(&args, "c", out, sizeof(out)), 0);
	CHECK_EQ(board_get_arg(&args, "last", out, sizeof(out)), 0);
	CHECK_EQ(board_get_arg(&args, "b", out, sizeof(out)), -ENOENT);
	CHECK_EQ(board_get_arg(&args, "fla", out, sizeof(out)), -ENOENT);
	strcpy(out, "keep");
	CHECK_EQ(board_get_arg(&args, "x", out, sizeof(out)), -ERANGE);
	CHECK_STR(out, "keep");
}
