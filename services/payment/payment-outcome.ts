import {
  assertPaymentMove,
  isPaymentCaptured,
  isPaymentSettled,
  type PaymentStatus,
  paymentEventName,
  paymentStatusAfter,
} from '../../billing/payment/payment.ts';
import { doWalletsPay } from '../../billing/wallet/postpaid-payment.ts';
import { decimalText } from '../../db/rows/columns.ts';
import {
  destinationDetail,
  lockPaymentsWithInvoices,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  type PaymentWithInvoice,
  paidInvoiceEvent,
  paymentAudit,
  paymentEvent,
  receivedAudit,
} from '../collection/payment-row.ts';
import {
  isPaid,
  type PaymentToSettle,
  settlePayments,
  withPayment,
  writePaidInvoices,
} from '../collection/payment-settle.ts';
import { lockWalletsToSettle, openPostpaidPurse } from '../collection/postpaid-purse.ts';
import { payByWallets } from '../collection/wallet-payment.ts';
import { writeAudit } from '../platform/audit.ts';
import type { OutboundEvent } from '../platform/event-catalogue/event-catalogue.ts';
import { writeEvents } from '../platform/outbox.ts';
import { settleDirectPurchase, settlePurchases, walletsOfPurchases } from '../refund/purchase-settlement.ts';
import { unsentRefunds } from '../refund/refund-plan.ts';
import { failPurchase } from '../topup/wallet-purchase.ts';
import { giveBackLate, isStillNeeded } from './late-outcome.ts';
import type { OutcomeToRecord } from './outcome-to-record.ts';
import { dropPaymentAgenda } from './payment-agenda.ts';
import { keepWaiting } from './payment-waiting.ts';
import { endDeclinedTopUp, noteLateTopUp } from './top-up-outcome.ts';

/** What a recorded outcome means for the one who waits for it. */
export interface RecordedPayment {
  paymentId: string;
  paymentStatus: PaymentStatus;
  /** Null for a payment without an invoice. */
  invoiceId: string | null;
  subscriptionId: string | null;
  /** True when this call brought the invoice to SUCCEEDED or OVERPAID: what hangs on its payment happens now. */
  invoicePaid: boolean;
  /** True while the gateway's definite answer is still to come. */
  awaitsGateway: boolean;
  /** Refunds that wait for their workflows: money that came for a wallet which was closed meanwhile. */
  refundIds?: string[];
  /** The wallet whose credits the settled payment buys, with or without an invoice. */
  walletId?: string;
}

/** Records what is known of one payment; see `recordPaymentOutcomes`. */
export async function recordPaymentOutcome(tx: PaymentTransaction, input: OutcomeToRecord): Promise<RecordedPayment> {
  const [result] = await recordPaymentOutcomes(tx, [input]);
  return result!;
}

/**
 * Records what is known of payments: the status of each by the transition table, an attempt for a definite answer of a gateway, and
 * for captured money the invoice's amounts and status, with their events and audit, in a fixed number of statements. An outcome
 * that is recorded already changes nothing, so it may be recorded any number of times. The answers come in the order asked.
 * A capture that a gateway tells of after it declined pays what still needs exactly that money, and else goes back to its source.
 * Throws `not_found`, and `invalid_operation` when the gateway contradicts an answer it gave before in another way.
 * spec: wallets-and-payments §2.19, §2.20
 */
export async function recordPaymentOutcomes(
  tx: PaymentTransaction,
  inputs: readonly OutcomeToRecord[],
): Promise<RecordedPayment[]> {
  const results: RecordedPayment[] = [];
  let waiting = [...inputs.entries()];
  // An invoice that several outcomes are about takes one after the other.
  while (waiting.length > 0) {
    const locked = await lockPaymentsWithInvoices(
      tx,
      waiting.map(([, { paymentId }]) => paymentId),
    );
    const found = waiting.map(([index, input], nth) => ({ index, ...input, ...locked[nth]! }));
    const first = [...Map.groupBy(found, ({ invoice, payment }) => invoice?.id ?? payment.id).values()].map(
      ([each]) => each!,
    );
    const recorded = await recordOfDistinctInvoices(tx, first);
    for (const [nth, { index }] of first.entries()) results[index] = recorded[nth]!;
    waiting = waiting.filter(([index]) => !first.some((done) => done.index === index));
  }
  return results;
}

