import { z } from 'zod';
import type {
  AddonChange,
  CouponChange,
  GroupingChange,
  InheritanceChange,
  QuantityChanges,
  TaxChange,
  TrialEndChange,
} from '../../../billing/subscription/subscription-change.ts';
import { badField } from '../../../db/rows/record.ts';
import type { OrderedChange } from '../../../services/payment/checkout/checkout-draft.ts';
import { checkoutInput, checkoutSession } from '../../payment/checkout.schema.ts';
import { optionalDigestOutput, previewDigestInput } from '../../preview-digest.schema.ts';
import { decimalInput, isGiven, timestampInput } from '../../scalars.schema.ts';
import { externalIdsInput } from '../subscription-inheritance.schema.ts';
import { subscription } from '../subscription-view.schema.ts';
import { attachmentInput, detachAddonBody, newAttachment } from './addon-association.schema.ts';
import { changedResources } from './changed-resources.schema.ts';

const id = z.string().min(1).max(255);

/** The kinds of modification, each with its own parameters. spec: subscriptions-and-invoicing §1.8 */
export const modifyTypes = [
  'quantity_change',
  'inheritance',
  'grouped_invoicing',
  'trial_end',
  'coupon',
  'tax',
  'addon',
] as const;

const action = z.enum(['add', 'remove']);

export const modifyBody = z
  .object({
    type: z.enum(modifyTypes),
    quantity_change_params: z
      .object({
        line_items: z
          .array(
            z.object({
              id,
              quantity: decimalInput({ min: '0' }),
              effective_date: timestampInput().nullish(),
            }),
          )
          .min(1, 'must have at least one line item')
          .max(100, 'must have at most 100 line items'),
      })
      .nullish(),
    inheritance_params: z
      .object({
        action: action.nullish().describe('add unless told otherwise.'),
        external_customer_ids_to_inherit_subscription: externalIdsInput.nullish(),
        external_customer_ids_to_remove: externalIdsInput.nullish(),
      })
      .nullish(),
    grouped_invoicing_params: z
      .object({
        action: action.nullish().describe('add unless told otherwise.'),
        parent_subscription_id: id.nullish().describe('With add; the modified subscription unless told otherwise.'),
        child_subscription_ids: z.array(id).max(100).nullish(),
      })
      .nullish(),
    trial_end_params: z
      .object({ action: z.enum(['immediate', 'scheduled_date']), new_trial_end: timestampInput().nullish() })
      .nullish(),
    coupon_params: z
      .object({
        action,
        coupon_code: id.nullish(),
        start_date: timestampInput().nullish(),
        end_date: timestampInput().nullish(),
        subscription_id: id.nullish(),
        subscription_line_item_id: id.nullish(),
        coupon_association_id: id.nullish(),
      })
      .nullish(),
    tax_params: z
      .object({
        action,
        tax_rate_id: id.nullish(),
        tax_association_id: id.nullish(),
        effective_date: timestampInput().nullish(),
      })
      .nullish(),
    addon_params: z
      .object({
        action,
        add: attachmentInput.extend({ subscription_id: id.nullish() }).nullish(),
        remove: detachAddonBody.nullish(),
      })
      .nullish(),
    checkout: checkoutInput
      .nullish()
      .describe('With quantity_change and addon add: the change is made when its payment page is paid.'),
    preview_digest: previewDigestInput,
  })
  .meta({
    examples: [
      { type: 'quantity_change', quantity_change_params: { line_items: [{ id: 'subs_line_01JD…', quantity: '8' }] } },
    ],
  });

export const modifyAnswer = z
  .object({
    subscription,
    changed_resources: changedResources,
    checkout_session: checkoutSession.nullable(),
    preview_digest: optionalDigestOutput,
  })
  .meta({ id: 'SubscriptionModifyResponse' });

export type ModifyBody = z.output<typeof modifyBody>;

/** The parameters of the body's type. Throws `validation_error` when they are missing. */
export function paramsOf<Type extends ModifyBody['type']>(
  body: ModifyBody,
  type: Type,
): NonNullable<ModifyBody[`${Type}_params`]> {
  const params = body[`${type}_params`];
  if (params == null) throw badField(`${type}_params`, `is required with type ${type}`);
  return params as NonNullable<ModifyBody[`${Type}_params`]>;
}

/**
 * The change that a checkout session is to pay; null without a checkout. Throws `validation_error` where nothing is bought, and for a
 * digest: the payment page shows the amounts, which stay. spec: subscriptions-and-invoicing §1.8
 */
export function orderedChange(
  body: ModifyBody,
  subscriptionId: string,
  newId: (prefix: string) => string,
): OrderedChange | null {
  if (!body.checkout) return null;
  if (body.preview_digest) throw badField('preview_digest', 'must be absent together with checkout');
  const action = 'modify_subscription';
  if (body.type === 'quantity_change') return { action, quantities: quantityChanges(body) };
  const change = body.type === 'addon' ? addonChange(body, subscriptionId, newId) : null;
  if (change?.action !== 'add') {
    throw badField('checkout', 'goes with type quantity_change, and with type addon and action add; leave it out');
  }
  for (const field of ['override_line_items', 'line_item_commitments'] as const) {
    const path = `addon_params.add.${field}`;
    if (isGiven(body.addon_params?.add?.[field])) throw badField(path, 'must be absent together with checkout');
  }
  return { action, attachment: change.attachment };
}

