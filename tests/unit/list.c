/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/list.h"
#include "test.h"

struct item {
	int value;
	struct list link;
};

static struct list head = LIST_INIT(head);

/* The values in order, as decimal digits of one number; 0 for a list whose back links disagree. */
static int as_number(void)
{
	struct list *pos, *last = &head;
	int n = 0;

	list_for_each (pos, &head) {
		if (pos->prev != last)
			return 0;
		n = n * 10 + list_entry(pos, struct item, link)->value;
		last = pos;
	}
	return head.prev == last ? n : 0;
}

TEST(list)
{
	struct item items[5];
	struct list *pos, *tmp;

	list_init(&head);
	CHECK(list_is_empty(&head));
	CHECK(!list_first(&head, struct item, link));
	for (int i = 0; i < 5; i++)
		items[i].value = i + 1;
	list_add_tail(&head, &items[1].link);
	list_add_tail(&head, &items[2].link);
	list_add(&head, &items[0].link);
	list_add(&items[2].link, &items[4].link);
	list_add_tail(&items[4].link, &items[3].link);
	CHECK_EQ(as_number(), 12345);
	CHECK(list_first(&head, struct item, link) == &items[0]);
	list_del(&items[2].link);
	CHECK_EQ(as_number(), 1245);
	list_del(&items[2].link);
	CHECK_EQ(as_number(), 1245);
	list_for_each_safe (pos, tmp, &head) {
		struct item *item = list_entry(pos, struct item, link);

		if (item->value % 2 == 0)
			list_del(pos);
	}
	CHECK_EQ(as_number(), 15);
	list_del(&items[0].link);
	list_del(&items[4].link);
	CHECK(list_is_empty(&head));
}
