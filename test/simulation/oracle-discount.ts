import type { OracleInvoice } from '../support/oracles/invoice-oracle.ts';
import type { Life } from './life.ts';
import type { Span } from './oracle-charge.ts';
import { nextOf, type OracleCadence } from './oracle-clock.ts';

/** The coupon of a life, redeemed with the subscription, as the text has it. §2.17.1, decision 43 */
export class OracleDiscount {
  private readonly percentage: bigint | null;
  /** The last instant at which it is in force. */
  private readonly end: number;

  /** The cadence is that of the subscription when it is made; a later anchor does not move the end. */
  constructor({ discount, discountPeriods, start }: Life, cadence: OracleCadence) {
    this.percentage = discount;
    let boundary = Math.min(start, cadence.anchor);
    for (let next = nextOf(boundary, cadence); next <= start; next = nextOf(next, cadence)) boundary = next;
    for (let period = 0; period < (discountPeriods ?? 0); period += 1) boundary = nextOf(boundary, cadence);
    this.end = discountPeriods === null ? Number.POSITIVE_INFINITY : boundary - 1000;
  }

  /** An invoice has it for the lines whose own time it is in force in. It began with the subscription, so all begin later. */
  couponsOf(lines: readonly Span[]): OracleInvoice['coupons'] {
    const covers = lines.flatMap(({ start }, line) => (start <= this.end ? [line] : []));
    return this.percentage === null ? [] : [{ line: null, percentage: this.percentage, amountOff: null, covers }];
  }
}
