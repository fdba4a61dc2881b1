/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ordinary libbpf program with a skeleton, as written for Linux: nothing in it knows of a board.
 * It loads flows.bpf.c, runs it over a packet a few times, reads the ring buffer and the globals.
 *	barebpf exec -- build/examples/flows [PACKETS]
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "examples/flows.h"
#include "flows.skel.h"

struct packet {
	uint8_t eth[14], ip[20], udp[8], text[22];
};

static int seen;

static int on_record(void *ctx, void *data, size_t size)
{
	const struct flow_record *r = data;
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];

	(void)ctx;
	if (size < sizeof(*r))
		return 0;
	inet_ntop(AF_INET, &r->saddr, from, sizeof(from));
	inet_ntop(AF_INET, &r->daddr, to, sizeof(to));
	if (seen++ < 3)
		printf("%s -> %s protocol %u, %u bytes, core %u\n", from, to, r->protocol, r->bytes,
		       r->cpu);
	return 0;
}

static void make_packet(struct packet *p)
{
	const uint8_t ip[20] = { 0x45, 0, 0,   50, 0, 1, 0,   0, 64, 17,
				 0,    0, 192, 0,  2, 1, 192, 0, 2,  9 };

	memset(p, 0, sizeof(*p));
	p->eth[12] = 8; /* IPv4 */
	memcpy(p->ip, ip, sizeof(ip));
}

static int run(struct flows_bpf *skel, struct ring_buffer *ring, int nr)
{
	struct packet p;

	make_packet(&p);
	for (int i = 0; i < nr; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = &p, .data_size_in = sizeof(p),
			    .repeat = 1);
		int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.flows), &o);

		if (err || o.retval != 2) {
			fprintf(stderr, "run: error %d, returned %u\n", err, o.retval);
			return 1;
		}
		/* The ring is not large. */
		if (i % 64 == 63)
			ring_buffer__poll(ring, 0);
	}
	while (ring_buffer__poll(ring, 200) > 0)
		;
	printf("%d records; skel->bss: %llu packets, %llu bytes, %llu lost\n", seen,
	       skel->bss->packets, skel->bss->bytes, skel->bss->lost);
	return seen != nr || skel->bss->packets != (uint64_t)nr ||
	       skel->bss->bytes != (uint64_t)nr * sizeof(p);
}

int main(int argc, char **argv)
{
	struct flows_bpf *skel = flows_bpf__open();
	struct ring_buffer *ring;
	int nr = argc > 1 ? atoi(argv[1]) : 20, rc = 1;

	if (!skel)
		return 1;
	skel->rodata->min_bytes = 20;
	if (!flows_bpf__load(skel)) {
		ring = ring_buffer__new(bpf_map__fd(skel->maps.records), on_record, NULL, NULL);
		if (ring)
			rc = run(skel, ring, nr);
		ring_buffer__free(ring);
	}
	flows_bpf__destroy(skel);
	return rc;
}
