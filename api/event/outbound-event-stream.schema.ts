import { z } from 'zod';
import { webhookEventTypes } from '../../services/event/webhook/event-type.ts';

const known: ReadonlySet<string> = new Set(webhookEventTypes);

const types = z
  .string()
  .transform((text) => text.split(',').map((type) => type.trim()))
  .superRefine((list, context) => {
    const unknown = list.find((type) => !known.has(type));
    if (unknown === undefined) return;
    const message = `must be types of events separated by commas, such as invoice.update.finalized; ${JSON.stringify(unknown)} is none`;
    context.addIssue({ code: 'custom', message });
  })
  .transform((list): ReadonlySet<string> => new Set(list));

export const outboundEventStreamQuery = z.object({
  cursor: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Position to begin at: a `cursor` or `next` of the feed, `beginning` for the first event, `latest` for what comes from now on; `latest` when absent. The header `Last-Event-ID` wins.',
    ),
  types: types
    .optional()
    .meta({ type: 'string' })
    .describe('Only events of these types, separated by commas; all when absent.'),
  environment_id: z
    .string()
    .optional()
    .describe(
      'The environment, as the header `X-Environment-ID` names it, for programs that cannot send headers; an API key has its own.',
    ),
});

/** The header by which browsers tell where a stream broke off. */
export const outboundEventStreamHeaders = z.object({
  'last-event-id': z
    .string()
    .optional()
    .describe('The `id` of the last event that was received; the stream goes on behind it.'),
});

export const eventStream = z.string().meta({
  format: 'binary',
  description:
    'text/event-stream: one server-sent event for each outbound event, with its type as `event`, the position behind it as `id`, and the object that the feed has in `items` as `data`',
});
