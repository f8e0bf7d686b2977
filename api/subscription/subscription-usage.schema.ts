import { z } from 'zod';
import { currencySymbol, decimal, moneyString } from '../../billing/money/money.ts';
import type {
  SubscriptionUsage,
  SubscriptionUsageRequest,
} from '../../services/subscription/read/subscription-usage.ts';
import { price, viewPrice } from '../catalogue/price.schema.ts';
import { jsonNumber } from '../decimal.ts';
import { numberOutput, timestampInput, timestampOutput } from '../scalars.schema.ts';

export const subscriptionUsageBody = z
  .object({
    subscription_id: z.string().min(1).max(255),
    start_time: timestampInput().nullish(),
    end_time: timestampInput().nullish(),
    lifetime_usage: z.boolean().nullish(),
  })
  .meta({ examples: [{ subscription_id: 'subs_01JCXYZ' }] });

export function usageRequestOf(body: z.output<typeof subscriptionUsageBody>): SubscriptionUsageRequest {
  return {
    subscriptionId: body.subscription_id,
    startTime: body.start_time ?? null,
    endTime: body.end_time ?? null,
    lifetime: body.lifetime_usage ?? false,
  };
}

const charge = z
  .object({
    subscription_line_item_id: z.string(),
    meter_id: z.string().nullable(),
    meter_display_name: z.string().nullable(),
    price,
    filter_values: z.record(z.string(), z.array(z.string())).nullable(),
    quantity: numberOutput(),
    amount: numberOutput(),
    currency: z.string(),
    display_amount: z.string(),
    is_overage: z.boolean(),
    overage_factor: numberOutput(),
  })
  .meta({ id: 'SubscriptionUsageByMetersResponse' });

export const subscriptionUsage = z
  .object({
    amount: numberOutput(),
    currency: z.string(),
    display_amount: z.string(),
    start_time: timestampOutput(),
    end_time: timestampOutput(),
    charges: z.array(charge),
    commitment_amount: numberOutput(),
    commitment_utilized: numberOutput(),
    overage_amount: numberOutput(),
    overage_factor: numberOutput(),
    has_overage: z.boolean(),
  })
  .meta({ id: 'GetUsageBySubscriptionResponse' });

/** Amounts and quantities are numbers here. spec: catalogue-and-metering §7.8 */
export function viewSubscriptionUsage(usage: SubscriptionUsage): z.output<typeof subscriptionUsage> {
  const { commitment } = usage;
  return {
    amount: jsonNumber(usage.amount),
    currency: usage.currency,
    display_amount: displayAmount(usage.amount, usage.currency),
    start_time: usage.start,
    end_time: usage.end,
    charges: usage.charges.map((row) => viewCharge(row, usage)),
    commitment_amount: jsonNumber(commitment.amount),
    commitment_utilized: jsonNumber(commitment.utilized),
    overage_amount: jsonNumber(commitment.overage),
    overage_factor: jsonNumber(commitment.overageFactor),
    has_overage: usage.charges.some((row) => row.isOverage),
  };
}

function viewCharge(
  row: SubscriptionUsage['charges'][number],
  { currency, commitment }: SubscriptionUsage,
): z.output<typeof charge> {
  return {
    subscription_line_item_id: row.item.id,
    meter_id: row.item.meterId ?? null,
    meter_display_name: row.item.meterDisplayName ?? null,
    price: viewPrice(row.price, row),
    filter_values: row.price.filterValues ?? null,
    quantity: jsonNumber(row.quantity),
    amount: jsonNumber(row.amount),
    currency,
    display_amount: displayAmount(row.amount, currency),
    is_overage: row.isOverage,
    overage_factor: jsonNumber(row.isOverage ? commitment.overageFactor : '1'),
  };
}

function displayAmount(amount: string, currency: string): string {
  return `${currencySymbol(currency)}${moneyString(decimal(amount), currency)}`;
}
