import type { TimeBucketTerms } from '../../../billing/commitment/commitment-window.ts';
import type { ItemCommitment } from '../../../billing/line/charge-terms.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import type { StoredTimeBucket } from '../../../db/entities/subscription/subscription-line-item.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { ratedTerms } from './price-terms.ts';

type RatedPrice = Parameters<typeof ratedTerms>[0];

/** A line item's commitment as `commitmentColumn` reads it: decimals are texts, and each time bucket has its price. */
export interface StoredCommitment {
  type: 'amount' | 'quantity' | null;
  value: string | null;
  overageFactor: string | null;
  duration: BillingPeriod | null;
  trueUp: boolean;
  windowed: boolean;
  timeBuckets: (StoredTimeBucket & { price: RatedPrice & { rate: string | null } })[] | null;
}

/** The commitment of line item `l`, null without one. */
export const commitmentColumn = `case when l.commitment_type is null and l.commitment_time_buckets is null then null else jsonb_build_object(
  'type', l.commitment_type, 'value', coalesce(l.commitment_amount, l.commitment_quantity)::text,
  'overageFactor', l.commitment_overage_factor::text, 'duration', l.commitment_duration, 'trueUp', l.commitment_true_up_enabled,
  'windowed', l.commitment_windowed, 'timeBuckets', (
    select jsonb_agg(bucket || jsonb_build_object('price', jsonb_build_object('billingModel', b.billing_model, 'currency', b.currency,
      'amount', b.amount::text, 'tierMode', b.tier_mode, 'tiers', b.tiers, 'transformQuantity', b.transform_quantity,
      'percentageRate', b.percentage_rate::text, 'priceUnit', b.price_unit, 'priceUnitId', b.price_unit_id,
      'priceUnitAmount', b.price_unit_amount::text, 'priceUnitTiers', b.price_unit_tiers,
      'rate', coalesce((select u.conversion_rate from price_unit u where u.id = b.price_unit_id), b.conversion_rate)::text)) order by position)
    from jsonb_array_elements(l.commitment_time_buckets) with ordinality as stored(bucket, position)
    join price b on b.environment_id = l.environment_id and b.id = bucket ->> 'price_id')) end as commitment`;

/** The commitment as the rules take it; a stored one without members of its own lives by its time buckets. */
export function itemCommitment(stored: StoredCommitment): ItemCommitment {
  return {
    type: stored.type ?? 'amount',
    value: stored.value === null ? '0' : decimalText(stored.value),
    overageFactor: stored.overageFactor === null ? '1' : decimalText(stored.overageFactor),
    trueUp: stored.trueUp,
    duration: stored.duration,
    windowed: stored.windowed,
    timeBuckets: (stored.timeBuckets ?? []).map(timeBucket),
  };
}

/** The commitments of line items by id; none for those without. spec: subscriptions-and-invoicing §2.7.3 – §2.7.5 */
export async function commitmentsOfItems(
  sql: ScopedSql,
  itemIds: readonly string[],
): Promise<Map<string, ItemCommitment>> {
  if (itemIds.length === 0) return new Map();
  const rows = await sql.rows<{ id: string; commitment: StoredCommitment | null }>(
    `select l.id, ${commitmentColumn} from subscription_line_item l where l.environment_id = $1 and l.id = any($2)`,
    [sql.scope.environmentId, itemIds],
  );
  return new Map(rows.flatMap(({ id, commitment }) => (commitment ? [[id, itemCommitment(commitment)]] : [])));
}

function timeBucket(stored: NonNullable<StoredCommitment['timeBuckets']>[number]): TimeBucketTerms {
  const { rate, ...price } = stored.price;
  return {
    id: stored.id,
    type: stored.commitment_type,
    value: stored.commitment_value,
    overageFactor: stored.overage_factor,
    trueUp: stored.true_up_enabled,
    startMinute: stored.start.hour * 60 + stored.start.minute,
    endMinute: stored.end.hour * 60 + stored.end.minute,
    from: stored.from ?? null,
    to: stored.to ?? null,
    price: ratedTerms(price, rate),
  };
}
