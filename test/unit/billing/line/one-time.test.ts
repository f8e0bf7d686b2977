import { expect, test } from 'vitest';
import type { ChargePlanInput } from '../../../../billing/line/charge.ts';
import { oneTimeServices } from '../../../../billing/line/one-time.ts';
import { at, item, monthly } from './charge-fixture.ts';

/** Whether the cycle invoice of a period bills a one-time charge that begins at `start`. */
function isBilled(start: string, elapsed: [string, string], ...paused: [string, string][]): boolean {
  const once = item('setup', { billingPeriod: 'ONETIME', startDate: at(start) });
  const [from, to] = elapsed.map(at) as [string, string];
  const input: ChargePlanInput = {
    reason: 'cycle',
    subscription: { ...monthly, startDate: at('2026-01-01') },
    elapsed: { start: from, end: to, full: { start: at(`${to.slice(0, 5)}${previousMonth(to)}-01`), end: to } },
    next: null,
    items: [once],
    allowances: {},
    billed: [],
    paused: paused.map(([pause, resume]) => ({ start: at(pause), end: at(resume) })),
  };
  return oneTimeServices(once, input).length === 1;
}
const previousMonth = (to: string) => String(Number(to.slice(5, 7)) - 1).padStart(2, '0');

test('a one-time charge is due in its own period', () => {
  expect(isBilled('2026-01-20', ['2026-01-01', '2026-02-01'])).toBe(true);
  expect(isBilled('2026-02-01', ['2026-01-01', '2026-02-01'])).toBe(true);
  expect(isBilled('2026-01-20', ['2026-02-01', '2026-03-01'])).toBe(false);
});

test('one that begins in a pause is due with the first period that ends after it', () => {
  expect(isBilled('2026-01-16', ['2026-01-21', '2026-02-01'], ['2026-01-11', '2026-01-21'])).toBe(true);
  expect(isBilled('2026-01-16', ['2026-02-21', '2026-03-01'], ['2026-01-11', '2026-02-21'])).toBe(true);
  expect(isBilled('2026-01-16', ['2026-03-01', '2026-04-01'], ['2026-01-11', '2026-02-21'])).toBe(false);
});

test('so is one that began before a pause in the same period, over several pauses too', () => {
  expect(isBilled('2026-01-05', ['2026-01-21', '2026-02-01'], ['2026-01-11', '2026-01-21'])).toBe(true);
  const pauses: [string, string][] = [
    ['2026-01-11', '2026-01-15'],
    ['2026-01-18', '2026-02-21'],
  ];
  for (const start of ['2026-01-05', '2026-01-12', '2026-01-15', '2026-01-16', '2026-02-02']) {
    expect(isBilled(start, ['2026-02-21', '2026-03-01'], ...pauses)).toBe(true);
  }
});

test('what the first invoice, or that of a boundary, billed already is not due again', () => {
  expect(isBilled('2026-01-01', ['2026-01-21', '2026-02-01'], ['2026-01-11', '2026-01-21'])).toBe(false);
  expect(isBilled('2026-02-01', ['2026-02-21', '2026-03-01'], ['2026-02-11', '2026-02-21'])).toBe(false);
});
