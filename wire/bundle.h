/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bundles: recorded bpf(2) calls that a board replays without a host (runtime/bundle.c). Written by
 * the host's recorder, read by the board; numbers as in wire/buf.h, fixed fields little endian.
 *
 *   0   u8  magic[8]   "barebpf" and 0x1a
 *   8   u32 version    1
 *   12  u32 bytes      of the whole bundle; what follows it (padding of a loader) is ignored
 *   16  u32 calls
 *   20  calls, each
 *         num flags    1: its handle is dropped when the replay is over
 *         num refs, then per reference
 *           num where  0 attr, n buffer n-1 of the request
 *           num off    of a u32 there, 0 in the request, that gets a handle
 *           num call   whose handle: the number of an earlier call
 *         num length, request (wire/marshal.h)
 *   bytes-4  u32 CRC-32C of everything before
 *
 * The objects whose handles are not dropped stay for the life of the board, pinned or not.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "wire/bpf_call.h"
#include "wire/buf.h"

#define BUNDLE_MAGIC   "barebpf\x1a"
#define BUNDLE_VERSION 1
#define BUNDLE_HEADER  20
#define BUNDLE_DROP    1u

/* A handle in a request: 4 bytes at off of attr (buf -1) or of buffer buf. */
struct bundle_ref {
	int buf;
	uint32_t off;
	uint32_t call; /* the number of the call that made the handle */
};

/* Is the command one that a bundle may hold? What it does must be undone by dropping handles. */
bool bundle_allows(uint32_t cmd);

/* ---- reading --------------------------------------------------------------------------------- */

struct bundle_call {
	uint32_t flags, nr_refs;
	struct wire_in refs; /* for bundle_next_ref */
	const uint8_t *request;
	size_t len;
};

/*
 * Check the frame of a bundle: magic, version, size, CRC. 0 with *in at the first call and *calls,
 * or -EINVAL (no bundle), -EPROTONOSUPPORT (another version), -EBADMSG (cut or damaged).
 */
int bundle_open(const void *image, size_t len, struct wire_in *in, uint32_t *calls) __must_check;
/* 0 or -EBADMSG. */
int bundle_next(struct wire_in *in, struct bundle_call *call) __must_check;
int bundle_next_ref(struct bundle_call *call, struct bundle_ref *ref) __must_check;
/* The 4 bytes of an unmarshalled call that a reference means, NULL: there are none. */
uint8_t *bundle_ref_slot(struct bpf_call *call, const struct bundle_ref *ref);

/* ---- writing --------------------------------------------------------------------------------- */

struct bundle_record;
/* Zero it to start. */
struct bundle_writer {
	struct bundle_record *records;
	uint32_t nr, room;
};

/*
 * Record a call that succeeded: its request, where handles stand in it (their bytes may hold
 * anything; refs' `call` are numbers that bundle_add returned). Returns the call's number, or
 * -EOPNOTSUPP (a command that bundles do not hold), -EINVAL (a reference to nothing), -EBADMSG,
 * -ENOMEM.
 */
int bundle_add(struct bundle_writer *w, const uint8_t *request, size_t len,
	       const struct bundle_ref *refs, uint32_t nr_refs) __must_check;
/* The handle of that call was closed. */
void bundle_closed(struct bundle_writer *w, uint32_t call);
/*
 * The bundle to *out. Calls that left nothing behind are not in it: whose object was closed and is
 * needed by no other (a loader's probes), or that filled such an object. 0 or -ENOMEM. *kept: calls
 * in the bundle.
 */
int bundle_finish(const struct bundle_writer *w, struct wire_buf *out, uint32_t *kept) __must_check;
void bundle_writer_free(struct bundle_writer *w);
