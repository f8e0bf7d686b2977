import type {
  ChargeItem,
  ChargeLine,
  ChargePeriod,
  ChargePlanInput,
  UsageAnswer,
  UsageQuestion,
} from '../../../../billing/line/charge.ts';
import { planCharges, priceCharges, usageQuestions } from '../../../../billing/line/charge.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { canonicalInstant } from '../../../../billing/time/calendar.ts';

/** Words of the charge tests: instants, items, periods and invoices in one line each. */
export function at(text: string): string {
  return canonicalInstant(text.includes('T') ? text : `${text}T00:00:00Z`)!;
}

export const flat = (amount: string): PriceTerms => ({ billing_model: 'FLAT_FEE', amount, currency: 'usd' });

/** A fixed monthly item in advance since 2026-01-01, unless told otherwise. */
export function item(id: string, members: Partial<ChargeItem> = {}): ChargeItem {
  return {
    id,
    priceId: `price-${id}`,
    priceType: 'FIXED',
    invoiceCadence: 'ADVANCE',
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    displayName: id,
    quantity: '1',
    startDate: at('2026-01-01'),
    endDate: null,
    meterId: null,
    price: flat('30'),
    bucketSize: null,
    resetUsage: 'BILLING_PERIOD',
    ...members,
  };
}

export function usageItem(id: string, members: Partial<ChargeItem> = {}): ChargeItem {
  return item(id, {
    priceType: 'USAGE',
    invoiceCadence: 'ARREAR',
    quantity: '0',
    meterId: 'meter',
    price: flat('1'),
    ...members,
  });
}

export function period(start: string, end: string, fullStart = start, fullEnd = end): ChargePeriod {
  return { start: at(start), end: at(end), full: { start: at(fullStart), end: at(fullEnd) } };
}

export const monthly: ChargePlanInput['subscription'] = {
  currency: 'usd',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCycle: 'anniversary',
  billingAnchor: at('2026-01-01'),
  timezone: 'UTC',
  lineItemGrouping: 'per_charge_period',
};

export const quarterly: ChargePlanInput['subscription'] = { ...monthly, billingPeriod: 'QUARTERLY' };

/** The cycle invoice of 1 March of a monthly subscription, unless told otherwise. */
export function invoice(items: ChargeItem[], members: Partial<ChargePlanInput> = {}): ChargePlanInput {
  return {
    reason: 'cycle',
    subscription: monthly,
    elapsed: period('2026-02-01', '2026-03-01'),
    next: period('2026-03-01', '2026-04-01'),
    items,
    allowances: {},
    billed: [],
    ...members,
  };
}

/** Plans and prices; usage is answered by a function of the question. `prior`: used of longer commitments before. */
export function linesOf(
  input: ChargePlanInput,
  answer: (question: UsageQuestion) => string | UsageAnswer = () => '0',
  prior: Record<string, string> = {},
): ChargeLine[] {
  const planned = planCharges(input);
  const answers: Record<string, UsageAnswer> = {};
  for (const question of usageQuestions(planned)) {
    const given = answer(question);
    answers[question.key] = typeof given === 'string' ? { quantity: given, watermark: 'w1' } : given;
  }
  return priceCharges(planned, answers, prior);
}

/** The members most tests look at: id, start day, end day, quantity, amount. */
export function brief(lines: ChargeLine[]): string[][] {
  const day = (instant: string): string => (instant.endsWith('T00:00:00.000Z') ? instant.slice(0, 10) : instant);
  return lines.map((line) => [
    line.subscriptionLineItemId ?? '',
    day(line.periodStart),
    day(line.periodEnd),
    line.quantity,
    line.amount,
  ]);
}

/** A meter that counts the events it was given, each of value 1 or its own. */
export function meterOf(events: { item?: string; at: string; value?: number }[]): (question: UsageQuestion) => string {
  return ({ from, to }) => {
    const counted = events.filter((event) => at(event.at) >= from && at(event.at) < to);
    return String(counted.reduce((all, event) => all + (event.value ?? 1), 0));
  };
}
