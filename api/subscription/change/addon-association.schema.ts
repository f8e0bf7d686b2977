import { z } from 'zod';
import type { NewAttachment } from '../../../billing/subscription/new-subscription.ts';
import type { AddonDetachment } from '../../../billing/subscription/subscription-command.ts';
import { badField } from '../../../db/rows/record.ts';
import type { AssociationContent } from '../../../services/subscription/addon/addon-association.ts';
import { jsonMetadata } from '../../catalogue/addon.schema.ts';
import { addonRecord, viewAddonRecord, viewJson } from '../../catalogue/addon-record.schema.ts';
import { invoice, viewInvoice } from '../../invoice/invoice.schema.ts';
import { checkoutInput, checkoutSession } from '../../payment/checkout.schema.ts';
import { isGiven, recordOutput, timestampInput, timestampOutput, viewRecord } from '../../scalars.schema.ts';
import { subscription, viewSubscription } from '../subscription-view.schema.ts';
import { lineItemCommitments, overrideLineItems, pricesOf } from './subscription-item.schema.ts';

const id = z.string().min(1).max(255);
const cadence = z.enum(['recurring', 'onetime']);
const prorationBehavior = z.enum(['create_prorations', 'none']);
const elsewhere = z
  .unknown()
  .optional()
  .describe('Refused when not empty: only POST /subscriptions/addon takes it here.');

/** An add-on to attach, inside the creation of a subscription and by itself. spec: subscriptions-and-invoicing §1.2, §1.10 */
export const attachmentInput = z.object({
  addon_id: id,
  cadence: z.union([z.literal(''), cadence]).nullish(),
  start_date: timestampInput().nullish(),
  quantity: z.int('must be an integer').min(1, 'must be 1 or more').max(1_000_000).nullish(),
  proration_behavior: z.union([z.literal(''), prorationBehavior]).nullish(),
  metadata: jsonMetadata.nullish(),
  line_item_commitments: lineItemCommitments.nullish(),
  override_line_items: overrideLineItems.nullish(),
  checkout: elsewhere,
});

export const attachAddonBody = attachmentInput
  .extend({
    subscription_id: id,
    checkout: checkoutInput.nullish().describe('The add-on begins when its payment page is paid.'),
  })
  .meta({ examples: [{ subscription_id: 'subs_01JD…', addon_id: 'addon_01JD…', quantity: 5 }] });

export const detachAddonBody = z
  .object({
    addon_association_id: id,
    effective_date: timestampInput().nullish(),
    proration_behavior: z.union([z.literal(''), prorationBehavior]).nullish(),
    reason: z.string().max(1000).nullish(),
  })
  .meta({ examples: [{ addon_association_id: 'addon_assoc_01JD…', reason: 'fewer seats' }] });

/** The detachment that a body orders. spec: subscriptions-and-invoicing §1.10 */
export function detachmentOf(body: z.output<typeof detachAddonBody>): AddonDetachment {
  return {
    associationId: body.addon_association_id,
    effectiveDate: body.effective_date ?? null,
    prorationBehavior: body.proration_behavior || null,
    reason: body.reason ?? '',
  };
}

/**
 * The attachment as the workflow takes it. Throws `validation_error` for a checkout where another one pays the add-on, and for prices of
 * its own together with a checkout. spec: subscriptions-and-invoicing §1.10
 */
export function newAttachment(
  input: z.output<typeof attachmentInput>,
  associationId: string,
  path = '',
): NewAttachment {
  if (isGiven(input.checkout)) {
    if (path !== '')
      throw badField(`${path}checkout`, 'must be absent here; send checkout beside it, for all that is bought');
    for (const field of ['override_line_items', 'line_item_commitments'] as const) {
      if (isGiven(input[field])) throw badField(field, 'must be absent together with checkout');
    }
  }
  return {
    associationId,
    addonId: input.addon_id,
    cadence: input.cadence || 'recurring',
    startDate: input.start_date ?? null,
    quantity: input.quantity ?? 1,
    prorationBehavior: input.proration_behavior || null,
    metadata: JSON.stringify(input.metadata ?? {}),
    ...pricesOf(input, path),
  };
}

const associationShape = {
  ...recordOutput,
  addon_id: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  addon_status: z.string(),
  cadence: z.string(),
  quantity: z.int(),
  start_date: timestampOutput(),
  end_date: timestampOutput().nullable(),
  cancelled_at: timestampOutput().nullable(),
  cancellation_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  addon: addonRecord.nullable(),
  subscription: subscription.nullable(),
};

/** An attachment of an add-on. spec: subscriptions-and-invoicing §1.10 */
export const addonAssociation = z.object(associationShape).meta({ id: 'AddonAssociation' });

/** The answer to attaching: the attachment and what it charged at once. */
export const attachedAddon = z
  .object({ ...associationShape, invoice: invoice.nullable(), checkout_session: checkoutSession.nullable() })
  .meta({ id: 'AddAddonToSubscriptionResponse' });

export function viewAssociation(content: AssociationContent): z.output<typeof addonAssociation> {
  const { row } = content;
  return {
    ...viewRecord(row),
    addon_id: row.addonId,
    entity_type: row.entityType,
    entity_id: row.entityId,
    addon_status: content.status,
    cadence: row.cadence,
    quantity: row.quantity,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    cancelled_at: row.cancelledAt ?? null,
    cancellation_reason: row.cancellationReason || null,
    metadata: viewJson(row.metadata),
    addon: content.addon ? viewAddonRecord(content.addon) : null,
    subscription: content.subscription ? viewSubscription(content.subscription) : null,
  };
}

/** `session` is the one that pays for the add-on, where there is one. */
export function viewAttached(
  content: AssociationContent,
  session: z.output<typeof checkoutSession> | null = null,
): z.output<typeof attachedAddon> {
  const made = content.invoice ? viewInvoice(content.invoice) : null;
  return { ...viewAssociation(content), invoice: made, checkout_session: session };
}
