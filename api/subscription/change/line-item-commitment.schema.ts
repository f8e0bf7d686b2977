import { z } from 'zod';
import type { ChangedTimeBucket, CommitmentChange } from '../../../billing/commitment/commitment-change.ts';
import { badField } from '../../../db/rows/record.ts';
import { itemCommitmentFields, newTimeBucket, timeBucket } from './subscription-item.schema.ts';

const changedBucket = timeBucket.extend({
  id: z.string().min(1).max(255).nullish().describe('A time bucket the line item has, which keeps its id.'),
  price: timeBucket.shape.price.nullish().describe('Required without an id; with one, left out it stays.'),
});

/** What a line item is committed to from now on. spec: subscriptions-and-invoicing §1.9 PUT */
export const changedCommitmentFields = {
  ...itemCommitmentFields,
  commitment_time_buckets: z
    .array(changedBucket)
    .max(1440)
    .nullish()
    .describe('All there shall be; an empty list takes them away.'),
};

const changed = z.object(changedCommitmentFields);

/** The members that were sent; null for none. Throws `validation_error` for members that contradict each other. */
export function commitmentChange(sent: z.output<typeof changed>): CommitmentChange | null {
  const { commitment_amount: amount, commitment_quantity: quantity } = sent;
  if (amount != null && quantity != null)
    throw badField('commitment_quantity', 'cannot be combined with commitment_amount; send one');
  const type = amount != null ? 'amount' : quantity != null ? 'quantity' : undefined;
  if (type && sent.commitment_type && sent.commitment_type !== type)
    throw badField('commitment_type', `must be ${type} beside commitment_${type}`);
  const change = {
    type: type ?? sent.commitment_type,
    value: amount ?? quantity,
    overageFactor: sent.commitment_overage_factor,
    trueUp: sent.commitment_true_up_enabled,
    windowed: sent.commitment_windowed,
    duration: sent.commitment_duration,
    timeBuckets: sent.commitment_time_buckets?.map(changedTimeBucket),
  };
  const members = Object.entries(change).filter(([, value]) => value != null);
  return members.length === 0 ? null : Object.fromEntries(members);
}

function changedTimeBucket({ id, price, ...sent }: z.output<typeof changedBucket>): ChangedTimeBucket {
  const { terms, ...bucket } = newTimeBucket({ ...sent, price: price ?? {} });
  return { ...bucket, id: id ?? null, terms: price ? terms : null };
}
