import { z } from 'zod';
import { type EventEvidence, explainEvent, explanationSteps } from '../../metering/event-explanation.ts';
import { wireInstant } from '../../metering/timestamp.ts';
import { decimalOutput, timestampOutput } from '../scalars.schema.ts';
import { event, viewEvent } from './event.schema.ts';

const billedLine = z.object({
  invoice_line_item_id: z.string(),
  invoice_id: z.string(),
  invoice_number: z.string().nullable(),
  invoice_status: z.string(),
  from: timestampOutput(),
  to: timestampOutput(),
  counted: z
    .boolean()
    .describe('The line was measured when the event was known already; false for one that came late.'),
});

const explainedMeterLine = z.object({
  sub_line_item_id: z.string(),
  subscription_id: z.string(),
  price_id: z.string(),
  start_date: timestampOutput(),
  end_date: timestampOutput().nullable(),
  covers_event: z.boolean(),
  price_conditions_met: z.boolean(),
  invoice_lines: z.array(billedLine),
});

const explainedMeter = z.object({
  meter_id: z.string(),
  name: z.string(),
  archived: z.boolean(),
  matched: z.boolean(),
  quantity: decimalOutput().nullable().describe('What the event adds; null where the meter does not count it.'),
  filters: z.array(
    z.object({ key: z.string(), values: z.array(z.string()), found: z.string().nullable(), passed: z.boolean() }),
  ),
  bucket: z.object({ start: timestampOutput(), event_count: z.int() }).nullable(),
  lines: z.array(explainedMeterLine),
});

/** Why an event was billed or was not. Own operation. */
export const eventExplanation = z
  .object({
    event,
    outcome: z.enum(['voided', 'billed', 'on_draft', 'open', 'late', 'not_billed']),
    reason: z.string().describe('The code of the step that decided.'),
    sentence: z.string(),
    steps: z.array(
      z.object({
        step: z.enum(explanationSteps),
        status: z.enum(['passed', 'failed', 'not_reached']),
        code: z.string(),
        sentence: z.string(),
      }),
    ),
    customer: z.object({ external_customer_id: z.string(), customer_id: z.string().nullable() }),
    meters: z.array(explainedMeter).describe('At most 50 of the event’s name, those that count it first.'),
  })
  .meta({ id: 'EventExplanation' });

export function viewEventExplanation(
  evidence: EventEvidence,
  environmentId: string,
): z.output<typeof eventExplanation> {
  const { outcome, reason, sentence, steps } = explainEvent(evidence);
  const { found } = evidence;
  return {
    event: viewEvent(found.event, environmentId),
    outcome,
    reason,
    sentence,
    steps: [...steps],
    customer: { external_customer_id: found.event.externalCustomerId, customer_id: found.event.customerId },
    meters: evidence.meters.map((meter) => viewMeter(evidence, meter)),
  };
}

function viewMeter(evidence: EventEvidence, meter: EventEvidence['meters'][number]): z.output<typeof explainedMeter> {
  const attribution = evidence.found.attributions.find(({ meterId }) => meterId === meter.meterId);
  return {
    meter_id: meter.meterId,
    name: meter.name,
    archived: meter.archived,
    matched: attribution !== undefined,
    quantity: attribution?.quantity ?? null,
    filters: meter.filters.map(({ key, values, found, passed }) => ({ key, values: [...values], found, passed })),
    bucket: meter.bucket && { start: wireInstant(meter.bucket.start), event_count: meter.bucket.eventCount },
    lines: (attribution?.lineItems ?? []).map((line) => ({
      sub_line_item_id: line.id,
      subscription_id: line.subscriptionId,
      price_id: line.priceId,
      start_date: wireInstant(line.startDate),
      end_date: line.endDate === null ? null : wireInstant(line.endDate),
      covers_event: line.coversEvent,
      price_conditions_met: !meter.excludedLines.includes(line.id),
      invoice_lines: evidence.billed
        .filter(({ lineItemId }) => lineItemId === line.id)
        .map((billed) => ({
          invoice_line_item_id: billed.invoiceLineItemId,
          invoice_id: billed.invoiceId,
          invoice_number: billed.invoiceNumber,
          invoice_status: billed.invoiceStatus,
          from: billed.from,
          to: billed.to,
          counted: billed.knew,
        })),
    })),
  };
}
