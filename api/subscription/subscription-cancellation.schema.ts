import { z } from 'zod';
import { decimalOutput, timestampOutput } from '../scalars.schema.ts';

const prorationDetail = z
  .object({
    line_item_id: z.string(),
    price_id: z.string(),
    plan_name: z.string(),
    original_amount: decimalOutput(),
    credit_amount: decimalOutput(),
    charge_amount: decimalOutput(),
    proration_days: z.int(),
    description: z.string(),
  })
  .meta({ id: 'ProrationDetail' });

/** spec: subscriptions-and-invoicing §1.6 */
export const cancelResult = z
  .object({
    subscription_id: z.string(),
    cancellation_type: z.string(),
    effective_date: timestampOutput(),
    status: z.string(),
    reason: z.string(),
    proration_invoice: z.unknown().nullable(),
    proration_details: z.array(prorationDetail),
    total_credit_amount: decimalOutput(),
    message: z.string(),
    processed_at: timestampOutput(),
  })
  .meta({ id: 'CancelSubscriptionResponse' });
