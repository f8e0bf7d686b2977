import { describe, expect, it } from 'vitest';
import { advanceTo, created, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import { rowCounts } from '../../api/bad-input.fixture.ts';
import type { Wire } from '../../invoice/invoice.fixture.ts';
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

const { api, base } = await testPlatform();
const plan = await previewPlan(api);
const dearer = await previewPlan(api);
const at = '2026-02-10T00:00:00.000Z';

type Answer = Digested & Wire;
type Ask = (body?: object) => Promise<{ status: number; body: Answer }>;

/** Operations that show what time, or nobody, executes: the same request with the digest is their execution. */
const operations: Record<string, (made: PreviewedSubscription) => Ask> = {
  'POST /invoices/preview': (made) => (more) =>
    api<Answer>('POST', '/invoices/preview', { subscription_id: made.id, ...more }),
  'POST /subscriptions/{id}/rehearse': (made) => (more) =>
    api<Answer>('POST', `/subscriptions/${made.id}/rehearse`, { until: '2026-05-01T00:00:00Z', ...more }),
};

/** Without what each answer gives anew. */
function shown({ preview_digest: _, invoices, steps, ...answer }: Answer): unknown {
  const brief = invoices && { invoices: linesShown(invoices), steps: steps.map((step: Wire) => [step.at, step.kind]) };
  const isNew = (name: string) => name === 'created_at' || name === 'updated_at';
  return JSON.parse(JSON.stringify({ ...answer, ...brief }, (name, value) => (isNew(name) ? undefined : value)));
}

describe.each(Object.entries(operations))('%s', (name, operation) => {
  it('answers the same lines to its digest, and promises those it shows', async () => {
    const made = await previewedSubscription(api, plan, at);
    const ask = operation(made);
    const seen = await ask();
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    const { preview_digest } = seen.body;
    expect(linesPromised(preview_digest)).toEqual(linesShown(seen.body.invoices ?? [seen.body]));
    const steps = (seen.body.steps ?? []).map((step: Wire) => `${step.at} ${step.kind}`);
    expect(promisedOf(preview_digest, 'step').map((step) => `${step.start} ${step.name}`)).toEqual(steps);
    await advanceTo(api, made.clockId, hoursAfter(at, 0.5));
    const again = await ask({ preview_digest });
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    expect(shown(again.body)).toEqual(shown(seen.body));
  });

  it.each<[string, string[], (made: PreviewedSubscription) => Promise<unknown>]>([
    ['usage that is billed', ['lines', 'usage'], ({ use }) => use(hoursAfter(at, -2))],
    ['a command', ['subscription'], ({ id }) => api('PUT', `/subscriptions/${id}`, { metadata: { a: 'b' } })],
    ['the clock', ['clock'], ({ clockId }) => advanceTo(api, clockId, hoursAfter(at, 2))],
    ['a price of the plan', ['prices'], () => otherPrice(api, plan)],
  ])('%s is told as a conflict, and nothing is written', async (_name, told, disturb) => {
    const made = await previewedSubscription(api, plan, at);
    const ask = operation(made);
    const { preview_digest } = (await ask()).body;
    await disturb(made);
    const before = [await subscriptionOf(api, made.id), await rowCounts(base)];
    const refused = await ask({ preview_digest });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(told);
    expect([await subscriptionOf(api, made.id), await rowCounts(base)]).toEqual(before);
  });

  it('another request is told as such, and a text that is no digest is refused', async () => {
    const made = await previewedSubscription(api, plan, at);
    const ask = operation(made);
    const { preview_digest } = (await ask()).body;
    const other = name.endsWith('rehearse')
      ? { until: '2026-06-01T00:00:00Z' }
      : { hide_zero_charges_line_items: true };
    const refused = await ask({ ...other, preview_digest });
    expect(refused.status).toBe(409);
    expect(refused.body.details!.difference).toHaveProperty('request');
    expect(await ask({ preview_digest: 'none' })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});

describe('POST /plans/{id}/simulate', () => {
  const simulate = (made: PreviewedSubscription, more: object = {}) =>
    api<Answer>('POST', `/plans/${dearer.planId}/simulate`, {
      customer_ids: [made.customerId],
      start_time: '2026-01-31T00:00:00Z',
      end_time: '2026-03-01T00:00:00Z',
      ...more,
    });
  const ended = '2026-03-05T00:00:00.000Z';

  it('answers the same sums to its digest', async () => {
    const made = await previewedSubscription(api, plan, ended);
    const seen = await simulate(made);
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    const { preview_digest, customers } = seen.body;
    expect(promisedOf(preview_digest, 'current')).toMatchObject([{ name: made.id, amount: customers[0].current }]);
    expect(promisedOf(preview_digest, 'simulated')).toMatchObject([{ name: made.id, amount: customers[0].simulated }]);
    expect(shown((await simulate(made, { preview_digest })).body)).toEqual(shown(seen.body));
  });

  it.each<[string, string[], (made: PreviewedSubscription) => Promise<unknown>]>([
    ['usage of the window', ['lines', 'usage'], ({ use }) => use('2026-02-20T00:00:00Z')],
    ['a command', ['subscriptions'], ({ id }) => api('PUT', `/subscriptions/${id}`, { metadata: { a: 'b' } })],
    ['a price of the plan', ['prices'], () => otherPrice(api, dearer)],
  ])('%s is told as a conflict', async (_name, told, disturb) => {
    const made = await previewedSubscription(api, plan, ended);
    const { preview_digest } = (await simulate(made)).body;
    await disturb(made);
    const refused = await simulate(made, { preview_digest });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(told);
    expect(await simulate(made, { preview_digest: 'none' })).toMatchObject({ status: 400 });
  });
});

describe('POST /prices/estimate', () => {
  const estimate = (body: object) => api<Answer>('POST', '/prices/estimate', body);
  const priced = () =>
    created(api, '/prices', {
      ...{ entity_type: 'PLAN', entity_id: dearer.planId, type: 'FIXED', billing_model: 'FLAT_FEE', amount: '12.345' },
      ...{ currency: 'usd', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', display_name: 'Seat' },
    });

  it('answers the same amount and cost to its digest', async () => {
    const { id } = await priced();
    const seen = await estimate({ price_id: id, quantity: '3' });
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    const { preview_digest, amount, cost } = seen.body;
    expect(promisedOf(preview_digest, 'amount')).toMatchObject([{ quantity: '3', amount }]);
    expect(promisedOf(preview_digest, 'cost')).toMatchObject([{ amount: cost }]);
    expect((await estimate({ price_id: id, quantity: '3', preview_digest })).body).toEqual(seen.body);
  });

  it('a price that changed or another request is told as a conflict', async () => {
    const { id } = await priced();
    const { preview_digest } = (await estimate({ price_id: id, quantity: '3' })).body;
    const other = await estimate({ price_id: id, quantity: '4', preview_digest });
    expect(other.status).toBe(409);
    expect(Object.keys(other.body.details!.difference).sort()).toEqual(['lines', 'request']);
    expect((await api('DELETE', `/prices/${id}`)).status).toBe(200);
    const ended = await estimate({ price_id: id, quantity: '3', preview_digest });
    expect([ended.status, ended.body.code], JSON.stringify(ended.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(ended.body.details!.difference)).toEqual(['price']);
    expect(await estimate({ price_id: id, quantity: '3', preview_digest: 'none' })).toMatchObject({ status: 400 });
  });
});
