/* SPDX-License-Identifier: BSD-2-Clause */
/* LPM trie: memory of nodes. */
#include "maps/lpm_trie.h"

static size_t node_size(const struct lpm_map *t, bool valued)
{
	return valued ? t->value_off + t->map.value_stride : t->value_off;
}

/* A node with plen bits of `bits`, in no place yet. Locked. */
struct lpm_node *lpm_node_new(struct lpm_map *t, uint32_t plen, bool real)
{
	size_t bytes = node_size(t, real);
	struct lpm_node *node = hal_alloc_atomic(bytes);

	if (!node)
		return NULL;
	__builtin_memset(node, 0, bytes);
	node->plen = plen;
	node->mask = !plen ? 0 : plen >= 64 ? ~0ull : ~0ull << (64 - plen);
	node->real = node->valued = real;
	node->all = t->all;
	t->all = node;
	t->node_bytes += bytes;
	return node;
}

/* The newest node, which nobody has seen. Locked. */
void lpm_node_undo(struct lpm_map *t, struct lpm_node *node)
{
	t->all = node->all;
	t->node_bytes -= node_size(t, node->valued);
	hal_free_atomic(node);
}

/* Those that are dead and whose grace period is over, or all. Locked. */
static void free_nodes(struct lpm_map *t, bool all)
{
	struct lpm_node **link = &t->all;

	while (*link) {
		struct lpm_node *node = *link;

		if (!all && (!node->dead || node->dead >= t->generation)) {
			link = &node->all;
			continue;
		}
		*link = node->all;
		t->node_bytes -= node_size(t, node->valued);
		t->dead_nr--;
		hal_free_atomic(node);
	}
}

static void release(struct lpm_map *t)
{
	free_nodes(t, true);
	hal_map_free(t, sizeof(*t));
}

static bool too_many_dead(const struct lpm_map *t)
{
	return t->dead_nr > LPM_DEAD_MAX + t->entries / 8;
}

static void reap_nodes(struct hal_deferred *d)
{
	struct lpm_map *t = container_of(d, struct lpm_map, reap);
	unsigned long irq;

	if (t->dying) {
		release(t);
		return;
	}
	/* Thread context: nothing on this CPU holds the lock. */
	while (map_lock(&t->lock, &irq))
		map_relax();
	free_nodes(t, false);
	t->reaping = too_many_dead(t);
	if (t->reaping) {
		t->generation++;
		hal_quiesce_defer(&t->reap, reap_nodes);
	}
	map_unlock(&t->lock, irq);
}

/* node left the trie. Locked. */
void lpm_node_dead(struct lpm_map *t, struct lpm_node *node)
{
	node->dead = t->generation;
	t->dead_nr++;
	if (t->reaping || !too_many_dead(t))
		return;
	t->reaping = true;
	t->generation++;
	hal_quiesce_defer(&t->reap, reap_nodes);
}

void lpm_free(struct bpf_map *map)
{
	struct lpm_map *t = to_lpm(map);

	if (t->reaping)
		t->dying = true;
	else
		release(t);
}
