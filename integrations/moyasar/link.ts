import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import {
  type LinkReference,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfMoyasar, moyasarAmount, refuseTooLittle } from './amount.ts';
import { type MoyasarClient, objectOf } from './client.ts';
import { declineClassOfMoyasar, declineCodeOf } from './decline.ts';
import { isCaptured, isUndecided } from './payment.ts';
import { closeSetup, openSetup, readSetup, type SetupKeys } from './saved-method.ts';
import type { MoyasarInvoice, MoyasarPayment } from './shapes.ts';

const minuteMs = 60_000;
/** Time for the request to arrive, and for clocks that differ. */
const spareMs = 2 * minuteMs;

/**
 * Invoices of Moyasar, each with a page of its own. They have no idempotency key: an invoice is looked for by our token in its metadata
 * before one is made. A card is saved alone, on our page. design: money-in-checkout §C moyasar
 */
export function moyasarLinks(client: MoyasarClient, keys: SetupKeys): PaymentLinks {
  /** A saving bears our token in place of an id: nothing is made at Moyasar before its payer comes. */
  const isSetup = ({ providerId, token }: LinkReference) => providerId === token;
  return {
    resend: { untilMs: 23 * 60 * minuteMs },
    minimumLifeMs: 0,
    closable: true,
    open: async (request) => (request.mode === 'setup' ? openSetup(request, keys) : open(client, request)),
    read: (reference) => (isSetup(reference) ? readSetup(client, reference) : read(client, reference)),
    close: (reference) => (isSetup(reference) ? closeSetup(client, reference) : close(client, reference)),
  };
}

async function open(client: MoyasarClient, request: LinkRequest): Promise<OpenedLink> {
  const { amount, currency, description, returnUrl, metadata, token } = request;
  if (request.saveMethod) {
    const problem = 'moyasar keeps no card of what is paid on its pages: save one alone first';
    throw refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
  }
  refuseTooLittle(amount, currency);
  const minor = moyasarAmount(amount, currency);
  const known = await findByToken(client, request);
  if (known) return openedLink(known);
  const answer = await client.post<MoyasarInvoice>('/invoices', {
    amount: minor,
    currency: currency.toUpperCase(),
    description: description || 'Payment',
    success_url: returnUrl,
    back_url: returnUrl,
    expired_at: new Date(Math.max(Date.parse(request.expiresAt), Date.now() + spareMs)).toISOString(),
    metadata: { ...metadata, perennial_token: token },
  });
  if (answer.refusal === null) return openedLink(answer.object);
  throw refuse('validation_error', `moyasar does not open a payment page for this: ${answer.refusal}`, {
    fields: { payment_provider: answer.refusal },
  });
}

function openedLink(invoice: MoyasarInvoice): OpenedLink {
  const { id, url, expired_at } = invoice;
  if (expired_at === null || isOver(invoice)) throw new GatewayOutcomeUnknown(`moyasar's page ${id} has ended already`);
  return { providerId: id, url, expiresAt: new Date(expired_at).toISOString() };
}

/** The first invoice that carries our token. */
async function findByToken(client: MoyasarClient, { token }: GatewayReference): Promise<MoyasarInvoice | null> {
  const answer = await client.get<{ invoices: MoyasarInvoice[] }>('/invoices', { 'metadata[perennial_token]': token });
  // Whether the list was narrowed down is Moyasar's word; whose invoice it is, the invoice's own.
  const ours = objectOf(answer, 'list invoices').invoices.filter(({ metadata }) => metadata?.perennial_token === token);
  return ours.toSorted((a, b) => a.created_at.localeCompare(b.created_at))[0] ?? null;
}

async function idOf(client: MoyasarClient, reference: GatewayReference): Promise<string | null> {
  return reference.providerId ?? (await findByToken(client, reference))?.id ?? null;
}

async function read(client: MoyasarClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  return id === null ? neverOpened : readById(client, id);
}

async function readById(client: MoyasarClient, id: string): Promise<LinkState> {
  return stateOf(objectOf(await client.get<MoyasarInvoice>(`/invoices/${encodeURIComponent(id)}`), `show ${id}`));
}

/**
 * Cancels an invoice and reads it again, whatever the cancellation was answered: a refusal says that it has ended, not how. One with an
 * attempt under way is cancelled too, so that there is no other attempt, and stays `processing` until that one is decided.
 */
async function close(client: MoyasarClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  if (id === null) return neverOpened;
  const before = await readById(client, id);
  if (before.status === 'paid' || before.status === 'dead') return before;
  await client.get(`/invoices/${encodeURIComponent(id)}/cancel`);
  return readById(client, id);
}

function stateOf(invoice: MoyasarInvoice): LinkState {
  const payments = (invoice.payments ?? []).toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  const captures = payments.filter(isCaptured);
  return {
    status: statusOf(invoice, captures, payments.some(isUndecided)),
    providerId: invoice.id,
    url: invoice.url,
    expiresAt: invoice.expired_at === null ? null : new Date(invoice.expired_at).toISOString(),
    captures: captures.map((payment) => ({
      chargeProviderId: payment.id,
      amount: amountOfMoyasar(payment.captured || payment.amount, payment.currency),
      currency: payment.currency.toLowerCase(),
      capturedAt: new Date(payment.captured_at ?? payment.created_at).toISOString(),
    })),
    declines: payments
      .filter(({ status }) => status === 'failed')
      .map((payment) => {
        const code = declineCodeOf(payment);
        return { chargeProviderId: payment.id, code, class: declineClassOfMoyasar(code) };
      }),
    savedMethod: null,
  };
}

function statusOf(
  invoice: MoyasarInvoice,
  captures: readonly MoyasarPayment[],
  isWaiting: boolean,
): LinkState['status'] {
  if (captures.length > 0) return 'paid';
  // Paid without a payment that tells how much: not decided until one does.
  if (isWaiting || ['paid', 'refunded', 'on_hold'].includes(invoice.status)) return 'processing';
  return isOver(invoice) ? 'dead' : 'open';
}

/** Whether the time of an invoice has come, or somebody ended it; a failed attempt does not. */
function isOver({ status, expired_at }: MoyasarInvoice): boolean {
  if (status !== 'initiated' && status !== 'failed') return true;
  return expired_at !== null && Date.parse(expired_at) <= Date.now();
}
