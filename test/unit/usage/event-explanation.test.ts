import { expect, test } from 'vitest';
import { type EventEvidence, explainEvent } from '../../../metering/event-explanation.ts';

const event = {
  id: 'e1',
  externalCustomerId: 'acme',
  customerId: 'cust_1' as string | null,
  eventName: 'call',
  timestamp: '2026-01-15T00:00:00.000000Z',
  ingestedAt: '2026-01-15T00:00:01.000000Z',
  source: null,
  properties: null,
};
const line = {
  id: 'line_1',
  subscriptionId: 'subs_1',
  priceId: 'price_1',
  startDate: '2026-01-01T00:00:00.000000Z',
  endDate: null,
  coversEvent: true,
};
const meter = { meterId: 'm1', name: 'Calls', archived: false, filters: [], bucket: null, excludedLines: [] };
const filter = { key: 'region', values: ['eu', 'us'], found: 'asia', passed: false };
const voided = { voidedAt: '2026-01-20T00:00:00.000000Z', reason: 'sent twice', actor: 'user_1' };
const billed = {
  lineItemId: 'line_1',
  invoiceLineItemId: 'il_1',
  invoiceId: 'inv_1',
  invoiceNumber: 'INV-1',
  invoiceStatus: 'FINALIZED',
  isFinal: true,
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  budgets: [],
  knew: true,
};

function evidence(
  change: {
    customerId?: null;
    lineItems?: (typeof line)[];
    counted?: boolean;
    voided?: EventEvidence['found']['voided'];
  } & Partial<EventEvidence>,
) {
  const { customerId, lineItems = [line], counted = true, voided = null, ...rest } = change;
  const attributions = counted ? [{ meterId: 'm1', featureId: null, quantity: '1', lineItems }] : [];
  const found = { event: customerId === null ? { ...event, customerId } : event, copies: [], attributions, voided };
  return { found, meters: [meter], billed: [], ...rest };
}

test.each<[string, string, string, EventEvidence]>([
  ['voided', 'voided', '"sent twice"', evidence({ voided })],
  ['voided', 'voided_after_billing', 'invoice INV-1', evidence({ voided, billed: [billed] })],
  ['billed', 'billed', 'INV-1', evidence({ billed: [billed] })],
  ['late', 'late', 'not billed', evidence({ billed: [{ ...billed, knew: false }] })],
  ['on_draft', 'on_draft', 'draft', evidence({ billed: [{ ...billed, isFinal: false, invoiceNumber: null }] })],
  ['open', 'open', 'no invoice covers', evidence({})],
  ['open', 'open', 'no invoice covers', evidence({ billed: [{ ...billed, invoiceStatus: 'VOIDED' }] })],
  ['not_billed', 'customer_unknown', 'acme', evidence({ customerId: null })],
  ['not_billed', 'no_meter_for_event_name', '"call"', evidence({ counted: false, meters: [] })],
  [
    'not_billed',
    'no_matching_meter',
    'wants region to be "eu" or "us"; the event has "asia"',
    evidence({ counted: false, meters: [{ ...meter, filters: [filter] }] }),
  ],
  [
    'not_billed',
    'no_matching_meter',
    'the event has none',
    evidence({ counted: false, meters: [{ ...meter, filters: [{ ...filter, found: null }] }] }),
  ],
  ['not_billed', 'evaluation_failed', 'expression', evidence({ counted: false })],
  ['not_billed', 'no_line_for_meter', 'No subscription', evidence({ lineItems: [] })],
  [
    'not_billed',
    'before_line_start',
    '2026-02-01',
    evidence({ lineItems: [{ ...line, startDate: '2026-02-01T00:00:00.000000Z', coversEvent: false }] }),
  ],
  ['not_billed', 'outside_line', 'in force', evidence({ lineItems: [{ ...line, coversEvent: false }] })],
  [
    'not_billed',
    'price_conditions_exclude',
    'conditions',
    evidence({ meters: [{ ...meter, excludedLines: ['line_1'] }] }),
  ],
])('%s by %s', (outcome, reason, words, given) => {
  const explained = explainEvent(given);
  expect(explained).toMatchObject({ outcome, reason });
  expect(explained.sentence).toContain(words);
  const ends = explained.steps.map((step) => step.status);
  const decided = explained.steps.findIndex((step) => step.code === reason);
  expect(ends.slice(0, decided).every((status) => status === 'passed')).toBe(true);
  expect(ends.slice(decided + 1).every((status) => status === 'not_reached')).toBe(true);
});
