import { z } from 'zod';
import { inOrder, wordsOfComing, wordsOfPast } from '../../billing/subscription/subscription-timeline.ts';
import type { ComingEntry, PastEntry } from '../../services/subscription/read/subscription-timeline.ts';
import { timestampOutput } from '../scalars.schema.ts';

const entry = z
  .object({
    at: timestampOutput(),
    is_coming: z.boolean().describe('False: it happened. True: time will bring it, if nothing changes before.'),
    what: z.string().describe('The action as the audit names it, or the kind of the agenda entry.'),
    customer_text: z.string().describe('In words for the customer.'),
    operator_text: z.string().describe('In words for an operator: who did it, and the facts.'),
    invoice_id: z.string().nullable().describe('The invoice it made or is about.'),
    events: z
      .array(z.object({ id: z.string(), event_type: z.string() }))
      .describe('The outbound events it caused, in their order.'),
  })
  .meta({ id: 'TimelineEntry' });

export const timeline = z.object({ items: z.array(entry) }).meta({ id: 'SubscriptionTimelineResponse' });

/** What happened and what is to come, in one list. */
export function viewTimeline(entries: { past: PastEntry[]; coming: ComingEntry[] }): z.output<typeof timeline> {
  const past = entries.past.map((step) => {
    const words = wordsOfPast(step);
    return {
      at: step.at,
      is_coming: false,
      what: step.action,
      customer_text: words.customer,
      operator_text: words.operator,
      invoice_id: step.invoiceId,
      events: step.events,
    };
  });
  const coming = entries.coming.map((step) => {
    const words = wordsOfComing(step);
    return {
      at: step.at,
      is_coming: true,
      what: step.kind,
      customer_text: words.customer,
      operator_text: words.operator,
      invoice_id: step.invoiceId,
      events: [],
    };
  });
  return { items: inOrder([...past, ...coming]) };
}