type Found = PaymentWithInvoice & OutcomeToRecord;

/** A payment whose status moves, and the invoice that its money changes. */
interface Settling extends Found, PaymentToSettle {
  paidInvoice: PayableInvoiceRow | null;
}

async function recordOfDistinctInvoices(tx: PaymentTransaction, found: readonly Found[]): Promise<RecordedPayment[]> {
  const settling = new Map<string, Settling>();
  const late = new Map<string, { refundIds: string[] }>();
  const repeated: string[] = [];
  for (const each of found) {
    const { payment, invoice, outcome, at } = each;
    const next = paymentStatusAfter(outcome);
    const known =
      next === payment.payment_status || (next === 'SUCCEEDED' && isPaymentCaptured(payment.payment_status));
    if (next === null || known) {
      if (isPaymentSettled(payment.payment_status)) repeated.push(payment.id);
      else await keepWaiting(tx, payment, invoice, outcome, at);
      continue;
    }
    if (next === 'SUCCEEDED' && payment.payment_status === 'FAILED' && !(await isStillNeeded(tx, each))) {
      await noteLateTopUp(tx, payment);
      late.set(payment.id, await giveBackLate(tx, each));
      continue;
    }
    if (next !== 'SUCCEEDED' || payment.payment_status !== 'FAILED') assertPaymentMove(payment.payment_status, next);
    const paidInvoice = next === 'SUCCEEDED' && invoice ? withPayment(invoice, decimalText(payment.amount), at) : null;
    settling.set(payment.id, { ...each, next, paidInvoice });
  }
  const { settled, refundIds, invoices } = await settle(tx, [...settling.values()]);
  // A step whose answer was lost is asked again, and its followers with it.
  const unsent = await unsentRefunds(tx, repeated);
  const walletIds = await walletsOfPurchases(tx, found.map(purchaseOf));
  return found.map(({ payment, invoice }) => {
    const givenBack = late.get(payment.id);
    const after = givenBack ? { ...payment, payment_status: 'SUCCEEDED' as const } : settled.get(payment.id);
    const paidInvoice = invoices.get(payment.id);
    const invoicePaid = paidInvoice
      ? isPaid(paidInvoice.payment_status) && !isPaid(invoice?.payment_status ?? '')
      : false;
    const refunds = givenBack?.refundIds ?? refundIds.get(payment.id) ?? unsent.get(payment.id) ?? [];
    const walletId = walletIds.get(purchaseOf({ payment, invoice }) ?? '');
    const result = recorded(after ?? payment, invoice, invoicePaid);
    return {
      ...result,
      ...(refunds.length === 0 ? {} : { refundIds: refunds }),
      ...(walletId === undefined || result.awaitsGateway ? {} : { walletId }),
    };
  });
}

function purchaseOf({ payment, invoice }: PaymentWithInvoice): string | null {
  return payment.purchase_id ?? invoice?.purchase_id ?? null;
}

/** Payments and invoices as they are once they are settled, and what follows. */
interface Settled {
  settled: Map<string, PaymentRow>;
  /** By payment: refunds to send. */
  refundIds: Map<string, string[]>;
  /** By payment: its invoice, where money came for it. */
  invoices: Map<string, PayableInvoiceRow>;
}

