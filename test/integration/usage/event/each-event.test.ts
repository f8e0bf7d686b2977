import { expect, test } from 'vitest';
import type { GrantConfiguration } from '../../../../billing/allowance/grant.ts';
import { type GrantFolding, grantFolding, type MeteredEvent } from '../../../../billing/allowance/grant-usage.ts';
import type { Decimal } from '../../../../billing/money/money.ts';
import { inReadTransaction, inSqlTransaction, type ScopedSql } from '../../../../db/transaction.ts';
import { prepareEvent } from '../../../../metering/event.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../../support/database.ts';
import { eventListener } from '../../../support/event-listener.ts';
import { append, january, newCustomer, newMeter } from '../../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const [acme, zeta] = [await newCustomer(database, scope, 'acme'), await newCustomer(database, scope, 'zeta')];

const times = Array.from({ length: 300 }, (_, index) =>
  new Date(Date.parse(january.from) + ((index * 7) % 300) * 3_600_001).toISOString(),
);
const sent = Array.from({ length: 5_200 }, (_, index) => ({
  event_id: `event-${(index * 7919) % 5_200}`,
  external_customer_id: index % 4 === 0 ? 'zeta' : 'acme',
  timestamp: times[(index * 13) % times.length]!,
  properties: { n: index % 9 === 0 ? -1 : index % 50, region: index % 3 === 0 ? 'us' : 'eu' },
}));

const budgeted = await newMeter(database, scope, { type: 'SUM', field: 'n' });

test('more events than are held at a time are told once each, by time and id, to everybody who asked', async () => {
  const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' });
  const scaled = await newMeter(database, scope, { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '3' });
  const silent = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'silent' });
  for (let from = 0; from < sent.length; from += 1_000) await append(store, scope, sent.slice(from, from + 1_000));
  const toldOf = (of: 'acme' | 'zeta', isOwn: (event: (typeof sent)[number]) => boolean = () => true) =>
    sent
      .filter((event) => event.external_customer_id === of)
      .map((event) => ({
        at: `${event.timestamp.slice(0, 23)}000Z`,
        id: event.event_id,
        value: String(event.properties.n),
        isOwn: isOwn(event),
      }))
      .sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1));
  const [whole, marked, other, none] = [eventListener(), eventListener(), eventListener(), eventListener()];
  const ask = { ...january, customerIds: [acme] };
  const answers = await inSqlTransaction(database, scope, (tx) =>
    store.eachEvent(tx, scope, [
      { ...ask, key: 'whole', meterId: sum.id, begin: whole.begin },
      { ...ask, key: 'marked', meterId: scaled.id, filters: { region: ['us'] }, begin: marked.begin },
      { ...ask, key: 'none', meterId: silent.id, begin: none.begin },
      { ...ask, key: 'other', meterId: sum.id, customerIds: [zeta], begin: other.begin },
    ]),
  );
  expect(whole.told).toEqual({ multiplier: null, events: toldOf('acme') });
  const ofRegion = toldOf('acme', ({ properties }) => properties.region === 'us');
  expect(marked.told).toEqual({ multiplier: '3', events: ofRegion });
  expect(other.told.events).toEqual(toldOf('zeta'));
  expect(none.told.events).toEqual([]);
  expect([...answers.keys()].sort()).toEqual(['marked', 'none', 'other', 'whole']);
  expect(new Set([...answers.values()].map(({ watermark }) => watermark.split('@')[0])).size).toBe(1);
});

/** What budgets of a sum make of events by the hour and one by one, and how many events the former were told. */
async function measuredBoth(tx: ScopedSql) {
  const cycle = { start: january.from, end: january.to };
  const whole: GrantConfiguration = {
    entitlementId: 'ent_1',
    measure: 'quantity',
    quota: '20000',
    durationUnit: 'subscription_period',
    durationValue: null,
    allocation: 'first_usage',
  };
  const daily = { ...whole, entitlementId: 'ent_2', quota: '4000.5', durationUnit: 'day' as const, durationValue: 2 };
  const grants = { mode: 'parallel' as const, measure: 'quantity' as const, configurations: [whole, daily] };
  const asked = { tenures: [{ grants, cycle }], billed: cycle, timezone: 'Europe/Berlin', costOf: (of: Decimal) => of };
  let single = 0;
  const begin: GrantFolding = (multiplier) => {
    const fold = grantFolding(asked)(multiplier);
    const add = (event: MeteredEvent) => {
      single += 1;
      fold.add(event);
    };
    return { ...fold, add };
  };
  const ask = { meterId: budgeted.id, from: january.from, to: '2026-01-12T10:20:30.000Z', customerIds: [acme] };
  const told = await store.eachEvent(tx, scope, [
    { ...ask, key: 'hours', begin },
    // Filters that every event meets: then they are told one by one.
    { ...ask, key: 'each', filters: { region: ['us', 'eu'] }, begin: grantFolding(asked) },
  ]);
  const [hours, each] = ['hours', 'each'].map((key) => told.get(key));
  expect(hours?.watermark.split('@')[0]).toBe(each?.watermark.split('@')[0]);
  return { hours: hours?.fold.measured(), each: each?.fold.measured(), single };
}

test('budgets of very many events are measured by the hour as they are event by event', async () => {
  const { hours, each, single } = await inSqlTransaction(database, scope, measuredBoth);
  expect(hours).toEqual(each);
  expect(single).toBeGreaterThan(0);
  expect(single).toBeLessThan(2_500);
});

test('a transaction that has written something else measures by the hour, one that has brought events counts them', async () => {
  const undone = new Error('undone');
  const tried = inSqlTransaction(database, scope, async (tx) => {
    await tx.rows('select pg_current_xact_id()');
    const { single } = await measuredBoth(tx);
    expect(single).toBeLessThan(2_500);
    const own = { event_name: 'call', external_customer_id: 'acme', timestamp: '2026-01-05T10:00:00Z' };
    await store.appendWithin(tx, [prepareEvent({ ...own, event_id: 'own', properties: { n: 900, region: 'us' } })]);
    const more = await measuredBoth(tx);
    expect(more.hours).toEqual(more.each);
    expect(more.single).toBeGreaterThan(single);
    throw undone;
  });
  await expect(tried).rejects.toBe(undone);
});

test('two readings in one transaction do not disturb each other', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' });
  const [first, second] = [eventListener(), eventListener()];
  const ask = ({ begin }: ReturnType<typeof eventListener>, customerId: string) => [
    { ...january, key: 'q', meterId: meter.id, customerIds: [customerId], begin },
  ];
  await inReadTransaction(database, scope, (tx) =>
    Promise.all([store.eachEvent(tx, scope, ask(first, acme)), store.eachEvent(tx, scope, ask(second, zeta))]),
  );
  expect([first.told.events.length, second.told.events.length]).toEqual([3_900, 1_300]);
});

test('a meter that does not exist is not found', async () => {
  const question = { ...january, key: 'q', meterId: 'meter_no', customerIds: [acme], begin: eventListener().begin };
  const asked = inSqlTransaction(database, scope, (tx) => store.eachEvent(tx, scope, [question]));
  await expect(asked).rejects.toThrow('meter_no does not exist');
});
