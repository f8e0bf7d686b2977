import { priceCharges } from '../line/charge.ts';
import type { ChargeItem, ChargeLine, ChargePeriod, ChargeSubscription } from '../line/charge-input.ts';
import { remainingServices } from '../line/charge-window.ts';
import {
  cappedCredit,
  type Proration,
  type ProrationAction,
  type ProrationBehavior,
  settlementOf,
  sidesOf,
} from '../line/proration.ts';
import { type Decimal, decimal, greatest, least, moneyString, sum, zero } from '../money/money.ts';
import type { Derivation } from '../price/derivation.ts';
import { costOfQuantity } from '../price/price.ts';
import { costInCurrency } from '../price/price-unit.ts';
import { refuse } from '../refusal.ts';
import { cadenceRelation } from '../time/cadence.ts';
import { type BillingPeriod, monthsOfPeriod } from '../time/calendar.ts';
import { type ProratedTime, proratedTimes } from './prorated-time.ts';

/** A charge that ends: what live invoices and settlements billed of its time after the change, and what was given back. */
export interface EndingCharge {
  item: ChargeItem;
  /** Null: unknown, so that nothing caps the credit. */
  billed: string | null;
  credited: string;
}

export interface ChangeInput {
  action: ProrationAction;
  behavior: ProrationBehavior;
  subscription: ChargeSubscription;
  /** The current period beside the whole one it is part of. */
  period: ChargePeriod;
  effectiveAt: string;
  ended: readonly EndingCharge[];
  /** New items; they begin at `effectiveAt` or later. */
  started: readonly ChargeItem[];
  /**
   * What the subscription was charged in advance for time that is not over, less what went back of it already; absent: what is
   * left of the bills of the items that end.
   */
  room?: string;
}

/** A credit (below zero) or a charge of the rest of a period. */
export type ProratedLine = ChargeLine & {
  side: 'credit' | 'charge';
  /** The amount before the cap; above or equal to zero on either side. */
  uncapped: string;
  /** The same by charge period. */
  times: ProratedTime[];
};

/** What a change comes to, with the currency's digits. `net` is charge − credit. */
export interface ProratedChange {
  lines: ProratedLine[];
  credit: string;
  charge: string;
  net: string;
  capped: boolean;
  settlement: Proration['settlement'];
  /** What goes back to the customer: −net, but never more than was charged and not given back yet. */
  returned: string;
}

/**
 * What items that end and items that begin at one instant credit and charge for the rest of what they are paid for in
 * advance, one line an item, settled together. With behaviour `none` the amounts are still told and nothing is settled.
 * A quantity change caps no single credit, but what leaves to a wallet is never more than was charged.
 * spec: subscriptions-and-invoicing §2.8.2, §2.8.3
 */
export function prorateChange(input: ChangeInput): ProratedChange {
  const { currency } = input.subscription;
  const { credits, charges } = sidesOf(input.action);
  const credited = credits ? input.ended.flatMap((ending) => creditLine(ending, input)) : [];
  const charged = charges ? input.started.flatMap((item) => chargeLine(item, input)) : [];
  const credit = sum(credited.map((line) => decimal(line.amount).negated()));
  const charge = sum(charged.map((line) => decimal(line.amount)));
  const net = charge.minus(credit);
  const settles = input.behavior === 'create_prorations';
  const room = input.room === undefined ? sum(input.ended.map(roomOf)) : greatest(decimal(input.room), zero);
  const unbounded = input.room === undefined && input.ended.some((ending) => ending.billed === null);
  const owed = net.isNegative() ? net.negated() : zero;
  return {
    lines: [...charged, ...credited],
    credit: moneyString(credit, currency),
    charge: moneyString(charge, currency),
    net: moneyString(net, currency),
    capped: credited.some((line) => !decimal(line.uncapped).plus(line.amount).isZero()),
    settlement: settles ? settlementOf(net) : 'none',
    returned: moneyString(unbounded ? owed : least(owed, room), currency),
  };
}

/**
 * Refuses a proration of items whose cadence is not the subscription's. spec: subscriptions-and-invoicing §2.6.3 create_prorations
 * with mixed cadences
 */
