/** Which subscriptions a statement is about. */
export interface SubscriptionSet {
  /** A word for the kind of it, for the names of kept plans. */
  name: string;
  /** SQL of an array of their ids, over the environment as `$1` and `values` from `$2` on. */
  ids: string;
  values: unknown[];
}

/** The subscriptions of these ids. */
export function subscriptionsNamed(ids: readonly string[]): SubscriptionSet {
  return { name: 'named', ids: '$2', values: [[...ids]] };
}

/** A customer by its id, whatever its state, or by the external id of one that is not archived. */
export type NamedCustomer = { id: string } | { externalId: string };

/** The condition of a row `c` of customers for the value of `customerName` as `$2`, with a word for it. */
export function customerCondition(named: NamedCustomer): { name: string; sql: string } {
  return 'id' in named
    ? { name: 'id', sql: 'c.id = $2' }
    : { name: 'external_id', sql: `c.external_id = $2 and c.status = 'published'` };
}

/** What a customer was named by. */
export function customerName(named: NamedCustomer): string {
  return 'id' in named ? named.id : named.externalId;
}

/** The published subscriptions of a customer in one of these states: what reads of it may ask about before it was looked up. */
export function subscriptionsOfCustomer(named: NamedCustomer, statuses: readonly string[]): SubscriptionSet {
  const { name, sql } = customerCondition(named);
  return {
    name: `customer-${name}`,
    ids: `array(select mine.id from customer c join subscription mine on mine.environment_id = $1 and mine.customer_id = c.id
      where c.environment_id = $1 and ${sql} and mine.status = 'published' and mine.subscription_status = any($3))`,
    values: [customerName(named), statuses],
  };
}
