import type { Transaction } from '../../db/transaction.ts';
import { findSubscription } from '../../services/subscription/read/subscription-read.ts';
import { readCancellation } from '../../services/subscription/status/subscription-cancellation.ts';
import { viewInvoice } from '../invoice/invoice.schema.ts';
import { viewSubscription } from './subscription-view.schema.ts';

/** What a cancellation came to: when it takes effect, and what went back and was billed. spec: subscriptions-and-invoicing §1.6 */
export async function viewCancellation(
  tx: Transaction,
  object: { id: string; at: string },
  asked: { cancellation_type: string; reason?: string | null | undefined },
) {
  const view = viewSubscription(await findSubscription(tx, object.id));
  const outcome = await readCancellation(tx, object.id);
  const ended = view.cancelled_at !== null;
  return {
    subscription_id: object.id,
    cancellation_type: asked.cancellation_type,
    effective_date: view.cancel_at ?? object.at,
    status: view.subscription_status,
    reason: asked.reason ?? '',
    proration_invoice: outcome.invoice && viewInvoice(outcome.invoice),
    proration_details: outcome.details.map((detail) => ({
      line_item_id: detail.lineItemId,
      price_id: detail.priceId,
      plan_name: detail.planName,
      original_amount: detail.originalAmount,
      credit_amount: detail.creditAmount,
      charge_amount: '0',
      proration_days: detail.days,
      description: `Unused time of ${detail.displayName} from ${detail.start} to ${detail.end}`,
    })),
    total_credit_amount: outcome.returned,
    message: ended ? 'the subscription is cancelled' : 'the cancellation is scheduled',
    processed_at: object.at,
  };
}
