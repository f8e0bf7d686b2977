import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type CatalogueEntry, eventCatalogue } from '../../services/platform/event-catalogue/event-catalogue.ts';
import { deliveryHeaders } from './delivery-headers.ts';
import { describeFields } from './describe-fields.ts';

/** Bodies of events that were sent in a run of the tests, by type. */
export type EventExamples = Record<string, unknown>;

/** Examples of the types of outbound events, as `npm run examples` chose them. */
export const readEventExamples = (): EventExamples =>
  JSON.parse(readFileSync(new URL('./event-examples.json', import.meta.url), 'utf8')) as EventExamples;

/**
 * Requests that receivers of outbound events get, for the API description: one entry a type of the catalogue, and the headers of all of
 * them as `parameters`. spec: platform §17.2, §17.5; design: people-and-events §A 4, B 13, 14
 */
export function outboundWebhooks(): { webhooks: Record<string, object>; parameters: Record<string, object> } {
  const examples = readEventExamples();
  const webhooks = Array.from(eventCatalogue.values(), (entry) => [entry.type, { post: requestOf(entry, examples) }]);
  const parameters = deliveryHeaders.map((header) => [header.name, parameterOf(header)]);
  return { webhooks: Object.fromEntries(webhooks), parameters: Object.fromEntries(parameters) };
}

function requestOf(entry: CatalogueEntry, examples: EventExamples): object {
  const schema = bodyOf(entry);
  describeFields('OutboundBody', schema);
  const example = examples[entry.type];
  return {
    operationId: entry.type.replace(/[._]([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
    tags: ['Outbound events'],
    summary: entry.type,
    description: entry.sentence,
    security: [],
    parameters: deliveryHeaders.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    },
    responses: {
      '2XX': { description: 'The event was received. After any other answer, and after 15 seconds, it is sent again.' },
    },
  };
}

/** Schema of the body of an event, whose objects are components of the description. */
function bodyOf({ type, family }: CatalogueEntry): object {
  const members = family.isShownWhole ? { invoice: z.unknown() } : family.payload.shape;
  const whole = z.toJSONSchema(z.strictObject({ event_type: z.literal(type), ...members }));
  const { $schema: _dialect, $defs: _components, ...schema } = whole;
  if (family.isShownWhole)
    Object.assign(schema.properties ?? {}, { invoice: { $ref: '#/components/schemas/Invoice' } });
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as object;
}

function parameterOf({ name, text, isOptional, schema, example }: (typeof deliveryHeaders)[number]): object {
  return { in: 'header', name, required: !isOptional, description: text, schema, example };
}
