import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A history as `historyToJSON` writes it. */
export interface RecordedHistory {
  events: RecordedEvent[];
}

/** An event of a history; its attributes are under a key of their own. */
export type RecordedEvent = Record<string, unknown> & { eventType: string };

export const historiesDirectory = join(import.meta.dirname, 'histories');

/** The committed histories by file name, `<scenario>.<workflow type>.<n>.json`. */
export function recordedHistories(): Map<string, RecordedHistory> {
  const files = readdirSync(historiesDirectory).filter((file) => file.endsWith('.json'));
  return new Map(files.sort().map((file) => [file, readHistory(file)]));
}

function readHistory(file: string): RecordedHistory {
  return JSON.parse(readFileSync(join(historiesDirectory, file), 'utf8')) as RecordedHistory;
}

/**
 * What a history does, without ids and instants: the types of its events and of the activities, messages and timers in
 * them. Two runs of one shape prove the same.
 */
export function shapeOf(history: RecordedHistory): string {
  return history.events.map((event) => [event.eventType, ...namesIn(event)].join(' ')).join('\n');
}

function namesIn(event: RecordedEvent): string[] {
  const text = JSON.stringify(event);
  const names = text.matchAll(/"(?:activityType|workflowType)":\{"name":"(\w+)"|"(?:signalName|name)":"(\w+)"/g);
  const local = payloadsOf(event).flatMap((payload) => /"activity_type":"(\w+)"/.exec(payload)?.[1] ?? []);
  return [...[...names].map((match) => match[1] ?? match[2] ?? ''), ...local];
}

/** The texts of every payload of a value, decoded. */
export function payloadsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('data' in value && typeof value.data === 'string') return [Buffer.from(value.data, 'base64').toString('utf8')];
  return Object.values(value).flatMap(payloadsOf);
}

const ofTheMachine = new Set(['identity', 'stackTrace', 'workerVersion', 'binaryChecksum', 'taskId', 'requestId']);

/** Drops what names the machine of the recording: hosts, processes and lines of stack traces. Replay reads none of it. */
export function withoutMachine<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutMachine) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !ofTheMachine.has(key));
  const clean = kept.map(([key, each]) => [key, withoutMachine(each)] as const);
  const { kind } = value as { kind?: unknown };
  return { ...Object.fromEntries(clean), ...(kind === 'TASK_QUEUE_KIND_STICKY' ? { name: 'sticky' } : {}) } as T;
}
