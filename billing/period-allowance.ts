import { type Allowance, allowanceOf } from './allowance.ts';
import { aggregateEntitlement, type EntitlementPart, partsInForce } from './entitlement.ts';
import { type MeterGrants, meterGrants } from './grant.ts';
import { epochMs, instantText } from './local-time.ts';

/** A metered part and the meter of its feature. */
export interface MeteredPart extends EntitlementPart {
  meterId: string | null;
}

/** What is included of the usage of meters in a period, by meter id; a meter is in one of them at most. */
export interface PeriodTerms {
  allowances: Record<string, Allowance>;
  grants: Record<string, MeterGrants>;
}

/**
 * The allowance or the budgets of each meter for a period that ends at `end`, from the parts of one subscription, oldest first:
 * those in force in the period's last millisecond, which is what the usage summary showed last. Budgets take the place of the
 * limit; a meter whose parts are all disabled has neither. spec: catalogue-and-metering §8.3, §8.4, §9.3, §14 Entitlement
 * archived in mid-period
 */
export function periodTerms(parts: readonly MeteredPart[], end: string): PeriodTerms {
  const at = instantText(epochMs(end) - 1);
  const terms: PeriodTerms = { allowances: {}, grants: {} };
  for (const [meterId, own] of Map.groupBy(parts, (part) => part.meterId)) {
    const inForce = partsInForce(own, at);
    if (meterId === null || inForce.length === 0) continue;
    const grants = meterGrants(inForce);
    if (grants) {
      terms.grants[meterId] = grants;
      continue;
    }
    const { isEnabled, usageLimit, usageResetPeriod } = aggregateEntitlement('metered', inForce);
    const reset = usageResetPeriod as Allowance['usageResetPeriod'];
    const allowance = allowanceOf({ isEnabled, usageLimit, usageResetPeriod: reset });
    if (allowance) terms.allowances[meterId] = allowance;
  }
  return terms;
}
