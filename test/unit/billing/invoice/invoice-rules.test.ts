import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  automaticFinalization,
  automaticFinalizationDue,
  type FinalizableInvoice,
} from '../../../../billing/invoice/automatic-finalization.ts';
import {
  defaultInvoiceNumberConfig,
  invoiceDateKey,
  invoiceNumber,
  nextInvoiceSequence,
} from '../../../../billing/invoice/invoice-number.ts';
import {
  addPayment,
  invoicePayment,
  paidByPayments,
  paymentByHand,
} from '../../../../billing/invoice/invoice-payment.ts';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { trialStartInvoice } from '../../../../billing/subscription/trial.ts';
import { oneOffDueDate, subscriptionDueDate } from '../../../../billing/time/due-date.ts';
import { at } from '../line/charge-fixture.ts';
import { refusalOf } from '../refused.ts';

describe('invoice numbers (subscriptions-and-invoicing §2.15.5)', () => {
  const config = defaultInvoiceNumberConfig;

  it.each([
    ['YYYYMM', '202601'],
    ['YYYYMMDD', '20260131'],
    ['YYMMDD', '260131'],
    ['YY', '26'],
    ['YYYY', '2026'],
  ] as const)('%s gives the date key %s', (format, key) => {
    expect(invoiceDateKey(at('2026-01-31T10:00Z'), { ...config, format })).toBe(key);
  });

  it('take the date of the configured zone', () => {
    const given = { ...config, format: 'YYYYMMDD' as const, timezone: 'Asia/Kolkata' };
    expect(invoiceDateKey(at('2026-01-31T18:29:59Z'), given)).toBe('20260131');
    expect(invoiceDateKey(at('2026-01-31T18:30Z'), given)).toBe('20260201');
  });

  it('count up from the configured start', () => {
    expect(nextInvoiceSequence(null, { ...config, startSequence: 100 })).toBe(100);
    expect(nextInvoiceSequence(100, { ...config, startSequence: 100 })).toBe(101);
  });

  it.each([
    [7, {}, 'INV-202601-00007'],
    [123456, {}, 'INV-202601-123456'],
    [7, { separator: '', suffixLength: 2, prefix: 'ACME' }, 'ACME20260107'],
  ])('print %d padded, longer ones whole', (sequence, members, number) => {
    expect(invoiceNumber('202601', sequence, { ...config, ...members })).toBe(number);
  });
});

describe('due date (subscriptions-and-invoicing §2.15.6)', () => {
  const periodEnd = at('2026-03-08T05:00Z');

  it('is days of 24 hours after the period: the terms, else the setting', () => {
    expect(subscriptionDueDate({ periodEnd, paymentTerms: '15 NET', dueDateDays: 1 })).toBe(at('2026-03-23T05:00Z'));
    expect(subscriptionDueDate({ periodEnd, paymentTerms: null, dueDateDays: 3 })).toBe(at('2026-03-11T05:00Z'));
  });

  it('is never before the finalization', () => {
    const late = { periodEnd, paymentTerms: null, dueDateDays: 1, finalizedAt: at('2026-05-01') };
    expect(subscriptionDueDate(late)).toBe(at('2026-05-01'));
    expect(subscriptionDueDate({ ...late, finalizedAt: periodEnd })).toBe(at('2026-03-09T05:00Z'));
  });

  it('of a one-off is as asked, else after its issue', () => {
    expect(oneOffDueDate({ issueDate: periodEnd, dueDateDays: 1 })).toBe(at('2026-03-09T05:00Z'));
    expect(oneOffDueDate({ dueDate: '2026-04-01T00:00:00Z', issueDate: periodEnd, dueDateDays: 1 })).toBe(
      at('2026-04-01'),
    );
  });
});

describe('automatic finalization (subscriptions-and-invoicing §2.15.4)', () => {
  const draft: FinalizableInvoice = {
    invoiceStatus: 'DRAFT',
    invoiceType: 'SUBSCRIPTION',
    billingReason: 'SUBSCRIPTION_CYCLE',
    sourceType: null,
    isManuallyEdited: false,
    lastComputedAt: at('2026-02-01T00:05Z'),
    periodEnd: at('2026-02-01'),
  };

  it.each([
    ['exactly at the delay', draft, '2026-02-01T02:05Z', 'wait'],
    ['after it', draft, '2026-02-01T02:05:00.001Z', 'finalize'],
    ['computed before the period ended', { ...draft, lastComputedAt: at('2026-01-31') }, '2026-02-03', 'compute'],
    [
      'computed before its end, not a cycle',
      { ...draft, lastComputedAt: at('2026-01-31'), billingReason: 'PRORATION' },
      '2026-02-03',
      'finalize',
    ],
    ['not computed yet', { ...draft, lastComputedAt: null }, '2026-02-03', 'compute'],
    ['not computed yet, period open', { ...draft, lastComputedAt: null }, '2026-01-03', 'wait'],
    ['edited by hand', { ...draft, isManuallyEdited: true }, '2026-02-03', 'never'],
    ['gated by a checkout', { ...draft, sourceType: 'checkout' }, '2026-02-03', 'never'],
    ['final already', { ...draft, invoiceStatus: 'FINALIZED' }, '2026-02-03', 'never'],
    ['a one-off', { ...draft, invoiceType: 'ONE_OFF' }, '2026-02-03', 'never'],
  ] as [string, FinalizableInvoice, string, string][])('%s', (_, invoice, now, action) => {
    expect(automaticFinalization(invoice, 7200, at(now))).toBe(action);
  });

  it('is due at the first instant that has work', () => {
    expect(automaticFinalizationDue(draft, 7200)).toBe(at('2026-02-01T02:05:00.001Z'));
    expect(automaticFinalizationDue({ ...draft, lastComputedAt: at('2026-01-31') }, 7200)).toBe(at('2026-02-01'));
    expect(automaticFinalizationDue({ ...draft, isManuallyEdited: true }, 7200)).toBeNull();
  });
});

