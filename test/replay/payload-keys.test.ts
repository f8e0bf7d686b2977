import { describe, expect, test } from 'vitest';
import { allowedKeys } from './allowed-keys.ts';
import { type RecordedHistory, recordedHistories } from './history.ts';
import { type PayloadValue, payloadValues } from './payload.ts';
import { type Kind, kinds } from './payload-shapes.ts';

const values = [...recordedHistories()].flatMap(([file, history]) =>
  payloadValues(history).map((found) => ({ file, ...found })),
);

/** Kind of a value by its place; none where the place is not allowed. */
const kindOf = ({ carrier, key }: PayloadValue): Kind | undefined => allowedKeys[carrier]?.[key];

/** True also of a list or an object that holds nothing, where it may hold something. */
const isAllowed = (found: PayloadValue): boolean =>
  kindOf(found) !== undefined ||
  (found.value === undefined && Object.keys(allowedKeys[found.carrier] ?? {}).some((key) => key.startsWith(found.key)));

/** Places that are not allowed. */
const breachesOf = (found: readonly PayloadValue[]): string[] => [
  ...new Set(found.filter((each) => !isAllowed(each)).map(({ carrier, key }) => `${carrier}: ${key}`)),
];

/** Counts are numbers, but for positions too large for one; flags are booleans, all others texts. */
function isOfKind(kind: Kind, value: unknown): boolean {
  const types = { count: ['number', 'string'], flag: ['boolean'] }[kind as 'count' | 'flag'] ?? ['string'];
  return types.includes(typeof value) && kinds[kind].test(String(value));
}

describe('every payload of every history', () => {
  test('holds no key but those that are allowed for what it is', () => {
    expect(values.length).toBeGreaterThan(10_000);
    expect(breachesOf(values)).toEqual([]);
  });

  test('holds values of their kinds: ids, instants, words, counts, flags and what operators are told', () => {
    const wrong = values.filter((each) => {
      const kind = kindOf(each);
      return kind !== undefined && each.value != null && !isOfKind(kind, each.value);
    });
    expect(wrong.map(({ file, carrier, key, value }) => `${file} ${carrier}: ${key} = ${value}`)).toEqual([]);
  });

  test('is of a kind that is listed, each of which is there, and so is each key in one of its kind', () => {
    const sort = (carrier: string) => carrier.split(' ')[0];
    const carriers = new Set(values.map(({ carrier }) => carrier));
    const keys = new Set(values.map(({ carrier, key }) => `${sort(carrier)}: ${key}`));
    const unseen = Object.entries(allowedKeys).flatMap(([carrier, allowed]) => [
      ...(carriers.has(carrier) ? [] : [carrier]),
      ...Object.keys(allowed).flatMap((key) => (keys.has(`${sort(carrier)}: ${key}`) ? [] : [`${carrier}: ${key}`])),
    ]);
    expect(unseen).toEqual([]);
  });
});

/** Texts of failures, which are in no payload; the recording keeps no stacks. */
function failureTexts(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'message' in value && typeof value.message === 'string' ? [value.message] : [];
  return [...own, ...Object.values(value).flatMap(failureTexts)];
}

test('failures of histories tell ids, codes and names of tables: what the database or a library quotes is not there', () => {
  const told = new Set([...recordedHistories().values()].flatMap(failureTexts));
  expect(told.size).toBeGreaterThan(20);
  expect([...told].filter((text) => !kinds.report.test(text))).toEqual([]);
  // In quotes stand names of tables and constraints.
  const quoted = [...told].flatMap((text) => text.match(/"[^"]*"/g) ?? []);
  expect(quoted.filter((text) => !/^"\w+"$/.test(text))).toEqual([]);
});

describe('a command with something in its arguments', () => {
  const payload = (content: unknown) => ({ data: Buffer.from(JSON.stringify(content)).toString('base64') });
  const sent = (name: string, content: object): RecordedHistory => ({
    events: [
      {
        eventId: '1',
        eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
        workflowExecutionUpdateAcceptedEventAttributes: {
          acceptedRequest: { input: { name, args: { payloads: [payload(content)] } } },
        },
      },
    ],
  });
  const command = { caller: { actor: 'user_1', requestId: '1' }, at: '2026-01-15T00:00:00.000Z', commandId: 'c_1' };

  test.each([
    ['a reason', 'cancelSubscription', { ...command, reason: 'moves away' }, ['update cancelSubscription: reason']],
    ['metadata', 'voidInvoice', { ...command, metadata: { note: '' } }, ['update voidInvoice: metadata.note']],
    ['metadata of nothing', 'voidInvoice', { ...command, metadata: {} }, ['update voidInvoice: metadata.']],
    ['an unknown name', 'renameSubscription', { at: command.at }, ['update renameSubscription: at']],
    ['nothing of its own', 'cancelSubscription', command, []],
  ])('is noticed: %s', (_, name, content, breaches) => {
    expect(breachesOf(payloadValues(sent(name, content)))).toEqual(breaches);
  });

  test('is noticed in a payload whose place nobody foresaw', () => {
    const event = {
      eventId: '1',
      eventType: 'EVENT_TYPE_NEXUS_OPERATION_SCHEDULED',
      attributes: { input: payload(1) },
    };
    expect(breachesOf(payloadValues({ events: [event] }))).toEqual(['NEXUS_OPERATION_SCHEDULED attributes.input: ']);
  });
});
