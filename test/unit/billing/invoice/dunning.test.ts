import { expect, test } from 'vitest';
import { type InvoiceCollection, invoiceAgenda } from '../../../../billing/invoice/invoice-agenda.ts';

const unpaid: InvoiceCollection = {
  status: 'FINALIZED',
  paymentStatus: 'PENDING',
  remains: true,
  collectionMethod: 'charge_automatically',
  collectionAttempts: 0,
  finalizedAt: '2026-02-01T00:00:00.000Z',
  dueDate: null,
  overdueNotedAt: null,
  openPaymentId: null,
  awaitsGateway: false,
};
const retryOf = (collection: Partial<InvoiceCollection>) => invoiceAgenda({ ...unpaid, ...collection })[0] ?? null;

/** The schedule, how often it was tried, and when it is tried next. */
const cases: [string, readonly number[] | null, number, string | null][] = [
  ['the usual schedule begins a day later', null, 0, '2026-02-02T00:00:00.000Z'],
  ['the usual schedule ends after four', null, 4, null],
  ['a schedule of its own holds in its place', [2, 10], 0, '2026-02-03T00:00:00.000Z'],
  ['its last attempt counts from the finalization too', [2, 10], 1, '2026-02-11T00:00:00.000Z'],
  ['after its last attempt nothing is tried', [2, 10], 2, null],
  ['an empty schedule never tries again', [], 0, null],
];

test.each(cases)('%s', (_name, retryAfterDays, collectionAttempts, at) => {
  const retry = retryOf({ retryAfterDays, collectionAttempts });
  expect(retry?.at ?? null).toBe(at);
  if (retry) expect(retry).toMatchObject({ kind: 'retryPayment', ref: String(collectionAttempts + 1) });
});

test('an invoice that is paid, voided, sent or being charged is not tried again', () => {
  expect(retryOf({ remains: false })).toBeNull();
  expect(retryOf({ status: 'VOIDED' })).toBeNull();
  expect(retryOf({ collectionMethod: 'send_invoice' })).toBeNull();
  expect(retryOf({ awaitsGateway: true })).toBeNull();
});
