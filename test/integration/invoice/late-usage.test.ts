import { expect, test } from 'vitest';
import type { Invoice } from '../../../db/entities/invoice/invoice.ts';
import type { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { lateUsageReader } from '../../../metering/late-usage.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import type { UsageStore } from '../../../metering/usage-store.ts';
import { readLateUsage } from '../../../services/invoice/issue/invoice-late-usage.ts';
import type { BilledWindow } from '../../../services/usage-reader.ts';
import { testDatabase } from '../../support/database.ts';
import { append, january, newCustomer, newMeter } from '../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const customerId = await newCustomer(database, scope, 'acme');

type Window = Omit<BilledWindow, 'watermark'>;

/** The watermark that a line of the window would keep now. */
function watermarkOf(window: Window): Promise<string> {
  const { key, meterId, from, to } = window;
  return inSqlTransaction(database, scope, async (tx) => {
    const answers = await store.usage(tx, scope, [{ key, meterId, customerIds: [customerId], from, to }]);
    return answers.get(key)!.watermark;
  });
}

const late = (windows: BilledWindow[], engine: UsageStore = store) =>
  inSqlTransaction(database, scope, async (tx) => [...(await lateUsageReader(engine)(tx, scope, windows)).values()]);

const event = (eventName: string, n: number, more: object = {}) => ({
  event_name: eventName,
  timestamp: '2026-01-10T00:00:00Z',
  properties: { n, ...more },
});

const windowOf = (meterId: string, change: Partial<Window> = {}): Window => ({
  key: 'line',
  meterId,
  customerId,
  ...january,
  filters: null,
  bucketing: null,
  ...change,
});

test('what came after the watermark is late, what came before is not', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'summed' });
  await append(store, scope, [event('summed', 5)]);
  const window = windowOf(meter.id);
  const billed = { ...window, watermark: await watermarkOf(window) };
  expect(await late([billed])).toEqual([{ eventCount: 0, voidedCount: 0, quantity: '0' }]);
  await append(store, scope, [event('summed', 1), event('summed', 2.5)]);
  expect(await late([billed])).toEqual([{ eventCount: 2, voidedCount: 0, quantity: '3.5' }]);
  // In February nothing was late.
  const next = { ...billed, from: january.to, to: '2026-03-01T00:00:00.000Z' };
  expect(await late([next])).toEqual([{ eventCount: 0, voidedCount: 0, quantity: '0' }]);
});

test('the conditions of the price decide what is late for its line', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'filtered' });
  const window = windowOf(meter.id, { filters: { region: ['eu'] } });
  const billed = { ...window, watermark: await watermarkOf(window) };
  await append(store, scope, [event('filtered', 1, { region: 'eu' }), event('filtered', 1, { region: 'us' })]);
  expect(await late([billed])).toEqual([{ eventCount: 1, voidedCount: 0, quantity: '1' }]);
});

test.each([
  ['MAX', [5, 3], [7, 2], '2'],
  ['LATEST', [5], [3], '-2'],
  ['COUNT_UNIQUE', [1, 2], [2, 3], '1'],
  ['AVG', [4], [8], '2'],
] as const)('of %s the late quantity is the difference of the answers', async (type, before, after, quantity) => {
  const eventName = `of-${type}`;
  const meter = await newMeter(database, scope, { type, field: 'n' }, { eventName });
  await append(
    store,
    scope,
    before.map((n) => event(eventName, n)),
  );
  const window = windowOf(meter.id);
  const billed = { ...window, watermark: await watermarkOf(window) };
  await append(
    store,
    scope,
    after.map((n) => event(eventName, n)),
  );
  expect(await late([billed])).toEqual([{ eventCount: after.length, voidedCount: 0, quantity }]);
});

test('a line of several times counts an event once, also where its meter never resets', async () => {
  const times = [
    ['2026-01-01', '2026-01-11', 1],
    ['2026-01-01', '2026-01-21', 3],
    ['2026-01-21', '2026-02-01', 4],
  ] as const;
  const parts = times.map(([from, to]) => ({ usage: { meterId: 'meter_1', from, to, quantity: '0', watermark: 'w' } }));
  const line = { id: 'line', priceId: 'price_1', derivation: { charge: 'usage', parts } } as unknown as InvoiceLineItem;
  const invoice = { customerId, finalizedAt: january.to } as Invoice;
  const counted = await inTransaction(database, scope, (tx) =>
    readLateUsage(
      tx,
      invoice,
      [line],
      async () =>
        new Map(times.map(([, , n], part) => [`line ${part}`, { eventCount: n, voidedCount: 0, quantity: `${n}.5` }])),
    ),
  );
  expect(counted.get('line')).toEqual({ eventCount: 7, voidedCount: 0, quantity: '9.5' });
});

test('all lines are asked in one call', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'once' });
  const window = windowOf(meter.id);
  const watermark = await watermarkOf(window);
  let calls = 0;
  const counting: UsageStore = {
    ...store,
    usage: (...asked) => {
      calls += 1;
      return store.usage(...asked);
    },
  };
  const windows = ['a', 'b', 'c'].map((key) => ({ ...window, key, watermark }));
  expect(await late(windows, counting)).toHaveLength(3);
  expect(calls).toBe(1);
});
