/* SPDX-License-Identifier: BSD-2-Clause */
/* The board's own helpers: what each gives is left in an array. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "include/barebpf_helpers.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __s64);
} results SEC(".maps");

static void result(__u32 at, __s64 value)
{
	bpf_map_update_elem(&results, &at, &value, 0);
}

/* Pins that QEMU's boards leave alone: 1 on virt (of eight), 20 on the Pi. */
SEC("xdp")
int board(struct xdp_md *ctx)
{
	__u32 id = bpf_board_id(), pin = id == BOARD_ID_RPI4 ? 20 : 1;
	__u64 first = bpf_board_counter();

	result(0, id);
	result(1, bpf_board_counter() - first);
	result(2, bpf_board_counter_hz());
	result(3, bpf_board_gpio_direction(pin, BOARD_GPIO_OUT));
	result(4, bpf_board_gpio_set(pin, 1));
	result(5, bpf_board_gpio_get(pin));
	result(6, bpf_board_gpio_set(pin, 0));
	result(7, bpf_board_gpio_get(pin));
	result(8, bpf_board_gpio_get(1000));
	result(9, bpf_board_gpio_set(pin, 2));
	result(10, bpf_board_gpio_direction(14, BOARD_GPIO_IN)); /* the Pi's console */
	result(11, bpf_board_uart_write("written by a program\r\n", 22));
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
