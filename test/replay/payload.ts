import type { RecordedEvent, RecordedHistory } from './history.ts';

/** A value in a payload of a history: `carrier` says what the payload is, `update voidInvoice`, and `key` where in it the value is. */
export interface PayloadValue {
  carrier: string;
  /** `agenda[].at`; empty where the payload itself is the value; `agenda[]` and `metadata.` of what holds nothing. */
  key: string;
  /** Undefined where a list or an object holds nothing. */
  value: unknown;
}

/** Every value of every payload of a history, decoded. A payload in a place that nobody foresaw has that place for its carrier. */
export function payloadValues(history: RecordedHistory): PayloadValue[] {
  const byId = new Map(history.events.map((event) => [String(event.eventId), event]));
  return history.events.flatMap((event) =>
    payloadsIn(event, '').flatMap(({ place, content }) => {
      const carrier = carrierOf(event, place, (id) => byId.get(id));
      return valuesIn(content, '').map((found) => ({ carrier, ...found }));
    }),
  );
}

function payloadsIn(value: unknown, place: string): { place: string; content: unknown }[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('data' in value && typeof value.data === 'string') return [{ place, content: decoded(value.data) }];
  return Object.entries(value).flatMap(([key, each]) => payloadsIn(each, place === '' ? key : `${place}.${key}`));
}

function decoded(data: string): unknown {
  const text = Buffer.from(data, 'base64').toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function valuesIn(value: unknown, key: string): { key: string; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return [{ key, value }];
  if (Object.keys(value).length === 0)
    return [{ key: Array.isArray(value) ? `${key}[]` : `${key}.`, value: undefined }];
  if (Array.isArray(value)) return value.flatMap((each) => valuesIn(each, `${key}[]`));
  return Object.entries(value).flatMap(([name, each]) => valuesIn(each, key === '' ? name : `${key}.${name}`));
}

/** Name of the workflow, activity, update or signal of an event, where its attributes have it. */
function nameIn(event: RecordedEvent | undefined, ...keys: string[]): string {
  const attributes = Object.entries(event ?? {}).find(([key]) => key.endsWith('EventAttributes'))?.[1];
  const named = keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], attributes);
  return typeof named === 'string' ? named : 'of no name';
}

function carrierOf(event: RecordedEvent, place: string, eventOf: (id: string) => RecordedEvent | undefined): string {
  const type = event.eventType.replace('EVENT_TYPE_', '');
  const beside = /(memo\.fields|searchAttributes\.indexedFields|header\.fields)\.(\w+)$/.exec(place);
  if (beside) return `${beside[1]} ${beside[2]}`;
  if (place.startsWith('userMetadata.')) return place;
  if (/failure\..*details\.payloads\.\d+$/.test(place)) return 'failure';
  if (!/(^|\.)[\w-]*(input|args|result|success|data)(\.payloads)?\.\d+$/.test(place)) return `${type} ${place}`;
  switch (type) {
    case 'WORKFLOW_EXECUTION_STARTED':
      return place.includes('.input.') ? `start ${nameIn(event, 'workflowType', 'name')}` : `${type} ${place}`;
    case 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW':
    case 'START_CHILD_WORKFLOW_EXECUTION_INITIATED':
      return `start ${nameIn(event, 'workflowType', 'name')}`;
    case 'CHILD_WORKFLOW_EXECUTION_COMPLETED':
      return `end ${nameIn(event, 'workflowType', 'name')}`;
    case 'WORKFLOW_EXECUTION_COMPLETED':
      return `end ${nameIn(eventOf('1'), 'workflowType', 'name')}`;
    case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED':
      return `update ${nameIn(event, 'acceptedRequest', 'input', 'name')}`;
    case 'WORKFLOW_EXECUTION_UPDATE_COMPLETED':
      return `answer ${nameIn(eventOf(nameIn(event, 'acceptedEventId')), 'acceptedRequest', 'input', 'name')}`;
    case 'WORKFLOW_EXECUTION_SIGNALED':
    case 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED':
      return `signal ${nameIn(event, 'signalName')}`;
    case 'ACTIVITY_TASK_SCHEDULED':
      return `activity ${nameIn(event, 'activityType', 'name')}`;
    case 'ACTIVITY_TASK_COMPLETED':
      return `result ${nameIn(eventOf(nameIn(event, 'scheduledEventId')), 'activityType', 'name')}`;
    case 'MARKER_RECORDED':
      return markerOf(event, place);
    default:
      return `${type} ${place}`;
  }
}

/** The marker of a local activity holds the name of the activity beside its result. */
function markerOf(event: RecordedEvent, place: string): string {
  const marker = nameIn(event, 'markerName');
  if (!place.includes('.details.result.')) return `marker ${marker}`;
  const texts = payloadsIn(event, '').map(({ content }) => content as { activity_type?: string } | null);
  return `result ${texts.find((content) => content?.activity_type)?.activity_type ?? 'of no name'}`;
}
