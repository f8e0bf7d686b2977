import { refuse } from '../../billing/refusal.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import {
  type LinkCapture,
  type LinkRequest,
  type LinkState,
  neverOpened,
  type OpenedLink,
  type PaymentLinks,
} from '../payment-link.ts';
import { amountOfPaddle, paddleAmount } from './amount.ts';
import { isSandboxKey, objectOf, type PaddleClient } from './client.ts';
import { declineClassOfPaddle } from './decline.ts';
import type { PaddleAttempt, PaddleTransaction } from './shapes.ts';

const minuteMs = 60_000;
/** Time between the clocks of both sides. */
const spareMs = 2 * minuteMs;
/** Time after its first request within which a transaction of a link was made: it is not opened later. */
const openedWithinMs = 24 * 60 * minuteMs;
/** Time that a payer has to confirm at its bank; an attempt that is older was given up. */
const confirmationMs = 30 * minuteMs;
const atBank = new Set<PaddleAttempt['status']>(['authorized', 'authorized_flagged', 'pending_no_action_required']);
const withPayer = new Set<PaddleAttempt['status']>(['action_required', 'created', 'unknown']);
/** Longest name of a price. */
const longestText = 150;

/** Keys of a connection on which it depends whether its payers can pay. */
interface LinkKeys {
  apiKey: string;
  clientToken: string | null;
}

/**
 * Transactions of Paddle, each for one payment, paid on our own page by Paddle's script. They have no idempotency key and no end: one is
 * looked for by our token before it is made, and ends when our page stops showing it. One that its payer has begun can be cancelled, an
 * untouched one (`draft`) cannot: it stays as it is, known to nobody. design: money-in-checkout §C paddle
 */
export function paddleLinks(client: PaddleClient, keys: LinkKeys): PaymentLinks {
  return {
    resend: { untilMs: 23 * 60 * minuteMs },
    minimumLifeMs: 0,
    closable: false,
    open: (request) => open(client, keys, request),
    read: (reference) => read(client, reference),
    close: (reference) => close(client, reference),
  };
}

async function open(client: PaddleClient, keys: LinkKeys, request: LinkRequest): Promise<OpenedLink> {
  if (request.mode === 'setup' || request.saveMethod) {
    throw unable('paddle saves no payment methods: its pages take payments alone');
  }
  if (request.payBy === 'UPI') throw unable('paddle is asked for cards alone: its page offers no UPI');
  refuseUnpayable(keys);
  const amount = paddleAmount(request.amount, request.currency);
  const known = await findByToken(client, request);
  if (known) return openedLink(known, request);
  const answer = await client.post<PaddleTransaction>('/transactions', transactionOf(request, amount));
  if (answer.refusal === null) return openedLink(answer.object, request);
  throw refuse('validation_error', `paddle does not open a payment for this: ${answer.refusal}`, {
    fields: { payment_provider: answer.refusal },
  });
}

/** Refuses where the payer's browser could not load Paddle's script, or would load it for the other half of Paddle. */
function refuseUnpayable({ apiKey, clientToken }: LinkKeys): void {
  if (!clientToken) {
    throw unable('the connection to paddle has no client_side_token, without which nobody can pay: give it one');
  }
  const isLiveToken = /^live_/.test(clientToken);
  const isTestToken = /^test_/.test(clientToken);
  if (isSandboxKey(apiKey) ? isLiveToken : isTestToken) {
    throw unable(
      'the client_side_token of the connection to paddle is of the other mode than its api_key: exchange it',
    );
  }
}

function unable(problem: string) {
  return refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
}

/** One item that is in no catalogue, once, with its tax inside, so that the amount stays as asked. design: money-in-checkout §A7 */
function transactionOf(request: LinkRequest, amount: string): object {
  const description = (request.description || 'Payment').slice(0, longestText);
  return {
    collection_mode: 'automatic',
    currency_code: request.currency.toUpperCase(),
    items: [
      {
        quantity: 1,
        price: {
          description,
          name: description,
          unit_price: { amount, currency_code: request.currency.toUpperCase() },
          tax_mode: 'internal',
          quantity: { minimum: 1, maximum: 1 },
          product: { name: description, tax_category: 'standard' },
        },
      },
    ],
    custom_data: { ...request.metadata, perennial_token: request.token, perennial_intent: request.intentToken },
    checkout: { url: request.pageUrl },
  };
}

