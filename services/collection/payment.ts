import { isPaymentSettled, type PaymentStatus } from '../../billing/payment/payment.ts';
import { isWithinMandate } from '../../billing/payment/saved-method.ts';
import { refuse } from '../../billing/refusal.ts';
import { type PaymentSplit, splitWithCard, type WalletsFollow } from '../../billing/wallet/postpaid-payment.ts';
import { newId } from '../../db/id.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import { type AskedPayer, askPayers } from './payer-link.ts';
import { accountIsConnected, isChargedAlone } from './payment-connection.ts';
import { insertOpened, type Opening, type PaymentToInsert } from './payment-insert.ts';
import {
  invoiceAsDestination,
  lockPayableInvoices,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
} from './payment-row.ts';
import { openPostpaidPurse, type PostpaidPurse, totalOf, walletPayments } from './postpaid-purse.ts';
import { payByWallets } from './wallet-payment.ts';

export interface PaymentToOpen {
  invoiceId: string;
  /** One for each attempt to collect: `<invoice id>/<attempt>`. The same key finds the same payment. */
  idempotencyKey: string;
  /** The customer's present. */
  at: string;
  /** The method to charge; the customer's default when null, and when it cannot be charged any more. */
  paymentMethodId?: string | null;
  /** Where the charge comes before the invoice is kept: the id it was made under. */
  paymentId?: string;
  /** Token that the gateway will know the charge by, where the caller has one of its own. */
  intentToken?: string;
  metadata?: Record<string, string>;
  /** A person collects: wallets pay their part whatever becomes of the card's. */
  isByHand?: boolean;
  /** Whether the payer is asked, by one link, for what no mandate of a saved method allows. */
  asksPayer?: boolean;
}

export type OpenedPayment =
  /** A payment was opened, or was opened before under this key: ask the gateway. */
  | { kind: 'opened' | 'existing'; paymentId: string; paymentStatus: PaymentStatus }
  /** Another payment of this invoice waits for its gateway, or for its payer on a page; charging again could take the money twice. */
  | { kind: 'in_flight'; paymentId: string; paymentStatus: PaymentStatus }
  | { kind: 'nothing_due' | 'not_payable' | 'no_payment_method' }
  /** Postpaid wallets paid all of it. */
  | { kind: 'paid_by_wallets' };

/** Opens one payment; see `openPayments`. */
export async function openPayment(tx: PaymentTransaction, input: PaymentToOpen): Promise<OpenedPayment> {
  const [result] = await openPayments(tx, [input]);
  return result!;
}

/**
 * Opens the payments of what remains of finalized invoices, in a fixed number of statements: PENDING, then PROCESSING, with
 * the token the gateway will know each by. Nothing is sent. Where the payer has postpaid wallets, the card is asked for what they cannot
 * pay, and they pay once it was charged; what needs no card they pay at once. The answers come in the order asked. Asking again with the same
 * key answers the same payment, whatever became of it. A method whose mandate does
 * not allow the amount is passed over for the default; where that does not either, its payer is asked by one link (`asksPayer`). Throws `not_found` for an unknown invoice.
 * spec: wallets-and-payments §2.13, §2.19; subscriptions-and-invoicing §2.15.12
 */
