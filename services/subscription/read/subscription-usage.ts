import type { ChargeLine } from '../../../billing/line/charge.ts';
import { decimal, decimalString, moneyString, roundToCurrency, sum } from '../../../billing/money/money.ts';
import { usagePeriods } from '../../../billing/subscription/usage-period.ts';
import { earlier, type Interval, later } from '../../../billing/time/calendar.ts';
import { customerNow } from '../../../db/clock.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import type { SubscriptionLineItem } from '../../../db/entities/subscription/subscription-line-item.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { computeCharges } from '../../charging/subscription-charge.ts';
import { periodOf } from '../../charging/subscription-period.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { findSubscription } from './subscription-read.ts';

export interface SubscriptionUsageRequest {
  subscriptionId: string;
  /** Null: the start of the current period. */
  startTime: string | null;
  /** Null: the end of the current period. */
  endTime: string | null;
  /** Begins with the subscription, whatever the start time. */
  lifetime: boolean;
}

/** Amounts with the currency's digits. */
export interface SubscriptionUsage extends Interval {
  currency: string;
  amount: string;
  charges: UsageCharge[];
  /** Of the subscription's own commitment: what it is, what the usage of the window used of it, and what it cost above it. */
  commitment: { amount: string; utilized: string; overage: string; overageFactor: string };
}

/** What one line item comes to, apart for what is above the commitment of the subscription. */
export interface UsageCharge {
  item: SubscriptionLineItem;
  price: Price;
  unit: PriceUnit | null;
  quantity: string;
  amount: string;
  isOverage: boolean;
}

/**
 * What the usage of a window costs, up to the customer's present: computed as invoices compute it, period by period, so that
 * whole billing periods give what their invoices bill; a trial costs what it would without being one. An open charge of a
 * longer cadence is shown since it began. Quantities are what is billed after allowances. Throws `not_found`, and
 * `validation_error` for a window that ends before it starts. spec: catalogue-and-metering §7.8
 */
export async function subscriptionUsage(
  tx: Transaction,
  request: SubscriptionUsageRequest,
  readUsage: UsageReader,
): Promise<SubscriptionUsage> {
  const { subscriptionId } = request;
  const row = (await readSubscriptions(tx, tx.scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (!row) throw missing('subscription', subscriptionId, 'subscription_id');
  const window = windowOf(row, request);
  const usageUntil = await customerNow(tx, row.customerId);
  const periods = usagePeriods(row, { start: window.start, end: earlier(window.end, lastInstant(row, usageUntil)) });
  const requests = periods.map(({ start, end }, index) => ({
    key: `${index}`,
    subscription: row,
    reason: index === periods.length - 1 ? ('closing' as const) : ('cycle' as const),
    elapsed: periodOf(row, start, end),
    next: null,
    usageUntil,
    withoutBilled: true,
  }));
  const lines = [...(await computeCharges(tx, tx.scope, requests, readUsage)).values()].flat();
  const byItem = Map.groupBy(
    lines.filter((line) => line.priceType === 'USAGE'),
    (line) => `${line.subscriptionLineItemId} ${isOverage(line)}`,
  );
  const { items } = await findSubscription(tx, subscriptionId);
  const charges = items.flatMap(({ row: item, price, unit }) => {
    return [false, true].flatMap((isOverage) => {
      const own = byItem.get(`${item.id} ${isOverage}`);
      if (!own) return [];
      return [{ item, price, unit, quantity: total(own, 'quantity'), amount: total(own, 'amount'), isOverage }];
    });
  });
  const amount = moneyString(sum(charges.map((charge) => decimal(charge.amount))), row.currency);
  return { ...window, currency: row.currency, amount, charges, commitment: commitmentOf(row, lines) };
}

function isOverage({ metadata }: ChargeLine): boolean {
  return metadata.is_overage === 'true';
}

function commitmentOf(row: SubscriptionRow, lines: readonly ChargeLine[]): SubscriptionUsage['commitment'] {
  const shares = lines.flatMap(({ derivation }) => derivation.parts.flatMap((part) => part.commitment ?? []));
  const added = (member: 'utilized' | 'overage'): string =>
    moneyString(
      roundToCurrency(
        sum(shares.flatMap((share) => (share.kind === 'line' ? [] : decimal(share[member])))),
        row.currency,
      ),
      row.currency,
    );
  const { commitmentAmount, overageFactor } = row;
  return { amount: commitmentAmount ?? '0', utilized: added('utilized'), overage: added('overage'), overageFactor };
}

function windowOf(row: SubscriptionRow, { startTime, endTime, lifetime }: SubscriptionUsageRequest): Interval {
  const start = lifetime ? row.startDate : later(startTime ?? row.currentPeriodStart, row.startDate);
  const end = endTime ?? row.currentPeriodEnd;
  if (end <= (lifetime ? row.startDate : (startTime ?? row.currentPeriodStart))) {
    throw badField('end_time', `must be after the start of the window, ${start}`);
  }
  return { start, end: later(start, end) };
}

/** Usage after the end of a subscription costs nothing, and there is none after its current period. */
function lastInstant(row: SubscriptionRow, now: string): string {
  const ends = [row.endDate, row.cancelledAt].filter((instant) => instant !== null);
  return ends.reduce(earlier, later(row.currentPeriodEnd, now));
}

function total(lines: readonly ChargeLine[], member: 'quantity' | 'amount'): string {
  return decimalString(sum(lines.map((line) => decimal(line[member]))));
}
