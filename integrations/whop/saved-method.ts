import type { LinkedMethod } from '../payment-link.ts';
import { listAll, type WhopClient } from './client.ts';
import { confirmationMs, instantOf, readPayment } from './payment.ts';
import type { WhopMethod, WhopPayment, WhopSetup } from './shapes.ts';

/** The savings of methods on a page in setup mode, the first first, of those made since an instant. */
export async function setupsOf(client: WhopClient, configurationId: string, sinceMs: number): Promise<WhopSetup[]> {
  const query = { company_id: client.companyId, created_after: new Date(sinceMs).toISOString() };
  const listed = await listAll<WhopSetup>(client, '/setup_intents', query);
  return listed
    .filter(({ checkout_configuration }) => checkout_configuration?.id === configurationId)
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

/** True of a saving that failed. */
export function isRefused({ status, error_message }: WhopSetup): boolean {
  return status !== 'succeeded' && error_message !== null;
}

/** A saving that failed, in the words of a payment that did. */
export function asFailure({ id, error_message }: WhopSetup) {
  return { id, failure_message: error_message };
}

/** True while a saving waits for its bank, or for its payer, who has half an hour. */
export function isUnderWay(setup: WhopSetup): boolean {
  if (isRefused(setup) || setup.status === 'succeeded' || setup.status === 'canceled') return false;
  return setup.status === 'processing' || Date.now() - Date.parse(instantOf(setup.created_at)) < confirmationMs;
}

/** The method that a saving has kept. */
export function methodOfSetup({ member, payment_method }: WhopSetup): LinkedMethod | null {
  return member && payment_method ? linkedMethod(member.id, payment_method) : null;
}

/**
 * The card of a payment whose page was asked to keep it, where Whop lists it as its payer's: one that was not kept cannot be charged again.
 * design: money-in-checkout §B12
 */
export async function methodOfPayment(client: WhopClient, { id }: WhopPayment): Promise<LinkedMethod | null> {
  const { member, payment_method, metadata } = await readPayment(client, id);
  if (metadata?.perennial_saves !== 'true' || !member || !payment_method) return null;
  const kept = await listAll<WhopMethod>(client, '/payment_methods', { member_id: member.id });
  const method = kept.find((each) => each.id === payment_method.id);
  return method ? linkedMethod(member.id, method) : null;
}

function linkedMethod(memberId: string, { id, card }: WhopMethod): LinkedMethod {
  return { token: id, customerToken: memberId, brand: card?.brand ?? '', lastFour: card?.last4 ?? '' };
}