describe('payments of an invoice (wallets-and-payments §2.20)', () => {
  it.each([
    ['100', '0', 'PENDING', '100', '0'],
    ['100', '40', 'PENDING', '60', '0'],
    ['100', '100', 'SUCCEEDED', '0', '0'],
    ['0', '0', 'SUCCEEDED', '0', '0'],
    ['100', '100.01', 'OVERPAID', '0', '0.01'],
  ])('of %s paid %s is %s', (due, paid, paymentStatus, amountRemaining, overpaidAmount) => {
    expect(invoicePayment(due, paid)).toEqual({ amountPaid: paid, paymentStatus, amountRemaining, overpaidAmount });
  });

  it('refunds: all of it, or a part', () => {
    expect(invoicePayment('100', '100', '100').paymentStatus).toBe('REFUNDED');
    expect(invoicePayment('100', '100', '30').paymentStatus).toBe('PARTIALLY_REFUNDED');
  });

  it('count only records that received money', () => {
    const statuses = [
      'SUCCEEDED',
      'OVERPAID',
      'PARTIALLY_REFUNDED',
      'REFUNDED',
      'FAILED',
      'PENDING',
      'PROCESSING',
      'INITIATED',
      'VOIDED',
    ];
    expect(paidByPayments(statuses.map((paymentStatus) => ({ amount: '1.10', paymentStatus })))).toBe('4.4');
  });

  it('add up whatever their order', () => {
    const cents = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(cents, fc.nat(20_000), (payments, due) => {
        const amounts = payments.map((amount) => decimalString(decimal(amount).dividedBy(100)));
        const amountDue = decimalString(decimal(due).dividedBy(100));
        const pay = (list: string[]) =>
          list.reduce((paid, amount) => addPayment(amountDue, paid, amount).amountPaid, '0');
        expect(pay(amounts)).toBe(pay([...amounts].reverse()));
        const { amountPaid, amountRemaining, overpaidAmount } = invoicePayment(amountDue, pay(amounts));
        expect(decimal(amountPaid).plus(amountRemaining).minus(overpaidAmount).equals(amountDue)).toBe(true);
      }),
    );
  });
});

describe('payment recorded by hand (subscriptions-and-invoicing §2.15.12)', () => {
  const invoice = { paymentStatus: 'PENDING', amountDue: '100', amountPaid: '20' };

  it.each([
    ['PENDING', null, '20', '80', '0'],
    ['PENDING', '40', '40', '60', '0'],
    ['SUCCEEDED', null, '100', '0', '0'],
    ['SUCCEEDED', '100.00', '100', '0', '0'],
    ['FAILED', null, '0', '100', '0'],
    ['OVERPAID', '120', '120', '0', '20'],
  ])('%s with %s', (paymentStatus, amount, amountPaid, amountRemaining, overpaidAmount) => {
    expect(paymentByHand(invoice, { paymentStatus, amount })).toEqual({
      amountPaid,
      amountRemaining,
      overpaidAmount,
      paymentStatus,
    });
  });

  it.each([
    ['a partial amount that is all of it', 'PENDING', 'PENDING', '100'],
    ['OVERPAID without an amount', 'PENDING', 'OVERPAID', null],
    ['OVERPAID with no more than what is due', 'PENDING', 'OVERPAID', '100'],
    ['SUCCEEDED with a part of what is due', 'PENDING', 'SUCCEEDED', '99.99'],
    ['SUCCEEDED with what is left beside an earlier part', 'PENDING', 'SUCCEEDED', '80'],
    ['SUCCEEDED with more than what is due', 'PENDING', 'SUCCEEDED', '100.01'],
    ['SUCCEEDED with nothing', 'PENDING', 'SUCCEEDED', '0'],
    ['a negative amount', 'PENDING', 'SUCCEEDED', '-1'],
    ['a way back from OVERPAID', 'OVERPAID', 'SUCCEEDED', null],
    ['a way back from SUCCEEDED', 'SUCCEEDED', 'PENDING', '5'],
    ['a status that is none by hand', 'PENDING', 'REFUNDED', null],
    ['a payment under way', 'PROCESSING', 'SUCCEEDED', null],
  ])('refuses %s', (_, from, paymentStatus, amount) => {
    const call = (): unknown => paymentByHand({ ...invoice, paymentStatus: from }, { paymentStatus, amount });
    expect(refusalOf(call)?.code).toBe('validation_error');
  });

  it('is refused once a payment record succeeded', () => {
    const call = (): unknown =>
      paymentByHand({ ...invoice, hasSucceededPayment: true }, { paymentStatus: 'SUCCEEDED' });
    expect(refusalOf(call)?.code).toBe('invalid_operation');
  });
});

describe('the invoice that records a trial’s begin', () => {
  it('is paid at once, or open where invoices are sent', () => {
    expect(trialStartInvoice('charge_automatically').paymentStatus).toBe('SUCCEEDED');
    expect(trialStartInvoice('send_invoice').paymentStatus).toBe('PENDING');
  });
});
