import { z } from 'zod';
import type { CancellationOrder } from '../../billing/subscription/subscription-command.ts';
import { timestampInput } from '../scalars.schema.ts';

export const activateSubscriptionBody = z
  .object({ start_date: timestampInput().describe('When the subscription begins; everything on it moves along.') })
  .meta({ examples: [{ start_date: '2026-05-01T00:00:00Z' }] });

export const cancelSubscriptionBody = z
  .object({
    cancellation_type: z.enum(['immediate', 'scheduled_date', 'end_of_period'], {
      error: 'must be immediate, scheduled_date or end_of_period',
    }),
    cancel_at: timestampInput().nullish(),
    proration_behavior: z.enum(['create_prorations', 'none']).nullish(),
    cancel_immediately_invoice_policy: z.enum(['skip', 'generate_invoice']).nullish(),
    /** The published misspelling; the correct one wins. */
    cancel_immediately_inovice_policy: z.enum(['skip', 'generate_invoice']).nullish(),
    reason: z.string().max(1000).nullish(),
  })
  .meta({ examples: [{ cancellation_type: 'end_of_period', reason: 'moving to annual billing' }] });

/** The cancellation that a body orders. spec: subscriptions-and-invoicing §2.12 */
export function cancellationOf(body: z.output<typeof cancelSubscriptionBody>): CancellationOrder {
  return {
    cancellationType: body.cancellation_type,
    cancelAt: body.cancel_at ?? null,
    invoicePolicy: body.cancel_immediately_invoice_policy ?? body.cancel_immediately_inovice_policy ?? 'skip',
    prorationBehavior: body.proration_behavior ?? 'none',
    reason: body.reason ?? '',
  };
}
