import { expect, test } from 'vitest';
import { advanceTo, invoicesOf, testPlatform } from '../../support/billing.ts';
import { usageWatch } from '../../support/usage-watch.ts';
import { grantFixture, hours, type Metered, wholePeriod } from '../wallet/grant.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { metered, grant, subscribed, use, usageOf } = grantFixture(api);

/** Lets everything that was sent be looked at. */
const watched = usageWatch(platform);

const billed = async (id: string) =>
  (await invoicesOf(api, id))
    .filter(({ line_items }) => line_items.length > 0)
    .map(({ billing_reason, line_items }) => [
      billing_reason,
      ...line_items.map((line) => [line.quantity, line.amount]),
    ]);

type Usage = [timestamp: string, n: number][];

/** Sends usage, moves the clock behind it and lets the threshold be looked at. */
async function reach(on: Metered, to: { clockId: string; externalId: string }, at: string, usage: Usage) {
  await use(on, to.externalId, ...usage);
  await advanceTo(api, to.clockId, `2026-${at}Z`);
  await watched();
}

test('what budgets leave free does not reach the threshold; what is over them does, and a window that is open goes on', async () => {
  const on = await metered();
  await grant(on, hours('10'));
  const customer = await subscribed(on, { auto_invoice_threshold: '20' });
  // 12 cost 24, of which 10 units are free.
  await reach(on, customer, '04-04T00:00:00', [['04-03T01:00:00', 12]]);
  expect(await billed(customer.id)).toEqual([]);
  await reach(on, customer, '04-05T02:00:00', [['04-05T00:00:00', 20]]);
  expect(await billed(customer.id)).toEqual([['AUTO_INVOICE_THRESHOLD', ['12', '24']]]);
  // The window from midnight is used up; the one after it is a new one.
  await reach(on, customer, '04-11T00:00:00', [
    ['04-05T03:00:00', 3],
    ['04-10T00:00:00', 11],
  ]);
  expect(await usageOf(customer.id)).toMatchObject({ amount: 8 });
  await advanceTo(api, customer.clockId, '2026-05-01T03:00:00Z');
  expect(await billed(customer.id)).toEqual([
    ['AUTO_INVOICE_THRESHOLD', ['12', '24']],
    ['SUBSCRIPTION_CYCLE', ['4', '8']],
  ]);
});

test('windows are those of the period, wherever in it the usage is looked at', async () => {
  const on = await metered();
  await grant(on, hours('10'));
  const customer = await subscribed(on, { auto_invoice_threshold: '20' });
  // The window from midnight ended at five, half an hour before the look.
  await reach(on, customer, '04-05T05:30:00', [
    ['04-05T00:00:00', 10],
    ['04-05T05:10:00', 10],
  ]);
  expect(await billed(customer.id)).toEqual([]);
});

test('a budget of the whole period is given once, not once an invoice', async () => {
  const on = await metered();
  await grant(on, wholePeriod('15'));
  const customer = await subscribed(on, { auto_invoice_threshold: '20' });
  await reach(on, customer, '04-04T00:00:00', [
    ['04-02T00:00:00', 10],
    ['04-03T00:00:00', 12],
  ]);
  expect(await billed(customer.id)).toEqual([]);
  await reach(on, customer, '04-06T00:00:00', [['04-05T00:00:00', 4]]);
  expect(await billed(customer.id)).toEqual([['AUTO_INVOICE_THRESHOLD', ['11', '22']]]);
  await reach(on, customer, '04-21T00:00:00', [['04-20T00:00:00', 11]]);
  expect((await billed(customer.id)).at(-1)).toEqual(['AUTO_INVOICE_THRESHOLD', ['11', '22']]);
  await use(on, customer.externalId, ['04-25T00:00:00', 1]);
  await advanceTo(api, customer.clockId, '2026-05-01T03:00:00Z');
  expect((await billed(customer.id)).slice(1)).toEqual([
    ['AUTO_INVOICE_THRESHOLD', ['11', '22']],
    ['SUBSCRIPTION_CYCLE', ['1', '2']],
  ]);
  // The next period has a budget of its own.
  await reach(on, customer, '05-10T00:00:00', [['05-09T00:00:00', 24]]);
  expect(await billed(customer.id)).toHaveLength(3);
});

test('parallel budgets reach it by a unit that is over several of them once', async () => {
  const on = await metered();
  await grant(on, hours('50', 5, { aggregation_mode: 'parallel' }));
  await grant(on, wholePeriod('60', { aggregation_mode: 'parallel' }));
  const customer = await subscribed(on, { auto_invoice_threshold: '40' });
  // 20 over the five hours, of which 10 are over the period as well.
  await reach(on, customer, '04-06T00:00:00', [
    ['04-05T00:00:00', 40],
    ['04-05T01:00:00', 30],
  ]);
  expect(await billed(customer.id)).toEqual([['AUTO_INVOICE_THRESHOLD', ['20', '40']]]);
  await use(on, customer.externalId, ['04-10T00:00:00', 5]);
  await advanceTo(api, customer.clockId, '2026-05-01T03:00:00Z');
  expect((await billed(customer.id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', ['5', '10']]);
});

test('a budget of money reaches it by what is over it', async () => {
  const on = await metered();
  await grant(on, wholePeriod('25.5', { grant_measure: 'amount' }));
  const customer = await subscribed(on, { auto_invoice_threshold: '20' });
  await reach(on, customer, '04-06T00:00:00', [['04-05T00:00:00', 12]]);
  expect(await billed(customer.id)).toEqual([]);
  await reach(on, customer, '04-08T00:00:00', [['04-07T00:00:00', 13]]);
  expect(await billed(customer.id)).toEqual([['AUTO_INVOICE_THRESHOLD', ['0', '24.5']]]);
  await use(on, customer.externalId, ['04-10T00:00:00', 1]);
  await advanceTo(api, customer.clockId, '2026-05-01T03:00:00Z');
  expect((await billed(customer.id)).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', ['0', '2']]);
});
