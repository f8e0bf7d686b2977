import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { notInThisRelease } from './scalars.ts';

const later = z.unknown().optional().describe(notInThisRelease);
const laterParts = [
  'external_customer_ids_to_inherit_subscription',
  'parent_subscription_id',
  'subscriptions_ids_for_grouped_invoicing',
  'grouped_invoicing_children_to_create',
] as const;

/** Who is invoiced for a subscription. spec: subscriptions-and-invoicing §1.2 inheritance, §2.13 */
export const inheritanceInput = z.object({
  invoicing_customer_external_id: z
    .string()
    .max(255)
    .nullish()
    .describe('Another customer who gets the invoices, with his own taxes, wallets and payment methods.'),
  external_customer_ids_to_inherit_subscription: later,
  parent_subscription_id: later,
  subscriptions_ids_for_grouped_invoicing: later,
  grouped_invoicing_children_to_create: later,
});

/** The external id of whoever is invoiced; null for the subscriber. Throws `not_implemented` for children and groups. */
export function invoicingCustomerOf(sent: z.output<typeof inheritanceInput> | null | undefined): string | null {
  for (const part of laterParts) {
    const value = sent?.[part];
    if (value == null || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    throw refuse('not_implemented', `inheritance.${part} is not available yet; leave it out or empty`, {
      fields: { [`inheritance.${part}`]: 'not available yet' },
    });
  }
  return sent?.invoicing_customer_external_id || null;
}
