import {
  type CommitmentChange,
  changedCommitment,
  type StandingCommitment,
} from '../../../billing/commitment/commitment-change.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import type { StoredTimeBucket } from '../../../db/entities/subscription/subscription-line-item.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readStoredPrices } from '../../catalogue/price/own-price.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type CommitmentColumns, commitItem, refuseBothLevels, uncommitted } from './line-item-commitment.ts';

/** How messages name the item, which is the request itself. */
const field = 'line_item';

/**
 * The commitment columns of the next version of a line item, which has the price `priceId`: what was sent over what the item has.
 * Null where the item is committed to nothing and stays so. Throws `validation_error` for a commitment it cannot have, and
 * beside one of the whole subscription. spec: subscriptions-and-invoicing §1.9, §2.7.3 – §2.7.5
 */
export async function commitNextVersion(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  next: { lineItemId: string; priceId: string },
  change: CommitmentChange,
): Promise<CommitmentColumns> {
  const standing = await standingCommitment(sql, scope.environmentId, next.lineItemId);
  const commitment = changedCommitment(standing, change, field);
  if (commitment === null) return uncommitted;
  refuseBothLevels(row, [{ commitment, field }]);
  const price = (await readStoredPrices(sql, scope.environmentId, [next.priceId])).get(next.priceId);
  if (!price) throw missing('price', next.priceId);
  return commitItem(sql, scope, { row, price, field }, commitment);
}

interface StoredRow {
  type: 'amount' | 'quantity' | null;
  amount: string | null;
  quantity: string | null;
  factor: string | null;
  duration: BillingPeriod | null;
  true_up: boolean;
  windowed: boolean;
  buckets: StoredTimeBucket[] | null;
  [column: string]: unknown;
}

async function standingCommitment(
  sql: Sql,
  environmentId: string,
  lineItemId: string,
): Promise<StandingCommitment | null> {
  const [row] = await sql.rows<StoredRow>(
    `select commitment_type as type, commitment_amount as amount, commitment_quantity as quantity,
       commitment_overage_factor as factor, commitment_duration as duration, commitment_true_up_enabled as true_up,
       commitment_windowed as windowed, commitment_time_buckets as buckets
     from subscription_line_item where environment_id = $1 and id = $2`,
    [environmentId, lineItemId],
  );
  if (!row) throw missing('line item', lineItemId);
  const buckets = row.buckets ?? [];
  if (row.type === null && buckets.length === 0) return null;
  const value = row.type === 'quantity' ? row.quantity : row.amount;
  return {
    type: row.type,
    value: value === null ? null : decimalText(value),
    overageFactor: row.factor === null ? '1' : decimalText(row.factor),
    trueUp: row.true_up,
    windowed: row.windowed,
    duration: row.duration,
    timeBuckets: buckets.map((bucket) => ({
      id: bucket.id,
      priceId: bucket.price_id,
      type: bucket.commitment_type as 'amount' | 'quantity',
      value: bucket.commitment_value,
      overageFactor: bucket.overage_factor,
      trueUp: bucket.true_up_enabled,
      start: bucket.start,
      end: bucket.end,
      from: bucket.from ?? null,
      to: bucket.to ?? null,
    })),
  };
}
