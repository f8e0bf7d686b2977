import { refusalIn } from '../billing/refusal.ts';
import { type EventInput, type PreparedEvent, prepareEvent } from './event.ts';

/** Columns that a file of events must have, each group by one of its members. spec: platform §18 EVENTS */
export const requiredEventColumns: readonly (readonly string[])[] = [
  ['event_name'],
  ['external_customer_id', 'customer_id'],
];

const texts = ['event_id', 'event_name', 'external_customer_id', 'timestamp', 'source'] as const;
const ownProperty = 'properties.';

/** What became of one record of a file: an event, or why it is none. */
export type ImportedEvent = { readonly event: PreparedEvent } | { readonly problem: string };

/**
 * The event of a record. Its names are those of the bulk API, with `properties.<key>` beside or instead of `properties`;
 * blank cells count as absent. `externalIdOf` gives the external id of a `customer_id`, for records that name only that.
 * spec: platform §18 EVENTS; catalogue-and-metering §6.2
 */
export function eventOfRecord(
  values: Readonly<Record<string, unknown>>,
  externalIdOf: (customerId: string) => string | undefined,
  parseJson: (text: string) => unknown,
): ImportedEvent {
  const input: Record<string, unknown> = {};
  for (const name of texts) {
    const value = values[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') return { problem: `${name} must be a string` };
    input[name] = value;
  }
  if (input.event_name === undefined) return { problem: 'event_name is required' };
  if (input.external_customer_id === undefined) {
    const customerId = values.customer_id;
    if (typeof customerId !== 'string' || customerId === '') return { problem: 'external_customer_id is required' };
    const externalId = externalIdOf(customerId);
    if (externalId === undefined) return { problem: `customer_id ${customerId.slice(0, 100)} does not exist` };
    input.external_customer_id = externalId;
  }
  const properties = propertiesOf(values, parseJson);
  if (typeof properties === 'string') return { problem: properties };
  try {
    input.properties = properties;
    return { event: prepareEvent(input as unknown as EventInput) };
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return { problem: refusal.message };
  }
}

/** The properties, or what is wrong with them. */
function propertiesOf(
  values: Readonly<Record<string, unknown>>,
  parseJson: (text: string) => unknown,
): Record<string, unknown> | string {
  let given: unknown = values.properties ?? {};
  if (typeof given === 'string') {
    try {
      given = given.trim() === '' ? {} : parseJson(given);
    } catch {
      return 'properties must be a JSON object';
    }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given) || JSON.isRawJSON(given)) {
    return 'properties must be a JSON object';
  }
  let properties = given as Record<string, unknown>;
  for (const name in values) {
    const value = values[name];
    if (!name.startsWith(ownProperty) || name.length === ownProperty.length || value === '' || value === undefined)
      continue;
    if (properties === given) properties = { ...properties };
    properties[name.slice(ownProperty.length)] = value;
  }
  return properties;
}
