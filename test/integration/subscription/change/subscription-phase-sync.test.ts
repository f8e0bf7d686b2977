import { expect, it } from 'vitest';
import { testPlatform } from '../../../support/billing.ts';
import { priceSyncs } from '../../catalogue/price-sync.fixture.ts';
import { calls, offerPlan, phased, told, until } from './phase.fixture.ts';

const { api, base } = await testPlatform();
const { sync } = priceSyncs(api, base.ownerUrl);

it('usage that a phase overrode is charged by the present price of the plan afterwards, and follows it', async () => {
  const offer = await offerPlan(api);
  const [january, february, march] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'];
  const { id } = await phased(api, offer, [
    { start_date: january, end_date: february, override_line_items: [{ price_id: offer.usage, amount: '1' }] },
    { start_date: february, end_date: march },
  ]);
  const supersede = async (priceId: string, amount: string, effective_from: string) => {
    const { status, body } = await api<{ id: string }>('PUT', `/prices/${priceId}`, { amount, effective_from });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(await sync(offer.planId)).toMatchObject({ subscriptions_failed: 0 });
    return body.id;
  };
  const present = await supersede(offer.usage, '9', '2026-01-20T00:00:00Z');
  await calls(api, offer, 3, '2026-01-25T00:00:00Z');
  await until(api, offer, '2026-02-10T00:00:00Z');
  await calls(api, offer, 2, '2026-02-10T00:00:00Z');
  await supersede(present, '5', '2026-02-20T00:00:00Z');
  await until(api, offer, '2026-02-26T00:00:00Z');
  await calls(api, offer, 1, '2026-02-25T00:00:00Z');
  await until(api, offer, '2026-03-02T00:00:00Z');
  expect((await told(api, id)).slice(1)).toEqual([
    'SUBSCRIPTION_CYCLE 34: Base 31, Calls 3',
    'SUBSCRIPTION_CYCLE 54: Base 31, Calls 18, Calls 5',
  ]);
});
