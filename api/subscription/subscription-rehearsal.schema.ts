import { z } from 'zod';
import { decimal, decimalString, zero } from '../../billing/money/money.ts';
import { badField } from '../../db/rows/record.ts';
import { type PreparedEvent, prepareEvent } from '../../metering/event.ts';
import type { BoundRehearsal } from '../../services/across/subscription-rehearse-bound.ts';
import { invoice, viewInvoice } from '../invoice/invoice.schema.ts';
import { previewDigestOutput, repeatedDigestInput } from '../preview-digest.schema.ts';
import { decimalOutput, timestampInput, timestampOutput } from '../scalars.schema.ts';
import { ingestEventBody } from '../usage/event.schema.ts';

const maxEvents = 10_000;

const assumedUsage = z
  .object({
    event_name: z.string().min(1).max(255),
    timestamp: timestampInput().describe('When the event would happen.'),
    properties: ingestEventBody.shape.properties,
    count: z.int().min(1).max(maxEvents).nullish().describe('How many such events there would be; 1 when left out.'),
  })
  .meta({ id: 'AssumedUsage' });

export const rehearseSubscriptionBody = z
  .object({
    until: timestampInput().describe("Up to where time is let come; within five years of the customer's present."),
    usage: z
      .array(assumedUsage)
      .max(maxEvents)
      .nullish()
      .describe(`Events to assume besides those that are stored; ${maxEvents} in all.`),
    preview_digest: repeatedDigestInput,
  })
  .meta({
    examples: [
      {
        until: '2027-01-01T00:00:00Z',
        usage: [{ event_name: 'api_call', timestamp: '2026-12-10T00:00:00Z', properties: { tokens: 120000 } }],
      },
    ],
  });

export const subscriptionRehearsal = z
  .object({
    subscription_id: z.string(),
    from: timestampOutput().describe("The customer's present."),
    until: timestampOutput(),
    subscription_status: z.string().describe('As the subscription would stand then.'),
    current_period_start: timestampOutput(),
    current_period_end: timestampOutput(),
    currency: z.string(),
    total: decimalOutput().describe('Of the invoices below, but for voided and skipped ones.'),
    invoices: z
      .array(invoice)
      .describe('In the order in which they would be made. Their ids and numbers are of the rehearsal alone.'),
    steps: z
      .array(
        z.object({
          at: timestampOutput(),
          kind: z.string().describe('The step by its name in the Temporal UI.'),
          invoice_ids: z.array(z.string()).describe('The invoices it would make or issue.'),
        }),
      )
      .describe('What would be performed, in order.'),
    preview_digest: previewDigestOutput,
  })
  .meta({ id: 'SubscriptionRehearsal' });

/** The events to assume, ready to be stored. Throws `validation_error` naming the first bad element, and for more than are taken. */
export function assumedEvents(
  usage: z.output<typeof rehearseSubscriptionBody>['usage'],
  externalCustomerId: string,
): PreparedEvent[] {
  const given = usage ?? [];
  if (given.reduce((total, { count }) => total + (count ?? 1), 0) > maxEvents) {
    throw badField('usage', `must hold ${maxEvents} events at most; put amounts into a property and sum them`);
  }
  return given.flatMap(({ count, ...event }, index) => {
    const input = { ...event, external_customer_id: externalCustomerId };
    return Array.from({ length: count ?? 1 }, () => prepareEvent(input, `usage[${index}].`));
  });
}

export function viewRehearsal(until: string, rehearsal: BoundRehearsal): z.output<typeof subscriptionRehearsal> {
  const { subscription, invoices } = rehearsal;
  const counted = invoices.filter(({ row }) => row.invoiceStatus !== 'VOIDED' && row.invoiceStatus !== 'SKIPPED');
  return {
    subscription_id: subscription.id,
    from: rehearsal.from,
    until,
    subscription_status: subscription.status,
    current_period_start: subscription.currentPeriodStart,
    current_period_end: subscription.currentPeriodEnd,
    currency: subscription.currency,
    total: decimalString(counted.reduce((total, { row }) => total.plus(decimal(row.total)), zero)),
    invoices: invoices.map((content) => viewInvoice(content)),
    steps: rehearsal.steps.map(({ at, kind, invoiceIds }) => ({ at, kind, invoice_ids: invoiceIds })),
    preview_digest: rehearsal.previewDigest,
  };
}
