import { refusalIn } from '../billing/refusal.ts';
import { type EventInput, type PreparedEvent, prepareEvent } from './event.ts';

/**
 * Where a foreign object holds what an event needs: for each member a path of names joined by dots, empty for the usual
 * places. The setting `raw_event_config`.
 */
export interface RawEventMapping {
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly event_id: string;
  readonly timestamp: string;
  readonly source: string;
  readonly properties: string;
}

/** The names that our own events, CloudEvents and common analytics clients use. */
const usualPlaces: Readonly<Record<keyof RawEventMapping, readonly string[]>> = {
  event_name: ['event_name', 'event', 'type'],
  external_customer_id: ['external_customer_id', 'subject', 'userId', 'user_id'],
  event_id: ['event_id', 'id', 'messageId', 'message_id'],
  timestamp: ['timestamp', 'time'],
  source: ['source'],
  properties: ['properties', 'data'],
};

type Foreign = Readonly<Record<string, unknown>>;

/**
 * The event a foreign object tells of, or why none can be read from it. Without an id it gets `fallbackId`, which stays the
 * same when the object is read again; without `properties` all members that were not used are its properties.
 * spec: catalogue-and-metering §6.1, §6.2
 */
export function eventOfRaw(
  payload: Foreign,
  mapping: RawEventMapping,
  fallbackId: string,
): { readonly event: PreparedEvent } | { readonly problem: string } {
  const places = (member: keyof RawEventMapping) => (mapping[member] === '' ? usualPlaces[member] : [mapping[member]]);
  const used = new Set<string>();
  const textOf = (member: keyof RawEventMapping): string | null => {
    for (const place of places(member)) {
      const text = textForm(valueAt(payload, place));
      if (text === null || text.trim() === '') continue;
      used.add(place);
      return text;
    }
    return null;
  };
  const eventName = textOf('event_name');
  if (eventName === null) return { problem: `event_name was not found at ${places('event_name').join(' or ')}` };
  const customer = textOf('external_customer_id');
  if (customer === null) {
    return { problem: `external_customer_id was not found at ${places('external_customer_id').join(' or ')}` };
  }
  const input: EventInput = {
    event_name: eventName,
    external_customer_id: customer,
    event_id: textOf('event_id') ?? fallbackId,
    timestamp: instantOf(textOf('timestamp')),
    source: textOf('source'),
    properties: propertiesOf(payload, places('properties')) ?? others(payload, used),
  };
  try {
    return { event: prepareEvent(input) };
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return { problem: refusal.message };
  }
}

/** A member with that very name, else the one its dots lead to. */
function valueAt(payload: Foreign, path: string): unknown {
  if (Object.hasOwn(payload, path)) return payload[path];
  let value: unknown = payload;
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function textForm(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : null;
}

/** Seconds, and from 10^11 on milliseconds, since 1970 are times too. */
function instantOf(text: string | null): string | null {
  if (text === null || !/^\d{1,15}(?:\.\d+)?$/.test(text)) return text;
  const number = Number(text);
  const date = new Date(number >= 1e11 ? number : number * 1000);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

function propertiesOf(payload: Foreign, places: readonly string[]): Record<string, unknown> | null {
  for (const place of places) {
    const value = valueAt(payload, place);
    if (isObject(value)) return value;
  }
  return null;
}

function others(payload: Foreign, used: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !used.has(name)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
