import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountToCollect, gatedInvoiceAfter, refuseGated } from '../../../../billing/invoice/gated-invoice.ts';
import {
  type CheckoutStatus,
  type CheckoutTrigger,
  checkoutExpiry,
  checkoutMove,
  checkoutPoll,
  checkoutStatuses,
  isCheckoutActive,
} from '../../../../billing/payment/checkout.ts';
import { chooseSavedMethod, mandateLimit, type SavedMethod } from '../../../../billing/payment/saved-method.ts';
import { refusalOf } from '../refused.ts';

const triggers: CheckoutTrigger[] = [
  'opened',
  'refused',
  'paid',
  'declined',
  'cancel',
  'timer',
  'link_ended',
  'superseded',
  'mispaid',
  'abandoned',
];

describe('a session moves once to its end (wallets-and-payments §2.17)', () => {
  it('completes or cleans up at most once, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...triggers), { maxLength: 20 }), (happenings) => {
        let status: CheckoutStatus = 'initiated';
        const ended: string[] = [];
        for (const trigger of happenings) {
          if (status === 'completed' && trigger === 'cancel') continue;
          const move = checkoutMove(status, trigger);
          if (move.effect === 'complete' || move.effect === 'clean_up') ended.push(move.effect);
          if (!isCheckoutActive(status)) expect(move.to).toBe(status);
          expect(move.eventName !== null).toBe(move.to !== status);
          status = move.to;
        }
        expect(ended.length).toBe(isCheckoutActive(status) ? 0 : 1);
        expect(ended[0] === 'complete').toBe(status === 'completed');
      }),
    );
  });

  it('sends money back that comes after the end, unless the session was paid', () => {
    expect(checkoutMove('expired', 'paid').effect).toBe('capture_late');
    expect(checkoutMove('failed', 'paid').effect).toBe('capture_late');
    expect(checkoutMove('completed', 'paid').effect).toBe('none');
  });

  it('refuses to cancel a completed session and leaves others that ended', () => {
    expect(refusalOf(() => checkoutMove('completed', 'cancel'))).toMatchObject({ code: 'invalid_operation' });
    expect(checkoutMove('failed', 'cancel')).toMatchObject({ to: 'failed', eventName: null });
  });

  it('stays open after a declined attempt', () => {
    expect(checkoutMove('pending', 'declined')).toMatchObject({ to: 'pending', effect: 'record_attempt' });
  });
});

describe('the life of a session (wallets-and-payments §2.17 Expiry, Read and poll)', () => {
  it('is never longer than its own, nor than its link', () => {
    const instants = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom('razorpay', 'stripe'), instants, fc.option(instants), (provider, created, link) => {
        const end = checkoutExpiry(provider, created.toISOString(), link?.toISOString() ?? null);
        const own = created.getTime() + (provider === 'razorpay' ? 15 : 30) * 60_000;
        expect(Date.parse(end)).toBe(link ? Math.min(own, link.getTime()) : own);
      }),
    );
  });

  it.each([
    [0, 2000],
    [59_999, 2000],
    [60_000, 5000],
    [299_999, 5000],
    [300_000, 10_000],
  ])('is read again, at an age of %i ms, after %i', (ageMs, nextPollAfterMs) => {
    const created = '2026-07-01T00:00:00.000Z';
    const now = new Date(Date.parse(created) + ageMs).toISOString();
    expect(checkoutPoll('pending', created, now)).toEqual({ terminal: false, nextPollAfterMs });
    for (const status of checkoutStatuses.filter((one) => !isCheckoutActive(one))) {
      expect(checkoutPoll(status, created, now)).toEqual({ terminal: true, nextPollAfterMs: 0 });
    }
  });
});

describe('an invoice that waits for its session (wallets-and-payments §2.18)', () => {
  it('needs something to pay', () => {
    expect(refusalOf(() => amountToCollect('0', '0'))).toMatchObject({ code: 'validation_error' });
    expect(refusalOf(() => amountToCollect('40', '40'))?.message).toContain('prepaid credits cover');
    expect(amountToCollect('40', '39.99').toFixed()).toBe('0.01');
  });

  it('is refused to others by the name of its session, and only while it waits', () => {
    const invoice = { invoiceStatus: 'DRAFT', sourceType: 'checkout', checkoutSessionId: 'cs_1' };
    expect(refusalOf(() => refuseGated(invoice, 'voided'))?.message).toContain('cs_1');
    expect(refusalOf(() => refuseGated({ ...invoice, invoiceStatus: 'FINALIZED' }, 'voided'))).toBeNull();
    expect(refusalOf(() => refuseGated({ ...invoice, sourceType: 'manual' }, 'voided'))).toBeNull();
  });

  it('has a number only when it was paid, and is gone otherwise', () => {
    expect(gatedInvoiceAfter('completed')).toMatchObject({ invoiceStatus: 'FINALIZED', isNumbered: true });
    for (const status of ['failed', 'expired']) {
      expect(gatedInvoiceAfter(status)).toEqual({ invoiceStatus: 'VOIDED', isNumbered: false, status: 'archived' });
    }
  });
});

describe('the saved method that is charged (wallets-and-payments §2.17 Saved methods)', () => {
  const card: SavedMethod = {
    id: 'a',
    type: 'CARD',
    status: 'confirmed',
    expiresAt: null,
    maxAmount: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const charge = { amount: '10', now: '2026-07-01T00:00:00.000Z', preferredType: null };

  it('is the newest of its type, and of one instant the later id', () => {
    expect(chooseSavedMethod([card, { ...card, id: 'b' }], charge)?.id).toBe('b');
    expect(
      chooseSavedMethod(
        [
          { ...card, createdAt: '2026-02-01T00:00:00.000Z' },
          { ...card, id: 'b' },
        ],
        charge,
      )?.id,
    ).toBe('a');
  });

  it.each([{ status: 'initiated' }, { expiresAt: charge.now }, { maxAmount: '9.99' }])(
    'is not one with %j',
    (members) => {
      expect(chooseSavedMethod([{ ...card, ...members }], charge)).toBeNull();
    },
  );

  it('is of the preferred type, else a card, else UPI, and of no other', () => {
    const upi = { ...card, id: 'u', type: 'UPI', createdAt: '2025-01-01T00:00:00.000Z' };
    const bank = { ...card, id: 'x', type: 'ACH' };
    expect(chooseSavedMethod([upi, card, bank], charge)?.id).toBe('a');
    expect(chooseSavedMethod([upi, card, bank], { ...charge, preferredType: 'UPI' })?.id).toBe('u');
    expect(chooseSavedMethod([bank], charge)).toBeNull();
    expect(chooseSavedMethod([bank], { ...charge, preferredType: 'ACH' })?.id).toBe('x');
  });

  it('has a mandate up to the lower of what was asked and its ceiling', () => {
    const ceilings = [{ method: 'UPI', currency: 'INR', maxLimit: '100000' }];
    const limitOf = (method: string, asked: string | null) =>
      mandateLimit({ method, currency: 'inr', maxMandateLimit: asked }, ceilings)?.toFixed() ?? null;
    expect([limitOf('UPI', '250000'), limitOf('UPI', null), limitOf('UPI', '5')]).toEqual(['100000', '100000', '5']);
    expect([limitOf('CARD', '250000'), limitOf('CARD', null)]).toEqual(['250000', null]);
  });
});
