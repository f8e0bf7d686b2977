import { z } from 'zod';
import type { PlanChangeOrder, ReplacementOrder } from '../../../billing/subscription/subscription-change.ts';
import { invoice } from '../../invoice/invoice.schema.ts';
import { optionalDigestOutput, previewDigestInput } from '../../preview-digest.schema.ts';
import { decimalOutput, metadataInput, metadataOutput, timestampInput, timestampOutput } from '../../scalars.schema.ts';
import { subscription } from '../subscription-view.schema.ts';
import { changedResources } from './changed-resources.schema.ts';

const id = z.string().min(1).max(255);
const behavior = z.enum(['create_prorations', 'none']);
const behaviour = z.enum(['carry', 'drop']);
const changeTime = z.enum(['immediate', 'end_of_period']);

export const planChangeBody = z
  .object({
    target_plan_id: id,
    proration_behavior: behavior,
    change_at: z.union([z.literal(''), changeTime, timestampInput()]).nullish(),
    entity_policies: z
      .object({
        addons: z
          .object({ default_behaviour: behaviour.nullish(), overrides: z.record(z.string(), behaviour).nullish() })
          .nullish(),
      })
      .nullish(),
    idempotency_key: z.string().max(255).nullish(),
    metadata: metadataInput().nullish(),
    preview_digest: previewDigestInput,
  })
  .meta({ examples: [{ target_plan_id: 'plan_01JD…', proration_behavior: 'create_prorations' }] });

export const replacementBody = z
  .object({
    target_plan_id: id,
    proration_behavior: behavior,
    billing_cadence: z.literal('RECURRING', { error: 'must be RECURRING' }),
    billing_period: z.enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL']),
    billing_period_count: z.int().min(1, 'must be 1 or more').max(1000).nullish(),
    billing_cycle: z.enum(['anniversary', 'calendar']),
    change_at: z.union([z.literal(''), changeTime]).nullish(),
    metadata: metadataInput().nullish(),
    preview_digest: previewDigestInput,
  })
  .meta({
    examples: [
      {
        target_plan_id: 'plan_01JD…',
        proration_behavior: 'create_prorations',
        billing_cadence: 'RECURRING',
        billing_period: 'MONTHLY',
        billing_cycle: 'anniversary',
      },
    ],
  });

const planSummary = z
  .object({ id: z.string(), name: z.string(), lookup_key: z.string(), description: z.string() })
  .meta({ id: 'PlanSummary' });

export const planChangeAnswer = z
  .object({
    subscription,
    changed_resources: changedResources,
    change_type: z.string().nullable(),
    effective_at: timestampOutput(),
    from_plan: planSummary.nullable(),
    to_plan: planSummary.nullable(),
    entity_changes: z.array(
      z.object({
        entity_type: z.string(),
        entity_id: z.string(),
        reference_id: z.string(),
        behaviour: z.string(),
      }),
    ),
    is_scheduled: z.boolean(),
    schedule_id: z.string().nullable(),
    scheduled_at: timestampOutput().nullable(),
    warnings: z.array(z.string()),
    metadata: metadataOutput(),
    preview_digest: optionalDigestOutput,
  })
  .meta({ id: 'SubscriptionChangeV2Response' });

const prorationDetails = z
  .object({
    credit_amount: decimalOutput(),
    credit_description: z.string(),
    charge_amount: decimalOutput(),
    charge_description: z.string(),
    net_amount: decimalOutput(),
    currency: z.string(),
    current_period_start: timestampOutput(),
    current_period_end: timestampOutput(),
    proration_date: timestampOutput(),
    days_used: z.int(),
    days_remaining: z.int(),
  })
  .meta({ id: 'ProrationDetails' });

const subscriptionSummary = z
  .object({
    id: z.string(),
    plan_id: z.string(),
    status: z.string(),
    billing_anchor: timestampOutput(),
    current_period_start: timestampOutput(),
    current_period_end: timestampOutput(),
    created_at: timestampOutput(),
    archived_at: timestampOutput().nullable(),
  })
  .meta({ id: 'SubscriptionSummary' });

export const replacementPreview = z
  .object({
    subscription_id: z.string(),
    current_plan: planSummary.nullable(),
    target_plan: planSummary.nullable(),
    change_type: z.string().nullable(),
    proration_details: prorationDetails.nullable(),
    next_invoice_preview: z
      .object({
        subtotal: decimalOutput(),
        tax_amount: decimalOutput(),
        total: decimalOutput(),
        currency: z.string(),
        due_date: timestampOutput().nullable(),
        line_items: z.array(
          z.object({
            description: z.string(),
            amount: decimalOutput(),
            quantity: decimalOutput(),
            unit_price: decimalOutput(),
            period_start: timestampOutput().nullable(),
            period_end: timestampOutput().nullable(),
            is_proration: z.boolean(),
          }),
        ),
      })
      .nullable(),
    new_billing_cycle: z
      .object({
        billing_cadence: z.string(),
        billing_period: z.string(),
        billing_period_count: z.int(),
        billing_anchor: timestampOutput(),
        period_start: timestampOutput(),
        period_end: timestampOutput(),
      })
      .nullable(),
    effective_date: timestampOutput(),
    warnings: z.array(z.string()),
    metadata: metadataOutput(),
    preview_digest: optionalDigestOutput,
  })
  .meta({ id: 'SubscriptionChangePreviewResponse' });

export const replacementAnswer = z
  .object({
    old_subscription: subscriptionSummary,
    new_subscription: subscriptionSummary.nullable(),
    change_type: z.string().nullable(),
    effective_date: timestampOutput(),
    invoice: invoice.nullable(),
    warnings: z.array(z.string()),
    credit_grants: z.array(z.unknown()),
    proration_applied: prorationDetails.nullable(),
    is_scheduled: z.boolean(),
    schedule_id: z.string().nullable(),
    scheduled_at: timestampOutput().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'SubscriptionChangeExecuteResponse' });

/** The change in place as the workflow takes it. */
export function planChangeOrder(body: z.output<typeof planChangeBody>): PlanChangeOrder {
  const at = body.change_at || 'immediate';
  const addons = body.entity_policies?.addons;
  return {
    targetPlanId: body.target_plan_id,
    prorationBehavior: body.proration_behavior,
    changeAt: at === 'immediate' || at === 'end_of_period' ? at : { date: at },
    addons: { default: addons?.default_behaviour ?? 'carry', overrides: addons?.overrides ?? {} },
    metadata: body.metadata ?? {},
  };
}

/** The replacement as the workflow takes it. */
export function replacementOrder(body: z.output<typeof replacementBody>, successorId: string): ReplacementOrder {
  return {
    targetPlanId: body.target_plan_id,
    prorationBehavior: body.proration_behavior,
    billingPeriod: body.billing_period,
    billingPeriodCount: body.billing_period_count ?? 1,
    billingCycle: body.billing_cycle,
    changeAt: body.change_at || 'immediate',
    metadata: body.metadata ?? {},
    successorId,
  };
}
