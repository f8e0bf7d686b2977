import { refuse } from '../../billing/refusal.ts';

/**
 * The modifications that add children to a subscription or take them away, `inheritance` and `grouped_invoicing`: the one place
 * where they come in. Throws `not_implemented` as long as there is no hierarchy. spec: subscriptions-and-invoicing §1.8, §2.13
 */
export function modifyHierarchy(type: 'inheritance' | 'grouped_invoicing'): never {
  throw refuse('not_implemented', `type ${type} is not available yet; a subscription has no children in this release`, {
    fields: { type: 'not available yet' },
  });
}
