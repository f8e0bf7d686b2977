import type { VoidOrder } from '../../../billing/invoice/invoice-command.ts';
import { planVoid, type VoidPlan } from '../../../billing/invoice/invoice-void.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import { decimal } from '../../../billing/money/money.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { isPaymentInFlight } from '../../collection/payment.ts';
import { releaseLots } from '../../ledger/wallet-agenda.ts';
import { creditPrepaidWallet, returnPrepaidCredits } from '../../ledger/wallet-credit.ts';
import { replaceAgendas } from '../../lifecycle/agenda.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { refuseDisputed } from '../../refund/dispute.ts';
import { returnToSource } from '../../refund/purchase-settlement.ts';
import { takeBackPurchase } from '../../topup/purchase-taken-back.ts';
import { failPurchase } from '../../topup/wallet-purchase.ts';
import { releaseCarriedCredits } from '../terms/carried-credit.ts';
import { releaseCoupons } from '../terms/invoice-coupon.ts';
import { releaseRedemptions } from '../terms/invoice-redemption.ts';
import { refuseGatedInvoice } from './invoice-gate.ts';
import { endLinksOf } from './open-link.ts';

interface VoidableRow {
  id: string;
  customer_id: string;
  test_clock_id: string | null;
  currency: string;
  invoice_number: string | null;
  invoice_status: string;
  payment_status: string;
  amount_paid: string;
  total_prepaid_credits_applied: string;
  taxed_credits_applied: string;
  refunded_amount: string;
  own_terms: OwnTerms | null;
  source_type: string;
  purchase_id: string | null;
  subscription_id: string | null;
  version: number;
  [column: string]: unknown;
}

/**
 * Voids an invoice: it keeps its number, frees its period and is never collected. Money already paid and the credits
 * it took go to the customer's prepaid wallet. Coupons it redeemed can be redeemed again, unless a replacement takes them over
 * (`isReplaced`). Throws `invalid_operation` while money that would go back is disputed.
 * spec: subscriptions-and-invoicing §2.15.7
 */
export async function voidInvoice(
  sql: Sql,
  scope: Scope,
  input: VoidOrder & { invoiceId: string; at: string; isReplaced?: boolean },
): Promise<void> {
  await endLinksOf({ ...sql, scope }, input.invoiceId, input.at);
  const [row] = await sql.rows<VoidableRow>(
    `select id, customer_id, test_clock_id, currency, invoice_number, invoice_status, payment_status, amount_paid, total_prepaid_credits_applied, taxed_credits_applied, refunded_amount, version,
       own_terms, source_type, purchase_id, subscription_id from invoice where environment_id = $1 and id = $2 for update`,
    [scope.environmentId, input.invoiceId],
  );
  if (!row) throw missing('invoice', input.invoiceId);
  await refuseGatedInvoice(sql, scope, row.id, 'voided');
  const inFlight = await isPaymentInFlight({ ...sql, scope }, row.id);
  const plan = planVoid({
    invoiceStatus: row.invoice_status,
    paymentStatus: inFlight ? 'PROCESSING' : row.payment_status,
    amountPaid: decimalText(row.amount_paid),
    totalPrepaidCreditsApplied: decimalText(row.total_prepaid_credits_applied),
    refundedAmount: decimalText(row.refunded_amount),
  });
  if (!decimal(plan.refundedMoney).isZero()) await refuseDisputed({ ...sql, scope }, { invoiceId: row.id });
  if (row.purchase_id === null) await giveBack(sql, scope, row, plan, input.at);
  else await undoPurchase(sql, scope, { ...row, purchase_id: row.purchase_id }, plan, input.at);
  await sql.rows(
    `update invoice set invoice_status = 'VOIDED', voided_at = $3, payment_status = $4, refunded_amount = $8, attended = true, metadata = metadata || $5::jsonb,
       version = version + 1, updated_at = $6, updated_by = $7 where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      row.id,
      input.at,
      plan.paymentStatus,
      JSON.stringify(input.metadata ?? {}),
      new Date().toISOString(),
      scope.actor,
      plan.refundedAmount,
    ],
  );
  await releaseCoupons(sql, scope, row.id);
  if (!input.isReplaced && row.subscription_id !== null) {
    await releaseCarriedCredits(sql, scope, [row.subscription_id], input.at);
  }
  // What a replacement redeems it redeemed already.
  if (!input.isReplaced) await releaseRedemptions(sql, scope, row.own_terms?.coupons ?? null, input.at);
  await replaceAgendas(sql, [
    {
      tenantId: scope.tenantId,
      environmentId: scope.environmentId,
      objectType: 'invoice',
      objectId: row.id,
      customerId: row.customer_id,
      testClockId: row.test_clock_id,
      items: [],
    },
  ]);
  releaseLots(sql, scope, [row.customer_id]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update.voided', row.id, input.at));
  await writeAudit(sql, scope, [
    { objectType: 'invoice', objectId: row.id, action: 'voided', version: row.version + 1, occurredAt: input.at },
  ]);
}

/**
 * The purchase that an invoice bills fails with it. Of one that was paid, all credits have to be there still and are taken first;
 * what was paid goes back to where it came from. spec: wallets-and-payments §2.6, §2.14; design: money-in-wallets findings 5, 35
 */
async function undoPurchase(
  sql: Sql,
  scope: Scope,
  row: VoidableRow & { purchase_id: string },
  plan: VoidPlan,
  at: string,
): Promise<void> {
  const description = `Voided invoice ${row.invoice_number ?? row.id}`;
  const returns = !decimal(plan.refundedMoney).isZero();
  if (returns) await returnToSource({ ...sql, scope }, row, plan.refundedMoney, at);
  await failPurchase(sql, scope, row.purchase_id, `invoice ${row.invoice_number ?? row.id} was voided`);
  await takeBackPurchase(sql, scope, {
    purchaseId: row.purchase_id,
    amount: returns ? plan.refundedMoney : '1',
    paid: returns ? decimalText(row.amount_paid) : '1',
    key: `${row.id}_void`,
    description,
    refusesBeyondLot: true,
  });
}

/** Money and credits go back as lots of their own, each once. spec: wallets-and-payments §2.14 */
async function giveBack(sql: Sql, scope: Scope, row: VoidableRow, plan: VoidPlan, at: string): Promise<void> {
  const of = `voided invoice ${row.invoice_number ?? row.id}`;
  if (!decimal(plan.refundedMoney).isZero()) {
    await creditPrepaidWallet(sql, scope, {
      customerId: row.customer_id,
      currency: row.currency,
      amount: plan.refundedMoney,
      cause: 'invoice_void',
      causeId: row.id,
      description: `What was paid of ${of}`,
      idempotencyKey: row.id,
      at,
    });
  }
  await returnPrepaidCredits(sql, scope, row, { credits: plan.returnedCredits, of, at });
}
