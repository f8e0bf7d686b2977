import type { Period } from '../../../billing/subscription/subscription.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { readBillingContext } from '../../invoice/draft/billing-context.ts';
import { draftInvoice, insertDrafts } from '../../invoice/draft/invoice-draft.ts';
import { writeEvents } from '../../platform/outbox.ts';

/**
 * Writes the invoice of a stretch that was paused, without lines or number and skipped; the row with the billing sequence it
 * took. spec: subscriptions-and-invoicing §2.11 Periods
 */
export async function skipStretch(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  { pauseId, period, at }: { pauseId: string; period: Period; at: string },
): Promise<SubscriptionRow> {
  const { config, planNames, terms } = await readBillingContext(sql, scope.environmentId, [row]);
  const subscription = { ...row, billingSequence: row.billingSequence + 1 };
  const draft = draftInvoice(scope, {
    subscription,
    planName: planNames.get(row.planId) ?? '',
    reason: 'SUBSCRIPTION_CYCLE',
    period,
    lines: [],
    billingSequence: subscription.billingSequence,
    config,
    terms: terms.get(row.id),
    at,
    interruptionId: pauseId,
    paused: true,
  });
  await insertDrafts(sql, [draft]);
  await writeEvents(sql, scope, invoiceEvents('invoice.update', draft.row.id, at));
  return subscription;
}
