/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_line.h"

#include <stdlib.h>
#include <string.h>

struct sim sim;
static uint32_t seed;

uint32_t sim_rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* ---- the line ---------------------------------------------------------------------------------
 */

void sim_line_append(struct wire_dir *d, const uint8_t *bytes, size_t n)
{
	struct piece *p = &d->pieces[d->last++ % ARRAY_SIZE(d->pieces)];

	if (d->last - d->first >= ARRAY_SIZE(d->pieces))
		abort();
	d->free_ns = MAX(d->free_ns, sim.now_ns) + n * 1000000000ull / sim.line_rate;
	p->at_ns = d->free_ns + 1 * SIM_MS;
	p->n = n;
	p->bytes = malloc(n + 1);
	memcpy(p->bytes, bytes, n);
	d->bytes += n;
}

static void line_send(struct wire_dir *d, const uint8_t *bytes, size_t n)
{
	static uint8_t copy[FRAME_LINE_MAX + 1];
	const struct faults *f = &d->faults;

	if (sim_rnd(1000) < f->lose)
		return;
	memcpy(copy, bytes, n);
	if (sim_rnd(1000) < f->damage)
		copy[sim_rnd((uint32_t)n)] ^= (uint8_t)(1 + sim_rnd(255));
	if (sim_rnd(1000) < f->cut)
		n = sim_rnd((uint32_t)n) + 1;
	if (sim_rnd(1000) < f->insert)
		sim_line_append(d, (const uint8_t *)"\x12\x00\xf5\x55noise", 9);
	if (!d->held.n && sim_rnd(1000) < f->swap) {
		d->held.bytes = malloc(n);
		d->held.n = n;
		memcpy(d->held.bytes, copy, n);
		return;
	}
	sim_line_append(d, copy, n);
	if (sim_rnd(1000) < f->twice)
		sim_line_append(d, copy, n);
	if (d->held.n) {
		sim_line_append(d, d->held.bytes, d->held.n);
		free(d->held.bytes);
		d->held.n = 0;
	}
}

void sim_line_deliver(struct wire_dir *d, struct link *to, size_t room)
{
	static uint8_t in[1 << 17];
	size_t n = 0, at, step;

	while (d->first != d->last &&
	       d->pieces[d->first % ARRAY_SIZE(d->pieces)].at_ns <= sim.now_ns) {
		struct piece *p = &d->pieces[d->first++ % ARRAY_SIZE(d->pieces)];

		memcpy(in + n, p->bytes, p->n);
		n += p->n;
		free(p->bytes);
	}
	if (to == sim.board)
		sim.rx_peak = MAX(sim.rx_peak, n);
	n = MIN(n, room);
	for (at = 0; at < n && to; at += step) {
		step = MIN((size_t)sim_rnd(3000) + 1, n - at);
		link_rx(to, in + at, step, sim.now_ns);
	}
}

void sim_line_clear(struct wire_dir *d)
{
	while (d->first != d->last)
		free(d->pieces[d->first++ % ARRAY_SIZE(d->pieces)].bytes);
	if (d->held.n)
		free(d->held.bytes);
	d->held.n = 0;
}

/* ---- the ends ---------------------------------------------------------------------------------
 */

void sim_fill(uint8_t *p, uint32_t number, size_t n)
{
	memcpy(p, &number, 4);
	for (size_t i = 4; i < n; i++)
		p[i] = (uint8_t)(i * 7 + number * 13 + (i >> 8));
}

static bool filled(const uint8_t *p, uint32_t number, size_t n)
{
	for (size_t i = 4; i < n; i++) {
		if (p[i] != (uint8_t)(i * 7 + number * 13 + (i >> 8)))
			return false;
	}
	return true;
}

static void host_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	line_send(&sim.dirs[TO_BOARD], bytes, n);
}

static void board_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	line_send(&sim.dirs[TO_HOST], bytes, n);
}

static void text(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	sim.texts += (unsigned int)n;
}

static void send_reply(uint32_t number)
{
	uint8_t *rep = malloc(sim.reply_size + 4);

	sim_fill(rep, number, sim.reply_size);
	if (link_send(sim.board, LINK_CHAN_REP, rep, sim.reply_size, sim.now_ns))
		sim.unsent++;
	free(rep);
}

static void board_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	uint32_t number;

	(void)arg;
	memcpy(&number, msg, 4);
	if (chan != LINK_CHAN_REQ || number != sim.requests_done)
		sim.bad_order++;
	if (!filled(msg, number, len))
		sim.bad_bytes++;
	sim.requests_done++;
	if (sim.board_busy_ns) {
		sim.board_busy_until_ns = sim.now_ns + sim.board_busy_ns;
		sim.rx_peak = 0;
	} else {
		send_reply(number);
	}
}

