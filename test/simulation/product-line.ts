import type { ChargeLine } from '../../billing/line/charge.ts';
import type { SimulatedLine } from './life.ts';

/** A line as a bill of the simulation shows it. */
export function shown(line: ChargeLine, amount: string): SimulatedLine {
  const name = line.subscriptionLineItemId ?? 'true-up';
  const info = line.commitmentInfo;
  const committed = info && [
    info.computed_commitment_utilized_amount,
    info.computed_overage_amount,
    info.computed_true_up_amount,
  ];
  return {
    item: line.metadata.is_overage ? `${name} overage` : name,
    start: Date.parse(line.periodStart),
    end: Date.parse(line.periodEnd),
    quantity: line.quantity,
    amount: minor(amount),
    ...(committed ? { committed: committed.map((part) => String(minor(part))).join(' ') } : {}),
  };
}

/** Money with the digits of its currency as a count of its smallest unit. */
export const minor = (amount: string): bigint => BigInt(amount.replace('.', ''));
