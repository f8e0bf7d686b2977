import type { DeclineClass, GatewayReference } from '../gateway-reference.ts';
import type { ChargeRequest, GatewayCharge, GatewayLookUp, TwoStepCharges } from '../payment-gateway.ts';
import { sendingNote } from '../sending-note.ts';
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
      return known.status === 'not_found' ? send(client, request, { planId: providerId, settledMs }) : known;
    },
    lookUp: read,
    // Whop takes no charge back that is under way.
    cancel: read,
  };
}

async function send(
  client: WhopClient,
  request: ChargeRequest,
  { planId, settledMs }: { planId: string; settledMs: number },
): Promise<GatewayCharge> {
  const note = noteAt(client, planId, settledMs);
  const body = {
    company_id: client.companyId,
    member_id: request.customerToken,
    payment_method_id: request.paymentMethodToken,
    plan_id: planId,
    metadata: marksOf(request),
  };
  const { held: plan, answer } = await note.sendOnce(() => client.post<WhopPayment>('/payments', body, request.token));
  if (answer.refusal === null) return chargeOf(client, plan, answer.object);
  // A unit that an earlier sending took is why this one is refused.
  const arrived = await paymentOf(client, planId);
  if (arrived) return chargeOf(client, plan, arrived);
  const reason = `${answer.status}:${answer.refusal}`;
  await note.noteRefusal(reason);
  return refusedCharge(plan, reason);
}

/** Note at the plan of a charge. */
function noteAt(client: WhopClient, planId: string, settledMs: number) {
  return sendingNote<WhopPlan>(
    {
      provider: 'whop',
      longestNote: 500,
      read: () => readPlan(client, planId),
      notesOf: ({ metadata }) => metadata ?? {},
      write: async (metadata) => {
        objectOf(await client.patch(`/plans/${encodeURIComponent(planId)}`, { metadata }), 'write down a charge');
      },
    },
    settledMs,
  );
}

async function lookUp(client: WhopClient, reference: GatewayReference, settledMs: number): Promise<GatewayLookUp> {
  const { providerId } = reference;
  if (providerId === null) return { status: 'not_found' };
  const plan = await readPlan(client, providerId);
  const payment = await paymentOf(client, providerId);
  if (payment) return chargeOf(client, plan, payment);
  const reason = noteAt(client, providerId, settledMs).refusalOf(plan);
  if (reason !== null) return refusedCharge(plan, reason);
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

/**
 * A refusal to charge, `reason` its status and code, makes no payment; the plan's id stands for it. A member or method that is gone does not
 * come back.
 */
function refusedCharge(plan: WhopPlan, reason: string): GatewayCharge {
  const [status, ...rest] = reason.split(':');
  const code = rest.join(':');
  const declineClass: DeclineClass = status === '404' ? 'never' : 'retry';
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
