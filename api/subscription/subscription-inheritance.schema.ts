import { z } from 'zod';
import type { NewHierarchy } from '../../billing/subscription/new-subscription.ts';
import { badField } from '../../db/rows/record.ts';
import { childInput } from './subscription-child.schema.ts';

const id = z.string().min(1).max(255);

/** External ids of customers, each once. */
export const externalIdsInput = z.array(id).max(100, 'must name at most 100 customers');

/** Who is invoiced for a subscription, and who has part in it. spec: subscriptions-and-invoicing §1.2 inheritance, §2.13 */
export const inheritanceInput = z.object({
  invoicing_customer_external_id: z
    .string()
    .max(255)
    .nullish()
    .describe('Another customer who gets the invoices, with his own taxes, wallets and payment methods.'),
  external_customer_ids_to_inherit_subscription: externalIdsInput
    .nullish()
    .describe('Customers whose usage is added to that of this subscription before it is priced.'),
  parent_subscription_id: z
    .string()
    .max(255)
    .nullish()
    .describe('An active subscription this one is linked to; each is invoiced by itself.'),
  subscriptions_ids_for_grouped_invoicing: z
    .array(id)
    .max(100, 'must name at most 100 subscriptions')
    .nullish()
    .describe('Standalone subscriptions of the same periods whose lines are on the invoices of this one from then on.'),
  grouped_invoicing_children_to_create: z
    .array(childInput)
    .max(100, 'must have at most 100 children')
    .nullish()
    .describe('Subscriptions of other customers that are created with this one and are on its invoices.'),
});

/** Fields of older clients beside `inheritance`. spec: §1.2 inheritance */
export const parentFields = {
  parent_subscription_id: z.string().max(255).nullish().describe('As inheritance.parent_subscription_id.'),
  invoice_billing: z
    .enum(['invoice_to_parent', 'invoice_to_self'])
    .nullish()
    .describe("With parent_subscription_id: invoice_to_parent sends invoices to the parent's invoiced customer."),
};

interface HierarchyInput {
  inheritance?: z.output<typeof inheritanceInput> | null | undefined;
  parent_subscription_id?: string | null | undefined;
  invoice_billing?: 'invoice_to_parent' | 'invoice_to_self' | null | undefined;
}

/**
 * The hierarchy a creation asks for. Throws `validation_error` for parts that exclude each other and for two different parents.
 * spec: subscriptions-and-invoicing §2.13
 */
export function newHierarchy({ inheritance, ...old }: HierarchyInput): Omit<NewHierarchy, 'groupedChildren'> {
  refusePairs(inheritance);
  const parent = inheritance?.parent_subscription_id || old.parent_subscription_id || null;
  if (old.parent_subscription_id && old.parent_subscription_id !== parent) {
    throw badField(
      'parent_subscription_id',
      'names another subscription than inheritance.parent_subscription_id; send one',
    );
  }
  const isInvoicedToParent = old.invoice_billing === 'invoice_to_parent';
  if (isInvoicedToParent && parent === null) {
    throw badField('invoice_billing', 'invoice_to_parent needs parent_subscription_id');
  }
  if (isInvoicedToParent && inheritance?.invoicing_customer_external_id) {
    throw badField('invoice_billing', 'cannot be combined with inheritance.invoicing_customer_external_id; send one');
  }
  return {
    heirExternalIds: inheritance?.external_customer_ids_to_inherit_subscription ?? [],
    parentSubscriptionId: parent,
    isInvoicedToParent,
    groupedIds: inheritance?.subscriptions_ids_for_grouped_invoicing ?? [],
  };
}

const excluding = [
  ['parent_subscription_id', 'external_customer_ids_to_inherit_subscription'],
  ['parent_subscription_id', 'subscriptions_ids_for_grouped_invoicing'],
  ['parent_subscription_id', 'grouped_invoicing_children_to_create'],
  ['invoicing_customer_external_id', 'external_customer_ids_to_inherit_subscription'],
  ['invoicing_customer_external_id', 'subscriptions_ids_for_grouped_invoicing'],
  ['subscriptions_ids_for_grouped_invoicing', 'external_customer_ids_to_inherit_subscription'],
  ['subscriptions_ids_for_grouped_invoicing', 'grouped_invoicing_children_to_create'],
] as const;

/** spec: subscriptions-and-invoicing §2.13, table of pairs; errors 21 */
function refusePairs(inheritance: HierarchyInput['inheritance']): void {
  for (const [one, other] of excluding) {
    if (!isGiven(inheritance?.[one]) || !isGiven(inheritance?.[other])) continue;
    throw badField(`inheritance.${one}`, `cannot be combined with inheritance.${other}; send one of them`);
  }
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value != null && value !== '';
}
