import { commitLine, commitUsage } from '../../../billing/commitment/commitment.ts';
import {
  committedMoney,
  priceIn,
  sumOfWindows,
  type TimeBucketTerms,
  windowCommitter,
} from '../../../billing/commitment/commitment-window.ts';
import {
  currencyPrecision,
  type Decimal,
  decimal,
  decimalString,
  moneyString,
  roundToCurrency,
  sum,
} from '../../../billing/money/money.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import type { Adapters, Given } from '../adapter.ts';

function flat(unitAmount: unknown, currency: string): PriceTerms {
  return { billing_model: 'FLAT_FEE', amount: String(unitAmount), currency };
}

function moneyOf(currency: string): (value: Decimal) => string {
  return (value) => moneyString(roundToCurrency(value, currency), currency);
}

function subscriptionCommitment(given: Given): unknown {
  const money = moneyOf(given.currency);
  const { charges, trueUp } = commitUsage(
    given.charges.map((charge: Given) => ({
      id: charge.id,
      unitAmount: decimal(charge.unit_amount),
      quantity: decimal(charge.quantity),
      cost: decimal(charge.unit_amount).times(charge.quantity),
    })),
    {
      amount: String(given.commitment_amount),
      overageFactor: String(given.overage_factor),
      trueUp: given.enable_true_up,
      prior: '0',
      cumulative: false,
      last: true,
    },
    given.currency,
  );
  const lines = charges.flatMap(({ id, within, overage }) => [
    ...(within ? [line(id, within, false, money)] : []),
    ...(overage ? [line(id, overage, true, money)] : []),
  ]);
  const missing = {
    id: 'true_up',
    quantity: '1',
    amount: money(trueUp),
    is_overage: false,
    is_commitment_trueup: true,
  };
  const all = trueUp.isZero() ? lines : [...lines, missing];
  const total = (wanted: typeof all): string => money(sum(wanted.map(({ amount }) => decimal(amount))));
  return {
    lines: all,
    overage_amount: total(lines.filter(({ is_overage }) => is_overage)),
    true_up_amount: money(trueUp),
    usage_total: total(all),
  };
}

function line(
  id: string,
  share: { quantity: Decimal; amount: Decimal },
  is_overage: boolean,
  money: (v: Decimal) => string,
) {
  return { id, quantity: decimalString(share.quantity), amount: money(share.amount), is_overage };
}

function cumulativeCommitment(given: Given): unknown {
  const money = moneyOf(given.currency);
  const commitment = (overageFactor: string, trueUp: boolean) =>
    commitLine(decimal(given.current_base_usage), {
      amount: decimal(given.commitment_amount),
      overageFactor: decimal(overageFactor),
      trueUp,
      prior: decimal(given.prior_base_usage),
    });
  const result = commitment(String(given.overage_factor), given.enable_true_up && given.is_last_period);
  const open = commitment('1', true);
  return {
    commitment_remaining: money(open.utilized.plus(open.trueUp)),
    within_commitment: money(result.utilized),
    overage_base: money(open.overage),
    overage_amount: money(result.overage),
    true_up_amount: money(result.trueUp),
    usage_total: money(result.amount),
  };
}

function termsOf(given: Given) {
  return {
    type: given.commitment_type,
    value: String(given.commitment_value),
    overageFactor: String(given.overage_factor),
    trueUp: given.true_up_enabled,
  };
}

function lineItemCommitment(given: Given): unknown {
  const money = moneyOf(given.currency);
  const price = flat(given.unit_amount, given.currency);
  const result = commitLine(priceIn(price, String(given.usage_quantity)), committedMoney(termsOf(given), price));
  return computed(result, money);
}

function computed(
  result: { amount: Decimal; utilized: Decimal; overage: Decimal; trueUp: Decimal },
  money: (v: Decimal) => string,
) {
  return {
    amount: money(result.amount),
    computed_commitment_utilized_amount: money(result.utilized),
    computed_overage_amount: money(result.overage),
    computed_true_up_amount: money(result.trueUp),
  };
}

function minuteOf(clock: { hour: number; minute: number }): number {
  return clock.hour * 60 + clock.minute;
}

function windowedCommitment(given: Given): unknown {
  const { currency } = given;
  const timeBuckets = (given.commitment_time_buckets ?? []).map(
    (bucket: Given): TimeBucketTerms => ({
      ...termsOf(bucket),
      id: bucket.id,
      startMinute: minuteOf(bucket.start),
      endMinute: minuteOf(bucket.end),
      price: flat(bucket.unit_amount, currency),
    }),
  );
  const price = flat(given.unit_amount, currency);
  const line = given.commitment_type ? termsOf(given) : null;
  const commit = windowCommitter({ price, line, timeBuckets });
  const windows = given.windows.map((window: Given) => {
    const [hour, minute] = window.start.split(':').map(Number);
    return {
      start: window.start,
      result: commit({ start: window.start, minute: hour * 60 + minute, quantities: [decimal(window.quantity)] }),
    };
  });
  const results = windows.map(({ result }: Given) => result);
  return {
    windows: windows.map(({ start, result }: Given) => ({
      start,
      bucket: result.bucketId,
      charge: result.amount.toFixed(Math.max(result.amount.decimalPlaces(), currencyPrecision(currency))),
    })),
    ...computed(sumOfWindows(results), moneyOf(currency)),
  };
}

export const commitmentAdapters: Adapters = {
  subscription_commitment: subscriptionCommitment,
  cumulative_commitment: cumulativeCommitment,
  line_item_commitment: lineItemCommitment,
  windowed_commitment: windowedCommitment,
};
