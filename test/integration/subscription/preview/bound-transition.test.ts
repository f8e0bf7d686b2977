import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../faults/random.ts';
import { advanceTo, invoicesOf, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import type { Wire } from '../../invoice/invoice.fixture.ts';
import { family } from '../hierarchy.fixture.ts';
import {
  type Digested,
  hoursAfter,
  linesPromised,
  linesShown,
  otherPrice,
  type PreviewedSubscription,
  previewedSubscription,
  previewPlan,
  promisedOf,
} from './preview.fixture.ts';

const { api } = await testPlatform();
const plan = await previewPlan(api);
const seed = Number(process.env.PREVIEW_SEED ?? 20_261_122);
const random = seededRandom(seed);

interface Answer extends Digested {
  pause_status: string;
  pause_end: string | null;
  subscription: { subscription_status: string; current_period_start: string; current_period_end: string };
}
type Verb = 'pause' | 'resume';

const preview = (id: string, verb: Verb, body: object = {}) =>
  api<Answer>('POST', `/subscriptions/${id}/${verb}`, { ...body, dry_run: true });
const execute = (id: string, verb: Verb, body: object = {}) =>
  api<Answer>('POST', `/subscriptions/${id}/${verb}`, body);

const standing = ({ subscription: one }: Answer) => [
  one.subscription_status,
  one.current_period_start,
  one.current_period_end,
];

async function wholeInvoices(id: string): Promise<Wire[]> {
  const listed = await invoicesOf(api, id);
  return Promise.all(listed.map(async (invoice) => (await api<Wire>('GET', `/invoices/${invoice.id}`)).body));
}

const walletOf = async (customerId: string) => {
  const { body } = await api<{ balance: string }[]>('GET', `/customers/${customerId}/wallets`);
  return Array.isArray(body) ? body.reduce((sum, { balance }) => sum + Number(balance), 0) : 0;
};

/** Previews and executes, and holds what was made against what was promised. */
async function heldLineByLine(
  { id, customerId }: Pick<PreviewedSubscription, 'id' | 'customerId'>,
  verb: Verb,
  body: object,
) {
  const before = await wholeInvoices(id);
  const wallet = await walletOf(customerId);
  const seen = await preview(id, verb, body);
  expect(seen.status, JSON.stringify(seen.body)).toBe(200);
  expect(await wholeInvoices(id)).toEqual(before);
  const { preview_digest } = seen.body;
  const done = await execute(id, verb, { ...body, preview_digest });
  expect(done.status, JSON.stringify(done.body)).toBe(200);
  expect(standing(done.body)).toEqual(standing(seen.body));
  expect(done.body).toMatchObject({ pause_end: seen.body.pause_end, preview_digest: null });
  const made = (await wholeInvoices(id)).filter((invoice) => !before.some((known) => known.id === invoice.id));
  expect(linesShown(made)).toEqual(linesPromised(preview_digest));
  const returned = promisedOf(preview_digest, 'wallet').reduce((sum, { amount }) => sum + Number(amount), 0);
  const paid = made.reduce((sum, { total_prepaid_credits_applied }) => sum + Number(total_prepaid_credits_applied), 0);
  expect((await walletOf(customerId)) - wallet).toBeCloseTo(returned - paid, 9);
  const repeated = await execute(id, verb, { ...body, preview_digest });
  expect(repeated.status).toBeGreaterThanOrEqual(400);
  return seen.body;
}

describe(`whatever pause and resume is previewed (seed ${seed})`, () => {
  const terms = [
    {},
    { billing_cycle: 'calendar' },
    { proration_behavior: 'none' },
    { billing_anchor: '2026-02-10T06:00:00Z' },
  ];
  const cases = Array.from({ length: 5 }, (_, index) => ({
    index,
    fields: random.oneOf(terms),
    behaviors: [random.oneOf(['create_prorations', 'none']), random.oneOf(['create_prorations', 'none'])] as const,
    at: hoursAfter('2026-01-31T00:00:00Z', random.whole(24 * 60) + 2),
    hours: random.whole(24 * 45) + 1,
  }));

  it.each(cases)('its execution is that, line by line: $index', async ({ fields, behaviors, at, hours }) => {
    const made = await previewedSubscription(api, plan, at, fields);
    await heldLineByLine(made, 'pause', { proration_behavior: behaviors[0], pause_days: 9, reason: 'season' });
    await advanceTo(api, made.clockId, hoursAfter(at, hours));
    await heldLineByLine(made, 'resume', { proration_behavior: behaviors[1] });
  });

  it('with the children that are invoiced with a parent', async () => {
    const group = await family(api, { children: 1 });
    const { customerId } = group.parent;
    await advanceTo(api, group.clockId, '2026-01-20T00:00:00Z');
    await heldLineByLine({ id: group.subscriptionId, customerId }, 'pause', {
      proration_behavior: 'create_prorations',
    });
  });
});

describe('what happens between the preview of a pause and its execution', () => {
  const at = '2026-02-10T00:00:00.000Z';

  it('some minutes of the clock change nothing: the previewed moment is the moment of the pause', async () => {
    const made = await previewedSubscription(api, plan, at);
    const seen = await preview(made.id, 'pause', { proration_behavior: 'create_prorations' });
    await advanceTo(api, made.clockId, hoursAfter(at, 0.5));
    const { preview_digest } = seen.body;
    const done = await execute(made.id, 'pause', { proration_behavior: 'create_prorations', preview_digest });
    expect(done.body).toMatchObject({ pause_start: at, pause_status: 'active' });
  });

  it.each<[string, string[], (made: PreviewedSubscription) => Promise<unknown>]>([
    ['usage that is billed', ['lines', 'usage'], ({ use }) => use(hoursAfter(at, -2))],
    ['another command', ['subscription'], ({ id }) => api('PUT', `/subscriptions/${id}`, { metadata: { a: 'b' } })],
    ['the clock', ['clock'], ({ clockId }) => advanceTo(api, clockId, hoursAfter(at, 2))],
    ['a price of the plan', ['prices'], () => otherPrice(api, plan)],
  ])('%s makes it a conflict that tells it, and nothing is done', async (_name, told, disturb) => {
    const made = await previewedSubscription(api, plan, at);
    const seen = await preview(made.id, 'pause');
    await disturb(made);
    const before = await wholeInvoices(made.id);
    const refused = await execute(made.id, 'pause', { preview_digest: seen.body.preview_digest });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(told);
    expect(await wholeInvoices(made.id)).toEqual(before);
    expect(await subscriptionOf(api, made.id)).toMatchObject({ subscription_status: 'active', pause_status: 'none' });
  });

  it('something else that is asked for is told as such', async () => {
    const made = await previewedSubscription(api, plan, at);
    const seen = await preview(made.id, 'pause', { proration_behavior: 'none' });
    const { preview_digest } = seen.body;
    const other = { proration_behavior: 'create_prorations', preview_digest };
    const refused = await execute(made.id, 'pause', other);
    expect(refused).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
    expect(refused.body.details!.difference).toHaveProperty('request');
    const repeated = await preview(made.id, 'pause', { proration_behavior: 'none', preview_digest });
    expect(linesPromised(repeated.body.preview_digest)).toEqual(linesPromised(preview_digest));
  });

  it('a text that is no digest is refused, naming the field', async () => {
    const made = await previewedSubscription(api, plan, at);
    for (const preview_digest of ['none', 'pd2_', 'pd2_AAAA']) {
      const refused = await execute(made.id, 'pause', { preview_digest });
      expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
      expect(JSON.stringify(refused.body)).toContain('preview_digest');
    }
  });
});

describe('what happens between the preview of a resume and its execution', () => {
  const at = '2026-02-10T00:00:00.000Z';

  it('another resume and pause make it a conflict', async () => {
    const made = await previewedSubscription(api, plan, at);
    expect((await execute(made.id, 'pause')).status).toBe(200);
    await advanceTo(api, made.clockId, hoursAfter(at, 24));
    const seen = await preview(made.id, 'resume', { proration_behavior: 'create_prorations' });
    expect((await execute(made.id, 'resume')).status).toBe(200);
    await advanceTo(api, made.clockId, hoursAfter(at, 24.5));
    expect((await execute(made.id, 'pause')).status).toBe(200);
    const before = await wholeInvoices(made.id);
    const { preview_digest } = seen.body;
    const refused = await execute(made.id, 'resume', { proration_behavior: 'create_prorations', preview_digest });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(refused.body.details!.difference).toHaveProperty('subscription');
    expect(await wholeInvoices(made.id)).toEqual(before);
    expect(await subscriptionOf(api, made.id)).toMatchObject({ subscription_status: 'paused' });
  });
});
