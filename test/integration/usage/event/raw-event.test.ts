import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { storeBatch } from '../../../../activities/usage/event-reprocess.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { keepCommand } from '../../../../services/lifecycle/kept-command.ts';
import {
  nothingReprocessed,
  type ReprocessOrder,
  reprocessStartOptions,
  reprocessWorkflowId,
  reprocessWorkflowType,
} from '../../../../workflows/usage/event-reprocess.messages.ts';
import { testPlatform } from '../../../support/billing.ts';
import { newMeter, usageOf } from '../../../support/metering.ts';

const { api, base, temporal } = await testPlatform();
const { database, scope } = base;
const store = openPostgresUsageStore(database);
afterAll(() => store.close());

type Members = Record<string, unknown>;
const send = (...events: unknown[]) => api<Members>('POST', '/events/raw/bulk', { events });
const map = (value: Members) => api('PUT', '/settings/raw_event_config', { value });
const eventOf = async (id: string) => (await api<{ event: Members; events: Members[] }>('GET', `/events/${id}`)).body;
const everything = { start_date: '2020-01-01T00:00:00Z' };
const january = '2026-01-10T00:00:00Z';

async function reprocess(which: 'all' | 'pending', body: Members = {}) {
  const answer = await api<Members>('POST', `/events/raw/reprocess/${which}`, { ...everything, ...body });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: 200,
    body: { message: expect.any(String), workflow_id: reprocessWorkflowId(scope.environmentId) },
  });
  return temporal.client.workflow.getHandle(reprocessWorkflowId(scope.environmentId)).result();
}

const kept = () =>
  inSqlTransaction(database, scope, (tx) =>
    tx.rows<{ payload: string; problem: string | null }>(
      'select payload::text as payload, problem from usage.raw_event order by seq',
    ),
  );

describe('POST /events/raw/bulk', () => {
  it('reads events of common shapes at once, and keeps every digit of them', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'raw.call' });
    const id = randomUUID();
    const answer = await send(
      { specversion: '1.0', id, type: 'raw.call', subject: 'acme', time: january, source: 'ce', data: { n: '2.5' } },
      { event: 'raw.call', userId: 'acme', timestamp: 1768003200, n: 0.25, nested: { a: [1] } },
      { event_name: 'raw.call', external_customer_id: 'acme', timestamp: 1768003200000, properties: { n: '1e1' } },
    );
    expect(answer).toMatchObject({ status: 202, body: { batch_size: '3' } });
    expect(Object.values(answer.body).every((value) => typeof value === 'string')).toBe(true);
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('12.75');
    expect((await eventOf(id)).event).toMatchObject({
      event_name: 'raw.call',
      external_customer_id: 'acme',
      source: 'ce',
      properties: { n: '2.5' },
    });
  });

  it('gives an object without an id one of its own, and the same to a retry with an Idempotency-Key', async () => {
    const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'raw.keyed' });
    const body = { events: [{ type: 'raw.keyed', subject: 'acme', time: january }] };
    const once = () => api('POST', '/events/raw/bulk', body, { 'idempotency-key': 'raw-once' });
    expect((await once()).status).toBe(202);
    expect((await once()).status).toBe(202);
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('1');
    await send(...body.events);
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2');
  });

  it.each([
    ['no events', { events: [] }, 'events'],
    ['1001 events', { events: Array.from({ length: 1001 }, () => ({ type: 'x' })) }, 'events'],
    ['a text among them', { events: [{ type: 'x', subject: 'y' }, 'text'] }, 'events'],
    ['a list among them', { events: [[]] }, 'events'],
    ['null among them', { events: [null] }, 'events'],
    ['nothing', {}, 'events'],
  ])('refuses %s, and keeps nothing', async (_, body, field) => {
    const before = (await kept()).length;
    const answer = await api<Members>('POST', '/events/raw/bulk', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
    expect(await kept()).toHaveLength(before);
  });

  it('keeps what it cannot read, with the reason', async () => {
    const before = (await kept()).length;
    const objects = [
      { subject: 'acme' },
      { type: 'raw.odd' },
      { type: ' ', subject: 'acme' },
      { type: 'raw.odd', subject: 'acme', time: 'yesterday' },
      { type: 'raw.odd', subject: 'acme', id: 'x'.repeat(256) },
      { type: { a: 1 }, subject: 'acme' },
      {},
    ];
    expect((await send(...objects)).status).toBe(202);
    const problems = (await kept()).slice(before).map(({ problem }) => problem);
    expect(problems).toEqual([
      'event_name was not found at event_name or event or type',
      'external_customer_id was not found at external_customer_id or subject or userId or user_id',
      'event_name was not found at event_name or event or type',
      expect.stringContaining('timestamp must be an RFC 3339 time'),
      expect.stringContaining('event_id must be at most 255 characters'),
      'event_name was not found at event_name or event or type',
      'event_name was not found at event_name or event or type',
    ]);
  });
});

