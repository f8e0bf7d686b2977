import { z } from 'zod';
import { lifecycleKindNames } from '../../lifecycles/kinds.ts';
import type { BillingRun, RunSection } from '../../services/lifecycle/billing-run.ts';
import { timestampInput, timestampOutput } from '../scalars.schema.ts';

const wholeNumber = (max: number, rule: string) =>
  z
    .string()
    .regex(/^\d{1,4}$/, rule)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, rule);

export const billingRunQuery = z.object({
  /** The instant to look at; when absent, each object's own present: its test clock's time, or now. */
  at: timestampInput().optional(),
  /** How far back "done" reaches. */
  hours: wholeNumber(8760, 'must be a number of hours from 1 to 8760').optional(),
  limit: wholeNumber(1000, 'must be a number from 1 to 1000').optional(),
});

export const retryParams = z.object({
  object_type: z.enum(lifecycleKindNames, {
    error: `must be ${lifecycleKindNames.slice(0, -1).join(', ')} or ${lifecycleKindNames.at(-1)}`,
  }),
  object_id: z.string().min(1).max(255),
});

const step = z.object({
  object_type: z.string(),
  object_id: z.string(),
  customer_id: z.string().nullable(),
  test_clock_id: z.string().nullable(),
  /** The agenda entry, or for what is done the words of the audit. */
  step: z.string(),
  at: timestampOutput(),
  /** Why a parked object stopped. */
  reason: z.string().nullable(),
});
const section = z.object({ total: z.int(), items: z.array(step) });

export const billingRun = z
  .object({ at: timestampOutput(), due: section, waiting: section, parked: section, done: section })
  .meta({ id: 'BillingRun' });

export const retried = z
  .object({ object_type: z.string(), object_id: z.string(), step: z.string() })
  .meta({ id: 'RetriedObject' });

export function viewBillingRun(at: string, run: BillingRun): z.output<typeof billingRun> {
  return {
    at,
    due: viewSection(run.due),
    waiting: viewSection(run.waiting),
    parked: viewSection(run.parked),
    done: viewSection(run.done),
  };
}

function viewSection(of: RunSection): z.output<typeof section> {
  return {
    total: of.total,
    items: of.steps.map((each) => ({
      object_type: each.objectType,
      object_id: each.objectId,
      customer_id: each.customerId,
      test_clock_id: each.testClockId,
      step: each.step,
      at: each.at,
      reason: each.reason,
    })),
  };
}
