import type { AggregationType } from './meter.ts';
import { decimalOfScaled, divideRounded, quantityDecimals, scaledInteger, weightedDecimals } from './quantity.ts';
import { microsecondsOf } from './timestamp.ts';

/** The sums of a set of events, from which every aggregate follows. Decimal texts; null where there was no event. */
export interface UsageSums {
  readonly count: number;
  readonly sum: string | null;
  /** Σ quantity × seconds since 1970. */
  readonly weightedSum: string | null;
  readonly greatest: string | null;
  readonly latest: string | null;
  readonly distinctCount: number;
}

/** How a meter turns sums into a value. `from` and `to` are the interval that weighs a WEIGHTED_SUM. */
export interface ValueRule {
  readonly type: AggregationType;
  readonly multiplier: string | null;
  readonly from: string;
  readonly to: string;
}

/**
 * The aggregate of a set of events: exact until the last step, then rounded half away from zero to 15 decimals and
 * clamped to at least 0. spec: catalogue-and-metering §7.1
 */
export function aggregateValue(sums: UsageSums, rule: ValueRule): string {
  const value = scaledValue(sums, rule);
  return decimalOfScaled(value < 0n ? 0n : value);
}

function scaledValue(sums: UsageSums, rule: ValueRule): bigint {
  if (sums.count === 0) return 0n;
  const sum = scaled(sums.sum, quantityDecimals);
  switch (rule.type) {
    case 'COUNT':
      return BigInt(sums.count) * one;
    case 'COUNT_UNIQUE':
      return BigInt(sums.distinctCount) * one;
    case 'SUM':
      return sum;
    case 'AVG':
      return divideRounded(sum, BigInt(sums.count));
    case 'MAX':
      return scaled(sums.greatest, quantityDecimals);
    case 'LATEST':
      return scaled(sums.latest, quantityDecimals);
    case 'SUM_WITH_MULTIPLIER':
      return divideRounded(sum * scaled(rule.multiplier ?? '1', quantityDecimals), one);
    case 'WEIGHTED_SUM':
      return weighted(sum, scaled(sums.weightedSum, weightedDecimals), rule);
  }
}

const one = 10n ** BigInt(quantityDecimals);

/** (end · Σq − Σ(q·t)) ÷ (end − start). */
function weighted(sum: bigint, weightedSum: bigint, rule: ValueRule): bigint {
  const end = microsecondsOf(rule.to);
  const length = end - microsecondsOf(rule.from);
  return length > 0n ? divideRounded(end * sum - weightedSum, length) : 0n;
}

function scaled(text: string | null, decimals: number): bigint {
  return text === null ? 0n : (scaledInteger(text, decimals) ?? 0n);
}
