import { describe, expect, it, test } from 'vitest';
import { advanceTo, invoicesOf, testPlatform } from '../../support/billing.ts';
import { grantFixture, hours, wholePeriod } from '../wallet/grant.fixture.ts';

const { api } = await testPlatform();
const { metered, grant, call, subscribed, use, usageLine, usageOf } = grantFixture(api);

describe('budgets that usage opens', () => {
  it('bill what is over each of them, on the read and on the invoice alike', async () => {
    const on = await metered();
    await grant(on, hours('10', 5, { usage_limit: 1_000_000 }));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-03T01:00:00', 7], ['04-03T05:59:59.999', 8], ['04-03T06:00:00', 9]);
    await use(on, externalId, ['04-20T00:00:00.000001', 10], ['04-20T05:00:00', 4]);
    await advanceTo(api, clockId, '2026-04-21T00:00:00Z');
    // 01:00 – 06:00 holds 15, 06:00 – 11:00 holds 9, the third 14: 5 + 0 + 4.
    expect(await usageOf(id)).toMatchObject({ amount: 18, charges: [{ quantity: 9, amount: 18 }] });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await usageLine(id)).toMatchObject({
      quantity: '9',
      amount: '18',
      adjusted_entitlement_quantity: '29',
    });
  });

  it('do not depend on when events arrive, while the invoice is a draft', async () => {
    const on = await metered();
    await grant(on, hours('10'));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-03T04:00:00', 10], ['04-03T08:30:00', 3]);
    await advanceTo(api, clockId, '2026-05-01T01:00:00Z');
    expect(await usageLine(id)).toMatchObject({ quantity: '3' });
    // Late: the first window now begins at 03:59 and ends before the last event.
    await use(on, externalId, ['04-03T03:29:00', 2]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await usageLine(id)).toMatchObject({ quantity: '2', adjusted_entitlement_quantity: '13' });
  });

  it('in parallel bill a unit over several of them once', async () => {
    const on = await metered();
    await grant(on, hours('50', 5, { aggregation_mode: 'parallel' }));
    await grant(on, wholePeriod('60', { aggregation_mode: 'parallel' }));
    const { id, customerId, clockId, externalId } = await subscribed(on);
    await use(
      on,
      externalId,
      ['04-05T00:00:00', 40],
      ['04-05T01:00:00', 30],
      ['04-10T00:00:00', 45],
      ['04-12T00:00:00', 20],
    );
    const { entitlement } = (await call('GET', `/customers/${customerId}/entitlements`)).body.features[0];
    expect(entitlement).toMatchObject({
      aggregation_mode: 'parallel',
      buckets: [
        { grant_quota: '50', grant_duration_unit: 'hour', grant_duration_value: 5, source_entity_id: on.planId },
        { grant_quota: '60', grant_duration_unit: 'subscription_period', grant_duration_value: null },
      ],
    });
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await usageLine(id)).toMatchObject({ quantity: '85', amount: '170' });
  });

  it('of money bill the rest as money', async () => {
    const on = await metered();
    await grant(on, wholePeriod('25.5', { grant_measure: 'amount' }));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-05T00:00:00', 10], ['04-06T00:00:00', 5]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await usageLine(id)).toMatchObject({ quantity: '0', amount: '4.5', adjusted_entitlement_quantity: '15' });
  });

  it('leave a line whole whose meter does not add up, whatever the limit', async () => {
    const on = await metered({ type: 'COUNT_UNIQUE', field: 'n' });
    await grant(on, hours('1', 5, { usage_limit: 100 }));
    const { id, clockId, externalId } = await subscribed(on);
    await use(on, externalId, ['04-05T00:00:00', 10], ['04-06T00:00:00', 5]);
    await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
    expect(await usageLine(id)).toMatchObject({ quantity: '2', amount: '4' });
  });
});

test('an explanation tells the windows, the crossing at the event’s own time, and what is billed', async () => {
  const on = await metered();
  await grant(on, hours('10'));
  const { id, clockId, externalId } = await subscribed(on);
  const [inside, over] = await use(on, externalId, ['04-03T01:00:00', 4], ['04-03T02:00:00.123', 8]);
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  const invoice = (await invoicesOf(api, id)).at(-1)!;
  const { body } = await call('GET', `/invoices/${invoice.id}/explain`);
  const said = JSON.stringify(body);
  expect(said).toContain('12 used of 10, reached at 2026-04-03T02:00:00.123Z; 2 is over it');
  expect(said).toContain('2 over the budgets is billed');
  for (const event of [inside, over]) {
    const { body: explained } = await call('GET', `/events/${event}/explain`);
    expect(explained.outcome).toBe('billed');
    expect(explained.sentence).toContain('which holds 10: 12 was used of it, and 2 is over it');
  }
});
