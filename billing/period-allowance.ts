import { type Allowance, allowanceOf } from './allowance.ts';
import { aggregateEntitlement, type EntitlementPart, partsInForce } from './entitlement.ts';
import { epochMs, instantText } from './local-time.ts';

/** A metered part and the meter of its feature. */
export interface MeteredPart extends EntitlementPart {
  meterId: string | null;
}

/**
 * The allowance of each meter for a period that ends at `end`, from the parts of one subscription, oldest first: those in
 * force in the period's last millisecond, which is what the usage summary showed last. A meter whose parts are all disabled
 * has none. spec: catalogue-and-metering §8.3, §8.4, §14 Entitlement archived in mid-period
 */
export function periodAllowances(parts: readonly MeteredPart[], end: string): Record<string, Allowance> {
  const at = instantText(epochMs(end) - 1);
  const allowances: Record<string, Allowance> = {};
  for (const [meterId, own] of Map.groupBy(parts, (part) => part.meterId)) {
    const inForce = partsInForce(own, at);
    if (meterId === null || inForce.length === 0) continue;
    const { isEnabled, usageLimit, usageResetPeriod } = aggregateEntitlement('metered', inForce);
    const reset = usageResetPeriod as Allowance['usageResetPeriod'];
    const allowance = allowanceOf({ isEnabled, usageLimit, usageResetPeriod: reset });
    if (allowance) allowances[meterId] = allowance;
  }
  return allowances;
}
