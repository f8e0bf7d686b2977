import { expect, it } from 'vitest';
import { cancelsForLatePayment, graceEndsAt } from '../../../../billing/invoice/auto-cancellation.ts';

const late = { dueDate: '2026-06-10T00:00:00.000Z', paymentStatus: 'PENDING', amountRemaining: '10' };
const config = { enabled: true, gracePeriodDays: 3 };
const afterGrace = '2026-06-13T00:00:00.001Z';

it('counts the grace in days of 24 hours, whatever a local clock does', () => {
  expect(graceEndsAt('2026-03-28T12:00:00.000Z', 2)).toBe('2026-03-30T12:00:00.000Z');
});

it('does not cancel at the last instant of the grace, and cancels right after it', () => {
  expect(cancelsForLatePayment(late, config, '2026-06-13T00:00:00.000Z')).toBe(false);
  expect(cancelsForLatePayment(late, config, afterGrace)).toBe(true);
});

it.each([
  ['a payment under way', { paymentStatus: 'PROCESSING' }],
  ['a paid invoice', { paymentStatus: 'SUCCEEDED' }],
  ['nothing left to pay', { amountRemaining: '0.00' }],
])('never cancels for %s', (_name, change) => {
  expect(cancelsForLatePayment({ ...late, ...change }, config, afterGrace)).toBe(false);
});

it('cancels after a declined payment', () => {
  expect(cancelsForLatePayment({ ...late, paymentStatus: 'FAILED' }, config, afterGrace)).toBe(true);
});

it('does nothing where nobody asked for it', () => {
  expect(cancelsForLatePayment(late, { ...config, enabled: false }, afterGrace)).toBe(false);
});
