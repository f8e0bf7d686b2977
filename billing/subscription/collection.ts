import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';

export type CollectionMethod = 'charge_automatically' | 'send_invoice';
export type PaymentBehavior = 'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete' | 'default_active';

/** How an opening invoice is collected. */
export interface OpeningCollection {
  /** A payment is attempted; with `withinCreation` before the creation is committed, which its failure undoes. */
  attempt: boolean;
  withinCreation: boolean;
  /** Status until, and unless, the opening invoice is paid. */
  statusUnpaid: 'active' | 'incomplete';
  statusPaid: 'active';
}

type Rule = Pick<OpeningCollection, 'attempt' | 'withinCreation' | 'statusUnpaid'>;

/** spec: subscriptions-and-invoicing §2.3.4 */
const matrix: Record<CollectionMethod, Partial<Record<PaymentBehavior, Rule>>> = {
  charge_automatically: {
    default_active: { attempt: true, withinCreation: false, statusUnpaid: 'active' },
    allow_incomplete: { attempt: true, withinCreation: false, statusUnpaid: 'incomplete' },
    error_if_incomplete: { attempt: true, withinCreation: true, statusUnpaid: 'active' },
  },
  send_invoice: {
    default_active: { attempt: false, withinCreation: false, statusUnpaid: 'active' },
    default_incomplete: { attempt: false, withinCreation: false, statusUnpaid: 'incomplete' },
  },
};

/**
 * How the opening invoice of a subscription is collected; a pair that does not go together is refused. An amount of 0 counts as
 * paid and nothing is attempted. spec: subscriptions-and-invoicing §2.3.4
 */
export function openingCollection(
  method: CollectionMethod,
  behavior: PaymentBehavior,
  openingAmount: string,
): OpeningCollection {
  const rule = matrix[method]?.[behavior];
  if (!rule) {
    const accepted = Object.keys(matrix[method] ?? {}).join(', ');
    throw refuse(
      'validation_error',
      `payment_behavior ${behavior} does not go with collection_method ${method}: accepted is ${accepted}`,
      {
        fields: { payment_behavior: `with ${method}: ${accepted}` },
      },
    );
  }
  if (!decimal(openingAmount).greaterThan(0))
    return { attempt: false, withinCreation: false, statusUnpaid: 'active', statusPaid: 'active' };
  return { ...rule, statusPaid: 'active' };
}

/** True when the opening payment belongs to the creation or activation, which its failure takes back. spec: §2.3.4 */
export function isPaidWithinCreation(terms: { collectionMethod: string; paymentBehavior: string }): boolean {
  const { collectionMethod, paymentBehavior } = terms;
  return openingCollection(collectionMethod as CollectionMethod, paymentBehavior as PaymentBehavior, '1')
    .withinCreation;
}

/**
 * The first status once the opening payment has been tried (or there was nothing to try). With error_if_incomplete a payment
 * that did not succeed is refused, which undoes the creation. spec: subscriptions-and-invoicing §2.3.4
 */
export function openingStatus(
  collection: OpeningCollection,
  paid: boolean,
  reason = 'declined',
): 'active' | 'incomplete' {
  if (paid) return collection.statusPaid;
  if (collection.withinCreation) {
    throw refuse(
      'invalid_operation',
      `the opening invoice could not be paid (${reason}), so nothing was kept, as payment_behavior error_if_incomplete asks; send it again with another payment method`,
      { rolled_back: true, reason },
    );
  }
  return collection.statusUnpaid;
}
