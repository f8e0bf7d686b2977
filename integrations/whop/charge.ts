import { randomInt } from 'node:crypto';
import type { DeclineClass, GatewayReference } from '../gateway-reference.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  GatewayTurnedAway,
  type TwoStepCharges,
} from '../payment-gateway.ts';
import { amountOfWhop } from './amount.ts';
import { listAll, objectOf, type WhopClient } from './client.ts';
import { declineOfWhop } from './decline.ts';
import { captureOf, isCaptured, isDeclined } from './payment.ts';
import { marksOf, planOf, readPlan } from './plan.ts';
import type { WhopPayment, WhopPlan } from './shapes.ts';

/** Time within which a plan is made under the same idempotency key, and a charge is sent for the first time. */
const sentUntilMs = 23 * 3_600_000;

/**
 * Charges of saved cards. Whether Whop knows a payment by an idempotency key is not known. So a charge is prepared as a plan that has one unit to
 * sell, whose payments are listed by its id, and its sending is written down at the plan first: one that was sent and is not listed is
 * asked about and sent again only when `settledMs` have passed. Whop answers at once and decides later.
 * design: money-in-checkout §A2, §C whop
 */
export function whopCharges(client: WhopClient, settledMs: number): TwoStepCharges {
  const read = (reference: GatewayReference) => lookUp(client, reference, settledMs);
  return {
    resend: { untilMs: sentUntilMs },
    prepare: async (request) => {
      const answer = client.post<WhopPlan>(
        '/plans',
        planOf(client, request, marksOf(request)),
        `${request.token}-plan`,
      );
      return { providerId: objectOf(await answer, 'prepare the charge').id };
    },
    confirm: async (request, providerId) => {
      const known = await read({ ...request, providerId });
      return known.status === 'not_found' ? send(client, request, providerId) : known;
    },
    lookUp: read,
    // Whop takes no charge back that is under way.
    cancel: read,
  };
}

async function send(client: WhopClient, request: ChargeRequest, planId: string): Promise<GatewayCharge> {
  const plan = await noteSending(client, planId);
  const body = {
    company_id: client.companyId,
    member_id: request.customerToken,
    payment_method_id: request.paymentMethodToken,
    plan_id: planId,
    metadata: marksOf(request),
  };
  const answer = await client.post<WhopPayment>('/payments', body, request.token).catch(async (error: unknown) => {
    if (error instanceof GatewayTurnedAway) await writeNote(client, planId, null).catch(() => undefined);
    throw error;
  });
  if (answer.refusal === null) return chargeOf(client, plan, answer.object);
  // A unit that an earlier sending took is why this one is refused.
  const arrived = await paymentOf(client, planId);
  if (arrived) return chargeOf(client, plan, arrived);
  await writeNote(client, planId, `refused:${answer.status}:${answer.refusal}`).catch(() => undefined);
  return refusedCharge(plan, answer.status, answer.refusal);
}

async function lookUp(client: WhopClient, reference: GatewayReference, settledMs: number): Promise<GatewayLookUp> {
  const { providerId } = reference;
  if (providerId === null) return { status: 'not_found' };
  const plan = await readPlan(client, providerId);
  const payment = await paymentOf(client, providerId);
  if (payment) return chargeOf(client, plan, payment);
  const note = noteOf(plan);
  if (note?.kind === 'refused') return refusedCharge(plan, note.status, note.code);
  if (note && Date.now() - note.sentAt < settledMs) {
    throw new GatewayOutcomeUnknown('the charge was sent to whop, which does not list it; it may still arrive there');
  }
  return { status: 'not_found' };
}

/** The payment of a charge's plan: the one that took money, else the last. */
async function paymentOf(client: WhopClient, planId: string): Promise<WhopPayment | null> {
  const listed = await listAll<WhopPayment>(client, '/payments', { company_id: client.companyId, plan_ids: [planId] });
  // Whether the list was narrowed down is Whop's word; what a payment is for, the payment's own.
  const ours = listed
    .filter(({ plan }) => plan?.id === planId)
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  return ours.find(isCaptured) ?? ours.at(-1) ?? null;
}

/** A payment as a charge. spec: wallets-and-payments §2.19 Provider status map */
async function chargeOf(client: WhopClient, plan: WhopPlan, payment: WhopPayment): Promise<GatewayCharge> {
  const { id, status } = payment;
  const charge = { ...askedOf(plan), gatewayPaymentId: id, gatewayMetadata: { whop_status: status ?? '' } };
  if (isCaptured(payment)) {
    const { amount, currency } = await captureOf(client, payment);
    return { ...charge, status: 'succeeded', amount, currency };
  }
  if (isDeclined(payment)) {
    const { code, class: declineClass } = declineOfWhop(payment);
    return { ...charge, status: 'declined', declineReason: code, declineCode: code, declineClass };
  }
  if (status !== 'void' && status !== 'uncollectible') return { ...charge, status: 'processing' };
  return { ...charge, status: 'declined', declineReason: status, declineCode: status, declineClass: 'retry' };
}

/** A refusal to charge makes no payment; the plan's id stands for it. A member or method that is gone does not come back. */
function refusedCharge(plan: WhopPlan, status: number, code: string): GatewayCharge {
  const declineClass: DeclineClass = status === 404 ? 'never' : 'retry';
  const decline = { declineReason: code, declineCode: code, declineClass };
  return { ...askedOf(plan), status: 'declined', gatewayPaymentId: plan.id, gatewayMetadata: {}, ...decline };
}

function askedOf({ initial_price, currency }: WhopPlan) {
  return {
    amount: amountOfWhop(initial_price),
    currency: currency.toLowerCase(),
    declineReason: null,
    actionUrl: null,
  };
}

type Note = { kind: 'sent'; sentAt: number } | { kind: 'refused'; status: number; code: string };

const noteName = 'perennial_charge';

function noteOf({ metadata }: WhopPlan): Note | null {
  const [kind, first = '', ...rest] = String(metadata?.[noteName] ?? '').split(':');
  if (kind === 'sent') return { kind, sentAt: Number(first) };
  return kind === 'refused' ? { kind, status: Number(first), code: rest.join(':') } : null;
}

/** Writes down that a charge is about to be sent, and reads it back: where it is being sent twice, one of the two goes no further. */
async function noteSending(client: WhopClient, planId: string): Promise<WhopPlan> {
  const text = `sent:${Date.now()}:${randomInt(2 ** 47)}`;
  await writeNote(client, planId, text);
  const plan = await readPlan(client, planId);
  if (plan.metadata?.[noteName] === text) return plan;
  throw new GatewayOutcomeUnknown('the charge is being sent to whop in the same moment');
}

async function writeNote(client: WhopClient, planId: string, text: string | null): Promise<void> {
  const { [noteName]: _, ...others } = (await readPlan(client, planId)).metadata ?? {};
  const metadata = { ...others, ...(text === null ? {} : { [noteName]: text.slice(0, 500) }) };
  objectOf(await client.patch(`/plans/${encodeURIComponent(planId)}`, { metadata }), 'write down a charge');
}
