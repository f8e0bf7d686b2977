import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type { ReprocessOrder } from '../../workflows/usage/event-reprocess.messages.ts';
import { timestampInput } from '../scalars.schema.ts';
import { jsonObject } from './event.schema.ts';

const maxRawEvents = 1_000;
const maxBatch = 10_000;
const defaultBatch = 1_000;

/** Objects of any shape. spec: catalogue-and-metering §6.1 */
export const rawEventsBody = z
  .object({
    events: z.array(jsonObject()).min(1, 'must hold 1 to 1000 events').max(maxRawEvents, 'must hold 1 to 1000 events'),
  })
  .meta({ id: 'BulkIngestRawEventRequest' });

/** Strings only, for clients that read the answer as a map of strings. spec: §1.4, §6.1 */
export const rawEventsAccepted = z.object({ message: z.string(), batch_size: z.string() }).meta({
  id: 'RawEventsAccepted',
});

const ids = z.array(z.string().min(1).max(255)).max(1_000).nullish();

export const reprocessBody = z
  .object({
    start_date: timestampInput().describe('Raw events received from here on.'),
    end_date: timestampInput().nullish().describe('… and before here; now when absent.'),
    external_customer_ids: ids,
    event_names: ids,
    event_ids: ids,
    batch_size: z.int('must be an integer').min(1).max(maxBatch).nullish().describe(`${defaultBatch} when absent.`),
  })
  .meta({ id: 'ReprocessRawEventsRequest' });

/** Reprocessing that a request orders. Throws `validation_error` for an end before the start. */
export function reprocessOrder(
  body: z.output<typeof reprocessBody>,
  request: { pendingOnly: boolean; at: string },
): ReprocessOrder {
  const to = body.end_date ?? request.at;
  if (to < body.start_date) throw badField('end_date', 'must not be before start_date');
  return {
    from: body.start_date,
    to,
    pendingOnly: request.pendingOnly,
    externalCustomerIds: listOf(body.external_customer_ids),
    eventNames: listOf(body.event_names),
    eventIds: listOf(body.event_ids),
    batchSize: body.batch_size ?? defaultBatch,
  };
}

/** An empty list asks for nothing in particular, as an absent one. */
function listOf(list: string[] | null | undefined): string[] | null {
  return list && list.length > 0 ? list : null;
}
