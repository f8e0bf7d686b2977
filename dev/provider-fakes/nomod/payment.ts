import { randomUUID } from 'node:crypto';
import { decimal } from '../../../billing/money/money.ts';
import { type SandboxCard, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { type FakeCharge, type FakeCheckout, type FakeRefund, type NomodBooks, NomodRefusal } from './books.ts';

/** A payer pays a checkout with a test card of the sandbox gateway, or tries to; one attempt at a time. Says what became of it. */
export function payCheckout(books: NomodBooks, id: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw new NomodRefusal(400, 'invalid_card');
  const checkout = books.checkoutOf(id);
  if (checkout.status !== 'created') return 'closed';
  if (checkout.charges.some(({ status }) => status === 'created')) return 'created';
  const charge = newCharge(books, checkout, card);
  if (isDeclined(card)) fail(books, checkout, charge);
  else if (!isDecidedLater(card)) capture(books, checkout, charge);
  return charge.status;
}

function isDeclined({ behaviour, count }: SandboxCard): boolean {
  return behaviour === 'declines' || behaviour === 'declines_for_good' || (behaviour === 'declines_times' && count > 0);
}

function isDecidedLater({ behaviour, count }: SandboxCard): boolean {
  const waits = ['never_answers', 'requires_action', 'needs_authentication'].includes(behaviour);
  return waits || (behaviour === 'answers_late' && count > 0);
}

function newCharge(books: NomodBooks, checkout: FakeCheckout, card: SandboxCard): FakeCharge {
  const charge: FakeCharge = {
    id: randomUUID(),
    amount: checkout.amount,
    payment_time: new Date().toISOString(),
    payment_method: 'card',
    status: 'created',
  };
  checkout.charges.push(charge);
  books.cards.set(charge.id, { ...card });
  return charge;
}

/** Takes the money of a charge, whatever state its checkout is in. */
export function capture(books: NomodBooks, checkout: FakeCheckout, charge: FakeCharge): void {
  const behaviour = books.cards.get(charge.id)?.behaviour;
  if (behaviour === 'captures_less') charge.amount = decimal(charge.amount).minus('0.01').toNumber();
  if (behaviour === 'captures_more') charge.amount = decimal(charge.amount).plus(1).toNumber();
  if (behaviour === 'captures_otherwise') checkout.currency = checkout.currency === 'EUR' ? 'USD' : 'EUR';
  charge.status = 'paid';
  checkout.status = 'paid';
  books.tell('charge.completed', checkout, charge);
  if (behaviour === 'answers_twice') books.tell('charge.completed', checkout, charge);
}

/** Money for a checkout from a card that succeeds, beside its page or after its end. */
export function captureBeside(books: NomodBooks, id: string): void {
  const checkout = books.checkoutOf(id);
  capture(books, checkout, newCharge(books, checkout, { behaviour: 'succeeds', count: 0 }));
}

function fail(books: NomodBooks, checkout: FakeCheckout, charge: FakeCharge): void {
  charge.status = 'failed';
  books.tell('charge.failed', checkout, charge);
}

/** The decision of a payer or bank that was waited for. False when nothing waited. */
export function decide(books: NomodBooks, id: string, how: 'capture' | 'fail'): boolean {
  const checkout = books.checkoutOf(id);
  const charge = checkout.charges.find(({ status }) => status === 'created');
  if (!charge) return false;
  if (how === 'capture') capture(books, checkout, charge);
  else fail(books, checkout, charge);
  return true;
}

/** Late charges of a checkout come one step nearer to their end with each look at it. */
export function nearer(books: NomodBooks, checkout: FakeCheckout): FakeCheckout {
  for (const charge of checkout.charges) {
    const card = books.cards.get(charge.id);
    if (charge.status !== 'created' || card?.behaviour !== 'answers_late') continue;
    card.count -= 1;
    if (card.count <= 0) capture(books, checkout, charge);
  }
  return checkout;
}

/** The newest charge of a checkout that has so much left; refuses as Nomod does where there is none. */
export function chargeToRefund(books: NomodBooks, checkout: FakeCheckout, amount: number): FakeCharge {
  const paid = checkout.charges.filter(({ status }) => status !== 'created' && status !== 'failed');
  if (paid.length === 0) throw new NomodRefusal(400, 'charge_not_paid');
  const charge = paid.findLast((each) => books.givenBack(each.id).plus(amount).lessThanOrEqualTo(each.amount));
  if (!charge) throw new NomodRefusal(400, 'refund_amount_exceeds');
  return charge;
}

/** Somebody gives money back in the dashboard; Nomod shows it at its charge, without an id. */
export function refundInDashboard(books: NomodBooks, checkout: FakeCheckout, amount: number): void {
  const made: FakeRefund = {
    refund_id: randomUUID(),
    charge_id: chargeToRefund(books, checkout, amount).id,
    status: 'pending',
    amount,
    currency: checkout.currency,
    refund_time: new Date().toISOString(),
    reason: '',
    reference_id: '',
    metadata: {},
  };
  books.refunds.set(made.refund_id, made);
  decideRefund(books, made, 'completed');
}

/** The end of a refund that was pending; its charge shows what went back. */
export function decideRefund(books: NomodBooks, refund: FakeRefund, how: 'completed' | 'failed'): void {
  refund.status = how;
  const checkout = [...books.checkouts.values()].find(({ charges }) =>
    charges.some(({ id }) => id === refund.charge_id),
  );
  const charge = checkout?.charges.find(({ id }) => id === refund.charge_id);
  if (!checkout || !charge || how === 'failed') return;
  const isAll = books.givenBack(charge.id).equals(charge.amount);
  charge.status = isAll ? 'refunded' : 'partially_refunded';
  const type = isAll ? 'charge.refunded' : 'charge.partially_refunded';
  books.tell(type, checkout, charge);
  if (books.cards.get(charge.id)?.behaviour === 'refund_answers_twice') books.tell(type, checkout, charge);
}
