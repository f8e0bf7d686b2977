import type { GatewayReference } from '../gateway-reference.ts';
import {
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type TwoStepCharges,
} from '../payment-gateway.ts';
import { amountOfChargebee, chargebeeAmount } from './amount.ts';
import { type ChargebeeClient, listAll, objectOf, resentUntilMs } from './client.ts';
import { declineClassOfChargebee, declineCodeOf, isFailed, isUndecided } from './decline.ts';
import type { ChargebeeInvoice, ChargebeeTransaction } from './shapes.ts';

const longestDescription = 250;

/**
 * Charges of saved cards. A charge is prepared as an invoice at Chargebee that nobody collects, whose payments it lists, and is then collected from
 * the card under our token as idempotency key, which Chargebee keeps for half an hour; later nothing is sent again. The invoice of a charge
 * that was declined is voided, so that nobody collects it. design: money-in-checkout §A2, §C chargebee
 */
export function chargebeeCharges(client: ChargebeeClient): TwoStepCharges {
  const read = (reference: GatewayReference) => lookUp(client, reference);
  return {
    resend: { untilMs: resentUntilMs },
    prepare: (request) => prepare(client, request),
    confirm: (request, providerId) => confirm(client, request, providerId),
    lookUp: read,
    cancel: async (reference) => {
      const known = await read(reference);
      if (known.status !== 'not_found' || reference.providerId === null) return known;
      await voidInvoice(client, reference.providerId);
      return read(reference);
    },
  };
}

async function prepare(client: ChargebeeClient, request: ChargeRequest): Promise<{ providerId: string }> {
  const { amount, currency, token, metadata, description, customerToken } = request;
  const parameters = {
    customer_id: customerToken ?? '',
    currency_code: currency.toUpperCase(),
    auto_collection: 'off',
    invoice_note: JSON.stringify({ ...metadata, perennial_token: token }),
    'charges[amount][0]': String(chargebeeAmount(amount, currency)),
    'charges[description][0]': (description || 'Payment').slice(0, longestDescription),
    'charges[taxable][0]': 'false',
  };
  const path = '/invoices/create_for_charge_items_and_charges';
  const answer = await client.post<{ invoice: ChargebeeInvoice }>(path, parameters, `${token}-invoice`);
  return { providerId: objectOf(answer, 'prepare the charge').invoice.id };
}

async function confirm(client: ChargebeeClient, request: ChargeRequest, id: string): Promise<GatewayCharge> {
  const parameters = {
    payment_source_id: request.paymentMethodToken,
    amount: String(chargebeeAmount(request.amount, request.currency)),
  };
  const { refusal } = await client.post(
    `/invoices/${encodeURIComponent(id)}/collect_payment`,
    parameters,
    request.token,
  );
  const known = await lookUp(client, { ...request, providerId: id });
  if (known.status === 'not_found' && refusal === null) {
    throw new GatewayOutcomeUnknown('chargebee took the charge and does not list it yet');
  }
  if (known.status === 'declined' || known.status === 'not_found') await voidInvoice(client, id);
  if (known.status !== 'not_found') return known;
  const code = refusal?.code ?? 'not_collected';
  // A card that Chargebee does not have any more does not come back.
  const declineClass = code === 'resource_not_found' ? 'never' : declineClassOfChargebee(code);
  return { ...askedOf(request, id), status: 'declined', declineReason: code, declineCode: code, declineClass };
}

async function lookUp(client: ChargebeeClient, { providerId }: GatewayReference): Promise<GatewayLookUp> {
  if (providerId === null) return { status: 'not_found' };
  const path = `/invoices/${encodeURIComponent(providerId)}`;
  const { invoice } = objectOf(await client.get<{ invoice: ChargebeeInvoice }>(path), `show ${providerId}`);
  const asked = {
    amount: amountOfChargebee(invoice.total, invoice.currency_code),
    currency: invoice.currency_code.toLowerCase(),
  };
  const payments: ChargebeeTransaction[] = [];
  for (const { txn_id } of invoice.linked_payments ?? []) {
    const answer = await client.get<{ transaction: ChargebeeTransaction }>(
      `/transactions/${encodeURIComponent(txn_id)}`,
    );
    payments.push(objectOf(answer, `show ${txn_id}`).transaction);
  }
  const taken = payments.find(({ status }) => status === 'success' || status === 'late_failure');
  const payment = taken ?? payments.find(({ status }) => isUndecided(status)) ?? payments.at(-1);
  if (payment) return chargeOf(payment, asked);
  if (invoice.status !== 'voided') return { status: 'not_found' };
  const decline = { declineReason: 'voided', declineCode: 'voided', declineClass: 'retry' } as const;
  return { ...askedOf(asked, providerId), status: 'declined', ...decline };
}

/** A payment of an invoice as a charge. What a bank takes back later was taken all the same. spec: wallets-and-payments §2.19 Provider status map */
function chargeOf(payment: ChargebeeTransaction, asked: { amount: string; currency: string }): GatewayCharge {
  const { id, status, amount, currency_code } = payment;
  const charge = { ...askedOf(asked, id), gatewayMetadata: { chargebee_status: status } };
  if (status === 'success' || status === 'late_failure') {
    const currency = currency_code.toLowerCase();
    return { ...charge, status: 'succeeded', amount: amountOfChargebee(amount, currency_code), currency };
  }
  if (!isFailed(status)) return { ...charge, status: 'processing' };
  const code = declineCodeOf(payment);
  const decline = { declineReason: code, declineCode: code, declineClass: declineClassOfChargebee(code) };
  return { ...charge, status: 'declined', ...decline };
}

function askedOf({ amount, currency }: { amount: string; currency: string }, gatewayPaymentId: string) {
  return { gatewayPaymentId, gatewayMetadata: {}, amount, currency, declineReason: null, actionUrl: null };
}

/** Ends an invoice that nobody is to collect any more. A refusal leaves it as it is: it is not collected by itself. */
async function voidInvoice(client: ChargebeeClient, id: string): Promise<void> {
  await client.post(`/invoices/${encodeURIComponent(id)}/void`, { comment: 'not charged' });
}

/**
 * Ids of the payments of a customer that are charges of its saved card, and of no page: those of invoices that carry a name of ours.
 * design: money-in-checkout §A8
 */
export async function chargedAlone(client: ChargebeeClient, customerId: string): Promise<Set<string>> {
  const filter = { 'customer_id[is]': customerId };
  const entries = await listAll<{ invoice: ChargebeeInvoice }>(client, '/invoices', { filter });
  const charges = entries.filter(({ invoice }) => namesIn(invoice.notes).perennial_token !== undefined);
  return new Set(charges.flatMap(({ invoice }) => (invoice.linked_payments ?? []).map(({ txn_id }) => txn_id)));
}

/** Our names of a charge in the notes of its invoice; none where it carries none. */
export function namesIn(notes: unknown): Readonly<Record<string, unknown>> {
  for (const entry of Array.isArray(notes) ? notes : []) {
    const { note } = (entry ?? {}) as { note?: unknown };
    if (typeof note !== 'string' || !note.includes('perennial_token')) continue;
    try {
      return JSON.parse(note) as Record<string, unknown>;
    } catch {}
  }
  return {};
}
