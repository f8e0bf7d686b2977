import { newId } from '../../db/id.ts';
import { writeLedger } from '../ledger/wallet-ledger-write.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { insertPayments, type PaymentToInsert } from './payment-insert.ts';
import {
  invoiceAsDestination,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  paidInvoiceEvent,
  paymentAudit,
  paymentEvent,
  receivedAudit,
} from './payment-row.ts';
import { settlePayments, withPayment, writePaidInvoices } from './payment-settle.ts';
import { enterPayment, type PostpaidPurse, walletPayments } from './postpaid-purse.ts';

/** Outcome of a payment without a gateway, whose money is there at once. */
export const atOnce = {
  status: 'succeeded',
  gatewayPaymentId: null,
  gatewayMetadata: {},
  reason: null,
  actionUrl: null,
} as const;

/**
 * Has the wallets of a purse pay what they can of what remains of its locked invoices, each a CREDITS payment with its debit: payments,
 * invoices, ledger, events and audit in the caller's transaction. Answers the invoices as they are then, those that nothing was paid of too.
 * spec: wallets-and-payments §2.13
 */
export async function payByWallets(
  tx: PaymentTransaction,
  purse: PostpaidPurse,
  asked: readonly { invoice: PayableInvoiceRow; at: string }[],
): Promise<Map<string, PayableInvoiceRow>> {
  const paid = asked.flatMap(({ invoice, at }) => {
    const payments = walletPayments(purse, invoice).map(({ walletId, amount }) =>
      creditsPayment(invoice, walletId, amount),
    );
    for (const payment of payments) enterDebitOf(purse, payment, invoice.id);
    return payments.length === 0 ? [] : [{ invoice, at, payments }];
  });
  const after = new Map(asked.map(({ invoice }) => [invoice.id, invoice]));
  if (paid.length === 0) return after;
  const inserted = await insertPayments(
    tx,
    paid.flatMap(({ payments }) => payments),
  );
  const rows = new Map(inserted.map((row) => [row.id, row]));
  const settling = paid.flatMap(({ payments, at }) =>
    payments.map(({ id }) => ({ payment: rows.get(id)!, next: 'SUCCEEDED' as const, outcome: atOnce, at })),
  );
  const settled = await settlePayments(tx, settling);
  for (const { invoice, at, payments } of paid) {
    const changed = payments.reduce((before, { amount }) => withPayment(before, amount, at), invoice);
    after.set(invoice.id, { ...changed, version: invoice.version + 1 });
  }
  await writePaidInvoices(
    tx,
    paid.map(({ invoice }) => after.get(invoice.id)!),
  );
  await writeLedger(purse.ledger);
  await tell(tx, paid, { rows, settled, after });
  return after;
}

function creditsPayment(invoice: PayableInvoiceRow, walletId: string, amount: string): PaymentToInsert {
  const id = newId('pay');
  return {
    id,
    idempotencyKey: `${invoice.id}/${walletId}/${id}`,
    destination: invoiceAsDestination(invoice),
    paymentMethodType: 'CREDITS',
    paymentMethodId: walletId,
    paymentGateway: null,
    amount,
    paymentStatus: 'PROCESSING',
    attended: false,
    isChargedAlready: false,
    metadata: {},
  };
}

function enterDebitOf({ ledger, invoices }: PostpaidPurse, payment: PaymentToInsert, invoiceId: string): void {
  const wallet = ledger.wallets.get(payment.paymentMethodId ?? '');
  if (!wallet) throw new Error(`wallet ${payment.paymentMethodId} pays without being locked`);
  const periodEnd = invoices.get(invoiceId)?.periodEnd ?? null;
  enterPayment(ledger, wallet, { id: payment.id, amount: payment.amount, invoiceId, periodEnd });
}

async function tell(
  tx: PaymentTransaction,
  paid: readonly { invoice: PayableInvoiceRow; at: string; payments: readonly PaymentToInsert[] }[],
  {
    rows,
    settled,
    after,
  }: Record<'rows' | 'settled', ReadonlyMap<string, PaymentRow>> & {
    after: ReadonlyMap<string, PayableInvoiceRow>;
  },
): Promise<void> {
  const events = paid.flatMap(({ invoice, at, payments }) => [
    ...payments.flatMap(({ id }) => [
      paymentEvent('payment.created', { ...rows.get(id)!, payment_status: 'PENDING' }, invoice.invoice_number, at),
      paymentEvent('payment.success', settled.get(id)!, invoice.invoice_number, at),
    ]),
    paidInvoiceEvent(after.get(invoice.id)!, at),
  ]);
  const audits = paid.flatMap(({ invoice, at, payments }) => [
    ...payments.flatMap(({ id, paymentMethodId }) => [
      paymentAudit(rows.get(id)!, 'opened', at, { invoice_id: invoice.id }),
      paymentAudit(settled.get(id)!, 'succeeded', at, { invoice_id: invoice.id, wallet_id: paymentMethodId }),
    ]),
    receivedAudit(after.get(invoice.id)!, payments.map(({ id }) => id).join(','), at),
  ]);
  await writeEvents(tx, tx.scope, events);
  await writeAudit(tx, tx.scope, audits);
}
