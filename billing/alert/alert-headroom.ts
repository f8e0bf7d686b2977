import { type Decimal, least } from '../money/money.ts';
import { type AlertConfig, alertLevels } from './alert-config.ts';

/**
 * How far a watched value is from the next level it has not reached, in its own unit: falling to those below it, rising to those above.
 * Null where no level is left. A step back to a less severe state waits for credits or for time, not for usage.
 * design: money-in §1 The trigger
 */
export function alertHeadroom(
  config: Pick<AlertConfig, 'critical' | 'warning' | 'info'>,
  value: Decimal,
): Decimal | null {
  const distances = alertLevels.flatMap((name) => {
    const level = config[name];
    if (!level) return [];
    const distance =
      level.condition === 'above' ? value.minus(level.threshold).negated() : value.minus(level.threshold);
    return distance.gt(0) ? [distance] : [];
  });
  return distances.length === 0 ? null : distances.reduce(least);
}
