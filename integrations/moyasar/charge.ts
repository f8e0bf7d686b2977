import { createHash } from 'node:crypto';
import type { DeclineClass, GatewayReference } from '../gateway-reference.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type TwoStepCharges,
} from '../payment-gateway.ts';
import { amountOfMoyasar, moyasarAmount, refuseTooLittle } from './amount.ts';
import type { MoyasarClient } from './client.ts';
import { declineClassOfMoyasar, declineCodeOf } from './decline.ts';
import { isCaptured, isRecent } from './payment.ts';
import type { MoyasarPayment } from './shapes.ts';

/** Time within which a charge that Moyasar does not have is sent for the first time, or once more under its id. */
const sentUntilMs = 23 * 3_600_000;

/**
 * Charges of saved cards. Moyasar lets us name a payment (`given_id`) and makes none of a name that it has, so the id is made of our token
 * and kept before anything is sent; every sending is of that id, and none goes out before Moyasar was asked for it.
 * design: money-in-checkout §A2, §C moyasar
 */
export function moyasarCharges(client: MoyasarClient): TwoStepCharges {
  const lookUp = async ({ providerId }: GatewayReference): Promise<GatewayLookUp> =>
    providerId === null ? { status: 'not_found' } : find(client, providerId);
  return {
    resend: { untilMs: sentUntilMs },
    prepare: async ({ token, amount, currency }) => {
      refuseTooLittle(amount, currency);
      moyasarAmount(amount, currency);
      return { providerId: paymentIdOf(token) };
    },
    confirm: async (request, providerId) => {
      const known = await find(client, providerId);
      return known.status === 'not_found' ? send(client, request, providerId) : known;
    },
    lookUp,
    // Moyasar takes no charge back that is under way.
    cancel: lookUp,
  };
}

/** RFC 4122 namespace of our payments at Moyasar. */
const namespace = Buffer.from('7c4ad3a0b1f45c8e9d2e6f1a0c5b8e37', 'hex');

/** Moyasar's id of the payment of a token, a UUID of version 5: the same every time. */
export function paymentIdOf(token: string): string {
  const bytes = createHash('sha1').update(namespace).update(token).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function find(client: MoyasarClient, id: string): Promise<GatewayLookUp> {
  const answer = await client.get<MoyasarPayment>(`/payments/${encodeURIComponent(id)}`);
  if (answer.refusal === null) return chargeOf(answer.object);
  if (answer.status === 404) return { status: 'not_found' };
  throw new GatewayOutcomeUnknown(`moyasar refused to show the charge: ${answer.refusal}`);
}

async function send(client: MoyasarClient, request: ChargeRequest, id: string): Promise<GatewayCharge> {
  const { amount, currency, description, metadata, token, paymentMethodToken } = request;
  const answer = await client.post<MoyasarPayment>('/payments', {
    given_id: id,
    amount: moyasarAmount(amount, currency),
    currency: currency.toUpperCase(),
    description: description || 'Payment',
    metadata: { ...metadata, perennial_token: token },
    source: { type: 'token', token: paymentMethodToken },
  });
  if (answer.refusal === null) return chargeOf(answer.object);
  // An earlier sending that arrived after all is why this one is refused.
  const arrived = await find(client, id);
  if (arrived.status !== 'not_found') return arrived;
  const isGone = answer.status === 404 || answer.fields.some((field) => /token|source/.test(field));
  return declined(
    { gatewayPaymentId: id, amount, currency, gatewayMetadata: {} },
    answer.refusal,
    isGone ? 'never' : 'retry',
  );
}

/** A payment as a charge. spec: wallets-and-payments §2.19 Provider status map */
function chargeOf(payment: MoyasarPayment): GatewayCharge {
  const { id, status, amount, captured, currency } = payment;
  const told = {
    gatewayPaymentId: id,
    amount: amountOfMoyasar((isCaptured(payment) && captured) || amount, currency),
    currency: currency.toLowerCase(),
    gatewayMetadata: { moyasar_status: status },
  };
  if (isCaptured(payment)) return { ...told, status: 'succeeded', declineReason: null, actionUrl: null };
  if (status === 'failed') {
    const code = declineCodeOf(payment);
    return declined(told, code, declineClassOfMoyasar(code));
  }
  // A person at the dashboard let the money go again.
  if (status === 'voided') return declined(told, status, 'never');
  const actionUrl = (status === 'initiated' && payment.source?.transaction_url) || null;
  if (actionUrl !== null && !isRecent(payment)) return declined(told, 'not_confirmed', 'authenticate');
  return { ...told, status: actionUrl === null ? 'processing' : 'requires_action', declineReason: null, actionUrl };
}

type Told = Pick<GatewayCharge, 'gatewayPaymentId' | 'amount' | 'currency' | 'gatewayMetadata'>;

function declined(told: Told, code: string, declineClass: DeclineClass): GatewayCharge {
  return { ...told, status: 'declined', declineReason: code, declineCode: code, declineClass, actionUrl: null };
}
