import { createHash, randomUUID } from 'node:crypto';
import { checkProperties, checkText, invalidField, maxTextLength } from './event-text.ts';
import { utcInstant } from './timestamp.ts';

/** An event as a caller sends it, after its JSON types were checked. spec: catalogue-and-metering §6.2 */
export interface EventInput {
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly event_id?: string | null | undefined;
  readonly timestamp?: string | null | undefined;
  readonly source?: string | null | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
}

/** An event that nothing can refuse any more. */
export interface PreparedEvent {
  /** The id as the caller wrote it, or a new UUIDv7. */
  readonly id: string;
  /** The id as a UUID: itself if it is one, else the first 16 bytes of its SHA-256. */
  readonly key: string;
  readonly eventName: string;
  readonly externalCustomerId: string;
  /** UTC with six decimals; null for the instant of ingestion. */
  readonly timestamp: string | null;
  readonly source: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The JSON text of the properties; null when there are none. */
  readonly propertiesText: string | null;
}

/**
 * Checks an event and makes it ready to be stored. `where` precedes the field in messages (`events[3].`).
 * Throws `validation_error` naming the field. Own: the maxima of texts, which keep every row of an index below PostgreSQL's limit.
 * spec: catalogue-and-metering §6.2, §13 row 33
 */
export function prepareEvent(input: EventInput, where = ''): PreparedEvent {
  const eventName = input.event_name.trim();
  if (eventName === '') throw invalidField(`${where}event_name`, 'is required');
  checkText(eventName, `${where}event_name`, maxTextLength);
  if (input.external_customer_id.trim() === '') throw invalidField(`${where}external_customer_id`, 'is required');
  checkText(input.external_customer_id, `${where}external_customer_id`, maxTextLength);
  if (input.event_id) checkText(input.event_id, `${where}event_id`, maxTextLength);
  if (input.source) checkText(input.source, `${where}source`, maxTextLength);
  const id = input.event_id && input.event_id.trim() !== '' ? input.event_id : newEventId();
  const properties = input.properties ?? {};
  const text = checkProperties(properties, `${where}properties`);
  return {
    id,
    key: eventKey(id),
    eventName,
    externalCustomerId: input.external_customer_id,
    timestamp: preparedTimestamp(input.timestamp, where),
    source: input.source || null,
    properties,
    propertiesText: text === '{}' ? null : text,
  };
}

function preparedTimestamp(text: string | null | undefined, where: string): string | null {
  if (text === undefined || text === null) return null;
  const instant = utcInstant(text);
  if (instant === null) {
    throw invalidField(`${where}timestamp`, 'must be an RFC 3339 time with a zone, such as 2026-01-31T00:00:00Z');
  }
  return instant;
}

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The storage key of an event id. design: usage.md Tables */
export function eventKey(id: string): string {
  return canonicalUuid.test(id) ? id : digest(id);
}

/** The first 16 bytes of the SHA-256 of a text, written as a UUID; `usage.digest` in SQL. */
export function digest(text: string): string {
  return uuidText(createHash('sha256').update(text).digest('hex'));
}

/** A UUIDv7: ids that grow with time keep the index of keys dense. */
export function newEventId(atMs: number = Date.now()): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

function uuidText(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
