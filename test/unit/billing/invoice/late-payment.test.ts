import { describe, expect, it } from 'vitest';
import {
  type LatePaymentPause,
  type LatePaymentTerms,
  latePaymentConsequence,
  latePaymentTerms,
  type UnpaidInvoice,
} from '../../../../billing/invoice/late-payment.ts';

const active = { status: 'active', currentPeriodStart: '2026-01-01T00:00:00.000Z' };
const neverPaused: LatePaymentPause = { invoiceId: null, settledAt: null, resumedAt: null };
const unpaid: UnpaidInvoice = {
  id: 'inv_1',
  number: 'INV-1',
  dueDate: '2026-01-10T00:00:00.000Z',
  paymentStatus: 'PENDING',
  amountRemaining: '30',
  finalizedAt: '2026-01-02T00:00:00.000Z',
  collectionMethod: 'charge_automatically',
  collectionAttempts: 4,
  lastFailedAt: '2026-01-09T00:00:00.000Z',
  isUnderWay: false,
};
const grace: LatePaymentTerms = latePaymentTerms({ auto_cancellation_enabled: true, grace_period_days: 3 }, null, null);
const attempts = (after_last_attempt: string) => latePaymentTerms(null, { after_last_attempt }, null);
const consequence = (invoice: object, terms: LatePaymentTerms, state: object = {}, pause: object = {}) =>
  latePaymentConsequence({ ...active, ...state }, [{ ...unpaid, ...invoice }], { ...neverPaused, ...pause }, terms);

describe('the grace after the due date (subscriptions-and-invoicing §2.14.3)', () => {
  it('ends the subscription an instant after its last instant', () => {
    expect(consequence({}, grace)).toMatchObject({
      at: '2026-01-13T00:00:00.001Z',
      action: 'cancel',
      invoiceId: 'inv_1',
    });
  });

  it('counts for PENDING and FAILED with an amount remaining and a due date, however it is collected', () => {
    expect(consequence({ paymentStatus: 'FAILED', collectionMethod: 'send_invoice' }, grace)?.action).toBe('cancel');
    for (const invoice of [{ paymentStatus: 'SUCCEEDED' }, { amountRemaining: '0' }, { dueDate: null }])
      expect(consequence(invoice, grace), JSON.stringify(invoice)).toBeNull();
  });

  it('is off unless it is asked for, and three days long by default', () => {
    expect(consequence({}, latePaymentTerms(null, null, null))).toBeNull();
    expect(latePaymentTerms({ auto_cancellation_enabled: true }, null, null).autoCancellation.gracePeriodDays).toBe(3);
  });

  it('leaves alone what is not active', () => {
    for (const status of ['trialing', 'incomplete', 'paused', 'draft', 'cancelled'])
      expect(consequence({}, grace, { status }), status).toBeNull();
  });

  it('never ends a subscription before its period began, nor before the setting was made', () => {
    const currentPeriodStart = '2026-02-01T00:00:00.000Z';
    expect(consequence({}, grace, { currentPeriodStart })?.at).toBe(currentPeriodStart);
    const since = '2026-03-01T00:00:00.000Z';
    expect(consequence({}, { ...grace, since })?.at).toBe(since);
  });

  it('is that of the invoice that is late first', () => {
    const second = { ...unpaid, id: 'inv_2', dueDate: '2026-01-05T00:00:00.000Z' };
    expect(latePaymentConsequence(active, [unpaid, second], neverPaused, grace)).toMatchObject({ invoiceId: 'inv_2' });
  });
});

describe('the last attempt to collect', () => {
  it.each(['pause', 'cancel'])('has the consequence %s at the end of the schedule', (action) => {
    expect(consequence({}, attempts(action))).toMatchObject({ at: '2026-01-09T00:00:00.000Z', action });
  });

  it('has none by default', () => {
    expect(consequence({}, attempts('none'))).toBeNull();
  });

  it('must have been made and have failed', () => {
    for (const invoice of [{ collectionAttempts: 3 }, { isUnderWay: true }, { collectionMethod: 'send_invoice' }])
      expect(consequence(invoice, attempts('pause')), JSON.stringify(invoice)).toBeNull();
  });

  it('counts from when it failed, if that was later, and without retries from the first charge', () => {
    const lastFailedAt = '2026-01-20T00:00:00.000Z';
    expect(consequence({ lastFailedAt }, attempts('pause'))?.at).toBe(lastFailedAt);
    const once = latePaymentTerms(null, { after_last_attempt: 'pause', retry_after_days: [] }, null);
    expect(consequence({ collectionAttempts: 0, lastFailedAt: null }, once)?.at).toBe(unpaid.finalizedAt);
  });

  it('does not pause again what somebody resumed although it was unpaid, but may still end it', () => {
    const pause = { resumedAt: '2026-01-15T00:00:00.000Z' };
    expect(consequence({}, attempts('pause'), {}, pause)).toBeNull();
    expect(consequence({}, attempts('cancel'), {}, pause)?.action).toBe('cancel');
  });

  it('gives way to the end where both fall on one instant', () => {
    const both = latePaymentTerms(
      { auto_cancellation_enabled: true, grace_period_days: 1 },
      { after_last_attempt: 'pause' },
      null,
    );
    const lastFailedAt = '2026-01-11T00:00:00.001Z';
    expect(consequence({ lastFailedAt }, both)?.action).toBe('cancel');
  });
});

describe('a subscription that was paused for an unpaid invoice', () => {
  const paused = { status: 'paused', currentPeriodStart: '2026-01-09T00:00:00.000Z' };
  const pause = { invoiceId: 'inv_1', settledAt: '2026-01-12T00:00:00.000Z', resumedAt: null };

  it('goes on when the last of its invoices is settled', () => {
    expect(latePaymentConsequence(paused, [], pause, attempts('pause'))).toMatchObject({
      at: pause.settledAt,
      action: 'resume',
    });
    expect(latePaymentConsequence(paused, [unpaid], pause, attempts('pause'))).toBeNull();
  });

  it('is not resumed when a person paused it', () => {
    expect(latePaymentConsequence(paused, [], { ...pause, invoiceId: null }, attempts('pause'))).toBeNull();
  });
});
