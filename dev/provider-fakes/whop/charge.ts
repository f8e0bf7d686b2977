import { sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { LostAnswer } from '../shell.ts';
import {
  type FakeMethod,
  type FakePayment,
  type FakeSetup,
  invalid,
  missing,
  type WhopBooks,
  WhopRefusal,
} from './books.ts';
import { capture, failureOf, isDecidedLater, newMethod, newPayment, planOf } from './payment.ts';

/** A payer saves a test card of the sandbox gateway on a page in setup mode, or tries to. Says what became of it. */
export function saveOnPage(books: WhopBooks, configurationId: string, cardNumber: string): string {
  const card = sandboxCardOf(cardNumber);
  if (!card) throw invalid('card_number is no test card of the sandbox gateway');
  const configuration = books.configurations.get(configurationId);
  if (configuration?.mode !== 'setup' || books.deleted.has(configurationId)) return 'closed';
  const failure = failureOf(card);
  const method = failure === null ? newMethod(books, card, { isKept: true }) : null;
  const setup: FakeSetup = {
    id: books.newId('sint'),
    status: method ? 'succeeded' : 'canceled',
    checkout_configuration: { id: configurationId },
    company: { id: books.accountId },
    created_at: books.now(),
    error_message: failure,
    member: method && { id: books.held.get(method.id)?.memberId ?? '' },
    payment_method: method,
    metadata: configuration.metadata,
  };
  books.setups.set(setup.id, setup);
  books.tell(`setup_intent.${setup.status}`, setup);
  return setup.status;
}

/** The payer, or its bank, takes a card away that was kept. */
export function removeMethod(books: WhopBooks, methodId: string): void {
  const held = books.held.get(methodId);
  if (!held) throw missing();
  held.isKept = false;
}

/** Charges a kept card of a member without its payer. The answer comes at once and says nothing yet; what became of it is told behind it. */
export function chargeMember(
  books: WhopBooks,
  {
    planId,
    memberId,
    methodId,
    metadata,
  }: Record<'planId' | 'memberId' | 'methodId', string> & { metadata: Record<string, unknown> },
): FakePayment {
  const method = books.methods.get(methodId);
  const held = books.held.get(methodId);
  if (held?.card.behaviour === 'unreachable_times' && held.card.count > 0) {
    held.card.count -= 1;
    throw new LostAnswer();
  }
  const plan = planOf(books, planId);
  if (!method || !held?.isKept || held.memberId !== memberId) throw missing();
  if (!plan.unlimited_stock && plan.stock < 1) throw new WhopRefusal(400, 'out_of_stock');
  const payment = newPayment(books, plan, { method, metadata });
  setImmediate(() => decideCharge(books, payment, method));
  if (held.card.behaviour === 'loses_answer') throw new LostAnswer(payment);
  return payment;
}

function decideCharge(books: WhopBooks, payment: FakePayment, method: FakeMethod): void {
  const card = books.held.get(method.id)?.card;
  if (!card || payment.status !== 'draft') return;
  const needsPayer = card.behaviour === 'needs_authentication' ? 'The bank asks for authentication.' : null;
  const failure = failureOf(card) ?? needsPayer;
  if (card.behaviour === 'declines_times' && card.count > 0) card.count -= 1;
  const now = books.now();
  if (failure !== null) {
    Object.assign(payment, { status: 'open', substatus: 'failed', failure_message: failure, updated_at: now });
    books.tell('payment.failed', payment);
  } else if (isDecidedLater(card)) {
    Object.assign(payment, { status: 'pending', substatus: 'pending', updated_at: now });
    books.tell('payment.pending', payment);
  } else {
    capture(books, payment);
    if (card.behaviour === 'answers_twice') books.tell('payment.succeeded', payment);
  }
}
