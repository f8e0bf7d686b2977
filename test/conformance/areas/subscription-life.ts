import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** A draft that is activated, paused, resumed and meant to end. */
export function subscriptionLifeCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let id = '';
  let scheduleId = '';
  const calls: AreaCalls = {
    async activateSubscription() {
      const draft = await client.subscriptions.createSubscription({
        customerId: made.customerId,
        planId: made.planId,
        currency: 'usd',
        billingCadence: 'RECURRING',
        billingPeriod: 'MONTHLY',
        billingCycle: 'anniversary',
        collectionMethod: 'send_invoice',
        prorationBehavior: 'none',
        subscriptionStatus: 'draft',
      });
      id = present(draft.id);
      const startDate = present(draft.startDate);
      const active = await client.subscriptions.activateSubscription(id, { startDate });
      expect(active).toMatchObject({ id, subscriptionStatus: 'active', startDate });
    },
    async pauseSubscription() {
      const paused = await client.subscriptions.pauseSubscription(id, { pauseMode: 'immediate', reason: 'a break' });
      expect(paused).toMatchObject({ subscriptionId: id, pauseStatus: 'active', reason: 'a break' });
    },
    async resumeSubscription() {
      const resumed = await client.subscriptions.resumeSubscription(id, { resumeMode: 'immediate' });
      expect(resumed).toMatchObject({ subscriptionId: id, pauseStatus: 'completed' });
    },
    async listSubscriptionPauses() {
      const [list] = await client.subscriptions.listSubscriptionPauses(id);
      expect(list).toMatchObject({ items: [{ subscriptionId: id, pauseStatus: 'completed' }], total: 1 });
    },
    async listSubscriptionSchedules() {
      await client.subscriptions.cancelSubscription(id, { cancellationType: 'end_of_period' });
      const { schedules, count } = await client.subscriptions.listSubscriptionSchedules(id);
      expect(count).toBe(1);
      scheduleId = present(schedules?.[0]?.id);
    },
    async listAllSubscriptionSchedules() {
      const all = await client.subscriptions.listAllSubscriptionSchedules(true, id);
      expect(all).toMatchObject({ schedules: [{ id: scheduleId, subscriptionId: id }], count: 1 });
    },
    async getSubscriptionSchedule() {
      const schedule = await client.subscriptions.getSubscriptionSchedule(scheduleId);
      expect(schedule).toMatchObject({ id: scheduleId, status: 'pending', scheduleType: 'cancellation' });
    },
    async cancelSubscriptionSchedule() {
      const cancelled = await client.subscriptions.cancelSubscriptionSchedule(scheduleId);
      expect(cancelled).toMatchObject({ status: 'cancelled' });
    },
  };
  return { 'subscription life': calls };
}
