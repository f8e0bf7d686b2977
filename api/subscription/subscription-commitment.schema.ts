import { z } from 'zod';
import type { NewCommitment } from '../../billing/subscription/new-subscription.ts';
import type { Subscription } from '../../db/entities/subscription/subscription.ts';
import type { SubscriptionLineItem } from '../../db/entities/subscription/subscription-line-item.ts';
import { badField } from '../../db/rows/record.ts';
import { jsonNumber } from '../decimal.ts';
import { decimalInput, decimalOutput, numberOutput } from '../scalars.schema.ts';

export const commitmentDurations = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const;

/** The commitment of a whole subscription, in a creation. spec: subscriptions-and-invoicing §1.2, §2.7.1 */
export const commitmentFields = {
  commitment_amount: decimalInput({ min: '0' }).nullish(),
  commitment_duration: z
    .enum(commitmentDurations, { error: `must be one of ${commitmentDurations.join(', ')}` })
    .nullish()
    .describe('The billing period or a whole multiple of it; left out it is the billing period.'),
  overage_factor: decimalInput().nullish().describe('What usage above the commitment is multiplied by; 1 or more.'),
  enable_true_up: z.boolean().nullish().describe('Bills what is missing of the commitment.'),
};

const inputs = z.object(commitmentFields);

/** The commitment as the workflow takes it. Throws `validation_error` for a factor below 1. */
export function newCommitment(body: z.output<typeof inputs>): NewCommitment {
  const overageFactor = body.overage_factor ?? '1';
  refuseSmallFactor(overageFactor, 'overage_factor');
  return {
    amount: body.commitment_amount ?? null,
    duration: body.commitment_duration ?? null,
    overageFactor,
    trueUp: body.enable_true_up ?? false,
  };
}

/** A factor below 1 would make usage above a commitment cheaper than within. spec: subscriptions-and-invoicing §3 row 17 */
export function refuseSmallFactor(factor: string, field: string): void {
  if (Number(factor) < 1) throw badField(field, 'must be 1 or more');
}

/** The commitment of a whole subscription, in its answer. */
export const commitmentOutput = {
  commitment_amount: decimalOutput().nullable(),
  commitment_duration: z.string().nullable(),
  overage_factor: decimalOutput(),
  enable_true_up: z.boolean(),
};

export function viewCommitment(row: Subscription) {
  return {
    commitment_amount: row.commitmentAmount ?? null,
    commitment_duration: row.commitmentAmount == null ? null : (row.commitmentDuration ?? row.billingPeriod),
    overage_factor: row.overageFactor,
    enable_true_up: row.enableTrueUp,
  };
}

const clock = z.object({ hour: z.int(), minute: z.int() });

/** A time of the day with its own price and commitment. interface: Commitment time bucket */
export const timeBucketOutput = z
  .object({
    id: z.string(),
    price_id: z.string(),
    commitment_type: z.string(),
    commitment_value: decimalOutput(),
    overage_factor: numberOutput(),
    true_up_enabled: z.boolean(),
    start: clock,
    end: clock,
  })
  .meta({ id: 'CommitmentTimeBucket' });

/** The commitment of a line item, in its answer. interface: Subscription line item */
export const itemCommitmentOutput = {
  commitment_amount: decimalOutput().nullable(),
  commitment_quantity: decimalOutput().nullable(),
  commitment_overage_factor: decimalOutput().nullable(),
  commitment_duration: z.string().nullable(),
  commitment_type: z.string().nullable(),
  commitment_true_up_enabled: z.boolean(),
  commitment_windowed: z.boolean(),
  commitment_time_buckets: z.array(timeBucketOutput),
};

export function viewItemCommitment(row: SubscriptionLineItem) {
  return {
    commitment_amount: row.commitmentAmount ?? null,
    commitment_quantity: row.commitmentQuantity ?? null,
    commitment_overage_factor: row.commitmentOverageFactor ?? null,
    commitment_duration: row.commitmentDuration ?? null,
    commitment_type: row.commitmentType ?? null,
    commitment_true_up_enabled: row.commitmentTrueUpEnabled,
    commitment_windowed: row.commitmentWindowed,
    commitment_time_buckets: (row.commitmentTimeBuckets ?? []).map(({ from: _from, to: _to, ...bucket }) => ({
      ...bucket,
      overage_factor: jsonNumber(bucket.overage_factor),
    })),
  };
}

/** What an invoice line shows of its commitment. interface: Commitment info */
export const commitmentInfoOutput = z
  .object({
    type: z.string(),
    amount: decimalOutput().nullable(),
    quantity: decimalOutput().nullable(),
    overage_factor: decimalOutput(),
    duration: z.string().nullable(),
    is_windowed: z.boolean(),
    true_up_enabled: z.boolean(),
    computed_commitment_utilized_amount: decimalOutput().nullable(),
    computed_overage_amount: decimalOutput().nullable(),
    computed_true_up_amount: decimalOutput().nullable(),
  })
  .meta({ id: 'CommitmentInfo' });
