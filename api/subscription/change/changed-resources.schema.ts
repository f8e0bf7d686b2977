import { z } from 'zod';
import type { Transaction } from '../../../db/transaction.ts';
import { findInvoice } from '../../../services/invoice/read/invoice-read.ts';
import { findLineItems } from '../../../services/subscription/item/line-item-list.ts';
import type { ChangeOutcome } from '../../../services/subscription/plan-change/subscription-change.ts';
import { subscriptionStatusOnWire } from '../../../services/subscription/read/subscription-event.ts';
import { findSubscription } from '../../../services/subscription/read/subscription-read.ts';
import { invoice, viewInvoice } from '../../invoice/invoice.schema.ts';
import { decimalOutput, timestampOutput } from '../../scalars.schema.ts';

const status = z.enum(['preview', 'issued']);

/**
 * What a change made or changed; `next_invoice_credit` (own) is what the next invoice takes off, `0` when nothing.
 * spec: subscriptions-and-invoicing §1.7, §1.8 changed_resources, README decision 50
 */
export const changedResources = z
  .object({
    line_items: z.array(
      z.object({
        id: z.string(),
        price_id: z.string(),
        quantity: decimalOutput(),
        start_date: timestampOutput(),
        end_date: timestampOutput().nullable(),
        change_action: z.enum(['created', 'updated', 'ended']),
      }),
    ),
    subscriptions: z.array(
      z.object({
        id: z.string(),
        action: z.enum(['created', 'updated']),
        status: z.string(),
        current_period_end: timestampOutput(),
        trial_end: timestampOutput().nullable(),
      }),
    ),
    invoices: z.array(
      z.object({
        id: z.string(),
        action: z.enum(['created', 'wallet_credit']),
        status,
        invoice: invoice.nullable(),
        wallet_transaction: z.object({ amount: decimalOutput(), currency: z.string() }).loose().nullable(),
      }),
    ),
    next_invoice_credit: decimalOutput(),
  })
  .meta({ id: 'ChangedResources' });

/** The changed resources as they are now; a previewed invoice has no number, because none was given. */
export async function viewChangedResources(
  tx: Transaction,
  subscriptionId: string,
  outcome: ChangeOutcome,
  at: z.output<typeof status>,
): Promise<z.output<typeof changedResources>> {
  const actions = new Map(outcome.lineItems.map(({ id, action }) => [id, action]));
  const items = await findLineItems(tx, [...actions.keys()]);
  const ids = [subscriptionId, ...outcome.subscriptionIds];
  const subscriptions = await Promise.all(ids.map((id) => findSubscription(tx, id)));
  const invoices = [];
  for (const id of outcome.invoiceIds) {
    const view = viewInvoice(await findInvoice(tx, id, { lines: true, customer: false }));
    const shown = at === 'preview' ? { ...view, invoice_number: null } : view;
    invoices.push({ id, action: 'created' as const, status: at, invoice: shown, wallet_transaction: null });
  }
  const currency = subscriptions[0]?.row.currency ?? '';
  if (outcome.returned !== '0') {
    const credit = { action: 'wallet_credit' as const, status: at, invoice: null };
    invoices.push({ id: '', ...credit, wallet_transaction: { amount: outcome.returned, currency } });
  }
  return {
    line_items: items.map(({ row }) => ({
      id: row.id,
      price_id: row.priceId,
      quantity: row.quantity,
      start_date: row.startDate,
      end_date: row.endDate ?? null,
      change_action: actions.get(row.id) ?? 'updated',
    })),
    subscriptions: subscriptions.map(({ row }, index) => ({
      id: row.id,
      action: index === 0 || row.version > 1 ? 'updated' : 'created',
      status: subscriptionStatusOnWire(row.subscriptionStatus),
      current_period_end: row.currentPeriodEnd,
      trial_end: row.trialEnd ?? null,
    })),
    invoices,
    next_invoice_credit: outcome.carried ?? '0',
  };
}