export async function openPayments(tx: PaymentTransaction, inputs: readonly PaymentToOpen[]): Promise<OpenedPayment[]> {
  if (inputs.length === 0) return [];
  const ids = inputs.map((input) => input.invoiceId);
  const [locked, earlier] = await Promise.all([
    lockPayableInvoices(tx, tx.scope.environmentId, ids),
    earlierPayments(tx, inputs),
  ]);
  const invoices = new Map(locked.map((row) => [row.id, row]));
  const methods = await methodsOf(tx, [...invoices.values()], inputs);
  const isOpen = (invoice: PayableInvoiceRow) => invoice.invoice_status === 'FINALIZED' && !earlier.has(invoice.id);
  const purse = await openPostpaidPurse(tx, locked.filter(isOpen));
  const opening: Opening[] = [];
  const paying: { invoice: PayableInvoiceRow; at: string }[] = [];
  const asked: AskedPayer[] = [];
  const results = inputs.map((input): OpenedPayment => {
    const invoice = invoices.get(input.invoiceId);
    if (!invoice) throw missing('invoice', input.invoiceId, 'invoice_id');
    const known = knownPayment(earlier.get(invoice.id) ?? [], input.idempotencyKey);
    if (known) return known;
    if (invoice.invoice_status !== 'FINALIZED') return { kind: 'not_payable' };
    if (decimalText(invoice.amount_remaining) === '0') return { kind: 'nothing_due' };
    const own = methods.filter((one) => one.customer_id === invoice.customer_id);
    const preferred = [...own.filter(({ id }) => id === input.paymentMethodId), ...own.filter((one) => one.is_default)];
    const share = shareOf(purse, invoice, input);
    const byWallets = { kind: 'paid_by_wallets' } as const;
    const method = preferred.find((one) => isWithinMandate(one.max_amount, share.byCard));
    if (!method || share.byCard === '0') {
      const walletsPay = share.byCard === '0' || share.follow === 'in_any_case';
      if (walletsPay && share.byWallets !== '0') paying.push({ invoice, at: input.at });
      if (share.byCard === '0') return byWallets;
      const [limited] = preferred;
      // A wallet that follows the card alone does not follow a page, which asks for all that remains.
      const amount = walletsPay ? share.byCard : decimalText(invoice.amount_remaining);
      const link = { paymentId: newId('pay'), invoice, amount, at: input.at };
      if (limited && input.asksPayer) asked.push({ ...link, gateway: limited.gateway });
      return { kind: 'no_payment_method' };
    }
    const payment = collectionPayment(input, invoice, method, share);
    opening.push({ payment, at: input.at, invoiceNumber: invoice.invoice_number });
    // A second request for the same invoice in this set meets the first.
    earlier.set(invoice.id, [
      { id: payment.id, idempotency_key: payment.idempotencyKey, payment_status: 'PROCESSING' },
    ]);
    return { kind: 'opened', paymentId: payment.id, paymentStatus: 'PROCESSING' };
  });
  await insertOpened(tx, opening);
  if (purse) await payByWallets(tx, purse, paying);
  await askPayers(tx, asked);
  return results;
}

type Share = PaymentSplit & { follow: WalletsFollow };

/** The parts of an invoice that a card and that wallets are to pay, and when the wallets do. spec: wallets-and-payments §2.13 */
function shareOf(purse: PostpaidPurse | null, invoice: PayableInvoiceRow, { isByHand }: PaymentToOpen): Share {
  const remaining = decimalText(invoice.amount_remaining);
  const payable = purse ? totalOf(walletPayments(purse, invoice)) : '0';
  const follow = purse?.invoices.get(invoice.id)?.follow ?? 'on_success';
  return { ...splitWithCard(remaining, payable), follow: isByHand ? 'in_any_case' : follow };
}

type EarlierPayment = Pick<PaymentRow, 'id' | 'idempotency_key' | 'payment_status'>;

/** The payment under this key if there is one, else one of the invoice that waits for its gateway. */
function knownPayment(earlier: readonly EarlierPayment[], idempotencyKey: string): OpenedPayment | null {
  const same = earlier.find((payment) => payment.idempotency_key === idempotencyKey);
  // Under another key only what waits is read: a charge for its gateway, a page for its payer.
  const isWaiting = ({ payment_status: status }: EarlierPayment) => !isPaymentSettled(status);
  const known = same ?? earlier.find(isWaiting);
  if (!known) return null;
  return { kind: same ? 'existing' : 'in_flight', paymentId: known.id, paymentStatus: known.payment_status };
}

function collectionPayment(
  input: PaymentToOpen,
  invoice: PayableInvoiceRow,
  method: { id: string; gateway: string },
  { byCard, byWallets, follow }: Share,
): PaymentToInsert {
  return {
    id: input.paymentId ?? newId('pay'),
    idempotencyKey: input.idempotencyKey,
    destination: invoiceAsDestination(invoice),
    paymentMethodType: 'CARD',
    paymentMethodId: method.id,
    paymentGateway: method.gateway,
    amount: byCard,
    walletsFollow: byWallets === '0' ? null : follow,
    paymentStatus: 'PROCESSING',
    attended: false,
    isChargedAlready: input.paymentId !== undefined,
    metadata: input.metadata ?? {},
    ...(input.intentToken === undefined ? {} : { intentToken: input.intentToken }),
  };
}

/** Payments that a new one could repeat, by invoice: under one of the keys, or waiting for their gateway. */
async function earlierPayments(
  tx: PaymentTransaction,
  inputs: readonly PaymentToOpen[],
): Promise<Map<string, EarlierPayment[]>> {
  const rows = await tx.rows<EarlierPayment & { destination_id: string }>(
    `select id, idempotency_key, payment_status, destination_id from payment
     where environment_id = $1 and destination_id = any($2) and status = 'published'
       and (idempotency_key = any($3) or (payment_status = 'PROCESSING' and track_attempts)
         or (payment_status in ('INITIATED', 'PENDING') and checkout_session_id is not null))
     order by id desc`,
    [tx.scope.environmentId, inputs.map((input) => input.invoiceId), inputs.map((input) => input.idempotencyKey)],
    'earlier-payments',
  );
  return Map.groupBy(rows, (row) => row.destination_id);
}

