import type { Fraction } from '../unit/billing/rating-oracle.ts';
import type { SimulatedLine, Unit } from './life.ts';
import type { Bill, OracleLife } from './oracle.ts';
import { type BilledTime, type Holding, type OracleItem, relationOf, type Share } from './oracle-charge.ts';
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
  readonly used: { at: number; base: Fraction }[] = [];
  /** The same of the lines that are committed for several of their charge windows, by the start of the window. */
  readonly usedOfLines: { item: string; at: number; base: Fraction }[] = [];

  constructor(life: OracleLife) {
    this.life = life;
  }

  standing(duration: Unit, time: BilledTime): Standing {
    const period = commitmentPeriodAt(time.start, duration, this.life.timeline);
    const earlier = this.used.filter((one) => one.at >= period.start && one.at < time.start);
    return { prior: total(earlier.map(({ base }) => base)), last: time.end >= period.end };
  }

  /** A line is charged by its own cadence, which its commitment may last longer than. §2.6.3, §2.7.3 */
  holdingOf({ id, commitment, offer }: OracleItem, closes: boolean): Holding {
    const { timeline, life } = this.life;
    const duration = commitment?.duration ?? null;
    const charged = relationOf(offer, life.cadence) === 'finer' ? life.cadence : offer.cadence;
    if (duration === null || charged === null || !isLonger(duration, charged)) return { standing: () => null, closes };
    const standing = ({ from, until }: Share, cost: Fraction): Standing => {
      const period = commitmentPeriodAt(from, duration, timeline);
      const earlier = this.usedOfLines.filter(({ item, at }) => item === id && at >= period.start && at < from);
      this.usedOfLines.push({ item: id, at: from, base: cost });
      return { prior: total(earlier.map(({ base }) => base)), last: until >= period.end };
    };
    return { standing, closes };
  }

  /** The lines as they are billed. Of one period the whole commitment is compared up to a pause, and not again after it. */
  applied(lines: readonly OracleLine[], { arrear, settles }: Bill): SimulatedLine[] {
    const { life, pauses } = this.life;
    const { commitment, cadence, currency } = life;
    const isCumulative = isLonger(commitment?.duration ?? null, cadence);
    let billed = lines;
    if (commitment && arrear && Number(commitment.amount) > 0) {
      const again = pauses.some(({ start, end }) => end === arrear.start && start >= arrear.usage.start);
      const standing = isCumulative
        ? this.standing(commitment.duration!, arrear)
        : { prior: { n: 0n, d: 1n }, last: settles === true };
      if (isCumulative || !again)
        billed = underCommitment(lines, commitment, { ...standing, isCumulative }, arrear, currency);
    }
    for (const { cost } of lines) if (cost && arrear) this.used.push({ at: arrear.start, base: cost });
    return billed.map(({ cost: _cost, unit: _unit, ...line }) => line);
  }
}
