import { z } from 'zod';
import type { NewPhase } from '../../../billing/subscription/new-subscription.ts';
import type { SubscriptionPhase } from '../../../db/entities/subscription/subscription-phase.ts';
import { couponFields, couponLinksOf } from '../../invoice/subscription-coupon.schema.ts';
import {
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../../scalars.schema.ts';
import { itemFields, itemsOf } from './subscription-item.schema.ts';

const phase = z.object({
  start_date: timestampInput().describe('That of the subscription, or the end_date of the phase before.'),
  end_date: timestampInput().nullish().describe('Only the last phase may be without one.'),
  override_line_items: itemFields.override_line_items.describe(
    'Prices of the plan that are paid otherwise in this phase.',
  ),
  line_items: itemFields.line_items.describe("Beside the plan's, while the phase lasts."),
  ...couponFields,
  metadata: metadataInput().nullish(),
});

/** Phases of a creation, in their order. spec: subscriptions-and-invoicing §1.2, §2.9.5 */
export const phasesInput = z.array(phase).max(100, 'must have at most 100 phases');

/** A phase as the workflow takes it; `path` is where it stands in the request. Throws `validation_error`. */
export function newPhase(sent: z.output<typeof phase>, phaseId: string, path: string): NewPhase {
  const { override_line_items, line_items } = sent;
  const { overrideLineItems, lineItems } = itemsOf({ override_line_items, line_items }, path);
  return {
    phaseId,
    startDate: sent.start_date,
    endDate: sent.end_date ?? null,
    overrideLineItems,
    lineItems,
    coupons: couponLinksOf(sent, path),
    metadata: sent.metadata ?? {},
  };
}

/** A phase as it is shown. interface: Subscription, phases */
export const subscriptionPhase = z
  .object({
    ...recordOutput,
    subscription_id: z.string(),
    start_date: timestampOutput(),
    end_date: timestampOutput().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'SubscriptionPhase' });

export function viewPhase(row: SubscriptionPhase): z.output<typeof subscriptionPhase> {
  return {
    ...viewRecord(row),
    subscription_id: row.subscriptionId,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    metadata: row.metadata,
  };
}
