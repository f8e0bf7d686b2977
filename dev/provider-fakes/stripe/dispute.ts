import { type FakeDispute, missing, type StripeBooks } from './books.ts';

const week = 7 * 86_400;

/** A payer's bank takes a payment back, all of it unless an amount in cents is given; or merely inquires about it. Answers the dispute's id. */
export function openDispute(
  books: StripeBooks,
  intentId: string,
  { amount, status = 'needs_response' }: { amount?: number; status?: FakeDispute['status'] } = {},
): string {
  const intent = books.intents.get(intentId);
  if (!intent) throw missing('payment_intent', intentId);
  const now = Math.floor(Date.now() / 1000);
  const dispute: FakeDispute = books.newObject('du', 'dispute', {
    payment_intent: intentId,
    charge: intent.latest_charge,
    amount: amount ?? intent.amount_received,
    currency: intent.currency,
    metadata: {},
    status,
    reason: 'fraudulent',
    evidence_details: { due_by: now + week },
  });
  books.disputes.set(dispute.id, dispute);
  books.tell('charge.dispute.created', dispute);
  return dispute.id;
}

/** The bank decides. */
export function decideDispute(books: StripeBooks, disputeId: string, status: 'won' | 'lost'): void {
  const dispute = books.disputes.get(disputeId);
  if (!dispute) throw missing('dispute', disputeId);
  dispute.status = status;
  books.tell('charge.dispute.closed', dispute);
}
