import { refuse } from '../refusal.ts';
import { type ChargeCadence, cadenceRelation } from '../time/cadence.ts';
import type { BillingPeriod } from '../time/calendar.ts';

/** True when a commitment runs over several billing periods. */
export function isCumulative(charged: ChargeCadence, duration: BillingPeriod | null): boolean {
  if (duration === null) return false;
  return cadenceRelation({ billingPeriod: duration, billingPeriodCount: 1 }, charged) !== 'equal';
}

/**
 * Refuses a duration that is not a billing period or a whole multiple of it: of the subscription for its own commitment, of the
 * item for that of a line. spec: subscriptions-and-invoicing §1.2
 */
export function checkDuration(charged: ChargeCadence, duration: BillingPeriod | null, field: string): void {
  if (duration === null) return;
  const relation = cadenceRelation(charged, { billingPeriod: duration, billingPeriodCount: 1 });
  if (relation === 'equal' || relation === 'shorter') return;
  const { billingPeriod, billingPeriodCount } = charged;
  throw refuse(
    'validation_error',
    `${field} ${duration} must be the billing period (${billingPeriodCount} × ${billingPeriod}) or a whole multiple of it`,
    { fields: { [field]: 'must be the billing period or a whole multiple of it' } },
  );
}
