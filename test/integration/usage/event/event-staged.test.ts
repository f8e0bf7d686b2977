import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { newEventId, prepareEvent } from '../../../../metering/event.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../../support/database.ts';
import { newMeter, usageOf } from '../../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
// Texts that COPY has to escape.
const customers = Array.from({ length: 7 }, (_, n) => `customer\t${n}\n\\N`);
const measured = (meter: { id: string }) =>
  usageOf(database, store, scope, { meterId: meter.id, externalCustomerIds: customers });

const event = (n: number, members: object = {}) =>
  prepareEvent({
    event_id: `staged-${n}`,
    event_name: 'staged',
    external_customer_id: customers[n % 7] ?? '',
    timestamp: `2026-01-${String(1 + (n % 28)).padStart(2, '0')}T10:30:00Z`,
    source: n % 2 === 0 ? 'tab\tand \\ and "quotes"\r\n' : null,
    properties: { n, text: 'a\tb\\c\nd', kind: n % 3 },
    ...members,
  });

test('a batch that is copied in counts, keeps and leaves out what one that is sent does', async () => {
  const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'staged' });
  const latest = await newMeter(database, scope, { type: 'LATEST', field: 'n' }, { eventName: 'staged' });
  const unique = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'kind' }, { eventName: 'staged' });
  const bucketed = await newMeter(
    database,
    scope,
    { type: 'MAX', field: 'n', bucket_size: 'MINUTE', group_by: 'kind' },
    { eventName: 'staged' },
  );
  const few = Array.from({ length: 1_000 }, (_, n) => event(n));
  await store.append(scope, few);
  // The first thousand again, and one twice in the batch.
  const many = Array.from({ length: 6_000 }, (_, n) => event(n));
  await store.load(scope, [...many, event(5_999, { properties: { n: 1 } })], async () => undefined);

  const total = String((5_999 * 6_000) / 2);
  expect(await measured(sum)).toBe(total);
  expect(await measured(unique)).toBe('3');
  expect(Number(await measured(latest))).toBeGreaterThan(5_900);
  expect(Number(await measured(bucketed))).toBeGreaterThan(0);
  await inSqlTransaction(database, scope, async (tx) => {
    expect(await store.verify(tx, scope)).toEqual([]);
    const [{ copies } = { copies: 0 }] = await tx.rows<{ copies: number }>(
      'select count(*)::int as copies from usage.event_copy',
    );
    expect(copies).toBe(1_001);
    const found = await store.event(tx, scope, 'staged-2000');
    expect(found?.event).toMatchObject({
      externalCustomerId: 'customer\t5\n\\N',
      source: 'tab\tand \\ and "quotes"\r\n',
    });
    expect(JSON.parse(found?.event.properties ?? '')).toEqual({ n: 2_000, text: 'a\tb\\c\nd', kind: 2 });
  });
});

test('sums of a copied batch are those of its events: negative, tiny and huge values, any time, any group', async () => {
  const eventName = 'summed';
  for (const type of ['COUNT', 'SUM', 'AVG', 'MAX', 'LATEST', 'WEIGHTED_SUM', 'COUNT_UNIQUE']) {
    const field = type === 'COUNT' ? null : 'n';
    await newMeter(database, scope, { type, field }, { eventName, filters: [{ key: 'kind', values: ['1', '2'] }] });
  }
  for (const bucket_size of ['MINUTE', 'HOUR']) {
    await newMeter(database, scope, { type: 'MAX', field: 'n', bucket_size, group_by: 'group' }, { eventName });
  }
  const numbers = ['0', '-4', '-0.000000000000001', '123456789012345678.5', '1e2', 'none', '7.25', '-1e29'];
  const groups = ['', 'é "quoted"\t\\', 'x'.repeat(2_000), 'NULL', '{,}'];
  const times = [
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999999Z',
    '2026-03-29T02:59:59.5+02:00',
    '9999-12-31T23:59:59Z',
    null,
  ];
  const at = <T>(list: readonly T[], n: number) => list[n % list.length];
  const made = Array.from({ length: 5_500 }, (_, n) => {
    const properties = { n: at(numbers, n * 5 + (n % 3)), kind: n % 4, group: at(groups, n * 3 + (n % 2)) };
    const event_id = n % 6 === 0 ? newEventId() : `summed-${n % 5_400}`;
    return event(n, { event_id, event_name: eventName, timestamp: at(times, n * 7 + (n % 4)), properties });
  });
  await store.append(scope, made.slice(0, 200));
  await store.load(scope, made, async () => undefined);
  await inSqlTransaction(database, scope, async (tx) => {
    expect(await store.verify(tx, scope)).toEqual([]);
    const rows = await tx.rows<{ events: number; copies: number }>(
      `select (select count(*)::int from usage.event where event_name = n.number) as events,
         (select count(*)::int from usage.event_copy c where c.event_name = n.name) as copies
       from usage.event_name n where name = $1`,
      [eventName],
    );
    const ids = new Set(made.map(({ id }) => id));
    expect(rows).toEqual([{ events: ids.size, copies: 200 + made.length - ids.size }]);
  });
});

test('batches follow their turn: what the first one fails at keeps the next one out', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'turn' });
  const eventsFrom = (first: number) =>
    Array.from({ length: 5_000 }, (_, n) => event(n, { event_id: `turn-${first + n}`, event_name: 'turn' }));
  const failure = new Error('told to');
  const turn = store.load(scope, eventsFrom(0), () => Promise.reject(failure));
  const next = store.load(scope, eventsFrom(4_000), async () => undefined, turn);
  await expect(turn).rejects.toBe(failure);
  await expect(next).rejects.toBe(failure);
  expect(await measured(meter)).toBe('0');
  const again = store.load(scope, eventsFrom(0), async () => undefined);
  await store.load(scope, eventsFrom(4_000), async () => undefined, again);
  expect(await measured(meter)).toBe('9000');
});

test('a copied batch whose transaction fails leaves nothing', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'failing' });
  const events = Array.from({ length: 5_000 }, (_, n) => event(n, { event_id: `failing-${n}`, event_name: 'failing' }));
  const failure = new Error('told to');
  await expect(store.load(scope, events, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await measured(meter)).toBe('0');
  await store.load(scope, events, async () => undefined);
  expect(await measured(meter)).toBe('5000');
});
