import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyCreditNote,
  type CreditableInvoice,
  creditLimit,
  planCreditNote,
  reverseAdjustment,
} from '../../../../billing/invoice/credit-note.ts';
import { refusalOf } from '../refused.ts';

const invoice = (fields: Partial<CreditableInvoice> = {}): CreditableInvoice => ({
  invoiceStatus: 'FINALIZED',
  paymentStatus: 'PENDING',
  currency: 'usd',
  total: '120',
  amountPaid: '0',
  adjustmentAmount: '0',
  refundedAmount: '0',
  ...fields,
});
const paid = (fields: Partial<CreditableInvoice> = {}) =>
  invoice({ paymentStatus: 'SUCCEEDED', amountPaid: '120', ...fields });
const line = (amount: string, lineAmount = '120', creditedBefore?: string) => ({
  invoiceLineItemId: 'l1',
  amount,
  lineAmount,
  creditedBefore,
});

describe('credit notes', () => {
  it.each([
    ['SUCCEEDED', 'REFUND', '100'],
    ['OVERPAID', 'REFUND', '100'],
    ['PARTIALLY_REFUNDED', 'REFUND', '100'],
    ['INITIATED', 'ADJUSTMENT', '-'],
    ['PENDING', 'ADJUSTMENT', '-'],
    ['PROCESSING', 'ADJUSTMENT', '-'],
    ['FAILED', 'ADJUSTMENT', '-'],
  ])('of an invoice %s are %s, up to what is left', (paymentStatus, type, refundable) => {
    const refund = creditLimit(paid({ paymentStatus, refundedAmount: '20' }));
    expect(refund.type).toBe(type);
    if (type === 'REFUND') expect(refund.maximum).toBe(refundable);
    const open = creditLimit(invoice({ paymentStatus: 'FAILED', amountPaid: '50', adjustmentAmount: '10' }));
    expect(open).toEqual({ type: 'ADJUSTMENT', maximum: '60' });
  });

  it.each([
    ['REFUNDED', {}],
    ['VOIDED', {}],
    ['SUCCEEDED', { invoiceStatus: 'DRAFT' }],
    ['PENDING', { invoiceStatus: 'VOIDED' }],
  ])('of an invoice %s %o are refused', (paymentStatus, fields) => {
    expect(refusalOf(() => creditLimit(paid({ paymentStatus, ...fields })))?.code).toBe('validation_error');
  });

  it('take no more of a line than it has, other lines and earlier notes counted', () => {
    expect(planCreditNote(invoice(), [line('60'), line('60')]).totalAmount).toBe('120');
    for (const lines of [[line('60'), line('60.01')], [line('60', '120', '60.01')], [line('0')], [line('-1')], []]) {
      expect(refusalOf(() => planCreditNote(invoice(), lines))?.code).toBe('validation_error');
    }
  });

  it('are no finer than their currency, and no more than their maximum', () => {
    const yen = invoice({ currency: 'jpy' });
    expect(refusalOf(() => planCreditNote(yen, [line('1.5')]))?.message).toContain('jpy');
    const late = invoice({ amountPaid: '100' });
    expect(refusalOf(() => planCreditNote(late, [line('20.01')]))?.message).toContain('at most 20');
  });

  it('settle the invoice when nothing remains, and keep its status otherwise', () => {
    const processing = invoice({ paymentStatus: 'PROCESSING' });
    expect(applyCreditNote(processing, 'ADJUSTMENT', '20')).toMatchObject({
      amountRemaining: '100',
      paymentStatus: 'PROCESSING',
    });
    expect(applyCreditNote(processing, 'ADJUSTMENT', '120').paymentStatus).toBe('SUCCEEDED');
    expect(applyCreditNote(paid(), 'REFUND', '20').paymentStatus).toBe('PARTIALLY_REFUNDED');
    expect(applyCreditNote(paid(), 'REFUND', '120').paymentStatus).toBe('REFUNDED');
  });

  it('of an adjustment are undone to what was before, whatever was adjusted', () => {
    const cents = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        const amount = (n: number) => (n / 100).toFixed(2);
        const before = invoice({ total: amount(a + b) });
        const after = applyCreditNote(before, 'ADJUSTMENT', amount(a));
        const undone = reverseAdjustment({ ...before, ...after }, amount(a));
        expect(undone).toMatchObject({ adjustmentAmount: '0', paymentStatus: 'PENDING', refundedAmount: '0' });
        expect(Number(undone.amountRemaining)).toBe(Number(amount(a + b)));
      }),
    );
    const whole = applyCreditNote(invoice(), 'ADJUSTMENT', '120');
    expect(reverseAdjustment({ ...invoice(), ...whole }, '120').paymentStatus).toBe('PENDING');
  });
});