export function quantityChanges(body: ModifyBody): QuantityChanges {
  return {
    changes: paramsOf(body, 'quantity_change').line_items.map((item) => ({
      lineItemId: item.id,
      quantity: item.quantity,
      effectiveAt: item.effective_date ?? null,
    })),
  };
}

export function inheritanceChange(body: ModifyBody): InheritanceChange {
  const params = paramsOf(body, 'inheritance');
  const change = params.action ?? 'add';
  const [asked, other] = ['external_customer_ids_to_inherit_subscription', 'external_customer_ids_to_remove'] as const;
  const [field, unwanted] = change === 'add' ? ([asked, other] as const) : ([other, asked] as const);
  if (params[unwanted]?.length) {
    throw badField(`inheritance_params.${unwanted}`, `does not go with action ${change}; send ${field}`);
  }
  const externalIds = params[field] ?? [];
  if (externalIds.length === 0) {
    throw badField(`inheritance_params.${field}`, `must name at least one customer with action ${change}`);
  }
  return { action: change, externalIds };
}

/** The group that changes; a body that names no children is about the modified subscription as the child. spec: §1.8, §2.13 */
export function groupingChange(body: ModifyBody, subscriptionId: string): GroupingChange {
  const params = paramsOf(body, 'grouped_invoicing');
  const change = params.action ?? 'add';
  const parentId = params.parent_subscription_id ?? null;
  if (change === 'remove' && parentId !== null) {
    throw badField('grouped_invoicing_params.parent_subscription_id', 'goes with action add only; leave it out');
  }
  const childIds = params.child_subscription_ids ?? [];
  const isOfChild = childIds.length === 0 || (childIds.length === 1 && childIds[0] === subscriptionId);
  const isOfParent = childIds.length > 0 && (parentId ?? subscriptionId) === subscriptionId;
  if (change === 'add' && isOfChild && parentId === null) {
    throw badField(
      'grouped_invoicing_params.child_subscription_ids',
      'must name the subscriptions to invoice with this one',
    );
  }
  if (!isOfChild && !isOfParent) {
    const where = `ask subscription ${parentId} for that, or name ${subscriptionId} alone`;
    throw badField(
      'grouped_invoicing_params.child_subscription_ids',
      `names others than the modified subscription; ${where}`,
    );
  }
  return { action: change, parentId: isOfChild ? parentId : null, childIds: isOfChild ? [] : childIds };
}

export function trialEndChange(body: ModifyBody): TrialEndChange {
  const params = paramsOf(body, 'trial_end');
  if (params.action === 'immediate') return { newTrialEnd: null };
  if (!params.new_trial_end) {
    throw badField('trial_end_params.new_trial_end', 'is required with action scheduled_date');
  }
  return { newTrialEnd: params.new_trial_end };
}

export function couponChange(body: ModifyBody, subscriptionId: string): CouponChange {
  const params = paramsOf(body, 'coupon');
  if (params.action === 'remove') {
    if (!params.coupon_association_id) {
      throw badField('coupon_params.coupon_association_id', 'is required with action remove');
    }
    return { action: 'remove', associationId: params.coupon_association_id, endDate: params.end_date ?? null };
  }
  if (!params.coupon_code) throw badField('coupon_params.coupon_code', 'is required with action add');
  if (params.subscription_id && params.subscription_line_item_id) {
    throw badField('coupon_params.subscription_line_item_id', 'cannot be combined with subscription_id; send one');
  }
  if (params.subscription_id && params.subscription_id !== subscriptionId) {
    throw badField('coupon_params.subscription_id', `must be ${subscriptionId}, the subscription that is modified`);
  }
  return {
    action: 'add',
    couponCode: params.coupon_code,
    startDate: params.start_date ?? null,
    endDate: params.end_date ?? null,
    lineItemId: params.subscription_line_item_id ?? null,
  };
}

export function taxChange(body: ModifyBody): TaxChange {
  const params = paramsOf(body, 'tax');
  const effectiveDate = params.effective_date ?? null;
  if (params.action === 'remove') {
    if (!params.tax_association_id) throw badField('tax_params.tax_association_id', 'is required with action remove');
    return { action: 'remove', associationId: params.tax_association_id, effectiveDate };
  }
  if (!params.tax_rate_id) throw badField('tax_params.tax_rate_id', 'is required with action add');
  return { action: 'add', taxRateId: params.tax_rate_id, effectiveDate };
}

export function addonChange(body: ModifyBody, subscriptionId: string, newId: (prefix: string) => string): AddonChange {
  const params = paramsOf(body, 'addon');
  if (params.action === 'add') {
    if (!params.add) throw badField('addon_params.add', 'is required with action add');
    if (params.add.subscription_id && params.add.subscription_id !== subscriptionId) {
      throw badField(
        'addon_params.add.subscription_id',
        `must be ${subscriptionId}, the subscription that is modified`,
      );
    }
    return { action: 'add', attachment: newAttachment(params.add, newId('addon_assoc'), 'addon_params.add.') };
  }
  const { remove } = params;
  if (!remove) throw badField('addon_params.remove', 'is required with action remove');
  return {
    action: 'remove',
    associationId: remove.addon_association_id,
    effectiveDate: remove.effective_date ?? null,
    prorationBehavior: remove.proration_behavior || null,
    reason: remove.reason ?? '',
  };
}
