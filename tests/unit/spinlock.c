/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sched.h>

#include "lib/spinlock.h"
#include "test.h"

#define THREADS 4
#define ROUNDS	5000

static struct {
	struct spinlock lock;
	uint64_t count;
	uint32_t inside;
	uint32_t overlaps;
	uint32_t tried;
} shared;

static void critical(void)
{
	if (__atomic_add_fetch(&shared.inside, 1, __ATOMIC_RELAXED) != 1)
		shared.overlaps++;
	shared.count++;
	__atomic_sub_fetch(&shared.inside, 1, __ATOMIC_RELAXED);
}

static void *lock_many(void *arg)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (arg && i % 3 == 0) {
			/* Threads share few cores: the holder must get to run. */
			while (!spin_trylock(&shared.lock))
				sched_yield();
			__atomic_add_fetch(&shared.tried, 1, __ATOMIC_RELAXED);
		} else {
			spin_lock(&shared.lock);
		}
		critical();
		spin_unlock(&shared.lock);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

TEST(one_holder)
{
	struct spinlock lock = { 0 };

	CHECK(!spin_is_locked(&lock));
	CHECK_EQ(spin_lock(&lock), 0);
	CHECK(spin_is_locked(&lock));
	CHECK(!spin_trylock(&lock));
	spin_unlock(&lock);
	CHECK(!spin_is_locked(&lock));
	CHECK(spin_trylock(&lock));
	CHECK(!spin_trylock(&lock));
	spin_unlock(&lock);
	CHECK(!spin_is_locked(&lock));
}

TEST(zero_is_unlocked)
{
	struct spinlock lock;

	memset(&lock, 0, sizeof(lock));
	CHECK(!spin_is_locked(&lock));
	spin_lock(&lock);
	CHECK_EQ(sizeof(lock), 4);
	spin_unlock(&lock);
	CHECK_EQ(memcmp(&lock, &(struct spinlock){ 0 }, sizeof(lock)), 0);
}

TEST(irq_flags_come_back)
{
	struct spinlock lock = { 0 };
	unsigned long flags = spin_lock_irqsave(&lock);

	CHECK(spin_is_locked(&lock));
	spin_unlock_irqrestore(&lock, flags);
	CHECK(!spin_is_locked(&lock));
}

TEST(threads_exclude_each_other)
{
	pthread_t thread[THREADS];

	memset(&shared, 0, sizeof(shared));
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, lock_many, (void *)(i & 1)), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(shared.count, THREADS * ROUNDS);
	CHECK_EQ(shared.overlaps, 0);
	CHECK(shared.tried > 0);
	CHECK(!spin_is_locked(&shared.lock));
}
