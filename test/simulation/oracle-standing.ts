import type { Fraction } from '../unit/billing/rating-oracle.ts';
import type { SimulatedLine, Unit } from './life.ts';
import type { Bill, OracleLife } from './oracle.ts';
import type { BilledTime, Holding, OracleItem } from './oracle-charge.ts';
import {
  commitmentPeriodAt,
  isLonger,
  type OracleLine,
  type Standing,
  total,
  underCommitment,
} from './oracle-commitment.ts';

/** How far the commitments of a subscription and of its lines are used up. spec: subscriptions-and-invoicing §2.7.2, §2.11 */
export class Commitments {
  readonly life: OracleLife;
  /** Base cost of usage, by the start of the time it was billed for. */
  readonly used: { item: string; at: number; base: Fraction }[] = [];

  constructor(life: OracleLife) {
    this.life = life;
  }

  standing(duration: Unit, time: BilledTime, item: string | null): Standing {
    const period = commitmentPeriodAt(time.start, duration, this.life.timeline);
    const earlier = this.used.filter(
      (one) => one.at >= period.start && one.at < time.start && (item === null || one.item === item),
    );
    return { prior: total(earlier.map(({ base }) => base)), last: time.end >= period.end };
  }

  holdingOf({ id, commitment }: OracleItem, time: BilledTime, closes: boolean): Holding {
    const duration = commitment?.duration ?? null;
    const isCumulative = isLonger(duration, this.life.life.cadence);
    return { standing: isCumulative ? this.standing(duration!, time, id) : null, closes };
  }

  /** The lines as they are billed. Of one period the whole commitment is compared up to a pause, and not again after it. */
  applied(lines: readonly OracleLine[], { arrear, settles }: Bill): SimulatedLine[] {
    const { life, pauses } = this.life;
    const { commitment, cadence, currency } = life;
    const isCumulative = isLonger(commitment?.duration ?? null, cadence);
    let billed = lines;
    if (commitment && arrear && Number(commitment.amount) > 0) {
      const again = pauses.some(({ start, end }) => end === arrear.start && start >= arrear.arrear.start);
      const standing = isCumulative
        ? this.standing(commitment.duration!, arrear, null)
        : { prior: { n: 0n, d: 1n }, last: settles === true };
      if (isCumulative || !again)
        billed = underCommitment(lines, commitment, { ...standing, isCumulative }, arrear, currency);
    }
    for (const { item, cost } of lines) if (cost && arrear) this.used.push({ item, at: arrear.start, base: cost });
    return billed.map(({ cost: _cost, unit: _unit, ...line }) => line);
  }
}
