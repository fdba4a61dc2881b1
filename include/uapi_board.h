/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Board commands: what bpf(2) lacks, carried the same way as further command numbers. Used by the
 * board's runtime and by host tools; fixed layouts, little endian, checked like bpf_attr: a longer
 * attr must have a zero tail, a shorter one reads as zero.
 */
#pragma once

#include <linux/types.h>

enum board_cmd {
	BOARD_CMD_BASE = 0x1000,
	BOARD_INFO = BOARD_CMD_BASE, /* what this board is */
	BOARD_KNOB_GET,		     /* one sysctl-like setting by name */
	BOARD_KNOB_SET,
	BOARD_KNOB_NEXT, /* name after a name: lists all */
	BOARD_LOG_READ,	 /* text of the log, or of trace_pipe, from a position */
	BOARD_PMU_READ,	 /* counters of one CPU */
	BOARD_RESET,	 /* reboot or power off, after the reply is sent */
	BOARD_CLOSE,	 /* drop handles (batched) */
	BOARD_PATH_STAT, /* the pin name space, for the shim's /sys/fs/bpf */
	BOARD_PATH_MKDIR,
	BOARD_PATH_UNLINK,
	BOARD_PATH_LIST,
	BOARD_MEM_READ,	 /* bytes of a mappable map or a ring, for the host's shadow mapping */
	BOARD_MEM_WRITE, /* dirty bytes of a mapping; a ring's consumer position */
	BOARD_RAW_RUN,	 /* unverified bytecode over a memory block; knob bpf.unverified=1 */
	BOARD_SELFTEST,	 /* built-in checks by name (page-table W^X walk, ...) */
	BOARD_MEM_STAT,	 /* memory accounting by purpose */
	BOARD_LOAD_STAT, /* line and server statistics */
	BOARD_SYMS,	 /* text symbols of the image, for kallsyms and profiles */
	BOARD_FDINFO,	 /* what /proc/self/fdinfo shows of an object on Linux */
	BOARD_CMD_END,
};

#define BOARD_NAME_LEN 32

/* BOARD_INFO writes this to info (a buffer of info_len bytes; short buffers get a prefix). */
struct board_info_reply {
	__u32 abi;	   /* of this header: 1 */
	__u32 cpus;	   /* possible CPUs */
	__u32 online_mask; /* bit n: CPU n runs */
	__u32 baud;	   /* of the line; 0: not a real UART rate */
	__u64 boot_id;	   /* random, differs on every boot */
	__u64 ktime_ns;
	__u64 counter_hz;
	__u64 ram_bytes;
	__u64 ram_free_bytes;
	__u64 boot_ram_used_bytes; /* pages not free when the first frame was sent */
	__u64 features;		   /* BOARD_FEAT_* */
	__u32 midr;
	__u32 page_size;
	char board[BOARD_NAME_LEN];   /* "virt", "rpi4" */
	char cpu[BOARD_NAME_LEN];     /* "Cortex-A72" */
	char version[BOARD_NAME_LEN]; /* of barebpf */
	char start[BOARD_NAME_LEN];   /* "el2,psci-smc,gicv2" */
};
enum {
	BOARD_FEAT_JIT = 1,
	BOARD_FEAT_VERIFIER = 2,
	BOARD_FEAT_LSE = 4,
	BOARD_FEAT_BTF = 8, /* the board serves BTF of its own as vmlinux */
};

struct board_attr_info {
	__aligned_u64 info;
	__u32 info_len; /* in: buffer; out: bytes the board has */
};

#define BOARD_KNOB_LEN 48
struct board_attr_knob { /* GET: value out; SET: value in; NEXT: name in ("" first), name out */
	char name[BOARD_KNOB_LEN];
	__s64 value;
	__s64 min, max; /* out */
	__u32 flags;	/* out: 1 read only */
};

struct board_attr_log {
	__u32 which; /* 0 board log, 1 trace_pipe */
	__u32 len;   /* in: buffer; out: bytes written */
	__aligned_u64 buf;
	__u64 pos;  /* in: read from; out: where to go on. Older text than is kept: skipped */
	__u64 lost; /* out: bytes between the wanted and the first kept position */
};

struct board_attr_pmu {
	__u32 cpu;
	__u32 events[8]; /* in: event numbers, 0xffffffff unused; 0x11 is the cycle counter */
	__u32 nr;
	__u32 flags;	 /* 1: (re)program the events; 0: read what is programmed */
	__u32 supported; /* out: bit n: events[n] is counted by this core */
	__u64 value[8];	 /* out */
	__u64 ktime_ns;	 /* out: time of the reading */
};

