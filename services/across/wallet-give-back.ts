import { decimal, decimalString, sum } from '../../billing/money/money.ts';
import {
  type CapturedPurchase,
  planGivenBack,
  type TerminationPolicy,
} from '../../billing/wallet/wallet-termination.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import type { LedgerWallet } from '../ledger/wallet-ledger.ts';
import { countRefund } from '../refund/invoice-refund.ts';
import { openRefunds } from '../refund/refund-plan.ts';

/** Money of bought credits on its way back. */
export interface GivenBackMoney {
  /** For the debit that ends the wallet: the amounts that go back, by purchase. */
  metadata: Record<string, string>;
  invoiceIds: string[];
  /** Refunds to send. */
  refundIds: string[];
}

/** A bought lot of which something is left, with the invoice or the payment that it was paid by. */
interface CapturedRow {
  purchase_id: string;
  invoice_id: string | null;
  payment_id: string | null;
  due: string;
  paid: string;
  refunded: string;
  currency: string;
  test_clock_id: string | null;
  version: number;
  room: string;
  [column: string]: unknown;
}

const capturedText = `
with bought as (
  select t.id, i.id as invoice_id, p.id as payment_id, coalesce(i.amount_due, p.amount) as due, coalesce(i.amount_paid, p.amount) as paid,
    coalesce(i.refunded_amount, 0) as refunded, lower(t.currency) as currency, coalesce(i.test_clock_id, p.test_clock_id) as test_clock_id,
    coalesce(i.version, 0) as version
  from wallet_transaction t
  left join invoice i on i.environment_id = t.environment_id and i.purchase_id = t.id and i.invoice_status = 'FINALIZED'
  left join payment p on p.environment_id = t.environment_id and p.purchase_id = t.id and p.succeeded_at is not null
  where t.environment_id = $1 and t.wallet_id = $2 and t.credits_available > 0 and t.transaction_status = 'completed'
    and (i.id is not null or p.id is not null)
)
select bought.*, bought.id as purchase_id, coalesce((
  select sum(greatest(p.amount - coalesce((select sum(r.amount) from refund r where r.environment_id = p.environment_id and r.payment_id = p.id
    and r.refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED')), 0), 0))
  from payment p where p.environment_id = $1 and (p.id = bought.payment_id
      or (p.destination_type = 'INVOICE' and p.destination_id = bought.invoice_id))
    and p.payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED') and p.payment_gateway = any($3)), 0) as room
from bought order by bought.id`;

/**
 * Plans the way back of what was paid for credits that nobody used, in a wallet that ends: its invoices and payments are locked, and
 * the wallet behind them. spec: wallets-and-payments §2.9; design: money-in-wallets finding 23
 */
export async function giveBack(
  tx: ScopedSql,
  wallet: LedgerWallet,
  refundableGateways: readonly string[],
): Promise<GivenBackMoney> {
  const rows = await tx.rows<CapturedRow>(capturedText, [tx.scope.environmentId, wallet.id, refundableGateways]);
  const plan = planGivenBack(wallet, rows.map(capturedOf));
  const byPurchase = new Map(rows.map((row) => [row.purchase_id, row]));
  const refundIds: string[] = [];
  const invoiceIds: string[] = [];
  for (const { purchaseId, amount } of plan.refunds) {
    const row = byPurchase.get(purchaseId)!;
    refundIds.push(...(await refundShare(tx, wallet, row, decimalString(amount), refundableGateways)));
    if (row.invoice_id !== null) invoiceIds.push(row.invoice_id);
  }
  const { refunds, forfeitedPurchases } = plan;
  return {
    metadata: {
      termination_policy: 'refund_purchased' satisfies TerminationPolicy,
      refunded_amount: decimalString(sum(refunds.map((refund) => refund.amount))),
      ...(refundIds.length === 0 ? {} : { refund_ids: refundIds.join(',') }),
      ...(forfeitedPurchases.length === 0 ? {} : { forfeited_purchases: forfeitedPurchases.join(',') }),
    },
    invoiceIds,
    refundIds,
  };
}

function capturedOf(row: CapturedRow): CapturedPurchase {
  return {
    purchaseId: row.purchase_id,
    amountDue: decimal(decimalText(row.due)),
    amountPaid: decimal(decimalText(row.paid)),
    room: decimal(decimalText(row.room)),
    currency: row.currency,
  };
}

/** Counts a refund on the invoice of a purchase, where it has one, and plans it; answers the refunds to send. */
async function refundShare(
  tx: ScopedSql,
  wallet: LedgerWallet,
  row: CapturedRow,
  amount: string,
  refundableGateways: readonly string[],
): Promise<string[]> {
  const { now: at, id: walletId, customerId } = wallet;
  if (row.invoice_id !== null) {
    const invoice = {
      id: row.invoice_id,
      amountDue: decimalText(row.due),
      amountPaid: decimalText(row.paid),
      refundedAmount: decimalText(row.refunded),
      version: row.version,
    };
    await countRefund(tx, invoice, { amount, at, detail: { wallet_id: walletId } });
  }
  return openRefunds(tx, {
    of: row.invoice_id === null ? { paymentId: row.payment_id! } : { invoiceId: row.invoice_id },
    customerId,
    testClockId: row.test_clock_id,
    creditNoteId: null,
    amount,
    currency: row.currency,
    reason: 'REQUESTED_BY_CUSTOMER',
    target: 'BACK_TO_SOURCE',
    refundableGateways,
    metadata: { terminated_wallet_id: walletId },
    at,
  });
}
