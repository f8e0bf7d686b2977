import type { GatewayReference } from '../gateway-reference.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type TwoStepCharges,
} from '../payment-gateway.ts';
import { sendingNote } from '../sending-note.ts';
import { amountOfRazorpay, razorpayAmount } from './amount.ts';
import { objectOf, type RazorpayClient, reasonOf } from './client.ts';
import { declineClassOfRazorpay } from './decline.ts';
import { codeOf, instantOf, isCaptured, isUndecided, notesOf, paymentsOfOrder } from './payment.ts';
import type { RazorpayCollection, RazorpayCustomer, RazorpayOrder, RazorpayPayment } from './shapes.ts';

/** Time within which a charge is sent for the first time. */
const sentUntilMs = 23 * 3_600_000;
/** A bank tells its customer a day ahead, and has half a day more. design: money-in-checkout §B11 */
const slowestSeconds = 36 * 3600;

/**
 * Charges of mandates. Razorpay has no idempotency key for them. So a charge is prepared as an order, whose payments are listed by its id and
 * which is paid once, and its sending is written down at the order first: one that was sent and is not listed is asked about and sent
 * again only when `settledMs` have passed. It may be decided a day and a half later.
 * design: money-in-checkout §A2, §C razorpay
 */
export function razorpayCharges(client: RazorpayClient, settledMs: number): TwoStepCharges {
  const read = (reference: GatewayReference) => lookUp(client, reference, settledMs);
  return {
    resend: { untilMs: sentUntilMs },
    prepare: (request) => prepare(client, request),
    confirm: async (request, providerId) => {
      const known = await read({ ...request, providerId });
      return known.status === 'not_found' ? send(client, request, { orderId: providerId, settledMs }) : known;
    },
    lookUp: read,
    // Razorpay takes no charge back that is under way.
    cancel: read,
  };
}

async function prepare(client: RazorpayClient, request: ChargeRequest): Promise<{ providerId: string }> {
  const { amount, currency, token, intentToken, metadata } = request;
  const listed = await client.get<RazorpayCollection<RazorpayOrder>>('/orders', { receipt: token });
  const known = objectOf(listed, 'list orders by receipt').items.find(({ receipt }) => receipt === token);
  if (known) return { providerId: known.id };
  const answer = await client.post<RazorpayOrder>('/orders', {
    amount: razorpayAmount(amount, currency),
    currency: currency.toUpperCase(),
    receipt: token,
    payment_capture: true,
    notes: notesOf(metadata, { perennial_token: token, perennial_intent: intentToken }),
  });
  return { providerId: objectOf(answer, 'prepare the charge').id };
}

async function send(
  client: RazorpayClient,
  request: ChargeRequest,
  { orderId, settledMs }: { orderId: string; settledMs: number },
): Promise<GatewayCharge> {
  const { customerToken, amount, currency, token, intentToken } = request;
  const customer = await client.get<RazorpayCustomer>(`/customers/${customerToken}`);
  // A customer who is gone at Razorpay has no mandate any more.
  if (customer.error !== null) return refusedCharge(await readOrder(client, orderId), 'customer_gone');
  const body = {
    email: customer.object.email,
    contact: customer.object.contact,
    amount: razorpayAmount(amount, currency),
    currency: currency.toUpperCase(),
    order_id: orderId,
    customer_id: customerToken,
    token: request.paymentMethodToken,
    recurring: true,
    description: request.description,
    notes: notesOf(request.metadata, { perennial_token: token, perennial_intent: intentToken }),
  };
  const note = noteAt(client, orderId, settledMs);
  const { held: order, answer } = await note.sendOnce(() => client.post('/payments/create/recurring', body));
  const payment = await paymentOf(client, orderId);
  if (payment) return chargeOf(order, payment);
  if (answer.error === null) throw new GatewayOutcomeUnknown('razorpay took the charge and does not list it yet');
  const reason = reasonOf(answer.error);
  await note.noteRefusal(reason);
  return refusedCharge(order, reason);
}

/** Note at the order of a charge. */
function noteAt(client: RazorpayClient, orderId: string, settledMs: number) {
  return sendingNote<RazorpayOrder>(
    {
      provider: 'razorpay',
      longestNote: 255,
      read: () => readOrder(client, orderId),
      notesOf: ({ notes }) => (Array.isArray(notes) ? {} : ((notes ?? {}) as Record<string, unknown>)),
      write: async (notes) => {
        objectOf(await client.patch(`/orders/${orderId}`, { notes }), 'write down a charge');
      },
    },
    settledMs,
  );
}

async function lookUp(
  client: RazorpayClient,
  { providerId }: GatewayReference,
  settledMs: number,
): Promise<GatewayLookUp> {
  if (providerId === null) return { status: 'not_found' };
  const order = await readOrder(client, providerId);
  const payment = await paymentOf(client, providerId);
  if (payment) return chargeOf(order, payment);
  const reason = noteAt(client, providerId, settledMs).refusalOf(order);
  if (reason !== null) return refusedCharge(order, reason);
  return { status: 'not_found' };
}

/** The payment of a charge's order: the one that took money, else the one that may, else the last. */
async function paymentOf(client: RazorpayClient, orderId: string): Promise<RazorpayPayment | null> {
  const payments = await paymentsOfOrder(client, orderId);
  return payments.find(isCaptured) ?? payments.find(isUndecided) ?? payments.at(-1) ?? null;
}

/** A payment as a charge. spec: wallets-and-payments §2.19 Provider status map */
function chargeOf(order: RazorpayOrder, payment: RazorpayPayment): GatewayCharge {
  const { id, status, amount, currency, created_at } = payment;
  const charge = { ...askedOf(order), gatewayPaymentId: id, gatewayMetadata: { razorpay_status: status } };
  if (isCaptured(payment)) {
    const taken = { amount: amountOfRazorpay(amount, currency), currency: currency.toLowerCase() };
    return { ...charge, ...taken, status: 'succeeded' };
  }
  if (isUndecided(payment)) {
    return { ...charge, status: 'processing', expectedBy: instantOf(created_at + slowestSeconds) };
  }
  const code = codeOf(payment);
  const decline = { declineReason: code, declineCode: code, declineClass: declineClassOfRazorpay(code) };
  return { ...charge, status: 'declined', ...decline };
}

/** A refusal to charge makes no payment; the order's id stands for it. */
function refusedCharge(order: RazorpayOrder, code: string): GatewayCharge {
  const decline = { declineReason: code, declineCode: code, declineClass: declineClassOfRazorpay(code) };
  return { ...askedOf(order), status: 'declined', gatewayPaymentId: order.id, gatewayMetadata: {}, ...decline };
}

function askedOf({ amount, currency }: RazorpayOrder) {
  return {
    amount: amountOfRazorpay(amount, currency),
    currency: currency.toLowerCase(),
    declineReason: null,
    actionUrl: null,
  };
}

async function readOrder(client: RazorpayClient, id: string): Promise<RazorpayOrder> {
  return objectOf(await client.get<RazorpayOrder>(`/orders/${id}`), `show ${id}`);
}