/** The address of our own page: Paddle's differs from it by the transaction's id alone, which the page knows. */
function openedLink({ id, status }: PaddleTransaction, { expiresAt, pageUrl: url }: LinkRequest): OpenedLink {
  if (status === 'canceled') throw new GatewayOutcomeUnknown(`paddle's transaction ${id} has ended already`);
  return { providerId: id, url, expiresAt };
}

/** The first transaction that carries our token. Paddle cannot look for it, so those of its time are looked through. */
async function findByToken(
  client: PaddleClient,
  { token, createdAt }: GatewayReference,
): Promise<PaddleTransaction | null> {
  const from = Date.parse(createdAt) - spareMs;
  const transactions = await client.list<PaddleTransaction>('/transactions', {
    'created_at[GTE]': new Date(from).toISOString(),
    'created_at[LTE]': new Date(from + openedWithinMs + 2 * spareMs).toISOString(),
    origin: 'api',
    order_by: 'id[ASC]',
    per_page: '30',
  });
  return transactions.find(({ custom_data }) => custom_data?.perennial_token === token) ?? null;
}

async function idOf(client: PaddleClient, reference: GatewayReference): Promise<string | null> {
  return reference.providerId ?? (await findByToken(client, reference))?.id ?? null;
}

async function read(client: PaddleClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  return id === null ? neverOpened : readById(client, id);
}

async function readById(client: PaddleClient, id: string): Promise<LinkState> {
  return stateOf(await readTransaction(client, id));
}

/** A transaction by its id. One that is missing may be another account's, which answers for nothing. design: money-in-checkout §A1 */
export async function readTransaction(client: PaddleClient, id: string): Promise<PaddleTransaction> {
  return objectOf(await client.get<PaddleTransaction>(`/transactions/${encodeURIComponent(id)}`), `show ${id}`);
}

/** Cancels a transaction where Paddle does that, and reads it again whatever was answered: a refusal does not say how it stands. */
async function close(client: PaddleClient, reference: GatewayReference): Promise<LinkState> {
  const id = await idOf(client, reference);
  if (id === null) return neverOpened;
  const before = await readById(client, id);
  if (before.status !== 'open') return before;
  await client.patch(`/transactions/${encodeURIComponent(id)}`, { status: 'canceled' });
  return readById(client, id);
}

function stateOf(transaction: PaddleTransaction): LinkState {
  // Paddle tells the latest first; two of one instant keep their order too.
  const attempts = transaction.payments.toReversed().toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  return {
    status: statusOf(transaction, attempts),
    providerId: transaction.id,
    url: null,
    expiresAt: null,
    captures: capturesOf(transaction, attempts),
    declines: attempts
      .filter(({ status }) => status === 'error')
      .map(({ payment_attempt_id, error_code }) => {
        const code = error_code ?? 'declined';
        return { chargeProviderId: payment_attempt_id, code, class: declineClassOfPaddle(code) };
      }),
    savedMethod: null,
  };
}

/** Paid, by its own word or by that of an attempt, which may be told a moment earlier. */
function isPaid({ status, payments }: PaddleTransaction): boolean {
  return status === 'paid' || status === 'completed' || payments.some((attempt) => attempt.status === 'captured');
}

function statusOf(transaction: PaddleTransaction, attempts: readonly PaddleAttempt[]): LinkState['status'] {
  if (isPaid(transaction)) return 'paid';
  if (attempts.some(isUndecided)) return 'processing';
  return transaction.status === 'canceled' ? 'dead' : 'open';
}

/** Waits for a bank, or for its payer, who may have given up long ago. */
function isUndecided({ status, created_at }: PaddleAttempt): boolean {
  if (atBank.has(status)) return true;
  return withPayer.has(status) && Date.now() - Date.parse(created_at) < confirmationMs;
}

/** Money taken, once for a transaction: it is refunded by the transaction's id. */
function capturesOf(transaction: PaddleTransaction, attempts: readonly PaddleAttempt[]): LinkCapture[] {
  if (!isPaid(transaction)) return [];
  const { id, currency_code: currency, created_at } = transaction;
  const captured = attempts.find(({ status }) => status === 'captured');
  const minor = captured?.amount ?? transaction.details?.totals?.grand_total ?? '0';
  return [
    {
      chargeProviderId: id,
      amount: amountOfPaddle(minor, currency),
      currency: currency.toLowerCase(),
      capturedAt: new Date(captured?.captured_at ?? captured?.created_at ?? created_at).toISOString(),
    },
  ];
}
