/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/pkt_cls.h>
#include <stdio.h>

#include "host/verdict.h"

#define NAME(v) { v, #v }

struct name {
	uint32_t value;
	const char *text;
};

static const struct name xdp[] = {
	NAME(XDP_ABORTED), NAME(XDP_DROP), NAME(XDP_PASS), NAME(XDP_TX), NAME(XDP_REDIRECT), { 0 },
};

static const struct name tc[] = {
	NAME(TC_ACT_OK),
	NAME(TC_ACT_RECLASSIFY),
	NAME(TC_ACT_SHOT),
	NAME(TC_ACT_PIPE),
	NAME(TC_ACT_STOLEN),
	NAME(TC_ACT_QUEUED),
	NAME(TC_ACT_REPEAT),
	NAME(TC_ACT_REDIRECT),
	NAME(TC_ACT_TRAP),
	{ 0xffffffff, "TC_ACT_UNSPEC" },
	{ 0 },
};

const char *verdict_name(enum bpf_prog_type type, uint32_t value)
{
	static char number[16];
	const struct name *n = NULL;

	if (type == BPF_PROG_TYPE_XDP)
		n = xdp;
	else if (type == BPF_PROG_TYPE_SCHED_CLS || type == BPF_PROG_TYPE_SCHED_ACT)
		n = tc;
	for (; n && n->text; n++)
		if (n->value == value)
			return n->text;
	snprintf(number, sizeof(number), "%d", (int)value);
	return number;
}

void verdict_count(struct verdicts *v, uint32_t value)
{
	uint32_t i = 0;

	while (i < v->nr && v->rows[i].value != value)
		i++;
	if (i == VERDICTS_MAX) {
		v->other++;
		return;
	}
	if (i == v->nr) {
		v->rows[i].value = value;
		v->rows[i].count = 0;
		v->nr++;
	}
	v->rows[i].count++;
}