static void board_lost(void *arg, enum link_chan chan, int err)
{
	(void)arg;
	sim.losts++;
	if (chan == LINK_CHAN_REQ) {
		sim.requests_done++;
		if (link_send(sim.board, LINK_CHAN_REP, &err, sizeof(err), sim.now_ns))
			sim.unsent++;
	}
}

static void host_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	uint32_t number;

	(void)arg;
	memcpy(&number, msg, 4);
	if (number != (chan == LINK_CHAN_REP ? sim.replies : sim.events_got))
		sim.bad_order++;
	if (!filled(msg, number, len))
		sim.bad_bytes++;
	if (chan == LINK_CHAN_REP)
		sim.replies++;
	else
		sim.events_got++;
}

static void host_lost(void *arg, enum link_chan chan, int err)
{
	(void)arg;
	(void)err;
	sim.losts++;
	if (chan == LINK_CHAN_REP)
		sim.replies++;
}

static void host_reset(void *arg, uint64_t id)
{
	(void)arg;
	sim.host_resets++;
	sim.host_peer = id;
}

static void board_reset(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	sim.board_resets++;
	sim.requests_done = 0;
	sim.events_sent = 0;
}

static void host_down(void *arg)
{
	(void)arg;
	sim.downs++;
	sim.requests_sent = sim.replies = sim.events_got = 0;
}

const struct link_ops sim_host_ops = { .tx = host_tx,
				       .text = text,
				       .msg = host_msg,
				       .lost = host_lost,
				       .peer_reset = host_reset,
				       .down = host_down };
const struct link_ops sim_board_ops = { .tx = board_tx,
					.text = text,
					.msg = board_msg,
					.lost = board_lost,
					.peer_reset = board_reset };

void sim_start(uint32_t with_seed)
{
	memset(&sim, 0, sizeof(sim));
	seed = with_seed;
	sim.now_ns = 1000 * SIM_MS;
	sim.line_rate = 300000;
	sim.reply_size = 16;
	sim.host = link_new(LINK_HOST, 0x1111000000000000u + with_seed, &sim_host_ops);
	sim.board = link_new(LINK_BOARD, 0x2222000000000000u + with_seed, &sim_board_ops);
}

void sim_finish(void)
{
	sim_line_clear(&sim.dirs[0]);
	sim_line_clear(&sim.dirs[1]);
	link_free(sim.host);
	link_free(sim.board);
	sim.host = sim.board = NULL;
}

double sim_run(bool (*done)(void), unsigned int limit_s)
{
	uint64_t from = sim.now_ns, end = sim.now_ns + limit_s * 1000ull * SIM_MS;

	while (sim.now_ns < end) {
		uint64_t host_due = sim.host ? link_poll(sim.host, sim.now_ns) : UINT64_MAX, next;

		if (sim.board)
			link_poll(sim.board, sim.now_ns);
		if (sim.board_busy_until_ns && sim.now_ns >= sim.board_busy_until_ns) {
			sim.board_busy_until_ns = 0;
			send_reply(sim.requests_done - 1);
		}
		if (!sim.board_busy_until_ns)
			sim_line_deliver(&sim.dirs[TO_BOARD], sim.board, SIM_RING);
		sim_line_deliver(&sim.dirs[TO_HOST], sim.host, SIZE_MAX);
		if (done && done())
			return (double)(sim.now_ns - from) / 1e9;
		next = MIN(host_due, sim.now_ns + 20 * SIM_MS);
		for (int d = 0; d < 2; d++) {
			const struct wire_dir *w = &sim.dirs[d];

			if (w->first != w->last)
				next = MIN(next, w->pieces[w->first % ARRAY_SIZE(w->pieces)].at_ns);
		}
		sim.now_ns = MAX(next, sim.now_ns + 1000);
	}
	return done ? -1 : 0;
}

bool sim_is_up(void)
{
	return link_is_up(sim.host) && link_is_up(sim.board);
}

bool sim_all_answered(void)
{
	return link_is_up(sim.host) && sim.replies == sim.requests_sent && link_idle(sim.host);
}

bool sim_all_events(void)
{
	return sim.events_got == sim.events_sent && link_idle(sim.board);
}

int sim_request(size_t n)
{
	uint8_t *p = malloc(n + 4);
	int err;

	sim_fill(p, sim.requests_sent++, n);
	err = link_send(sim.host, LINK_CHAN_REQ, p, n, sim.now_ns);
	free(p);
	return err;
}

int sim_event(size_t n)
{
	uint8_t *p = malloc(n + 4);
	int err;

	sim_fill(p, sim.events_sent++, n);
	err = link_send(sim.board, LINK_CHAN_EVENT, p, n, sim.now_ns);
	free(p);
	return err;
}

void sim_set_faults(struct faults f)
{
	sim.dirs[0].faults = sim.dirs[1].faults = f;
}
