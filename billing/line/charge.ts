import { cadenceRelation } from '../time/cadence.ts';
import type {
  ChargeItem,
  ChargePlanInput,
  ChargeReason,
  PlannedCharge,
  PlannedPart,
  UsageQuestion,
} from './charge-input.ts';
import { planUsage } from './charge-usage.ts';
import { partOfCommitment } from './commitment-period.ts';
import { type CountedService, countedServices } from './intermediate-invoice.ts';

export type * from './charge-input.ts';
export { priceCharges } from './charge-price.ts';

/**
 * The lines an invoice bills, in their order, and what must be read from the usage store before they can be priced. FIXED
 * items come first, then USAGE, each by start and id; a folded line (grouping per_billing_period) holds its windows as parts.
 * A time already on a live invoice line of the same item is left out.
 * spec: subscriptions-and-invoicing §2.6.1 – §2.6.4
 */
export function planCharges(input: ChargePlanInput): PlannedCharge[] {
  return [...input.items].sort(lineOrder).flatMap((item) => planItem(item, input));
}

function planItem(item: ChargeItem, input: ChargePlanInput): PlannedCharge[] {
  const services = countedServices(item, input);
  if (services.length === 0) return [];
  const { subscription } = input;
  const questions = new Map<string, UsageQuestion>();
  const parts = services.map((service) => planPart(item, service, input, questions));
  const base = { item, currency: subscription.currency, charge: chargeKind(item) };
  const fold =
    subscription.lineItemGrouping === 'per_billing_period' && cadenceRelation(item, subscription) === 'shorter';
  if (fold) {
    const period = (item.invoiceCadence === 'ADVANCE' ? input.next : input.elapsed)!;
    const folded = { ...base, periodStart: period.start, periodEnd: period.end, parts, folded: true };
    return [{ ...folded, questions: [...questions.values()] }];
  }
  return parts.map((part) => ({
    ...base,
    periodStart: part.start,
    periodEnd: part.end,
    parts: [part],
    folded: false,
    questions: questionsOf(part, questions),
  }));
}

function planPart(
  item: ChargeItem,
  service: CountedService,
  input: ChargePlanInput,
  questions: Map<string, UsageQuestion>,
): PlannedPart {
  const counted = service.billedBefore ? { ...service, start: service.billedBefore.from } : service;
  const usage = item.priceType === 'USAGE' ? planUsage(item, counted, input, questions) : null;
  const { start, end, proration, window, billedBefore } = service;
  const unfinished = isCutShort(input.reason) && window.end >= (input.elapsed?.end ?? window.end);
  const commitmentPeriod = partOfCommitment(item, window, input.subscription);
  return {
    start,
    end,
    proration,
    usage,
    ...(unfinished ? { unfinished } : {}),
    ...(commitmentPeriod ? { commitmentPeriod } : {}),
    ...(billedBefore ? { billedBefore } : {}),
  };
}

/** What is missing of a commitment is not due while the charge period goes on. */
function isCutShort(reason: ChargeReason): boolean {
  return reason === 'closing' || reason === 'threshold' || reason === 'running';
}

function questionsOf(part: PlannedPart, questions: Map<string, UsageQuestion>): UsageQuestion[] {
  const { usage } = part;
  if (!usage) return [];
  const windows = usage.windows.flatMap((window) => [
    ...window.before,
    ...window.total,
    ...window.aheadBefore,
    ...window.aheadTotal,
  ]);
  const keys = new Set(usage.main === null ? windows : [usage.main, ...windows]);
  return [...keys].map((key) => questions.get(key)!);
}

function chargeKind(item: ChargeItem): PlannedCharge['charge'] {
  if (item.priceType === 'USAGE') return 'usage';
  return item.billingPeriod === 'ONETIME' ? 'onetime' : 'fixed';
}

/** Order of an invoice's lines and of the lines that share an allowance. spec: subscriptions-and-invoicing §2.6.4 */
function lineOrder(a: ChargeItem, b: ChargeItem): number {
  if (a.priceType !== b.priceType) return a.priceType === 'FIXED' ? -1 : 1;
  return compare(a.startDate, b.startDate) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Every question of a plan, each key once. */
export function usageQuestions(planned: readonly PlannedCharge[]): UsageQuestion[] {
  const byKey = new Map(planned.flatMap((charge) => charge.questions).map((question) => [question.key, question]));
  return [...byKey.values()];
}
