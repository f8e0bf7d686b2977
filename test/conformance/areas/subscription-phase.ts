import { expect } from 'vitest';
import { monthlyPlan } from '../../support/billing.ts';
import { createClock } from '../../support/clock.ts';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** A subscription with two phases, and a line item of the second, on a test clock of its own. */
export function subscriptionPhaseCalls({ client, api }: Conversation): Record<string, AreaCalls> {
  const [april, may, june] = ['2026-04-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'];
  const price = {
    type: 'FIXED',
    billingModel: 'FLAT_FEE',
    billingCadence: 'RECURRING',
    billingPeriod: 'MONTHLY',
    invoiceCadence: 'ADVANCE',
    priceUnitType: 'FIAT',
    amount: '20',
    displayName: 'Support',
  } as const;
  let subscriptionId = '';
  let phaseId = '';
  return {
    'subscription phases': {
      async createSubscription() {
        const { planId } = await monthlyPlan(api);
        type Prices = { items: { id: string; type: string }[] };
        const { body } = await api<Prices>('POST', '/prices/search', { plan_ids: [planId] });
        const priceId = present(body.items.find(({ type }) => type === 'FIXED')?.id);
        const externalId = `phased-${planId}`;
        await api('POST', '/customers', {
          external_id: externalId,
          name: 'Phased',
          test_clock_id: await createClock(api, april!),
        });
        const subscription = await client.subscriptions.createSubscription({
          externalCustomerId: externalId,
          planId,
          currency: 'usd',
          billingCadence: 'RECURRING',
          billingPeriod: 'MONTHLY',
          startDate: april!,
          phases: [
            {
              startDate: april!,
              endDate: may!,
              overrideLineItems: [{ priceId, amount: '10' }],
              metadata: { step: 'one' },
            },
            { startDate: may!, endDate: june! },
          ],
        });
        expect(subscription.phases).toMatchObject([
          { startDate: april, endDate: may, metadata: { step: 'one' }, status: 'published' },
          { startDate: may, endDate: june },
        ]);
        subscriptionId = present(subscription.id);
        phaseId = present(subscription.phases?.[1]?.id);
        const item = subscription.lineItems?.find(({ displayName }) => displayName === 'Base');
        expect(item).toMatchObject({
          subscriptionPhaseId: subscription.phases?.[0]?.id,
          startDate: april,
          endDate: may,
        });
      },
      async createSubscriptionLineItem() {
        const body = { price, subscriptionPhaseId: phaseId };
        const item = await client.subscriptions.createSubscriptionLineItem(subscriptionId, body);
        expect(item).toMatchObject({ subscriptionPhaseId: phaseId, startDate: may, endDate: june });
      },
    },
  };
}