export function refuseMixedCadence(
  items: readonly ChargeItem[],
  subscription: ChargeSubscription,
  behavior: ProrationBehavior,
): void {
  if (behavior !== 'create_prorations') return;
  const other = items.find(
    (item) =>
      item.priceType === 'FIXED' &&
      item.invoiceCadence === 'ADVANCE' &&
      !['equal', 'onetime'].includes(cadenceRelation(item, subscription)),
  );
  if (!other) return;
  const cadence = `${other.billingPeriodCount} × ${other.billingPeriod}`;
  throw refuse(
    'validation_error',
    `proration_behavior must be none: line item ${other.id} is charged every ${cadence}, not with the subscription's period`,
    { fields: { proration_behavior: 'must be none for items of another cadence' } },
  );
}

/** What recurring FIXED items cost in a month, exact. A month has 365 ÷ 12 days. spec: subscriptions-and-invoicing §2.9.1 change_type */
export function monthlyEquivalent(items: readonly ChargeItem[]): Decimal {
  return sum(
    items
      .filter((item) => item.priceType === 'FIXED' && item.billingPeriod !== 'ONETIME')
      .map((item) => {
        const { cost } = costOfQuantity(item.price, item.quantity);
        const months = monthsOfPeriod[item.billingPeriod as BillingPeriod] * item.billingPeriodCount;
        const whole = costInCurrency(cost, item.price);
        if (months > 0) return whole.dividedBy(months);
        const days = (item.billingPeriod === 'WEEKLY' ? 7 : 1) * item.billingPeriodCount;
        return whole.times(365).dividedBy(12 * days);
      }),
  );
}

function roomOf({ billed, credited }: EndingCharge): Decimal {
  return billed === null ? zero : greatest(decimal(billed).minus(credited), zero);
}

function chargeLine(item: ChargeItem, input: ChangeInput): ProratedLine[] {
  const line = remainderLine(item, input);
  if (line === null) return [];
  const times = proratedTimes(line.derivation.parts, line.amount, input.subscription.currency);
  return [{ ...line, side: 'charge', uncapped: line.amount, times }];
}

function creditLine({ item, billed, credited }: EndingCharge, input: ChangeInput): ProratedLine[] {
  const line = remainderLine(item, input);
  if (line === null) return [];
  const whole = decimal(line.amount);
  const credit = cappedCredit(input.action, whole, billed === null ? null : decimal(billed), decimal(credited));
  const amount = moneyString(credit.negated(), input.subscription.currency);
  const capped = !credit.equals(whole);
  const told = capped
    ? { ...line.metadata, proration: 'credit', credit_uncapped: line.amount }
    : { ...line.metadata, proration: 'credit' };
  return [
    {
      ...line,
      side: 'credit',
      displayName: `Unused time of ${line.displayName}`,
      amount,
      uncapped: line.amount,
      times: proratedTimes(line.derivation.parts, credit.toFixed(), input.subscription.currency),
      metadata: told,
      derivation: given(line.derivation, amount, capped),
    },
  ];
}

/** The rest of what an item is paid for in advance, as one line; null when nothing of it is left or ever was. */
function remainderLine(item: ChargeItem, input: ChangeInput): ChargeLine | null {
  const { subscription, period, effectiveAt } = input;
  const plan = {
    reason: 'cycle' as const,
    subscription,
    elapsed: null,
    next: period,
    items: [item],
    allowances: {},
    billed: [],
  };
  const services = remainingServices(item, effectiveAt, plan);
  const first = services[0];
  const last = services.at(-1);
  if (!first || !last) return null;
  const parts = services.map(({ start, end, proration }) => ({ start, end, proration, usage: null }));
  const charge = { item, currency: subscription.currency, charge: 'fixed' as const, questions: [] };
  const planned = { ...charge, periodStart: first.start, periodEnd: last.end, parts, folded: parts.length > 1 };
  return priceCharges([planned], {})[0] as ChargeLine;
}

/** The derivation of what is given back: the same steps below zero; a capped credit is one sum that no step ends with. */
function given(derivation: Derivation, amount: string, capped: boolean): Derivation {
  const negative = (text: string) => (decimal(text).isZero() ? text : `-${text}`);
  if (!capped) {
    const parts = derivation.parts.map((part) => ({
      ...part,
      cost: negative(part.cost),
      exactAmount: negative(part.exactAmount),
      amount: negative(part.amount),
    }));
    return { ...derivation, parts, amount };
  }
  const [first] = derivation.parts;
  const parts = first ? [{ ...first, proration: null, cost: amount, exactAmount: amount, amount }] : [];
  return { ...derivation, parts, amount };
}
