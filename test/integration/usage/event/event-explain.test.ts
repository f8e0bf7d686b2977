import { expect, test } from 'vitest';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../../support/billing.ts';

const { api, base } = await testPlatform();

interface Explanation {
  outcome: string;
  reason: string;
  sentence: string;
  steps: { step: string; status: string; code: string }[];
  customer: { customer_id: string | null };
  meters: {
    matched: boolean;
    quantity: string | null;
    filters: { key: string; found: string | null; passed: boolean }[];
    bucket: { start: string; event_count: number } | null;
    lines: {
      subscription_id: string;
      covers_event: boolean;
      invoice_lines: { invoice_id: string; counted: boolean }[];
    }[];
  }[];
}

const explain = async (id: string) => (await api<Explanation>('GET', `/events/${id}/explain`)).body;
const send = (event: Record<string, unknown>) => created(api, '/events', event);

test('an event is followed from its meter to its invoice, and a late one to the invoice it missed', async () => {
  const { planId, eventName } = await monthlyPlan(api);
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const subscription = await subscribe(api, {
    customer_id: customerId,
    plan_id: planId,
    start_date: '2026-01-01T00:00:00Z',
  });
  const call = { event_name: eventName, external_customer_id: externalId };
  await send({ ...call, event_id: 'in-time', timestamp: '2026-01-10T05:30:00Z' });
  await send({ ...call, event_id: 'too-early', timestamp: '2025-12-31T23:59:59Z' });

  expect(await explain('in-time')).toMatchObject({
    outcome: 'open',
    customer: { customer_id: customerId },
    meters: [
      {
        matched: true,
        quantity: '1',
        bucket: { start: '2026-01-10T05:00:00.000Z', event_count: 1 },
        lines: [{ subscription_id: subscription.id, covers_event: true, invoice_lines: [] }],
      },
    ],
  });
  expect(await explain('too-early')).toMatchObject({ outcome: 'not_billed', reason: 'before_line_start' });

  await advanceTo(api, clockId, '2026-02-01T01:00:00Z');
  expect(await explain('in-time')).toMatchObject({ outcome: 'on_draft', reason: 'on_draft' });
  await advanceTo(api, clockId, '2026-02-01T03:00:00Z');
  const invoice = (await invoicesOf(api, subscription.id)).find(
    ({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  expect(await explain('in-time')).toMatchObject({
    outcome: 'billed',
    sentence: `Billed on invoice ${invoice?.invoice_number}.`,
    meters: [{ lines: [{ invoice_lines: [{ invoice_id: invoice?.id, counted: true }] }] }],
  });

  await send({ ...call, event_id: 'late', timestamp: '2026-01-31T00:00:00Z' });
  expect(await explain('late')).toMatchObject({
    outcome: 'late',
    meters: [{ lines: [{ invoice_lines: [{ invoice_id: invoice?.id, counted: false }] }] }],
  });
  const { body: tracked } = await api('GET', '/events/too-early');
  expect(tracked).toMatchObject({
    debug_tracker: {
      customer_lookup: { status: 'found' },
      meter_matching: { status: 'found' },
      price_lookup: { status: 'found' },
      subscription_line_item_lookup: {
        status: 'not_found',
        matched_line_items: [{ is_active_for_event: false, timestamp_within_range: false }],
      },
      attributed_to_customer: { status: 'unprocessed' },
      failure_point: { failure_point_type: 'subscription_line_item_lookup' },
    },
  });
});

test('the filter that turned an event away is named with what it found', async () => {
  await created(api, '/meters', {
    name: 'European calls',
    event_name: 'filtered',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
    filters: [
      { key: 'region', values: ['eu'] },
      { key: 'tier', values: ['gold'] },
    ],
  });
  const { externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const call = { event_name: 'filtered', external_customer_id: externalId };
  await send({ ...call, event_id: 'filtered', properties: { region: 'eu', tier: 1.0 } });
  const explained = await explain('filtered');
  expect(explained).toMatchObject({ outcome: 'not_billed', reason: 'no_matching_meter' });
  expect(explained.sentence).toContain('"European calls" wants tier to be "gold"; the event has "1".');
  expect(explained.meters[0]).toMatchObject({
    matched: false,
    bucket: null,
    filters: [
      { key: 'region', found: 'eu', passed: true },
      { key: 'tier', found: '1', passed: false },
    ],
  });
  await send({ ...call, event_id: 'passes', properties: { region: 'eu', tier: 'gold' } });
  expect(await explain('passes')).toMatchObject({ reason: 'no_line_for_meter' });
});

test('unknown customers and names are told, ids of others are not found', async () => {
  await send({ event_id: 'nobody', event_name: 'x', external_customer_id: 'nobody' });
  const explained = await explain('nobody');
  expect(explained).toMatchObject({ outcome: 'not_billed', reason: 'customer_unknown', meters: [] });
  expect(explained.steps.map((step) => step.status)).toEqual(['passed', 'failed', ...Array(5).fill('not_reached')]);
  const { body: tracked } = await api('GET', '/events/nobody');
  expect(tracked).toMatchObject({
    status: 'failed',
    debug_tracker: {
      customer_lookup: { status: 'not_found' },
      meter_matching: { status: 'unprocessed' },
      failure_point: { failure_point_type: 'customer_lookup' },
    },
  });
  await api('POST', '/customers', { external_id: 'known', name: 'Known' });
  await send({ event_id: 'no-meter', event_name: 'X', external_customer_id: 'known' });
  expect(await explain('no-meter')).toMatchObject({ reason: 'no_meter_for_event_name' });

  expect((await api('GET', '/events/absent/explain')).status).toBe(404);
  const other = await createSandbox(base.database, { tenantName: 'Other' });
  const foreign = await api('GET', '/events/nobody/explain', undefined, { 'x-api-key': other.apiKey });
  expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