struct board_attr_reset {
	__u32 how; /* 0 reboot, 1 power off, 2 exit the emulator with status (semihosting on) */
	__u32 status;
};

struct board_attr_close {
	__aligned_u64 handles; /* __u32 each */
	__u32 nr;
};

struct board_attr_path {
	__aligned_u64 path; /* NUL-terminated, absolute, below /sys/fs/bpf */
	__aligned_u64 list; /* PATH_LIST: names out, one a line, directories end in '/' */
	__u32 list_len;	    /* in: buffer; out: bytes needed (whole lines of them were sent) */
	__u32 mode;	    /* out of STAT, LIST: 1 directory, 2 map, 3 prog, 4 link. In for
			     * UNLINK: 0 removes either, 1 only a directory, else no directory */
};

struct board_attr_mem {
	__u32 map_fd;
	__u32 len;	   /* in: bytes wanted or given; READ out: bytes copied */
	__u64 off;	   /* in the map's value area or a ring's data area */
	__aligned_u64 buf; /* data */
	/*
	 * Ring buffers. READ copies whole committed records from position off on, as many as fit in
	 * len (-ENOSPC with len set when the first one is longer), and tells both positions; len 0
	 * only asks for them. WRITE (len 0) moves the consumer position to cons_pos.
	 */
	__u64 cons_pos; /* READ out, WRITE in */
	__u64 prod_pos; /* READ out */
};

struct board_attr_raw {
	__aligned_u64 insns; /* struct bpf_insn each */
	__u32 insn_cnt;
	__u32 mode; /* 0 interpreter, 1 JIT, 2 checked interpreter */
	__aligned_u64 mem;
	__u32 mem_len; /* R1 = mem, R2 = mem_len; mem comes back changed */
	__u32 repeat;
	__u64 ret;	     /* out: R0 */
	__u64 run_ns;	     /* out: mean of the repeats */
	__u64 insns_retired; /* out: guest instructions of all repeats where the PMU counts them */
};

struct board_attr_selftest {
	char name[BOARD_NAME_LEN];
	__aligned_u64 log; /* text */
	__u32 log_len;	   /* in: buffer; out: bytes */
	__u32 failed;	   /* out: number of failed checks */
};

#define BOARD_MEM_PURPOSES 16
struct board_mem_purpose {
	char name[16]; /* "image" "page tables" "heap" "maps" "percpu" "stacks" "packs" ... */
	__u64 bytes;
	__u64 objects;
};
struct board_attr_memstat {
	__aligned_u64 rows; /* struct board_mem_purpose each */
	__u32 nr;	    /* in: room; out: rows */
	__u32 pad;
	__u64 total_bytes, free_bytes; /* out */
};

struct board_load_stat {
	__u64 rx_bytes, tx_bytes, rx_frames, tx_frames, rx_bad, rx_dup, retransmits, rx_overruns;
	__u64 rx_payload_bytes, requests,
		rx_insns; /* rx_insns: receive irq to bpf(), icount only */
};
struct board_attr_loadstat {
	__aligned_u64 stat; /* struct board_load_stat */
	__u32 stat_len;
};

struct board_attr_syms {
	__aligned_u64 buf; /* text, "ADDR T NAME\n" as in kallsyms */
	__u32 len;	   /* in: buffer; out: bytes written, whole lines */
	__u32 first;	   /* in: symbol to start from; out: next one, 0 at the end */
};

struct board_attr_fdinfo {
	__u32 fd;
	__u32 len;	   /* in: buffer; out: bytes of text (cut to the buffer) */
	__aligned_u64 buf; /* text, "NAME:\tVALUE\n" in Linux's order */
};

/* Attr of a board command; the wire carries it like union bpf_attr. */
union board_attr {
	struct board_attr_info info;
	struct board_attr_knob knob;
	struct board_attr_log log;
	struct board_attr_pmu pmu;
	struct board_attr_reset reset;
	struct board_attr_close close;
	struct board_attr_path path;
	struct board_attr_mem mem;
	struct board_attr_raw raw;
	struct board_attr_selftest selftest;
	struct board_attr_memstat memstat;
	struct board_attr_loadstat loadstat;
	struct board_attr_syms syms;
	struct board_attr_fdinfo fdinfo;
};
