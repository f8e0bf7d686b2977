import { z } from 'zod';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import { expressionProblem } from '../../metering/expression.ts';
import { aggregationTypes } from '../../metering/meter.ts';
import type { NewMeter } from '../../services/catalogue/meter-rules.ts';
import { decimalInput, decimalOutput, recordOutput, viewRecord } from '../scalars.schema.ts';

export const windowSizes = [
  'MINUTE',
  '15MIN',
  '30MIN',
  'HOUR',
  '3HOUR',
  '6HOUR',
  '12HOUR',
  'DAY',
  'WEEK',
  'MONTH',
] as const;
const resetUsages = ['BILLING_PERIOD', 'NEVER'] as const;

const meterFilters = z
  .array(z.object({ key: z.string().max(255), values: z.array(z.string().max(1000)).max(1000) }))
  .max(100);

function expression() {
  return z
    .string()
    .superRefine((text, context) => {
      const problem = text === '' ? null : expressionProblem(text);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .describe(
      'Arithmetic over event properties, such as tokens * 0.001 + calls * 2; docs/metering.md has the language.',
    );
}

/** A meter's definition; how its members go together is checked by the store. spec: catalogue-and-metering §5.2 */
export const createMeterBody = z
  .object({
    name: z.string().max(255),
    event_name: z.string().max(255),
    aggregation: z.object({
      type: z.enum(aggregationTypes),
      field: z.string().max(255).nullish(),
      expression: expression().nullish(),
      multiplier: decimalInput().nullish(),
      bucket_size: z.union([z.literal(''), z.enum(windowSizes)]).nullish(),
      group_by: z.string().max(255).nullish(),
    }),
    filters: meterFilters.nullish(),
    reset_usage: z.enum(resetUsages),
  })
  .meta({
    examples: [
      {
        name: 'API calls',
        event_name: 'api_call',
        aggregation: { type: 'COUNT' },
        filters: [{ key: 'region', values: ['eu'] }],
        reset_usage: 'BILLING_PERIOD',
      },
    ],
  });

export const updateMeterBody = z.object({ filters: meterFilters });

export function newMeter(body: z.output<typeof createMeterBody>): NewMeter {
  const { type, field, expression, multiplier, bucket_size, group_by } = body.aggregation;
  return {
    name: body.name,
    eventName: body.event_name,
    aggregation: {
      type,
      field: field || null,
      expression: expression || null,
      multiplier: multiplier ?? null,
      bucket_size: bucket_size || null,
      group_by: group_by || null,
    },
    filters: body.filters ?? [],
    resetUsage: body.reset_usage,
  };
}

export const meter = z
  .object({
    ...recordOutput,
    name: z.string(),
    event_name: z.string(),
    aggregation: z.object({
      type: z.string(),
      field: z.string().nullable(),
      expression: z.string().nullable(),
      multiplier: decimalOutput().nullable(),
      bucket_size: z.string().nullable(),
      group_by: z.string().nullable(),
    }),
    filters: z.array(z.object({ key: z.string(), values: z.array(z.string()) })),
    reset_usage: z.string(),
  })
  .meta({ id: 'Meter' });

export function viewMeter(row: Meter): z.output<typeof meter> {
  return {
    ...viewRecord(row),
    name: row.name,
    event_name: row.eventName,
    aggregation: row.aggregation,
    filters: row.filters,
    reset_usage: row.resetUsage,
  };
}
