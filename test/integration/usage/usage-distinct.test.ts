import { expect, test } from 'vitest';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { append, newCustomer, newMeter, usageOf } from '../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
await newCustomer(database, scope, 'acme');

const verify = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));
const dayMs = 86_400_000;
const start = Date.parse('2026-01-28T00:00:00Z');
const at = (days: number) => new Date(start + days * dayMs).toISOString();

/** 40 users over 70 days and four months of different lengths, at the first and the last instants of days too. */
const sent = Array.from({ length: 300 }, (_, index) => ({
  event_id: `distinct-${index}`,
  event_name: 'login',
  external_customer_id: index % 7 === 0 ? 'other' : 'acme',
  day: (index * 37) % 70,
  user: `user-${(index * index) % 40}`,
}));

async function oracle(from: number, to: number, without: ReadonlySet<string> = new Set()): Promise<string> {
  const counted = sent.filter(
    (event) =>
      event.day >= from && event.day < to && event.external_customer_id === 'acme' && !without.has(event.event_id),
  );
  return String(new Set(counted.map(({ user }) => user)).size);
}

test('distinct values of weeks and months are those of their days, whatever months they lie in', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'user' }, { eventName: 'login' });
  await append(
    store,
    scope,
    sent.map(({ day, user, ...event }, index) => ({
      ...event,
      timestamp:
        index % 3 ? at(day + 0.4) : index % 2 ? at(day) : new Date(start + (day + 1) * dayMs - 1).toISOString(),
      properties: { user },
    })),
  );
  const asked = async (from: number, to: number) =>
    usageOf(database, store, scope, { meterId: meter.id, from: at(from), to: at(to) });
  const windows: [number, number][] = [];
  for (let from = 0; from < 70; from += 6) {
    for (const length of [1, 3, 4, 5, 17, 31, 64]) windows.push([from, from + length]);
  }
  for (const [from, to] of windows) expect(await asked(from, to), `${from} to ${to}`).toBe(await oracle(from, to));
  // With parts of days at both ends, as answered from events alone.
  const users = [...new Set(sent.map(({ user }) => user))];
  for (const [from, to] of [
    [0.5, 69.3],
    [3.7, 33.1],
    [33.2, 40.9],
  ] as const) {
    const whole = { meterId: meter.id, from: at(from), to: at(to) };
    const raw = await usageOf(database, store, scope, { ...whole, filters: { user: users } });
    expect(await asked(from, to), `${from} to ${to}`).toBe(raw);
  }

  const voided = new Set(sent.filter((_, index) => index % 9 === 1).map(({ event_id }) => event_id));
  for (const id of voided) await inTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'test' }));
  for (const [from, to] of windows.slice(0, 30)) {
    expect(await asked(from, to), `${from} to ${to} after voids`).toBe(await oracle(from, to, voided));
  }
  expect(await verify()).toEqual([]);
});
