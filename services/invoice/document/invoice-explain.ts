import { decimal } from '../../../billing/money/money.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import type { CouponApplication } from '../../../db/entities/invoice/coupon-application.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { InvoiceDocument } from '../../../db/entities/invoice/invoice-document.ts';
import { InvoiceLineItem } from '../../../db/entities/invoice/invoice-line-item.ts';
import type { TaxApplied } from '../../../db/entities/invoice/tax-applied.ts';
import { Payment } from '../../../db/entities/payment/payment.ts';
import { PaymentAttempt } from '../../../db/entities/payment/payment-attempt.ts';
import { AuditEntry } from '../../../db/entities/platform/audit-entry.ts';
import { Wallet } from '../../../db/entities/wallet/wallet.ts';
import { WalletTransaction } from '../../../db/entities/wallet/wallet-transaction.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { LateUsage, LateUsageReader } from '../../usage-reader.ts';
import { readLateUsage } from '../issue/invoice-late-usage.ts';
import { couponsOf, taxesOf } from '../read/invoice-read.ts';
import { readPaper } from './document-paper.ts';

/** Everything that is stored about how an invoice came to be what it is. */
export interface InvoiceEvidence {
  row: Invoice;
  lines: LineEvidence[];
  /** In order of application. */
  taxes: TaxApplied[];
  /** In order of application. */
  coupons: CouponApplication[];
  /** What wallets paid, in order of use. */
  credits: CreditEvidence[];
  /** The number came with the invoice and is none of the own sequence. */
  isNumberGiven: boolean;
  payments: { row: Payment; attempts: PaymentAttempt[] }[];
  /** Audit rows of the invoice and its payments, oldest first, at most 1 000. */
  history: AuditEntry[];
}

export interface LineEvidence {
  /** With its derivation. */
  row: InvoiceLineItem;
  /** Null where nothing is measured. */
  meterName: string | null;
  /** What came too late for the line; null where nothing is measured and while the invoice is not final. */
  lateUsage: LateUsage | null;
}

export interface CreditEvidence {
  debit: WalletTransaction;
  walletName: string;
  /** Ids of lots that were taxed when they were bought, of this debit and of others. */
  taxedLots: ReadonlySet<string>;
}

const maxHistory = 1_000;

/**
 * Reads the evidence of an invoice; nothing is computed again, and what is late is told beside it. Throws `not_found`.
 * design: architecture §7; spec: README decision 11
 */
export async function readInvoiceEvidence(
  tx: Transaction,
  id: string,
  readLate: LateUsageReader,
): Promise<InvoiceEvidence> {
  const { environmentId } = tx.scope;
  const row = await tx.em.findOne(Invoice, { id, environmentId });
  if (!row) throw missing('invoice', id);
  const lines = await tx.em.find(
    InvoiceLineItem,
    { environmentId, invoiceId: id, status: 'published' },
    { orderBy: { position: 'asc', id: 'asc' } },
  );
  const paper = await readPaper(tx, tx.scope, row.id);
  const meterNames = new Map([...(await readMeterNames(tx, lines)), ...Object.entries(paper?.texts.meters ?? {})]);
  const late = await readLateUsage(tx, row, lines, readLate);
  const taxes = (await taxesOf(tx, [row])).get(id) ?? [];
  const coupons = (await couponsOf(tx, [row])).get(id) ?? [];
  const seal = await tx.em.findOne(InvoiceDocument, { invoiceId: id, environmentId });
  return {
    row,
    lines: lines.map((line) => ({
      row: line,
      meterName: line.meterDisplayName ?? meterNames.get(line.meterId ?? '') ?? null,
      lateUsage: late.get(line.id) ?? null,
    })),
    taxes,
    coupons,
    credits: await readCredits(tx, row),
    isNumberGiven: seal?.chain === '',
    ...(await readPayments(tx, id)),
  };
}

async function readPayments(tx: Transaction, id: string): Promise<Pick<InvoiceEvidence, 'payments' | 'history'>> {
  const { environmentId } = tx.scope;
  const payments = await tx.em.find(
    Payment,
    { environmentId, destinationType: 'INVOICE', destinationId: id, status: 'published' },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const paymentIds = payments.map((payment) => payment.id);
  const attempts = await tx.em.find(
    PaymentAttempt,
    { environmentId, paymentId: { $in: paymentIds } },
    { orderBy: { attemptNumber: 'asc' } },
  );
  const history = await tx.em.find(
    AuditEntry,
    { environmentId, objectId: { $in: [id, ...paymentIds] } },
    { orderBy: { id: 'asc' }, limit: maxHistory },
  );
  const byPayment = Map.groupBy(attempts, (attempt) => attempt.paymentId);
  return {
    payments: payments.map((payment) => ({ row: payment, attempts: byPayment.get(payment.id) ?? [] })),
    history,
  };
}

/**
 * The newest debits that make up what was applied: those of a draft that was computed again were returned. None for credits
 * of another system. spec: wallets-and-payments §2.12
 */
async function readCredits(tx: Transaction, row: Invoice): Promise<CreditEvidence[]> {
  let open = decimal(row.totalPrepaidCreditsApplied);
  if (open.isZero()) return [];
  const { environmentId } = tx.scope;
  const debits = await tx.em.find(
    WalletTransaction,
    { environmentId, referenceId: row.id, referenceType: 'INVOICE', type: 'debit' },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  const applied = debits.filter((debit) => {
    const counts = open.isPositive() && !open.isZero();
    if (counts) open = open.minus(decimal(debit.amount));
    return counts;
  });
  const wallets = await tx.em.find(Wallet, { environmentId, id: { $in: applied.map((debit) => debit.walletId) } });
  const names = new Map(wallets.map((wallet) => [wallet.id, wallet.name]));
  const taxedLots = await readTaxedLots(tx, row, applied);
  return applied
    .reverse()
    .map((debit) => ({ debit, walletName: names.get(debit.walletId) || 'Prepaid credits', taxedLots }));
}

/** Ids of the lots that debits took and that were taxed when they were bought. design: money-in-wallets finding 6 */
async function readTaxedLots(
  tx: Transaction,
  { taxedCreditsApplied }: Invoice,
  debits: readonly WalletTransaction[],
): Promise<ReadonlySet<string>> {
  if (taxedCreditsApplied === '0') return new Set();
  const { environmentId } = tx.scope;
  const ids = debits.flatMap(({ consumedLots }) => consumedLots ?? []).map(({ id }) => id);
  const lots = await tx.em.find(
    WalletTransaction,
    { environmentId, id: { $in: ids }, isTaxed: true },
    { fields: ['id'] },
  );
  return new Set(lots.map(({ id }) => id));
}

/** What the meters of lines are called, by meter id. */
async function readMeterNames(tx: Transaction, lines: readonly InvoiceLineItem[]): Promise<Map<string, string>> {
  const ids = lines.flatMap((line) => line.meterId ?? []);
  const meters = await tx.em.find(Meter, { environmentId: tx.scope.environmentId, id: { $in: ids } });
  return new Map(meters.map((meter) => [meter.id, meter.name]));
}