/** Writes what moves: payments, attempts, invoices, agendas, events and audit; then has wallets pay what goes with a card's payment. */
async function settle(tx: PaymentTransaction, settling: readonly Settling[]): Promise<Settled> {
  const refundIds = new Map<string, string[]>();
  if (settling.length === 0) return { settled: new Map(), refundIds, invoices: new Map() };
  const settled = await settlePayments(tx, settling);
  await writePaidInvoices(
    tx,
    settling.flatMap(({ paidInvoice }) => paidInvoice ?? []),
  );
  for (const { payment } of settling) if (payment.attended) await dropPaymentAgenda(tx, payment);
  const events = settling.flatMap((each) => eventsOf(each, settled.get(each.payment.id)!));
  await writeEvents(tx, tx.scope, events);
  const audits = settling.flatMap(({ payment, next, outcome, paidInvoice, at }) => [
    paymentAudit(settled.get(payment.id)!, next.toLowerCase(), at, {
      ...destinationDetail(payment),
      reason: outcome.reason,
    }),
    ...(paidInvoice ? [receivedAudit(paidInvoice, payment.id, at)] : []),
  ]);
  await writeAudit(tx, tx.scope, audits);
  const following = followingOf(settling);
  await lockWalletsToSettle(tx, settling.map(purchaseOf), following);
  for (const each of settling) refundIds.set(each.payment.id, await settlePurchaseOf(tx, each));
  return { settled, refundIds, invoices: await followByWallets(tx, settling, following) };
}

/** An invoice of which postpaid wallets may pay what is left. */
interface Following {
  paymentId: string;
  invoice: PayableInvoiceRow;
  at: string;
}

function followingOf(settling: readonly Settling[]): Following[] {
  return settling.flatMap(({ payment, invoice, paidInvoice, next, at }) => {
    const left = paidInvoice ?? invoice;
    if (left?.invoice_status !== 'FINALIZED' || !doWalletsPay(payment.wallets_follow, next === 'SUCCEEDED')) return [];
    return [{ paymentId: payment.id, invoice: left, at }];
  });
}

/** Has the payers' postpaid wallets pay their part of invoices, now that the card's is known. spec: wallets-and-payments §2.13 */
async function followByWallets(
  tx: PaymentTransaction,
  settling: readonly Settling[],
  following: readonly Following[],
): Promise<Map<string, PayableInvoiceRow>> {
  const invoices = new Map(
    settling.flatMap(({ payment, paidInvoice }) => (paidInvoice ? [[payment.id, paidInvoice]] : [])),
  );
  const purse = await openPostpaidPurse(
    tx,
    following.map(({ invoice }) => invoice),
  );
  if (!purse) return invoices;
  const after = await payByWallets(tx, purse, following);
  for (const { paymentId, invoice } of following) invoices.set(paymentId, after.get(invoice.id) ?? invoice);
  return invoices;
}

/** Settles the purchase that a payment was for, where it was for one; answers the refunds to send. */
async function settlePurchaseOf(tx: PaymentTransaction, settling: Settling): Promise<string[]> {
  const { payment, paidInvoice, next, outcome, at } = settling;
  if (next === 'FAILED') await endDeclinedTopUp(tx, settling);
  if (paidInvoice) return isPaid(paidInvoice.payment_status) ? settlePurchases(tx, [paidInvoice], at) : [];
  const { purchase_id: purchaseId } = payment;
  if (purchaseId === null) return [];
  if (next === 'SUCCEEDED') return settleDirectPurchase(tx, { ...payment, purchase_id: purchaseId }, at);
  await failPurchase(tx, tx.scope, purchaseId, `the charge was declined: ${outcome.reason ?? 'no reason given'}`);
  return [];
}

function eventsOf({ payment, invoice, next, paidInvoice, at }: Settling, settled: PaymentRow): OutboundEvent[] {
  const name = paymentEventName(payment.payment_status, next);
  const events: OutboundEvent[] = name ? [paymentEvent(name, settled, invoice?.invoice_number ?? null, at)] : [];
  if (paidInvoice) {
    events.push(paidInvoiceEvent(paidInvoice, at));
  }
  return events;
}

function recorded(payment: PaymentRow, invoice: PayableInvoiceRow | null, invoicePaid: boolean): RecordedPayment {
  return {
    paymentId: payment.id,
    paymentStatus: payment.payment_status,
    invoiceId: invoice?.id ?? null,
    subscriptionId: invoice?.subscription_id ?? null,
    invoicePaid,
    awaitsGateway: payment.payment_status === 'PROCESSING',
  };
}
