import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { seededRandom } from '../../../faults/random.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../../support/billing.ts';
import { addonWith } from '../../catalogue/addon.fixture.ts';

const { api } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api, { fee: '31.37' });
const other = await monthlyPlan(api, { fee: '77.77', perCall: '0.03' });
const cheap = await monthlyPlan(api, { fee: '9.99' });
const seed = Number(process.env.PREVIEW_SEED ?? 20_261_122);
const random = seededRandom(seed);
const start = Date.parse('2026-01-31T00:00:00Z');
const hourMs = 3_600_000;
const text = (instant: number) => new Date(instant).toISOString();

/** A subscription somewhere in its life, with some usage. */
async function subscribed(fields: object, at: number) {
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: text(start), card });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, ...fields });
  await advanceTo(api, clockId, text(at));
  await use(externalId, at - hourMs);
  return { id, clockId, customerId, externalId };
}

const use = (externalId: string, at: number) =>
  created(api, '/events', {
    event_name: plan.eventName,
    external_customer_id: externalId,
    timestamp: text(at),
    properties: {},
  });

/** What is asked: at which path, and with which body. */
interface Change {
  path: 'modify' | 'change/v2' | 'change';
  body: object;
}

const feeOf = async (id: string) =>
  (await subscriptionOf(api, id)).line_items.find((item) => item.display_name === 'Base' && item.end_date === null)!.id;

const kinds: ((id: string) => Promise<Change>)[] = [
  async (id) => ({
    path: 'modify',
    body: {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: await feeOf(id), quantity: String(random.whole(500) / 100) }] },
    },
  }),
  async () => ({ path: 'change/v2', body: { target_plan_id: other.planId, ...prorated() } }),
  async () => ({ path: 'change/v2', body: { target_plan_id: cheap.planId, ...prorated() } }),
  async () => ({
    path: 'change',
    body: { target_plan_id: random.oneOf([other, cheap]).planId, ...prorated(), ...monthly },
  }),
  async (id) => {
    const addonId = await addonWith(api, [{ amount: '20.01' }]);
    const add = { subscription_id: id, addon_id: addonId, ...prorated() };
    return { path: 'modify', body: { type: 'addon', addon_params: { action: 'add', add } } };
  },
];
const monthly = { billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' };
const prorated = () => ({ proration_behavior: random.oneOf(['create_prorations', 'create_prorations', 'none']) });

interface Answer extends Shown {
  preview_digest: string;
  code?: string;
  details?: { difference: Record<string, unknown> };
}

const ask = (id: string, { path, body }: Change, kind: 'preview' | 'execute', digest?: string) =>
  api<Answer>('POST', `/subscriptions/${id}/${path}/${kind}`, {
    ...body,
    ...(digest ? { preview_digest: digest } : {}),
  });

const amountsOf = (lines: readonly Record<string, unknown>[]) =>
  lines
    .map((line) => [line.display_name, line.quantity, line.amount, line.period_start, line.period_end].join(' '))
    .sort();

interface InvoiceShown {
  total: string;
  line_items: Record<string, unknown>[];
}

interface Shown {
  change_type?: string;
  effective_at?: string;
  changed_resources?: {
    line_items: Record<string, unknown>[];
    invoices: { action: string; invoice: InvoiceShown | null; wallet_transaction: { amount: string } | null }[];
  };
  /** Of a replacement: previewed, executed. */
  proration_details?: object;
  proration_applied?: object;
  next_invoice_preview?: InvoiceShown;
  invoice?: InvoiceShown;
}

/** Every line and line item that an answer shows, without the ids that each execution gives anew. */
function shown(answer: Shown): unknown {
  const { changed_resources: made } = answer;
  const opening = answer.next_invoice_preview ?? answer.invoice;
  return {
    change_type: answer.change_type,
    effective_at: answer.effective_at,
    proration: answer.proration_details ?? answer.proration_applied,
    opening: opening && {
      total: Number(opening.total),
      lines: opening.line_items.map(({ amount, quantity }) => [Number(amount), Number(quantity)]),
    },
    items: made?.line_items
      .map((item) => [item.change_action, item.quantity, item.start_date, item.end_date].join(' '))
      .sort(),
    invoices: made?.invoices.map(({ action, invoice, wallet_transaction }) => ({
      action,
      total: invoice?.total,
      lines: invoice && amountsOf(invoice.line_items),
      wallet: wallet_transaction?.amount,
    })),
  };
}

const terms = [
  {},
  { billing_cycle: 'calendar' },
  { proration_behavior: 'none' },
  { billing_anchor: '2026-02-10T06:00:00Z' },
];

describe(`whatever change is previewed (seed ${seed})`, () => {
  const cases = Array.from({ length: 10 }, (_, index) => ({
    index,
    fields: random.oneOf(terms),
    at: start + (random.whole(24 * 60) + 2) * hourMs,
    kind: kinds[index % kinds.length]!,
  }));

  it.each(cases)('its execution is that, line by line: $index', async ({ fields, at, kind }) => {
    const { id } = await subscribed(fields, at);
    const before = await invoicesOf(api, id);
    const change = await kind(id);
    const seen = await ask(id, change, 'preview');
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    expect(await invoicesOf(api, id)).toEqual(before);
    const done = await ask(id, change, 'execute', seen.body.preview_digest);
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    expect(shown(done.body)).toEqual(shown(seen.body));
    const repeated = await ask(id, change, 'execute', seen.body.preview_digest);
    expect(repeated.status).toBeGreaterThanOrEqual(400);
  });
});

describe('what happens between preview and execution', () => {
  const at = start + 10 * 24 * hourMs;
  const replacement: Change = {
    path: 'change',
    body: { target_plan_id: other.planId, proration_behavior: 'create_prorations', ...monthly },
  };

  it.each<[string, string[], (made: Awaited<ReturnType<typeof subscribed>>) => Promise<unknown>]>([
    ['usage that is billed', ['lines', 'usage'], ({ externalId }) => use(externalId, at - 1000)],
    ['another command', ['subscription'], ({ id }) => api('PUT', `/subscriptions/${id}`, { metadata: { a: 'b' } })],
    ['the clock', ['clock'], ({ clockId }) => advanceTo(api, clockId, text(at + 2 * hourMs))],
    [
      'a price of the plan',
      ['prices'],
      () =>
        created(api, '/prices', {
          ...{ entity_type: 'PLAN', entity_id: other.planId, billing_model: 'FLAT_FEE', billing_period: 'ANNUAL' },
          ...{ currency: 'usd', type: 'FIXED', amount: '1', invoice_cadence: 'ADVANCE', display_name: 'Later' },
        }),
    ],
  ])('%s makes the execution a conflict that tells it, and nothing is done', async (_name, told, disturb) => {
    const made = await subscribed({}, at);
    const seen = await ask(made.id, replacement, 'preview');
    await disturb(made);
    const before = await invoicesOf(api, made.id);
    const refused = await ask(made.id, replacement, 'execute', seen.body.preview_digest);
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(expect.arrayContaining(told));
    expect(await invoicesOf(api, made.id)).toEqual(before);
    expect((await subscriptionOf(api, made.id)).subscription_status).toBe('active');
  });
});
