import type { LinkOccasion, LinkStanding } from '../../billing/payment/checkout-link.ts';
import { refusalIn } from '../../billing/refusal.ts';
import type { ChargeRequest, GatewayLookUp, PaymentGateway } from '../../integrations/payment-gateway.ts';
import { keepPreparedCharge } from '../../services/collection/payment-charge.ts';
import type { CheckoutFollowers } from '../../services/payment/checkout/checkout-followers.ts';
import { recordSavedCharge, type SavedCharge } from '../../services/payment/checkout/checkout-saved-method.ts';
import { type LinkAnswer, noteFailedCompletion } from '../../services/payment/checkout/checkout-settle.ts';
import { crashPoint } from '../crash-points.ts';
import { isOutage } from '../failure.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import type { CheckoutMoment, InScope } from './checkout-input.ts';
import { type KeepPrepared, lookUpOrSend } from './payment-gateway.ts';

/**
 * Charges the saved method of a session, or asks about that charge, and answers how it stands as a link would: `dead` is a charge that takes
 * no money, `processing` one that is not decided, null that nothing is known. A payer who has to confirm is not there: the charge is
 * given up, and the payer confirms on the page. One that is not wanted any more (`isWanted`) is given up as well. design: money-in-checkout §B9
 */
async function savedChargeStanding(
  gateway: PaymentGateway | null,
  request: ChargeRequest,
  { isWanted, keep }: { isWanted: boolean; keep: KeepPrepared },
): Promise<LinkStanding | null> {
  const charges = gateway?.charges;
  if (!charges) return null;
  try {
    const known = isWanted ? await lookUpOrSend(charges, request, keep) : await charges.cancel(request);
    return standingOf(known.status === 'requires_action' ? await charges.cancel(request) : known);
  } catch {
    return null;
  }
}

function standingOf(known: GatewayLookUp): LinkStanding {
  const none = { captures: [], declines: [] };
  if (known.status === 'not_found') return { status: 'dead', ...none };
  if (known.status === 'processing' || known.status === 'requires_action') return { status: 'processing', ...none };
  const { gatewayPaymentId: chargeProviderId, amount, currency } = known;
  if (known.status === 'succeeded') {
    return { status: 'paid', captures: [{ chargeProviderId, amount, currency }], declines: [] };
  }
  const code = known.declineCode ?? known.declineReason ?? 'declined';
  return { status: 'dead', captures: [], declines: [{ chargeProviderId, code, class: known.declineClass ?? 'retry' }] };
}

/**
 * Charges the saved method of a session before its page is opened, or asks about that charge, and records what is known. One external
 * call.
 */
export async function askSavedCharge(
  access: GatewayAccess,
  inScope: InScope,
  input: CheckoutMoment & { occasion: LinkOccasion },
  saved: SavedCharge,
): Promise<{ followers: CheckoutFollowers | null; opensPage: boolean }> {
  const { sessionId, occasion, at } = input;
  const { charge, paymentId } = saved;
  const { gateway } = await openGateway(access, input, { kind: 'payment', id: paymentId, provider: charge.gateway });
  const isWanted = saved.isActive && occasion === 'poll';
  const keep = (providerId: string) => inScope(input, (tx) => keepPreparedCharge(tx, paymentId, providerId));
  const link = await savedChargeStanding(gateway, charge, { isWanted, keep });
  crashPoint('chargeSavedMethod.afterEffect');
  const answer = { sessionId, occasion, link, at };
  return inScope(input, (tx) =>
    recordSavedCharge(tx, answer).finally(() => crashPoint('chargeSavedMethod.beforeCommit')),
  ).catch(async (error: unknown) => ({ followers: await noteFailed(inScope, input, answer, error), opensPage: false }));
}

/** Of an order that is paid everything but an outage is a completion that failed; it is told, and tried again. */
export async function noteFailed(
  inScope: InScope,
  input: CheckoutMoment,
  answer: LinkAnswer,
  error: unknown,
): Promise<CheckoutFollowers> {
  if (isOutage(error) || refusalIn(error)?.code === 'not_found' || !answer.link?.captures.length) throw error;
  if (answer.occasion === 'cancel' && refusalIn(error)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  return inScope(input, (tx) => noteFailedCompletion(tx, { ...answer, reason }));
}
