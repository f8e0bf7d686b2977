import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { beginMetering } from '../../../metering/begin-metering.ts';
import { prepareEvent } from '../../../metering/event.ts';
import type { EachEventQuestion, EventQuery } from '../../../metering/usage-store.ts';
import { extendMeterFilters } from '../../../services/catalogue/meter.ts';
import { eventListener } from '../../support/event-listener.ts';
import { newCustomer, newMeter } from '../../support/metering.ts';
import type { SuiteEngine } from './engine.ts';

const january = { from: '2026-01-01T00:00:00.000000Z', to: '2026-02-01T00:00:00.000000Z' };
const at = (day: number, time = '00:00:00') => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

/** What an engine does besides adding up: inheritance, single events, listings, corrections. spec: catalogue-and-metering §6, §9, §12 */
export function contractSuite(engine: SuiteEngine): void {
  const { database, scope, store, read, settled } = engine;
  let number = 0;
  const named = () => {
    number += 1;
    const eventName = `kept ${number}`;
    const event = (timestamp: string, n: unknown, more: object = {}) => {
      return { event_name: eventName, timestamp, properties: { n }, ...more };
    };
    return { eventName, event };
  };
  const newUser = async () => {
    const externalId = randomUUID();
    return { externalId, customerId: await newCustomer(database, scope, externalId) };
  };
  const eachEvent = (question: Omit<EachEventQuestion, 'key' | 'from' | 'to' | 'begin'>) =>
    settled(async () => {
      const { told, begin } = eventListener();
      await read((sql) => store.eachEvent(sql, scope, [{ key: 'q', ...january, ...question, begin }]));
      return told;
    });

  test('what others used counts from when until when it is inherited, in every form of an answer', async () => {
    const { eventName, event } = named();
    const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
    const greatest = await newMeter(database, scope, { type: 'MAX', field: 'n', bucket_size: 'DAY' }, { eventName });
    const [own, first, second] = [await newUser(), await newUser(), await newUser()];
    const send = (day: number, n: number, { externalId }: { externalId: string }) =>
      event(at(day), n, { external_customer_id: externalId });
    await engine.append([send(2, 1, own), send(2, 2, first), send(9, 4, first), send(10, 8, first)]);
    await engine.settle();
    await engine.append([send(10, 16, second), send(9, 32, second), send(20, 64, second), send(20, 128, own)]);
    const { customerId } = own;
    const inherited = [
      { customerId: first.customerId, from: at(2, '00:00:00.000001'), to: at(10) },
      { customerId: second.customerId, from: at(10), to: null },
    ];
    const question = { meterId: sum.id, customerIds: [customerId], inherited };
    expect(await engine.usage(question)).toMatchObject({ value: '213', eventCount: 5 });
    expect((await engine.usage({ ...question, filters: { n: ['4', '8', '16'] } })).value).toBe('20');
    expect(await engine.series({ ...question, ...january }, { windowSize: 'DAY' })).toEqual({
      '2026-01-02T00:00:00.000Z': '1',
      '2026-01-09T00:00:00.000Z': '4',
      '2026-01-10T00:00:00.000Z': '16',
      '2026-01-20T00:00:00.000Z': '192',
    });
    expect((await engine.usage({ ...question, meterId: greatest.id })).rows).toEqual([
      '2026-01-02T00:00:00.000Z =1',
      '2026-01-09T00:00:00.000Z =4',
      '2026-01-10T00:00:00.000Z =16',
      '2026-01-20T00:00:00.000Z =128',
    ]);
    const { events } = await eachEvent({ meterId: sum.id, customerIds: [customerId], inherited });
    expect(events.map(({ value }) => value).sort()).toEqual(['1', '128', '16', '4', '64']);
  });

  test('events one by one are by time and id, with what each adds, marked where a price takes them', async () => {
    const { eventName, event } = named();
    const { externalId: external_customer_id, customerId } = await newUser();
    const sum = await newMeter(
      database,
      scope,
      { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '2' },
      { eventName },
    );
    const count = await newMeter(database, scope, { type: 'COUNT' }, { eventName });
    const ratio = await newMeter(database, scope, { type: 'SUM', expression: 'n / 3' }, { eventName });
    const [a, b, c] = ['é', 'z', 'b'].map((id) => `${eventName} ${id}`) as [string, string, string];
    const voided = randomUUID();
    const of = (event_id: string) => ({ event_id, external_customer_id });
    await engine.append([event(at(3), '1.50', of(a)), event(at(3), 'none', of(b)), event(at(3), 7, of(voided))]);
    await engine.settle();
    await engine.append([event(at(2, '00:00:00.000001'), -2, of(c)), event(at(3), 9, { event_id: randomUUID() })]);
    await inSqlTransaction(database, scope, (tx) => store.voidEvent(tx, { id: voided, reason: 'wrong' }));
    const listed = await eachEvent({ meterId: sum.id, customerIds: [customerId], filters: { n: ['1.50', '-2'] } });
    const early = '2026-01-02T00:00:00.000001Z';
    const late = '2026-01-03T00:00:00.000000Z';
    expect(listed).toEqual({
      multiplier: '2',
      events: [
        { at: early, id: c, value: '-2', isOwn: true },
        { at: late, id: b, value: '0', isOwn: false },
        { at: late, id: a, value: '1.5', isOwn: true },
      ],
    });
    const counted = await eachEvent({ meterId: count.id, customerIds: [customerId] });
    expect(counted.events.map(({ value, isOwn }) => [value, isOwn])).toEqual([
      ['1', true],
      ['1', true],
      ['1', true],
    ]);
    const computed = await eachEvent({ meterId: ratio.id, customerIds: [customerId] });
    expect(computed.events.map(({ id, value }) => [id, value])).toEqual([
      [c, '-0.666666666666667'],
      [a, '0.5'],
    ]);
    await expect(eachEvent({ meterId: 'meter_none', customerIds: [] })).rejects.toThrow('meter_none does not exist');
    expect((await eachEvent({ meterId: sum.id, customerIds: [] })).events).toEqual([]);
  });

  test('a listing, a look-up and a count say the same while events are being taken in and afterwards', async () => {
    const { eventName, event } = named();
    const ids = [1, 2, 3].map((n) => `${eventName} ${n}`);
    await engine.append(ids.slice(0, 2).map((event_id, n) => event(at(4), n, { event_id })));
    await engine.settle();
    await engine.append([event(at(5), 3, { event_id: ids[2]! }), event(at(6), 4, { event_id: ids[0]! })]);
    await inSqlTransaction(database, scope, (tx) => store.voidEvent(tx, { id: ids[1]!, reason: 'wrong' }));
    const query: EventQuery = { ...january, eventName, pageSize: 1, offset: 0, sort: 'timestamp', order: 'desc' };
    const page = await settled(() => read((sql) => store.events(sql, scope, query)));
    expect(page).toMatchObject({ events: [{ id: ids[2] }], hasMore: true, totalCount: 2 });
    const found = await settled(() => read((sql) => store.event(sql, scope, ids[0]!)));
    expect(found?.copies.map(({ timestamp }) => timestamp.slice(0, 10))).toEqual(['2026-01-06', '2026-01-04']);
    const gone = await settled(() => read((sql) => store.event(sql, scope, ids[1]!)));
    expect(gone?.voided).toMatchObject({ reason: 'wrong' });
    const windows = [{ start: at(4), from: at(4), to: at(5) }];
    const counted = await settled(() => read((sql) => store.counts(sql, scope, { from: at(4), to: at(5) }, windows)));
    expect(counted.windows.map(({ count }) => count)).toEqual([counted.total]);
  });

  test('a changed meter counts anew from its events, and at a watermark as it was defined then', async () => {
    const { eventName, event } = named();
    const filters = [{ key: 'n', values: ['1'] }];
    const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName, filters });
    await engine.append([event(at(4), 1), event(at(5), 2)]);
    const { value, watermark } = await engine.usage({ meterId: meter.id });
    expect(value).toBe('1');
    await inTransaction(database, scope, async (tx) => {
      await beginMetering(tx, await extendMeterFilters(tx, meter.id, [{ key: 'n', values: ['2'] }]));
    });
    await engine.append([event(at(6), 2), event(at(6), 3)]);
    expect((await engine.usage({ meterId: meter.id })).value).toBe('3');
    expect((await engine.usage({ meterId: meter.id, watermark })).value).toBe('2');
    expect((await engine.usage({ meterId: meter.id, watermark, asDefinedThen: true })).value).toBe('1');
    await inSqlTransaction(database, scope, (tx) => store.recompute(tx, meter));
    expect((await engine.usage({ meterId: meter.id })).value).toBe('3');
  });

  test('a correction is an event of its own, and a void after the bill is counted for the bill', async () => {
    const { eventName, event } = named();
    const { externalId: external_customer_id, customerId } = await newUser();
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
    const id = randomUUID();
    await engine.append([
      event(at(4), 10, { external_customer_id }),
      event(at(4), 5, { event_id: id, external_customer_id }),
    ]);
    const question = { meterId: meter.id, customerIds: [customerId] };
    const { watermark } = await engine.usage(question);
    await engine.append([event(at(4), '-2.5', { external_customer_id })]);
    expect((await engine.usage(question)).value).toBe('12.5');
    await inSqlTransaction(database, scope, (tx) => store.voidEvent(tx, { id, reason: 'wrong' }));
    expect((await engine.usage(question)).value).toBe('7.5');
    expect((await engine.usage({ ...question, watermark })).value).toBe('15');
    const billed = {
      key: 'bill',
      meterId: meter.id,
      customerId,
      ...january,
      filters: null,
      watermark,
      bucketing: null,
    };
    const voided = await settled(() => read((sql) => store.countVoided(sql, scope, [billed])));
    expect([...voided]).toEqual([['bill', 1]]);
  });

  test('a large batch is stored with what belongs to it or not at all, and roll-ups are as their events say', async () => {
    const { eventName, event } = named();
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
    const prepared = (n: number) => prepareEvent({ ...event(at(4), n), external_customer_id: 'acme' });
    await store.load(scope, [prepared(1), prepared(2)], async () => undefined);
    await expect(store.load(scope, [prepared(4)], () => Promise.reject(new Error('undone')))).rejects.toThrow('undone');
    expect((await engine.usage({ meterId: meter.id })).value).toBe('3');
    expect(await settled(() => read((sql) => store.verify(sql, scope)))).toEqual([]);
    const sample = await settled(
      () => read((sql) => store.verifySample(sql, scope, 5)),
      ({ differences }) => differences,
    );
    expect(sample.differences).toEqual([]);
  });

  test('nothing asked is nothing answered', async () => {
    expect(await read((sql) => store.usage(sql, scope, []))).toEqual(new Map());
    expect(await read((sql) => store.eachEvent(sql, scope, []))).toEqual(new Map());
    expect(await read((sql) => store.charged(sql, scope, ['nobody sent it']))).toEqual([]);
    expect(await engine.breakdown({})).toEqual([]);
    expect(await engine.bucketBreakdown({})).toEqual([]);
  });
}
