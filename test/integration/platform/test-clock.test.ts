import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  clockStandsAt,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import { startWorkers } from '../../support/worker.ts';

const platform = await testPlatform();
const { api } = platform;
const card = sandboxCardNumber('succeeds');
const { planId, meterId, eventName } = await monthlyPlan(api);

test('a clock moves its customers and nobody else', async () => {
  const moved = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const other = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const mine = await subscribe(api, { customer_id: moved.customerId, plan_id: planId });
  const theirs = await subscribe(api, { customer_id: other.customerId, plan_id: planId });

  await advanceTo(api, moved.clockId, '2026-03-01T03:00:00Z');

  expect((await invoicesOf(api, mine.id)).map((invoice) => invoice.period_end)).toEqual([
    '2026-02-01T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
  ]);
  expect(await invoicesOf(api, theirs.id)).toHaveLength(1);
  const { body } = await api<{ frozen_time: string }>('GET', `/test-clocks/${other.clockId}`);
  expect(body.frozen_time).toBe('2026-01-01T00:00:00.000Z');
});

test('two clocks advance at once, each to its own time', async () => {
  const customers = await Promise.all(
    ['2026-01-10T00:00:00Z', '2027-06-10T00:00:00Z'].map((frozenTime) => clockedCustomer(api, { frozenTime, card })),
  );
  const subscriptions = await Promise.all(
    customers.map(({ customerId }) => subscribe(api, { customer_id: customerId, plan_id: planId })),
  );
  const targets = ['2026-04-11T00:00:00Z', '2027-08-11T00:00:00Z'];
  await Promise.all(customers.map(({ clockId }, index) => advanceTo(api, clockId, targets[index] as string)));
  const counts = await Promise.all(subscriptions.map(async ({ id }) => (await invoicesOf(api, id)).length));
  expect(counts).toEqual([4, 3]);
});

test('a clock never goes back', async () => {
  const { clockId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const answer = await api('POST', `/test-clocks/${clockId}/advance`, { to: '2025-12-31T23:59:59Z' });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'validation_error', message: expect.stringContaining('never goes back') },
  });
});

test('an advance while another runs is refused and names the running target', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  await subscribe(api, { customer_id: customerId, plan_id: planId });
  await api('POST', `/test-clocks/${clockId}/advance`, { to: '2027-01-01T00:00:00Z' });
  const second = await api('POST', `/test-clocks/${clockId}/advance`, { to: '2028-01-01T00:00:00Z' });
  expect(second).toMatchObject({
    status: 409,
    body: { code: 'already_exists', message: expect.stringContaining('2027-01-01T00:00:00.000Z') },
  });
  await advanceTo(api, clockId, '2027-01-01T00:00:00Z');
});

test('an advance goes on where it was when its worker is replaced half-way', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  await api('POST', `/test-clocks/${clockId}/advance`, { to: '2026-09-02T00:00:00Z' });
  await platform.workers.stop();
  const { body } = await api<{ clock_status: string }>('GET', `/test-clocks/${clockId}`);
  expect(body.clock_status).toBe('advancing');
  platform.workers = await startWorkers(platform.base, platform.temporal, platform);
  await advanceTo(api, clockId, '2026-09-02T00:00:00Z');
  const invoices = await invoicesOf(api, id);
  expect(invoices.map((invoice) => invoice.billing_sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(invoices.every((invoice) => invoice.payment_status === 'SUCCEEDED')).toBe(true);
});

test('an advance that is asked for before the one before has told its workflow of its end is not lost', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  // Usage of this customer is watched: the end of an advance tells the watch before it tells the clock's workflow.
  const usageOnly = await created(api, '/plans', { name: 'Calls alone' });
  await created(api, '/prices', {
    entity_type: 'PLAN',
    entity_id: usageOnly.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    amount: '0.1',
    billing_period: 'MONTHLY',
    currency: 'usd',
    invoice_cadence: 'ARREAR',
    meter_id: meterId,
  });
  await subscribe(api, { customer_id: customerId, plan_id: usageOnly.id, auto_invoice_threshold: '100000' });
  const { body: customer } = await api<{ external_id: string }>('GET', `/customers/${customerId}`);
  await created(api, '/events', {
    event_name: eventName,
    external_customer_id: customer.external_id,
    timestamp: '2026-01-01T00:00:00Z',
  });
  const told = Promise.withResolvers<void>();
  const mayTell = Promise.withResolvers<void>();
  const patient = new Client({
    connection: platform.temporal.client.connection,
    namespace: platform.temporal.namespace,
    interceptors: {
      workflow: [
        {
          async signalWithStart(input, next) {
            told.resolve();
            await mayTell.promise;
            return next(input);
          },
        },
      ],
    },
  });
  await platform.workers.stop();
  const waiting = await startWorkers(platform.base, { ...platform.temporal, client: patient }, platform);
  await advanceTo(api, clockId, '2026-01-05T00:00:00Z');
  await told.promise;

  await created(api, `/test-clocks/${clockId}/advance`, { to: '2026-02-02T00:00:00Z' });
  mayTell.resolve();

  await clockStandsAt(api, clockId, '2026-02-02T00:00:00Z');
  await waiting.stop();
  platform.workers = await startWorkers(platform.base, platform.temporal, platform);
});

test('a clock with a live subscription is not deleted, one without is gone', async () => {
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  expect(await api('DELETE', `/test-clocks/${clockId}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_operation' },
  });
  await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
  expect(await api('DELETE', `/test-clocks/${clockId}`)).toMatchObject({ status: 204 });
  expect(await api('GET', `/test-clocks/${clockId}`)).toMatchObject({ status: 404 });
});
