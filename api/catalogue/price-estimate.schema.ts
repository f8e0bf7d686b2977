import { z } from 'zod';
import { explainCharge } from '../../billing/explanation/charge-explanation.ts';
import { decimalString } from '../../billing/money/money.ts';
import type { EstimateRequest } from '../../services/catalogue/price/price-estimate.ts';
import type { BoundEstimate } from '../../services/catalogue/price/price-estimate-bound.ts';
import type { GivenUsage } from '../../services/usage-measurer.ts';
import { previewDigestOutput, repeatedDigestInput } from '../preview-digest.schema.ts';
import { decimalInput, decimalOutput, timestampInput, timezoneInput } from '../scalars.schema.ts';
import { createPriceBody, newPrice } from './price-input.schema.ts';

const group = z.string().max(255).nullish();
const maxValues = 10_000;

/** A decimal, or for a meter of distinct values any text. */
const givenValue = z.union([decimalInput(), z.string().min(1).max(255)]);

export const estimatePriceBody = z
  .object({
    price_id: z.string().min(1).max(255).nullish().describe('A stored price; or send `price`.'),
    price: createPriceBody.nullish().describe('A price as `POST /prices` takes it. It is checked and not stored.'),
    quantity: decimalInput({ min: '0' })
      .nullish()
      .describe(
        'What a usage price is to rate, or the quantity of a fixed line; of a fixed line the default is its own.',
      ),
    usage: z
      .array(z.object({ timestamp: timestampInput(), value: givenValue.nullish(), group }))
      .min(1)
      .max(maxValues)
      .nullish()
      .describe("Values instead of events: the price's meter aggregates them, in its buckets where it has any."),
    windows: z
      .array(z.object({ start: timestampInput(), value: decimalInput(), group }))
      .min(1)
      .max(maxValues)
      .nullish()
      .describe('What the meter measured in windows, such as the `results` of a usage query.'),
    period_start: timestampInput().nullish(),
    period_end: timestampInput().nullish(),
    timezone: timezoneInput().nullish().describe('Where the buckets of the price begin. Default UTC.'),
    billing_anchor: timestampInput().nullish().describe('The day on which buckets of a MONTH begin.'),
    preview_digest: repeatedDigestInput,
  })
  .superRefine((body, context) => {
    const found = contradiction(body);
    if (found) context.addIssue({ code: 'custom', path: [found.field], message: found.problem });
  })
  .meta({
    examples: [
      { price_id: 'price_01JCXYZ', quantity: '15000' },
      { price_id: 'price_01JCXYZ', usage: [{ timestamp: '2026-01-05T10:00:00Z', value: '120' }] },
    ],
  });

type Body = {
  [Member in 'price_id' | 'price' | 'quantity' | 'usage' | 'windows' | 'period_start' | 'period_end']?: unknown;
};

function contradiction(body: Body): { field: string; problem: string } | null {
  if (!body.price_id === !body.price) return { field: 'price_id', problem: 'or price is required, one of the two' };
  const given = (['quantity', 'usage', 'windows'] as const).filter((member) => body[member] != null);
  if (given.length > 1) return { field: given[1]!, problem: `cannot be combined with ${given[0]}; send one of them` };
  const { period_start: start, period_end: end } = body;
  if (!start !== !end)
    return {
      field: start ? 'period_end' : 'period_start',
      problem: 'is required: send both ends of the period or none',
    };
  if (start && String(end) <= String(start)) return { field: 'period_end', problem: 'must be after period_start' };
  return null;
}

export function estimateRequestOf(body: z.output<typeof estimatePriceBody>): EstimateRequest {
  const { period_start: start, period_end: end } = body;
  const period = start && end ? { start, end } : null;
  const timezone = body.timezone ?? 'UTC';
  return {
    price: body.price ? { input: newPrice(body.price) } : { id: body.price_id ?? '' },
    quantity: body.quantity ?? null,
    usage: givenUsage(body, period, timezone),
    period,
    timezone,
  };
}

function givenUsage(
  { usage, windows, billing_anchor }: z.output<typeof estimatePriceBody>,
  period: GivenUsage['period'],
  timezone: string,
): GivenUsage | null {
  const common = { period, timezone, billingAnchor: billing_anchor ?? null };
  if (usage) {
    const values = usage.map(({ timestamp, value, group }) => ({
      at: timestamp,
      value: value ?? null,
      group: group ?? '',
    }));
    return { ...common, kind: 'values', values };
  }
  if (!windows) return null;
  const values = windows.map(({ start, value, group }) => ({ at: start, value, group: group ?? '' }));
  return { ...common, kind: 'windows', values };
}

/** Own operation. */
export const priceEstimate = z
  .object({
    price_id: z.string().nullable(),
    currency: z.string(),
    billing_model: z.string(),
    quantity: decimalOutput().describe('What was rated.'),
    cost: decimalOutput().describe('Exact, before any rounding.'),
    amount: decimalOutput().describe('What an invoice line would bill: the cost rounded once to the currency.'),
    effective_unit_cost: decimalOutput().describe('cost ÷ quantity to 15 decimals; 0 for a quantity of 0.'),
    steps: z
      .array(z.object({ kind: z.string(), sentence: z.string() }))
      .describe('Why it costs what it costs, in the words of `GET /invoices/{id}/explain`.'),
    derivation: z.record(z.string(), z.unknown()).describe('The same as data, as an invoice line stores it.'),
    preview_digest: previewDigestOutput,
  })
  .meta({ id: 'PriceEstimate' });

export function viewPriceEstimate(estimate: BoundEstimate): z.output<typeof priceEstimate> {
  const { priceId, price, meter, derivation } = estimate;
  return {
    price_id: priceId,
    currency: price.currency,
    billing_model: price.billingModel,
    quantity: estimate.quantity,
    cost: decimalString(estimate.cost),
    amount: decimalString(estimate.amount),
    effective_unit_cost: decimalString(estimate.effectiveUnitCost),
    steps: explainCharge(derivation, meter?.name ?? null),
    derivation: { ...derivation },
    preview_digest: estimate.previewDigest,
  };
}
