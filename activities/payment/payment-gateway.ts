import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import {
  type ChargeRequest,
  type Charges,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  mayBeResent,
  type PaymentGateway,
} from '../../integrations/payment-gateway.ts';
import { gatewayCode, reasonOf } from '../integration/gateway-reason.ts';

/** Stores the id of a charge that was prepared, and answers the one that is to be confirmed. */
export type KeepPrepared = (providerId: string) => Promise<string>;

const nowhere: KeepPrepared = async (providerId) => providerId;

/**
 * Sends a charge for the first time. Whatever is thrown on the way means that nothing is known: the request may have arrived.
 * spec: wallets-and-payments §2.19 Unknown outcome
 */
export async function askFirst(
  gateway: PaymentGateway,
  request: ChargeRequest,
  keep: KeepPrepared = nowhere,
): Promise<PaymentOutcome> {
  return settled(gateway, request, (charges) => send(charges, request, keep));
}

/**
 * Asks about a charge first, and sends the same token again only when it never arrived and the gateway still knows what it was sent:
 * one intent, one capture. design: money-in-checkout §A2
 */
export async function askAgain(
  gateway: PaymentGateway,
  request: ChargeRequest,
  keep: KeepPrepared = nowhere,
): Promise<PaymentOutcome> {
  return settled(gateway, request, (charges) => lookUpOrSend(charges, request, keep));
}

/** As above, with the gateway's own answer. Throws what stands for an unknown outcome. */
export async function lookUpOrSend(
  charges: Charges,
  request: ChargeRequest,
  keep: KeepPrepared,
): Promise<GatewayLookUp> {
  const known = await charges.lookUp(request);
  if (known.status !== 'not_found') return known;
  // A charge that was never prepared was never confirmed, so preparing it moves nothing a second time.
  const isUnconfirmed = 'prepare' in charges && request.providerId === null;
  if (!isUnconfirmed && !mayBeResent(charges.resend, request.createdAt, Date.now())) {
    throw new GatewayOutcomeUnknown(
      'the gateway does not know the charge, and it was first sent too long ago to be sent again',
    );
  }
  return send(charges, request, keep);
}

async function send(charges: Charges, request: ChargeRequest, keep: KeepPrepared): Promise<GatewayCharge> {
  if (!('prepare' in charges)) return charges.charge(request);
  const providerId = request.providerId ?? (await keep((await charges.prepare(request)).providerId));
  return charges.confirm({ ...request, providerId }, providerId);
}

/**
 * Sends charges to a gateway that decides at once, and answers by intent token what it decided. What is left out, because the gateway
 * does not decide it so or nothing is known, is to be asked for by itself.
 */
export async function askAtOnce(
  gateway: PaymentGateway,
  requests: readonly ChargeRequest[],
): Promise<Map<string, PaymentOutcome>> {
  const asked = decidesAtOnce(gateway)?.(requests).catch(() => null);
  const answers = (await asked) ?? new Map<string, GatewayCharge>();
  return new Map(
    requests.flatMap((request): [string, PaymentOutcome][] => {
      const answer = answers.get(request.intentToken);
      const isOfRequest = answer?.amount === request.amount && answer.currency === request.currency;
      return answer && isOfRequest ? [[request.intentToken, outcomeOf(answer)]] : [];
    }),
  );
}

/** The call of a gateway that decides charges of any number without a network in between; undefined for the others. */
export function decidesAtOnce({ charges }: PaymentGateway) {
  return charges && 'charge' in charges ? charges.chargeAtOnce : undefined;
}

/** Gives up a charge that waits for its payer. */
export async function cancelAtGateway(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  return settled(gateway, request, (charges) => charges.cancel(request));
}

/** As above, of a charge that will not be sent again: one that never arrived is as good as declined. */
export async function abandonAtGateway(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  const never: PaymentOutcome = { ...unknownOutcome('the charge never arrived'), status: 'declined' };
  return settled(gateway, request, (charges) => charges.cancel(request), never);
}

/** Nothing definite is known of a charge. */
export function unknownOutcome(reason: string): PaymentOutcome {
  return { status: 'unknown', gatewayPaymentId: null, gatewayMetadata: {}, reason, actionUrl: null };
}

async function settled(
  { name, charges }: PaymentGateway,
  request: ChargeRequest,
  ask: (charges: Charges) => Promise<GatewayLookUp>,
  notFound = unknownOutcome('the gateway does not know the charge'),
): Promise<PaymentOutcome> {
  if (!charges) return unknownOutcome(`the gateway ${name} charges no saved methods`);
  let answer: GatewayLookUp;
  try {
    answer = await ask(charges);
  } catch (error) {
    return unknownOutcome(reasonOf(error));
  }
  if (answer.status === 'not_found') return notFound;
  if (answer.amount !== request.amount || answer.currency !== request.currency) {
    return unknownOutcome('the gateway answered for another amount or currency');
  }
  return outcomeOf(answer);
}

function outcomeOf(charge: GatewayCharge): PaymentOutcome {
  const declineCode = gatewayCode(charge.declineCode ?? null, 'declined');
  return {
    status: charge.status,
    gatewayPaymentId: charge.gatewayPaymentId,
    gatewayMetadata: charge.gatewayMetadata,
    reason: gatewayCode(charge.declineReason, declineCode ?? 'declined'),
    actionUrl: charge.actionUrl,
    ...(declineCode ? { declineCode, declineClass: charge.declineClass ?? 'retry' } : {}),
    ...(charge.expectedBy ? { expectedBy: charge.expectedBy } : {}),
  };
}
