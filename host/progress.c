/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "host/cli.h"

#define WIDTH 30

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void draw(const struct progress *p, bool last)
{
	uint64_t done = MIN(p->done, p->total);
	unsigned int fill = p->total ? (unsigned int)(done * WIDTH / p->total) : WIDTH;
	double s = (double)(clock_ns() - p->begun_ns) / 1e9;

	fprintf(stderr, "%s%-24s [", isatty(2) ? "\r" : "", p->what);
	for (unsigned int i = 0; i < WIDTH; i++)
		fputc(i < fill ? '#' : '.', stderr);
	fprintf(stderr, "] %7llu bytes %6.2f s", (unsigned long long)done, s);
	if (last || !isatty(2))
		fputc('\n', stderr);
	fflush(stderr);
}

void progress_begin(struct progress *p, const char *what, uint64_t total, bool force)
{
	*p = (struct progress){ .what = what, .total = total ? total : 1 };
	p->on = force || isatty(2);
	p->begun_ns = p->last_ns = clock_ns();
	if (p->on && isatty(2))
		draw(p, false);
}

void progress_set(struct progress *p, uint64_t done)
{
	uint64_t now = clock_ns();

	p->done = done;
	/* Where lines cannot be redrawn only the last one is worth having. */
	if (!p->on || !isatty(2) || now - p->last_ns < 50000000)
		return;
	p->last_ns = now;
	draw(p, false);
}

void progress_end(struct progress *p, bool ok)
{
	if (!p->on)
		return;
	if (ok)
		p->total = MAX(p->done, (uint64_t)1);
	draw(p, true);
	p->on = false;
}
