import type { Context } from '@temporalio/activity';
import type { PaymentOutcome } from '../billing/payment.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type PaymentGateway,
} from '../integrations/payment-gateway.ts';

/**
 * Sends a charge for the first time. Whatever is thrown on the way means that nothing is known: the request may have arrived.
 * spec: wallets-and-payments §2.19 Unknown outcome
 */
export async function askFirst(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  return settled(request, () => gateway.charge(request));
}

/** Asks about a charge by its token first, and sends the same token again only when it never arrived: one intent, one capture. */
export async function askAgain(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  return settled(request, async () => {
    const known = await gateway.lookUp(request.intentToken);
    return known.status === 'not_found' ? gateway.charge(request) : known;
  });
}

/**
 * Sends charges to a gateway that decides at once, and answers by intent token what it decided. What is left out, because the gateway
 * does not decide it so or nothing is known, is to be asked for by itself.
 */
export async function askAtOnce(
  gateway: PaymentGateway,
  requests: readonly ChargeRequest[],
): Promise<Map<string, PaymentOutcome>> {
  const answers = (await gateway.chargeAtOnce?.(requests).catch(() => null)) ?? new Map<string, GatewayCharge>();
  return new Map(
    requests.flatMap((request): [string, PaymentOutcome][] => {
      const answer = answers.get(request.intentToken);
      const isOfRequest = answer?.amount === request.amount && answer.currency === request.currency;
      return answer && isOfRequest ? [[request.intentToken, outcomeOf(answer)]] : [];
    }),
  );
}

/** Gives up a charge that waits for its payer. */
export async function cancelAtGateway(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  return settled(request, () => gateway.cancel(request.intentToken));
}

/** As above, of a charge that will not be sent again: one that never arrived is as good as declined. */
export async function abandonAtGateway(gateway: PaymentGateway, request: ChargeRequest): Promise<PaymentOutcome> {
  const never: PaymentOutcome = { ...unknownOutcome('the charge never arrived'), status: 'declined' };
  return settled(request, () => gateway.cancel(request.intentToken), never);
}

/** Nothing definite is known of a charge. */
export function unknownOutcome(reason: string): PaymentOutcome {
  return { status: 'unknown', gatewayPaymentId: null, gatewayMetadata: {}, reason, actionUrl: null };
}

const heartbeatMs = 5_000;

/** Heartbeats while a gateway takes its time; the answer ends them. */
export function beat(context: Context): () => void {
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  return () => clearInterval(timer);
}

async function settled(
  request: ChargeRequest,
  ask: () => Promise<GatewayLookUp>,
  notFound = unknownOutcome('the gateway does not know the charge'),
): Promise<PaymentOutcome> {
  let answer: GatewayLookUp;
  try {
    answer = await ask();
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
  return {
    status: charge.status,
    gatewayPaymentId: charge.gatewayPaymentId,
    gatewayMetadata: charge.gatewayMetadata,
    reason: charge.declineReason,
    actionUrl: charge.actionUrl,
  };
}

/** The text of our own errors; a foreign error is only named, because its text may hold what must not be kept. */
function reasonOf(error: unknown): string {
  if (error instanceof GatewayOutcomeUnknown) return error.message.slice(0, 500);
  return `the gateway call failed: ${error instanceof Error ? error.name : 'unknown error'}`;
}
