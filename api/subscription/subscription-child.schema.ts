import { z } from 'zod';
import { couponFields } from '../invoice/subscription-coupon.schema.ts';
import { taxRateOverrides } from '../invoice/tax.schema.ts';
import { metadataInput } from '../scalars.schema.ts';
import { subscriptionGrantInput } from '../wallet/credit-grant.schema.ts';
import { attachmentInput } from './change/addon-association.schema.ts';
import { overridesInput } from './change/entitlement-override.schema.ts';
import { itemFields } from './change/subscription-item.schema.ts';
import { phasesInput } from './change/subscription-phase.schema.ts';
import { commitmentFields } from './subscription-commitment.schema.ts';

const id = z.string().min(1).max(255);

/** A subscription that is created with its parent and invoiced with it; currency and periods are the parent's. spec: §2.13 */
export const childInput = z.object({
  plan_id: id,
  external_customer_id: id,
  lookup_key: z.string().max(255).nullish(),
  metadata: metadataInput().nullish(),
  include_price_ids: z.array(id).max(1000).nullish(),
  ...couponFields,
  ...commitmentFields,
  ...itemFields,
  credit_grants: z.array(subscriptionGrantInput).max(100).nullish(),
  override_entitlements: overridesInput.nullish(),
  addons: z.array(attachmentInput).max(100).nullish(),
  trial_period_days: z
    .int('must be an integer')
    .min(0, 'must be 0 or more')
    .max(3650)
    .nullish()
    .describe("A longer trial than the parent's, from its start on; left out, the child has the parent's."),
  phases: phasesInput.nullish().describe('As those of a subscription, from the start of the parent on.'),
  tax_rate_overrides: taxRateOverrides
    .nullish()
    .describe("For invoices of its own; the parent's rates tax the parent's, with the child's lines."),
});
