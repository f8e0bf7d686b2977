import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Customer } from '../../../db/entities/customer/customer.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { prepareEvent } from '../../../metering/event.ts';
import { newCustomer, newMeter } from '../../support/metering.ts';
import type { SuiteEngine } from './engine.ts';

/** Which events an engine counts: duplicates, edges, voids, customers, watermarks. spec: catalogue-and-metering §6, §7, §12 */
export function identitySuite(engine: SuiteEngine): void {
  const { database, scope, store } = engine;
  let number = 0;
  const newSum = async (options: { resetUsage?: string } = {}) => {
    number += 1;
    const eventName = `told ${number}`;
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName, ...options });
    const event = (timestamp: string, n: number | string, more: object = {}) => {
      return { event_name: eventName, timestamp, properties: { n }, ...more };
    };
    return { meterId: meter.id, eventName, event };
  };

  test('the first copy of an id counts, whatever is sent afterwards', async () => {
    const { meterId, event } = await newSum();
    const event_id = randomUUID();
    await engine.append([
      event('2026-01-02T00:00:00Z', 1, { event_id }),
      event('2026-01-03T00:00:00Z', 5, { event_id }),
    ]);
    await engine.settle();
    await engine.append([event('2026-01-04T00:00:00Z', 9, { event_id, external_customer_id: 'other' })]);
    expect(await engine.usage({ meterId })).toMatchObject({ value: '1', eventCount: 1 });
    expect((await engine.usage({ meterId, externalCustomerIds: ['other'] })).value).toBe('0');
  });

  test('an interval holds its first microsecond and not its last, in any year', async () => {
    const { meterId, event } = await newSum();
    await engine.append([
      event('2025-12-31T23:59:59.999999Z', 1),
      event('2026-01-01T00:00:00Z', 2),
      event('2026-01-31T23:59:59.999999Z', 4),
      event('2026-02-01T00:00:00Z', 8),
      event('0001-01-01T00:00:00Z', 16),
      event('1969-12-31T23:59:59.5Z', 32),
      event('9999-12-31T23:59:59.999999Z', 64),
    ]);
    expect((await engine.usage({ meterId })).value).toBe('6');
    const always = { from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };
    expect((await engine.usage({ meterId, ...always })).value).toBe('63');
    expect((await engine.usage({ meterId, from: january.to, to: january.from })).value).toBe('0');
  });

  test('of events at one instant the latest is the one that came last', async () => {
    const { eventName, event } = await newSum();
    const gauge = await newMeter(database, scope, { type: 'LATEST', field: 'n' }, { eventName });
    await engine.append([event('2026-01-02T00:00:00Z', 5), event('2026-01-02T00:00:00Z', 7)]);
    expect((await engine.usage({ meterId: gauge.id })).value).toBe('7');
    await engine.append([event('2026-01-02T00:00:00Z', 3), event('2026-01-01T00:00:00Z', 9)]);
    expect((await engine.usage({ meterId: gauge.id })).value).toBe('3');
  });

  test('distinct values are told apart by text form, whenever they came', async () => {
    const { eventName, event } = await newSum();
    const distinct = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'n' }, { eventName });
    await engine.append([event('2026-01-02T00:00:00Z', 'a'), event('2026-01-03T00:00:00Z', '1.0')]);
    await engine.settle();
    await engine.append([
      event('2026-01-02T01:00:00Z', 'a'),
      event('2026-01-03T00:00:00Z', 1),
      event('2026-01-03T00:00:00Z', 'A'),
    ]);
    expect((await engine.usage({ meterId: distinct.id })).value).toBe('4');
  });

  test('a voided event counts for nothing but an earlier watermark', async () => {
    const { meterId, event } = await newSum();
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await engine.append([
      event('2026-01-02T00:00:00Z', 1, { event_id: first }),
      event('2026-01-02T00:00:00Z', 2, { event_id: second }),
    ]);
    await engine.settle();
    await engine.append([event('2026-01-02T00:00:00Z', 4, { event_id: third })]);
    const { watermark } = await engine.usage({ meterId });
    await engine.append([event('2026-01-02T00:00:00Z', 8)]);
    for (const id of [second, third]) {
      await inSqlTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'sent twice' }));
    }
    expect((await engine.usage({ meterId })).value).toBe('9');
    expect((await engine.usage({ meterId, watermark })).value).toBe('7');
    expect((await engine.usage({ meterId, filters: { n: ['1', '2', '4'] } })).value).toBe('1');
  });

  test('events that came before their customer are the customer’s, and stay with who gave the id up', async () => {
    const { meterId, event } = await newSum();
    await engine.append([event('2026-01-02T00:00:00Z', 1, { external_customer_id: 'late' })]);
    await engine.settle();
    const late = await newCustomer(database, scope, 'late');
    const other = await newCustomer(database, scope, 'another');
    await engine.append([
      event('2026-01-03T00:00:00Z', 2, { external_customer_id: 'late' }),
      event('2026-01-03T00:00:00Z', 16, { external_customer_id: 'another' }),
    ]);
    expect((await engine.usage({ meterId, customerIds: [late] })).value).toBe('3');
    await inTransaction(database, scope, async ({ em }) => {
      (await em.findOneOrFail(Customer, { id: late })).externalId = 'renamed';
    });
    const heir = await newCustomer(database, scope, 'late');
    await engine.append([event('2026-01-04T00:00:00Z', 4, { external_customer_id: 'late' })]);
    await engine.append([event('2026-01-04T00:00:00Z', 8, { external_customer_id: 'renamed' })]);
    expect((await engine.usage({ meterId, customerIds: [late] })).value).toBe('11');
    expect((await engine.usage({ meterId, customerIds: [heir] })).value).toBe('4');
    expect((await engine.usage({ meterId, customerIds: [late, other] })).value).toBe('27');
  });

  test('everybody is every customer and every id that nobody has', async () => {
    const { meterId, event } = await newSum();
    await engine.append(
      ['acme', 'nobody knows', 'another'].map((external_customer_id) =>
        event('2026-01-02T00:00:00Z', 1, { external_customer_id }),
      ),
    );
    const everybody = await inSqlTransaction(database, scope, (tx) =>
      store.usage(tx, scope, [{ key: 'q', meterId, ...january }]),
    );
    expect(everybody.get('q')?.value).toBe('3');
  });

  test('what never resets counts from the start of its history', async () => {
    const { meterId, event } = await newSum({ resetUsage: 'NEVER' });
    await engine.append([event('2025-12-10T00:00:00Z', 5), event('2026-01-10T00:00:00Z', 2)]);
    const question = { meterId, startOfHistory: '2025-12-01T00:00:00.000Z' };
    expect((await engine.usage(question)).value).toBe('7');
    expect((await engine.usage({ meterId })).value).toBe('2');
    const to = '2026-02-01T00:00:00.000000Z';
    expect(await engine.series({ ...question, to }, { windowSize: 'MONTH' })).toEqual({
      '2026-01-01T00:00:00.000Z': '7',
    });
  });

  test('what a transaction appended it sees itself, and nobody when it is taken back', async () => {
    const { meterId, event } = await newSum();
    await engine.append([event('2026-01-02T00:00:00Z', 1)]);
    await engine.settle();
    const undone = inSqlTransaction(database, scope, async (tx) => {
      await store.appendWithin(tx, [
        prepareEvent({ ...event('2026-01-02T00:00:00Z', 2), external_customer_id: 'acme' }),
      ]);
      const answers = await store.usage(tx, scope, [{ key: 'q', meterId, externalCustomerIds: ['acme'], ...january }]);
      throw new Error(`seen ${answers.get('q')?.value}`);
    });
    await expect(undone).rejects.toThrow('seen 3');
    expect((await engine.usage({ meterId })).value).toBe('1');
  });

  test('an unknown meter is refused, and an unknown customer has used nothing', async () => {
    const { meterId } = await newSum();
    expect(await engine.usage({ meterId, externalCustomerIds: ['nobody'] })).toMatchObject({
      value: '0',
      eventCount: 0,
    });
    await expect(engine.usage({ meterId: 'meter_none' })).rejects.toThrow('meter_none does not exist');
  });
}

const january = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' };
