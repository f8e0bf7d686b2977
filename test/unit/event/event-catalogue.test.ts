import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { headersOf } from '../../../activities/event/webhook/attempt.ts';
import { withEventTable } from '../../../api/reference/event-table.ts';
import { neverSentTypes, webhookEventTypes } from '../../../services/event/webhook/event-type.ts';
import { isShownWhole } from '../../../services/event/webhook/frozen-body.ts';
import { eventCatalogue, type OutboundEvent } from '../../../services/platform/event-catalogue/event-catalogue.ts';
import { problemOf } from '../../support/outbox-payloads.ts';
import { files, sources } from '../../support/source-imports.ts';
import { toldPhase } from '../../support/told-event.ts';

interface Webhook {
  description: string;
  parameters: { $ref: string }[];
  requestBody: { content: { 'application/json': { schema: object; example?: { event_type: string } } } };
}
interface Header {
  in: string;
  name: string;
  required: boolean;
  description: string;
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  webhooks: Record<string, { post: Webhook }>;
  components: { parameters: Record<string, Header> };
};
const types = [...eventCatalogue.keys()];

describe('the catalogue of outbound events', () => {
  test('has the 60 published types, all of them sent, beside two that are accepted and never sent', () => {
    expect(types).toHaveLength(60);
    expect(webhookEventTypes.toSorted()).toEqual([...types, ...neverSentTypes].toSorted());
    expect(types.filter((type) => (neverSentTypes as readonly string[]).includes(type))).toEqual([]);
  });

  test('tells each type in one sentence of its own', () => {
    const sentences = Array.from(eventCatalogue.values(), ({ sentence }) => sentence);
    expect(sentences.filter((sentence) => !/^[A-Z].{10,}\.$/.test(sentence))).toEqual([]);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  test('has no type that nothing sends', () => {
    expect(types.filter((type) => !emitted.some((pattern) => pattern.test(type)))).toEqual([]);
    expect(emitted.some((pattern) => pattern.test('invoice.create.drafted'))).toBe(false);
  });

  test('says of the six types of a whole invoice that they are shown whole', () => {
    expect(types.filter(isShownWhole)).toEqual([
      'invoice.communication.triggered',
      'invoice.payment.overdue',
      'invoice.update',
      'invoice.update.finalized',
      'invoice.update.payment',
      'invoice.update.voided',
    ]);
  });

  test('takes what is sent, and nothing else', () => {
    const { name, entityType, payload } = toldPhase('phase_1');
    const row = { event_name: name, entity_type: entityType, payload: { event_type: name, ...payload } };
    expect(problemOf(row)).toBeNull();
    expect(problemOf({ ...row, event_name: 'thing.changed' })).toMatch(/no type/);
    expect(problemOf({ ...row, entity_type: 'thing' })).toMatch(/belongs to a thing/);
    expect(problemOf({ ...row, payload: { ...row.payload, more: 1 } })).toMatch(/more/);
    expect(problemOf({ ...row, payload: { ...row.payload, phase: { ...payload.phase, end_date: 'soon' } } })).toMatch(
      /phase\.end_date/,
    );
  });
});

test('an event of another type, object or payload does not compile', () => {
  const { entityId, occurredAt } = toldPhase('phase_1');
  const about = { entityId, occurredAt };
  const { payload } = toldPhase('phase_1');
  const right: OutboundEvent = { ...about, name: 'subscription.phase.created', entityType: 'phase', payload };
  // @ts-expect-error no such type
  const misspelt: OutboundEvent = { ...about, name: 'subscription.phase.made', entityType: 'phase', payload };
  // @ts-expect-error events of a subscription carry a subscription
  const other: OutboundEvent = { ...about, name: 'subscription.created', entityType: 'subscription', payload };
  const short = { phase: { id: entityId, subscription_id: 'subs_1', start_date: occurredAt } };
  // @ts-expect-error an end is told, null where there is none
  const empty: OutboundEvent = { ...about, name: 'subscription.phase.created', entityType: 'phase', payload: short };
  const problems = [right, misspelt, other, empty].map((event) =>
    problemOf({
      event_name: event.name,
      entity_type: event.entityType,
      payload: { event_type: event.name, ...event.payload },
    }),
  );
  expect(problems).toEqual([null, expect.any(String), expect.any(String), expect.any(String)]);
});

test('one function writes outbound events', () => {
  const writers = files.filter(
    (file) => !/^(test|bench)\//.test(file) && /into outbox_event\b/.test(sources.get(file) ?? ''),
  );
  expect(writers).toEqual(['services/platform/outbox.ts']);
});

/** Types as the code outside the catalogue names them; a name that is put together stands for every word in its place. */
const emitted = files
  .filter((file) => /^(billing|services|metering)\//.test(file) && !/event-catalogue|event-type\.ts/.test(file))
  .flatMap((file) => [...(sources.get(file) ?? '').matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'|`([a-z_.]+\.)\$\{[\w.]+\}`/g)])
  .map(([, whole, start]) =>
    whole === undefined ? new RegExp(`^${start?.replaceAll('.', '\\.')}[a-z_]+$`) : new RegExp(`^${whole}$`),
  );

describe('the description of deliveries', () => {
  const webhooks = Object.entries(document.webhooks).map(([type, { post }]) => ({ type, ...post }));
  const headers = Object.values(document.components.parameters);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat('decimal', /^-?\d+(\.\d+)?$/);

  test('has every type, with its sentence', () => {
    expect(webhooks.map(({ type, description }) => [type, description])).toEqual(
      Array.from(eventCatalogue.values(), ({ type, sentence }) => [type, sentence]),
    );
  });

  test.each(webhooks)('shows an example of $type that is what its schema says', ({ type, requestBody }) => {
    const { schema, example } = requestBody.content['application/json'];
    const validate = ajv.compile({ ...schema, components: document.components } as AnySchema);
    expect(example?.event_type).toBe(type);
    expect(validate(example), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(validate({ ...example, event_type: 'thing.changed' })).toBe(false);
  });

  test('names the headers that are sent, and no others', () => {
    const secrets = { secret: `whsec_${Buffer.alloc(24).toString('base64')}`, headers: {} };
    const event = { id: 'sys_event_1', entityId: 'inv_1', sequence: 3, occurredAt: '2026-01-31T00:00:00.000Z' };
    const sent = (stateSequence: number, more: { isReplay?: true } = {}) =>
      Object.keys(
        headersOf({
          url: 'https://example.com',
          secrets,
          event,
          content: { body: Buffer.from('{}'), stateSequence },
          before: { previous: 0, skipped: 0 },
          number: 1,
          nowMs: 0,
          ...more,
        }),
      ).filter((name) => !['content-type', 'user-agent'].includes(name));
    const named = (list: readonly Header[]) => list.map(({ name }) => name).sort();
    expect(named(headers)).toEqual(sent(4, { isReplay: true }).sort());
    expect(named(headers.filter(({ required }) => required))).toEqual(sent(3).sort());
    for (const { parameters } of webhooks) {
      expect(parameters.map(({ $ref }) => $ref)).toEqual(headers.map(({ name }) => `#/components/parameters/${name}`));
    }
  });

  test('is told on the page that users read (npm run openapi writes its table)', () => {
    const page = readFileSync('docs/outbound-events.md', 'utf8');
    expect(page).toBe(withEventTable(page));
    const webhooks = readFileSync('docs/webhooks.md', 'utf8');
    expect(headers.filter(({ name }) => !webhooks.includes(name))).toEqual([]);
  });
});
