import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationExamples } from '../../api/reference/operation-examples.ts';
import type { EventExamples } from '../../api/reference/outbound-webhooks.ts';
import type { RecordedCall } from './recorded-examples.ts';

/**
 * `npm run examples -- <folder>`: chooses, of the calls that tests recorded there (`RECORD_EXAMPLES=<folder>`), one request and one answer for
 * each operation and one body for each type of outbound event, and writes them beside the API description. What was not recorded keeps what
 * it has.
 */
const folder = process.argv[2];
/** Characters of an answer that fit a screen or two. */
const enough = 3_000;
if (folder === undefined) throw new Error('usage: npm run examples -- <folder of recorded calls>');
const target = new URL('../../api/reference/examples.json', import.meta.url);

const read = <Kept>(prefix: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Kept[]);
const calls = read<RecordedCall>('calls_');
const byOperation = Map.groupBy(calls, (call) => call.operationId);
const examples = JSON.parse(readFileSync(target, 'utf8')) as OperationExamples;
for (const [operationId, recorded] of byOperation) {
  const best = recorded.toSorted((a, b) => worth(b) - worth(a))[0];
  if (!best) continue;
  const { request, answer } = best;
  examples[operationId] = { ...(request === null ? {} : { request }), answer: shortened(answer) };
}
keep(target, examples);

const eventTarget = new URL('../../api/reference/event-examples.json', import.meta.url);
const events = JSON.parse(readFileSync(eventTarget, 'utf8')) as EventExamples;
for (const [type, bodies] of Map.groupBy(read<{ event_type: string }>('events_'), (body) => body.event_type)) {
  const [best] = bodies.toSorted((a, b) => worth({ answer: b }) - worth({ answer: a }));
  events[type] = shortened(best);
}
keep(eventTarget, events);

function keep(file: URL, chosen: Readonly<Record<string, unknown>>): void {
  const sorted = Object.fromEntries(Object.entries(chosen).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`);
}

/** Most worth is a call that shows much on one screen: filled members and lists, a sent body, no test's hostile text. */
function worth({ request, answer }: { request?: unknown; answer: unknown }): number {
  const text = JSON.stringify(answer);
  const sent = JSON.stringify(request ?? null);
  const length = text.length > enough ? enough - (text.length - enough) : text.length;
  const isHostile = /<script|\\u0000|\\ud83d|[^ -~]/.test(text + sent);
  const isEmpty = /"(items|results|data|points)":\[\]/.test(text);
  return length + Math.min(sent.length, 600) - (isEmpty ? enough : 0) - (isHostile ? 10 * enough : 0);
}

/** An answer with two elements of each list at most. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 2).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}
