import type { LinkedMethod } from '../payment-link.ts';
import { type ChargebeeClient, listAll } from './client.ts';
import type { ChargebeeSource } from './shapes.ts';

/** The card that Chargebee keeps for the customer of a page, the one saved last; null where it keeps none that can be charged. */
export async function methodOfPayer(client: ChargebeeClient, customerId: string): Promise<LinkedMethod | null> {
  const filter = { 'customer_id[is]': customerId, 'type[is]': 'card' };
  const entries = await listAll<{ payment_source: ChargebeeSource }>(client, '/payment_sources', { filter });
  const [source] = entries
    .map(({ payment_source }) => payment_source)
    .filter(({ status, deleted }) => !deleted && (status === 'valid' || status === 'expiring'))
    .toSorted((a, b) => b.created_at - a.created_at);
  if (!source) return null;
  const { id, card } = source;
  return { token: id, customerToken: customerId, brand: card?.brand ?? '', lastFour: card?.last4 ?? '' };
}
