import { isActive } from '../../billing/commitment/commitment.ts';
import type {
  ChargeLine,
  ChargePeriod,
  ChargeReason,
  PlannedCharge,
  UsageAnswer,
  UsageQuestion,
} from '../../billing/line/charge.ts';
import { commitmentKey } from '../../billing/line/charge-commitment.ts';
import { commitCharges } from '../../billing/line/charge-overage.ts';
import type { ItemCommitment } from '../../billing/line/charge-terms.ts';
import { commitmentStanding } from '../../billing/line/commitment-period.ts';
import { decimal, sum } from '../../billing/money/money.ts';
import type { PriceTerms } from '../../billing/price/price-terms.ts';
import { windowBounds } from '../../billing/time/window.ts';
import type { BucketSize, Offer } from './life.ts';
import type { ProductLife } from './product.ts';

interface Billing {
  reason: ChargeReason;
  elapsed: ChargePeriod | null;
  pauses?: boolean;
}

/** Commitments as services/charging/subscription-commitment.ts reads them: what earlier invoices used of each. */
export class ProductCommitments {
  readonly life: ProductLife;
  /** By the start of the time they were billed with; of a line that is committed for longer, by its commitment period. */
  readonly used: { item: string; at: string; base: string; since: string | null }[] = [];

  constructor(life: ProductLife) {
    this.life = life;
  }

  standing(duration: ItemCommitment['duration'], { reason, elapsed, pauses = false }: Billing) {
    const { row, paused } = this.life;
    return elapsed && commitmentStanding(row, duration, { reason, elapsed, pauses, paused });
  }

  prior(begun: string, before: string): string {
    const earlier = this.used.filter(({ at }) => at >= begun && at < before);
    return sum(earlier.map(({ base }) => decimal(base))).toFixed();
  }

  /** What was used of the commitments of planned lines before. */
  priorOfLines(planned: readonly PlannedCharge[]): Record<string, string> {
    const prior: Record<string, string> = {};
    for (const { item, parts } of planned) {
      for (const { commitmentPeriod } of parts) {
        if (!commitmentPeriod) continue;
        const own = this.used.filter(({ item: of, since }) => of === item.id && since === commitmentPeriod.start);
        prior[commitmentKey(item.id, commitmentPeriod.start)] = sum(own.map(({ base }) => decimal(base))).toFixed();
      }
    }
    return prior;
  }

  held(lines: ChargeLine[], bill: Billing): ChargeLine[] {
    const { commitmentAmount: amount, overageFactor, commitmentDuration, enableTrueUp, currency } = this.life.row;
    if (amount === null || !isActive({ amount, overageFactor }) || !bill.elapsed) return lines;
    const standing = this.standing(commitmentDuration, bill);
    if (!standing) return lines;
    const { period, last } = standing;
    const { start, end } = bill.elapsed;
    const prior = this.prior(period.start, start);
    return commitCharges(lines, {
      commitment: { amount, overageFactor, trueUp: enableTrueUp, prior, cumulative: period.cumulative, last },
      currency,
      planName: 'plan',
      periodStart: start,
      periodEnd: end,
    });
  }

  /** What the derivations of lines keep. */
  count(lines: readonly ChargeLine[], at: string): void {
    for (const { priceType, derivation, subscriptionLineItemId } of lines) {
      if (priceType !== 'USAGE') continue;
      for (const { commitment } of derivation.parts) {
        if (!commitment) continue;
        this.used.push({
          item: subscriptionLineItemId!,
          at,
          base: commitment.base,
          since: commitment.since ?? null,
        });
      }
    }
  }
}

export function commitmentOf({ commitment, id }: Offer): ItemCommitment | null {
  if (!commitment) return null;
  const { kind, value, factor, trueUp, duration, windowed, times } = commitment;
  return {
    type: kind,
    value,
    overageFactor: factor,
    trueUp,
    duration,
    windowed,
    timeBuckets: times.map((time, index) => ({
      id: `${id} ${index}`,
      type: time.kind,
      value: time.value,
      overageFactor: time.factor,
      trueUp: time.trueUp,
      startMinute: time.from,
      endMinute: time.to,
      price: time.price as PriceTerms,
    })),
  };
}

/** What the usage store would answer. */
export function answersOf(life: ProductLife, questions: readonly UsageQuestion[]): Record<string, UsageAnswer> {
  return Object.fromEntries(questions.map((question) => [question.key, answerOf(life, question)]));
}

function answerOf(
  { life: { usage, timezone }, family }: ProductLife,
  { meterId, from, to, bucketSize }: UsageQuestion,
): UsageAnswer {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const counted = usage.filter(
    (event) => event.meter === meterId && event.at >= first && event.at < last && family.counts(event),
  );
  const added = (events: typeof counted) => sum(events.map(({ quantity }) => decimal(quantity))).toFixed();
  const quantity = added(counted);
  if (bucketSize === null) return { quantity };
  const windowSize = bucketSize as BucketSize;
  const startOf = (at: number) => windowBounds({ timestamp: new Date(at).toISOString(), windowSize, timezone }).start;
  const buckets = [...Map.groupBy(counted, ({ at }) => startOf(at))].sort(([a], [b]) => (a < b ? -1 : 1));
  return { quantity, buckets: buckets.map(([start, events]) => ({ start, group: '', value: added(events) })) };
}
