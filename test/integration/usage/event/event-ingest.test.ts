import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Customer } from '../../../../db/entities/customer/customer.ts';
import { inSqlTransaction, inTransaction } from '../../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../../support/database.ts';
import { append, newCustomer, newMeter, usageOf } from '../../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const events = (count: number, timestamp = '2026-01-15T10:30:00Z') =>
  Array.from({ length: count }, () => ({ event_id: randomUUID(), timestamp }));
const differences = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));

test('an acknowledged event is in the usage at once', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'fresh' });
  await append(store, scope, [{ event_name: 'fresh', timestamp: '2026-01-02T00:00:00Z', properties: { n: '2.5' } }]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2.5');
});

test('the first copy of an id is metered, in one batch and in later ones', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'copy' });
  const copy = (n: number) => ({
    event_id: 'copy-1',
    event_name: 'copy',
    timestamp: '2026-01-02T00:00:00Z',
    properties: { n },
  });
  await append(store, scope, [copy(1), copy(2)]);
  await append(store, scope, [copy(4)]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('1');
  const read = await inSqlTransaction(database, scope, (tx) => store.event(tx, scope, 'copy-1'));
  expect(read?.event.properties).toBe('{"n":1}');
  expect(read?.copies.map((each) => each.properties)).toEqual(['{"n":4}', '{"n":2}', '{"n":1}']);
  expect(read?.copies.map((each) => each.samePayload)).toEqual([false, false, true]);
  expect(read?.attributions).toEqual([{ meterId: meter.id, featureId: null, quantity: '1', lineItems: [] }]);
});

test('writers that send the same ids at once neither deadlock nor count twice', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'race' });
  const shared = events(300).map((event, index) => ({
    ...event,
    event_name: 'race',
    external_customer_id: `c${index % 7}`,
  }));
  const shuffled = () => shared.toSorted(() => Math.random() - 0.5);
  const stores = Array.from({ length: 4 }, () => openPostgresUsageStore(database));
  await Promise.all(stores.flatMap((each) => [append(each, scope, shuffled()), append(each, scope, shuffled())]));
  const customers = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
  expect(await usageOf(database, store, scope, { meterId: meter.id, externalCustomerIds: customers })).toBe('300');
  expect(await differences()).toEqual([]);
});

test('single events posted together share statements and are all stored', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'single' });
  await Promise.all(events(32).map((event) => append(store, scope, [{ ...event, event_name: 'single' }])));
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('32');
});

test('events that came before their customer are the customer’s', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'early' });
  await append(
    store,
    scope,
    events(3).map((event) => ({ ...event, event_name: 'early', external_customer_id: 'newcomer' })),
  );
  const customerId = await newCustomer(database, scope, 'newcomer');
  expect(await usageOf(database, store, scope, { meterId: meter.id, customerIds: [customerId] })).toBe('3');
});

test('usage stays with a customer that gives its external id up, and later events follow the next holder', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'renamed' });
  const send = (externalId: string) =>
    append(store, scope, [
      { event_name: 'renamed', external_customer_id: externalId, timestamp: '2026-01-02T00:00:00Z' },
    ]);
  const first = await newCustomer(database, scope, 'old-name');
  await send('old-name');
  await inTransaction(database, scope, async (tx) => {
    const customer = await tx.em.findOneOrFail(Customer, { id: first });
    customer.externalId = 'new-name';
  });
  await send('new-name');
  await send('old-name');
  const second = await newCustomer(database, scope, 'old-name');
  await send('old-name');
  expect(await usageOf(database, store, scope, { meterId: meter.id, customerIds: [first] })).toBe('2');
  expect(await usageOf(database, store, scope, { meterId: meter.id, customerIds: [second] })).toBe('2');
});

test('a meter made after its events sees them, also when they come while it is made', async () => {
  const named = (count: number) => events(count).map((event) => ({ ...event, event_name: 'before' }));
  await append(store, scope, named(20));
  const appended = Promise.all(Array.from({ length: 20 }, () => append(store, scope, named(5))));
  const meters = await Promise.all(
    [1, 2, 3].map(() => newMeter(database, scope, { type: 'COUNT' }, { eventName: 'before' })),
  );
  await appended;
  for (const meter of meters) expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('120');
  expect(await differences()).toEqual([]);
});

test('a roll-up that was damaged is found, and built anew from its events', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'damaged' });
  await append(store, scope, [{ event_name: 'damaged', timestamp: '2026-01-02T10:30:00Z', properties: { n: 2 } }]);
  await inSqlTransaction(database, scope, (tx) =>
    tx.rows('update usage.rollup set s = 3 where meter = $1', [meter.number]),
  );
  expect(await differences()).toMatchObject([{ meterId: meter.id, externalCustomerId: 'acme' }]);
  await inSqlTransaction(database, scope, (tx) => store.recompute(tx, meter));
  expect(await differences()).toEqual([]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2');
});

test('another process meters with a new meter from its commit on', async () => {
  const other = openPostgresUsageStore(database);
  await append(other, scope, [{ event_name: 'elsewhere', timestamp: '2026-01-02T00:00:00Z' }]);
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'elsewhere' });
  await append(other, scope, [{ event_name: 'elsewhere', timestamp: '2026-01-02T00:00:00Z' }]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2');
});