async function methodsOf(
  tx: PaymentTransaction,
  invoices: readonly PayableInvoiceRow[],
  inputs: readonly PaymentToOpen[],
): Promise<{ id: string; gateway: string; customer_id: string; is_default: boolean; max_amount: string | null }[]> {
  return tx.rows(
    `select id, gateway, customer_id, is_default, max_amount from payment_method m
     where environment_id = $1 and customer_id = any($2) and status = 'published' and (is_default or id = any($3)) and ${isChargedAlone}`,
    [
      tx.scope.environmentId,
      invoices.map((invoice) => invoice.customer_id),
      inputs.flatMap((input) => input.paymentMethodId ?? []),
    ],
    'payment-methods-of',
  );
}

/** Whether a payment of this invoice waits for its gateway, so that the invoice cannot be voided. spec: README decision 16 */
export async function isPaymentInFlight(tx: PaymentTransaction, invoiceId: string): Promise<boolean> {
  return (await paymentInFlight(tx, invoiceId)) !== null;
}

/**
 * Refuses (`invalid_operation`) to take money for an invoice while a charge of it has no answer: both could succeed, and the payer would
 * have paid twice. Money that was received elsewhere is always recorded. The texts are silent; own rule.
 */
export async function refuseBesideCharge(tx: PaymentTransaction, invoiceId: string): Promise<void> {
  const paymentId = await paymentInFlight(tx, invoiceId);
  if (paymentId === null) return;
  throw refuse(
    'invalid_operation',
    `payment ${paymentId} of invoice ${invoiceId} is under way; wait for its answer, or cancel it`,
    { context: { payment_id: paymentId } },
  );
}

async function paymentInFlight(tx: PaymentTransaction, invoiceId: string): Promise<string | null> {
  const [row] = await tx.rows<{ id: string }>(
    `select id from payment where environment_id = $1 and destination_id = $2 and status = 'published' and payment_status = 'PROCESSING' limit 1`,
    [tx.scope.environmentId, invoiceId],
  );
  return row?.id ?? null;
}

/**
 * The saved method to charge: the one named, or the customer's default, and the most its mandate allows at once (null for any amount); null
 * when there is none. Throws `invalid_operation` for one whose account is not connected any more, and for one that is charged with its
 * payer there alone. spec: wallets-and-payments §1.5; design: money-in-checkout §A1, §B22
 */
export async function chargeableMethod(
  tx: PaymentTransaction,
  customerId: string,
  paymentMethodId: string | null,
): Promise<{ id: string; gateway: string; maxAmount: string | null } | null> {
  const [method] = await tx.rows<{
    id: string;
    gateway: string;
    usage: string;
    is_connected: boolean;
    max_amount: string | null;
  }>(
    `select id, gateway, usage, trim_scale(max_amount)::text as max_amount, ${accountIsConnected} as is_connected from payment_method m
     where environment_id = $1 and customer_id = $2 and status = 'published' and case when $3::text is null then is_default else id = $3 end`,
    [tx.scope.environmentId, customerId, paymentMethodId],
  );
  if (!method) return null;
  const { id, gateway, max_amount: maxAmount } = method;
  if (method.is_connected && method.usage === 'off_session') return { id, gateway, maxAmount };
  const problem = method.is_connected
    ? 'was saved with usage on_session: it is charged on a payment page with its payer there, never automatically'
    : `is kept by an account of ${method.gateway} that is not connected any more; connect it again, or save the card anew`;
  throw refuse('invalid_operation', `payment method ${method.id} ${problem}`, { payment_method_id: method.id });
}

/** Refuses (invalid_operation) more than a method's mandate allows to be charged at once without its payer. design: money-in-checkout §B10 */
export function refuseAboveMandate({ id, maxAmount }: { id: string; maxAmount: string | null }, amount: string): void {
  if (isWithinMandate(maxAmount, amount)) return;
  const problem = `may be charged ${maxAmount} at most without its payer, and ${amount} was asked; use a payment page`;
  throw refuse('invalid_operation', `payment method ${id} ${problem}`, { payment_method_id: id });
}
