import { expect } from 'vitest';
import { created, monthlyPlan } from '../../support/billing.ts';
import { createClock } from '../../support/clock.ts';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Line items and the plan of a subscription in the middle of its April, whose customer has a test clock of its own. */
export function subscriptionChangeCalls(talk: Conversation): Record<string, AreaCalls> {
  const subscribed = { id: '' };
  return { 'subscription changes': { ...lineItemCalls(talk, subscribed), ...planChangeCalls(talk, subscribed) } };
}

function lineItemCalls({ client, api }: Conversation, subscribed: { id: string }): AreaCalls {
  let itemId = '';
  return {
    async createSubscriptionLineItem() {
      subscribed.id = await subscribeInApril({ client, api });
      const item = await client.subscriptions.createSubscriptionLineItem(subscribed.id, {
        price: {
          type: 'FIXED',
          billingModel: 'FLAT_FEE',
          billingCadence: 'RECURRING',
          billingPeriod: 'MONTHLY',
          invoiceCadence: 'ADVANCE',
          priceUnitType: 'FIAT',
          amount: '20',
          displayName: 'Support',
        },
        quantity: 3,
        metadata: { team: 'a' },
      });
      expect(item).toMatchObject({
        subscriptionId: subscribed.id,
        displayName: 'Support',
        quantity: '3',
        startDate: '2026-04-16T00:00:00.000Z',
        metadata: { team: 'a' },
        price: { amount: '20', entityType: 'SUBSCRIPTION' },
      });
      itemId = present(item.id);
      // Half of April is left: 3 × 20 / 2.
      expect(await updatesOf(client, subscribed.id)).toEqual(['30']);
    },
    async updateSubscriptionLineItem() {
      const item = await client.subscriptions.updateSubscriptionLineItem(itemId, { amount: '50' });
      expect(item).toMatchObject({ subscriptionId: subscribed.id, quantity: '3', price: { amount: '50' } });
      expect(item.id).not.toBe(itemId);
      itemId = present(item.id);
      expect((await updatesOf(client, subscribed.id)).toSorted()).toEqual(['30', '45']);
    },
    async deleteSubscriptionLineItem() {
      const effectiveFrom = '2026-05-01T00:00:00.000Z';
      const item = await client.subscriptions.deleteSubscriptionLineItem(itemId, { effectiveFrom });
      expect(item).toMatchObject({ id: itemId, endDate: effectiveFrom });
      expect(await updatesOf(client, subscribed.id)).toHaveLength(2);
    },
  };
}

function planChangeCalls({ client, api }: Conversation, subscribed: { id: string }): AreaCalls {
  let targetPlanId = '';
  const request = () =>
    ({
      targetPlanId,
      prorationBehavior: 'create_prorations',
      billingCadence: 'RECURRING',
      billingPeriod: 'MONTHLY',
      billingCycle: 'anniversary',
      metadata: { by: 'sales' },
    }) as const;
  return {
    async previewSubscriptionChange() {
      subscribed.id = await subscribeInApril({ client, api });
      targetPlanId = (await monthlyPlan(api, { fee: '60' })).planId;
      const preview = await client.subscriptions.previewSubscriptionChange(subscribed.id, request());
      expect(preview).toMatchObject({
        subscriptionId: subscribed.id,
        targetPlan: { id: targetPlanId },
        changeType: 'upgrade',
        effectiveDate: '2026-04-16T00:00:00.000Z',
        prorationDetails: { creditAmount: '15', chargeAmount: '60', netAmount: '45', daysUsed: 15, daysRemaining: 15 },
        nextInvoicePreview: { total: '45', currency: 'usd' },
        newBillingCycle: { billingPeriod: 'MONTHLY', periodEnd: '2026-05-16T00:00:00.000Z' },
        metadata: { by: 'sales' },
      });
      expect(await client.subscriptions.getSubscription(subscribed.id)).toMatchObject({ subscriptionStatus: 'active' });
      expect(await updatesOf(client, subscribed.id)).toEqual([]);
    },
    async executeSubscriptionChange() {
      const later = await subscribeInApril({ client, api });
      const scheduled = await client.subscriptions.executeSubscriptionChange(later, {
        ...request(),
        prorationBehavior: 'none',
        changeAt: 'end_of_period',
      });
      expect(scheduled).toMatchObject({
        oldSubscription: { id: later, status: 'active' },
        isScheduled: true,
        scheduleId: expect.any(String),
        scheduledAt: '2026-05-01T00:00:00.000Z',
      });
      const changed = await client.subscriptions.executeSubscriptionChange(subscribed.id, request());
      expect(changed).toMatchObject({
        oldSubscription: { id: subscribed.id, status: 'cancelled' },
        newSubscription: { planId: targetPlanId, status: 'active', currentPeriodEnd: '2026-05-16T00:00:00.000Z' },
        changeType: 'upgrade',
        invoice: { total: '45', billingReason: 'SUBSCRIPTION_UPDATE' },
        prorationApplied: { netAmount: '45' },
        isScheduled: false,
      });
      expect(await updatesOf(client, present(changed.newSubscription?.id))).toEqual(['45']);
    },
  };
}

/** A subscription that began on 1 April 2026 at 30 a month and whose customer's present is 16 April. */
async function subscribeInApril({ client, api }: Pick<Conversation, 'client' | 'api'>): Promise<string> {
  const clockId = await createClock(api, '2026-04-16T00:00:00Z');
  const { id: customerId } = await created(api, '/customers', {
    external_id: `changing-${clockId}`,
    name: 'Changing',
    test_clock_id: clockId,
  });
  const { planId } = await monthlyPlan(api);
  const subscription = await client.subscriptions.createSubscription({
    customerId,
    planId,
    currency: 'usd',
    billingCadence: 'RECURRING',
    billingPeriod: 'MONTHLY',
    billingCycle: 'anniversary',
    collectionMethod: 'send_invoice',
    startDate: '2026-04-01T00:00:00Z',
  });
  return present(subscription.id);
}

/** The totals of the invoices that changes of a subscription made. */
async function updatesOf(client: Conversation['client'], subscriptionId: string): Promise<(string | undefined)[]> {
  const { items } = await client.invoices.queryInvoice({ subscriptionId });
  return present(items)
    .filter(({ billingReason }) => billingReason === 'SUBSCRIPTION_UPDATE')
    .map(({ total }) => total);
}
