import { randomUUID } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import type { PaymentPages } from '../../activities/invoice/payer-page.ts';
import type { ProviderAdapters } from '../../integrations/provider-adapter.ts';
import { type Api, type TestApp, testApp } from './app.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import type { FakesByGateway } from './gateways/provider-books.ts';
import { assertWorkflowsAgree } from './invariants.ts';
import { type TestTemporal, testTemporal } from './temporal.ts';
import { startWorkers, type TestWorkers } from './worker.ts';

/** A whole Perennial for one test file: database, Temporal, API and workers. */
export interface TestPlatform extends TestApp {
  base: TestDatabase;
  temporal: TestTemporal;
  workers: TestWorkers;
}

export async function testPlatform({
  fakes,
  plansAsInstalled = false,
  ...more
}: {
  providers?: ProviderAdapters;
  pages?: PaymentPages;
  fakes?: FakesByGateway;
  plansAsInstalled?: boolean;
} = {}): Promise<TestPlatform> {
  const base = await testDatabase({ plansAsInstalled, ...(fakes ? { fakes } : {}) });
  const temporal = await testTemporal();
  const app = await testApp(base, temporal, more);
  const workers = await startWorkers(base, temporal, { ...app, ...more });
  // Registered last, so it runs first: workflows can be asked only as long as there are workers.
  afterAll(async () => {
    if (workers.isRunning()) await assertWorkflowsAgree(base, temporal);
  });
  return { ...app, base, temporal, workers };
}

type Json = Record<string, never> & { id: string };

/** Sends a request that must succeed and returns its body. */
export async function created<Body = Json>(api: Api, path: string, body: unknown): Promise<Body> {
  const answer = await api<Body>('POST', path, body);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: expect.toSatisfy((status: number) => status < 300),
  });
  return answer.body;
}

export interface TestPlan {
  planId: string;
  meterId: string;
  eventName: string;
}

/** A plan with a monthly fee of 30 in advance and 0.10 a call in arrear. */
export async function monthlyPlan(
  api: Api,
  options: { fee?: string; perCall?: string; period?: string } = {},
): Promise<TestPlan> {
  const key = Math.random().toString(36).slice(2);
  const plan = await created(api, '/plans', { name: `Plan ${key}` });
  const feature = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: `Calls ${key}`,
    type: 'metered',
    meter: { name: 'Calls', event_name: `call-${key}`, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  const common = {
    entity_type: 'PLAN',
    entity_id: plan.id,
    billing_model: 'FLAT_FEE',
    billing_period: options.period ?? 'MONTHLY',
    currency: 'usd',
  };
  const start_date = '2020-01-01T00:00:00Z';
  await created(api, '/prices', {
    ...common,
    type: 'FIXED',
    amount: options.fee ?? '30',
    invoice_cadence: 'ADVANCE',
    display_name: 'Base',
    start_date,
  });
  await created(api, '/prices', {
    ...common,
    type: 'USAGE',
    amount: options.perCall ?? '0.10',
    invoice_cadence: 'ARREAR',
    meter_id: feature.meter_id,
    display_name: 'Calls',
    start_date,
  });
  return { planId: plan.id, meterId: feature.meter_id, eventName: `call-${key}` };
}

/** A customer on a test clock that shows `frozenTime`, or on a given one. */
export async function clockedCustomer(
  api: Api,
  options: { frozenTime: string; clockId?: string; timezone?: string; card?: string },
): Promise<{ clockId: string; customerId: string; externalId: string }> {
  const clockId = options.clockId ?? (await created(api, '/test-clocks', { frozen_time: options.frozenTime })).id;
  const externalId = `customer-${Math.random().toString(36).slice(2)}`;
  const { id: customerId } = await created(api, '/customers', {
    external_id: externalId,
    name: externalId,
    test_clock_id: clockId,
    ...(options.timezone ? { timezone: options.timezone } : {}),
  });
  if (options.card) {
    await created(api, `/customers/${customerId}/payment-methods`, {
      gateway: 'sandbox',
      card_number: options.card,
      set_default: true,
    });
  }
  return { clockId, customerId, externalId };
}

/** Advances a clock and returns when it shows `to`. */
export async function advanceTo(api: Api, clockId: string, to: string): Promise<void> {
  const accepted = await api('POST', `/test-clocks/${clockId}/advance`, { to });
  expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
  await clockStandsAt(api, clockId, to);
}

/** Waits until a clock that was asked to advance has come to where it goes. */
export async function clockStandsAt(api: Api, clockId: string, to: string): Promise<void> {
  for (;;) {
    const { body } = await api<{ clock_status: string; frozen_time: string }>('GET', `/test-clocks/${clockId}?wait=30`);
    if (body.clock_status === 'ready') return expect(Date.parse(body.frozen_time)).toBe(Date.parse(to));
  }
}

export interface SubscriptionView {
  id: string;
  subscription_status: string;
  billing_anchor: string;
  current_period_start: string;
  current_period_end: string;
  trial_end: string | null;
  cancel_at: string | null;
  cancelled_at: string | null;
  end_date: string | null;
  version: number;
  line_items: { id: string; display_name: string; end_date: string | null }[];
}

/** Creates a subscription, monthly in usd unless told otherwise. */
export function subscribe(api: Api, body: Record<string, unknown>): Promise<SubscriptionView> {
  return created<SubscriptionView>(api, '/subscriptions', { currency: 'usd', billing_period: 'MONTHLY', ...body });
}

export async function subscriptionOf(api: Api, id: string): Promise<SubscriptionView> {
  return (await api<SubscriptionView>('GET', `/subscriptions/${id}`)).body;
}

export interface InvoiceView {
  id: string;
  invoice_number: string | null;
  invoice_status: string;
  payment_status: string;
  billing_reason: string;
  billing_sequence: number;
  period_start: string;
  period_end: string;
  due_date: string;
  total_prepaid_credits_applied: string;
  total: string;
  amount_paid: string;
  amount_remaining: string;
  line_items: { display_name: string; amount: string; quantity: string; period_start: string; period_end: string }[];
}

/** The invoices of a subscription in the order they were made. */
export async function invoicesOf(api: Api, subscriptionId: string): Promise<InvoiceView[]> {
  const { body } = await api<{ items: InvoiceView[] }>('POST', '/invoices/search', {
    subscription_id: subscriptionId,
    limit: 1000,
  });
  return [...body.items].sort((a, b) => a.billing_sequence - b.billing_sequence);
}

/**
 * The types of the outbound events of an object, in order. The feed shows an event when no older transaction of the server
 * runs, whosever it is; so a marker is written now, and once the feed shows it, it shows everything before it.
 */
export async function eventsOf(api: Api, entityId: string): Promise<string[]> {
  const { id: marker } = await created(api, '/customers', { external_id: `marker-${randomUUID()}`, name: 'Marker' });
  const names: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await api<FeedPage>('GET', `/outbound-events?limit=1000&wait=5${after}`);
    names.push(...body.items.filter((event) => event.entity_id === entityId).map((event) => event.event_type));
    if (body.items.some((event) => event.entity_id === marker)) return names;
    after = `&after=${body.next}`;
  }
}

interface FeedPage {
  items: { event_type: string; entity_id: string }[];
  next: string;
  has_more: boolean;
}
