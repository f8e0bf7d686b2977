import type { LatePaymentConsequence } from '../../../billing/invoice/late-payment.ts';
import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type LatePaymentColumns, latePaymentColumns, latePaymentOf } from '../../charging/late-payment.ts';
import { lockSubscriptions } from '../../charging/subscription-row.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import type { SubscriptionMoment } from '../period/subscription-moment.ts';
import { cancelSubscription } from './subscription-cancel.ts';
import { pauseSubscription } from './subscription-pause.ts';
import { resumeSubscription } from './subscription-resume.ts';

/**
 * Does to subscriptions what their unpaid invoices bring about by now, decided under their locks: what was paid meanwhile has
 * no consequence. spec: subscriptions-and-invoicing §2.14.3; pauses, and what follows the last attempt to collect, are own
 */
export async function enforcePayments(
  sql: Sql,
  scope: Scope,
  moments: readonly SubscriptionMoment[],
  readUsage: UsageReader,
): Promise<AttendedSubscription[]> {
  const ids = moments.map(({ subscriptionId }) => subscriptionId);
  const rows = await lockSubscriptions(sql, scope.environmentId, ids);
  const read = await sql.rows<LatePaymentColumns & { id: string; [column: string]: unknown }>(
    `select s.id, ${latePaymentColumns} from subscription s where s.environment_id = $1 and s.id = any($2)`,
    [scope.environmentId, ids],
  );
  for (const late of read) {
    const row = rows.get(late.id);
    const consequence = row ? latePaymentOf(row, late) : null;
    const due = moments.find(({ subscriptionId }) => subscriptionId === late.id);
    if (consequence && due && consequence.at <= due.at) await enforce(sql, scope, late.id, consequence, readUsage);
  }
  return refreshSubscriptions(sql, scope.environmentId, ids);
}

async function enforce(
  sql: Sql,
  scope: Scope,
  subscriptionId: string,
  { action, at, reason, invoiceId }: LatePaymentConsequence,
  readUsage: UsageReader,
): Promise<void> {
  const what = { subscriptionId, at };
  if (action === 'cancel') {
    const terms = {
      cancellationType: 'immediate',
      cancelAt: null,
      invoicePolicy: 'skip',
      prorationBehavior: 'none',
    } as const;
    await cancelSubscription(sql, scope, { ...what, ...terms, reason }, readUsage);
    return;
  }
  const metadata = { unpaid_invoice_id: invoiceId };
  if (action === 'pause') {
    // Who owes gets nothing back; what was paid in advance counts again after the pause.
    const pause = { pauseId: newId('pause'), pauseEnd: null, prorationBehavior: 'none', reason, metadata } as const;
    await pauseSubscription(sql, scope, { ...what, ...pause }, readUsage);
    return;
  }
  await resumeSubscription(sql, scope, { ...what, prorationBehavior: null, metadata: {} }, readUsage);
}
