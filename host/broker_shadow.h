/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two files that keep mapped memory in step with the board. */
#pragma once

#include "host/broker.h"

/* Bytes that one request reads or writes at most. */
#define SHADOW_CHUNK (256u * 1024)

struct waiter {
	struct list link;
	board_done done;
	void *arg;
};

struct shadow {
	struct list link, users; /* broker.shadows; struct object by shadow_link */
	uint32_t refs;		 /* being in the list, and each request under way */
	bool dead;
	struct bpf_obj_info map;
	bool ring;
	int memfd;
	uint8_t *mem, *last;
	size_t file_len, area; /* bytes of memfd; of values or of ring data */
	size_t page;
	uint64_t scanned, told; /* ring: producer position shown, consumer position sent */
	bool pulling;
	struct list waiting, served; /* ring: struct waiter for the next pull, for this one */
};

struct mem_op {
	struct own_call own;
	struct shadow *s;
	board_done done;
	void *arg;
	uint8_t buf[];
};

struct mem_op *mem_op_new(struct shadow *s, size_t room, board_done done, void *arg);
/* Send it; frees it on error. 0 or -errno. */
int mem_op_send(struct broker *b, uint32_t cmd, struct mem_op *op, board_done done) __must_check;
void mem_op_free(struct mem_op *op);
/* For writes that nobody waits for. */
void mem_op_write_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len);
void shadow_finish_waiters(struct broker *b, struct list *waiters, int status);

/* ---- rings (broker_ring.c) ---- */

/* Ask for the ring's positions, then for its records. done when they are there. */
int ring_start(struct broker *b, struct shadow *s, board_done done, void *arg) __must_check;
/* Ask for new records; 1 and done later, or 0. */
unsigned int ring_pull(struct broker *b, struct shadow *s, board_done done, void *arg);
/* Tell the board what has been consumed. */
void ring_push(struct broker *b, struct shadow *s);
/* Make the placeholders readable if there are records. */
void ring_wake(struct shadow *s);