describe('the setting raw_event_config', () => {
  it('says where members are, by a path of names or by a name with dots', async () => {
    await map({ event_name: 'meta.kind', external_customer_id: 'account.id', properties: 'body', event_id: 'meta.id' });
    const id = randomUUID();
    await send({ meta: { kind: 'raw.mapped', id }, 'account.id': 42, time: january, body: { region: 'eu' } });
    expect((await eventOf(id)).event).toMatchObject({
      event_name: 'raw.mapped',
      external_customer_id: '42',
      properties: { region: 'eu' },
    });
    await api('DELETE', '/settings/raw_event_config');
  });

  it('refuses a member it does not know', async () => {
    expect(await map({ customer: 'a' })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});

describe('POST /events/raw/reprocess', () => {
  it('pending stores what the mapping can read now, and nothing twice', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'raw.later' });
    await send(...[1, 2, 4].map((n) => ({ what: 'raw.later', who: 'acme', time: january, n })));
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('0');
    await map({ event_name: 'what', external_customer_id: 'who' });
    expect(await reprocess('pending', { batch_size: 2 })).toMatchObject({ stored: 3, isDone: true });
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('7');
    expect(await reprocess('pending', { event_names: ['raw.later'] })).toMatchObject({ stored: 0 });
    expect(await reprocess('all', { event_names: ['raw.later'] })).toMatchObject({ stored: 0, known: 3 });
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('7');
    await api('DELETE', '/settings/raw_event_config');
  });

  it('reads only what its dates, customers, names and ids ask for', async () => {
    await send(...['a', 'b'].map((who) => ({ what: `raw.${who}`, who, id: `raw-${who}`, time: january })));
    await map({ event_name: 'what', external_customer_id: 'who' });
    expect(await reprocess('pending', { end_date: '2020-01-02T00:00:00Z' })).toMatchObject({ examined: 0 });
    expect(await reprocess('pending', { event_names: ['raw.none'] })).toMatchObject({ stored: 0 });
    expect(await reprocess('pending', { event_ids: ['raw-a'], event_names: ['raw.a'] })).toMatchObject({ stored: 1 });
    expect(await reprocess('pending', { external_customer_ids: ['b'] })).toMatchObject({ stored: 1 });
    await api('DELETE', '/settings/raw_event_config');
  });

  it('does nothing twice when a batch is repeated, or read by two', async () => {
    const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'raw.twice' });
    await send(...[1, 2].map((n) => ({ kind: 'raw.twice', who: 'acme', time: january, n })));
    await map({ event_name: 'kind', external_customer_id: 'who' });
    const content: ReprocessOrder = {
      from: everything.start_date,
      to: '2100-01-01T00:00:00Z',
      pendingOnly: true,
      externalCustomerIds: null,
      eventNames: ['raw.twice'],
      eventIds: null,
      batchSize: 10_000,
    };
    const { tenantId, environmentId } = scope;
    const kept = { objectType: 'environment', objectId: environmentId, command: reprocessWorkflowType, content };
    await inSqlTransaction(database, scope, (tx) => keepCommand(tx, scope, { id: 'twice', ...kept }));
    const start = { tenantId, environmentId, commandId: 'twice', standing: nothingReprocessed };
    await Promise.all([1, 2, 3].map(() => storeBatch({ database, metering: store }, start)));
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2');
    const copies = await inSqlTransaction(database, scope, (tx) =>
      tx.rows(`select 1 from usage.event_copy where event_name = 'raw.twice'`),
    );
    expect(copies).toEqual([]);
    await api('DELETE', '/settings/raw_event_config');
  });

  it('is refused while another one of the environment runs', async () => {
    const options = reprocessStartOptions({
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      commandId: 'held',
      standing: nothingReprocessed,
    });
    // On a queue that no worker serves it runs until it is ended.
    const held = await temporal.client.workflow.start('reprocessEvents', { ...options, taskQueue: 'nobody' });
    expect(await api('POST', '/events/raw/reprocess/all', everything)).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    });
    await held.terminate();
  });

  it.each([
    ['no start_date', {}, 'start_date'],
    ['a date without a zone', { start_date: '2026-01-01T00:00:00' }, 'start_date'],
    ['an end before the start', { start_date: january, end_date: '2026-01-01T00:00:00Z' }, 'end_date'],
    ['a batch of nothing', { ...everything, batch_size: 0 }, 'batch_size'],
    ['a batch that is too large', { ...everything, batch_size: 10_001 }, 'batch_size'],
    ['an empty id', { ...everything, event_ids: [''] }, 'event_ids'],
  ])('refuses %s', async (_, body, field) => {
    const answer = await api<Members>('POST', '/events/raw/reprocess/pending', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(field);
  });
});
