import { describe, expect, test } from 'vitest';
import { advanceTo, created, invoicesOf, testPlatform } from '../../support/billing.ts';
import { type Offer, phasedView, support, tell, told } from './change/phase.fixture.ts';
import { childrenToCreate, groupOffer, madeGroup } from './grouped-child.fixture.ts';

const { api } = await testPlatform();

const [january, february, march] = [
  '2026-01-01T00:00:00.000Z',
  '2026-02-01T00:00:00.000Z',
  '2026-03-01T00:00:00.000Z',
] as const;
const middle = '2026-02-15T00:00:00.000Z';
const group = () => groupOffer(api);

const cheapThen = ({ fixed }: Offer, second: object) => [
  { start_date: january, end_date: february, override_line_items: [{ price_id: fixed, amount: '10' }] },
  { start_date: february, ...second },
];

describe('phases of a child that is created with its parent', () => {
  test('are on the invoices of the parent, each from its boundary on, and in the preview', async () => {
    const all = await group();
    const { id } = await madeGroup(all, { phases: cheapThen(all.offer, { line_items: [support] }) });
    const childId = await all.childId();
    expect((await phasedView(api, childId)).phases).toMatchObject([
      { start_date: january, end_date: february },
      { start_date: february, end_date: null },
    ]);
    await advanceTo(api, all.offer.clockId, '2026-01-20T00:00:00Z');
    const { body } = await api<Parameters<typeof tell>[0]>('POST', '/invoices/preview', { subscription_id: id });
    expect(tell(body)).toBe('SUBSCRIPTION_CYCLE 138: Base 100, Base 31, Support 7');
    await advanceTo(api, all.offer.clockId, '2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 110: Base 100, Base 10',
      'SUBSCRIPTION_CYCLE 138: Base 100, Base 31, Support 7',
      'SUBSCRIPTION_CYCLE 138: Base 100, Base 31, Support 7',
    ]);
    expect(await told(api, childId)).toEqual([]);
  });

  test('that begin inside a period are settled at once with whoever the parent is invoiced to', async () => {
    const all = await group();
    const phases = [
      { start_date: january, end_date: middle },
      { start_date: middle, end_date: march, override_line_items: [{ price_id: all.offer.fixed, amount: '87' }] },
    ];
    const { id } = await madeGroup(all, { phases });
    const childId = await all.childId();
    // In one step over the boundary before it, so that both workflows are late.
    await advanceTo(api, all.offer.clockId, '2026-02-16T00:00:00Z');
    await advanceTo(api, all.offer.clockId, '2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 131: Base 100, Base 31',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    expect(await told(api, childId)).toEqual(['SUBSCRIPTION_UPDATE 28: Base 43.5, Unused time of Base -15.5']);
    const [settled] = await invoicesOf(api, childId);
    expect(settled).toMatchObject({ customer_id: all.payer.customerId, payment_status: 'SUCCEEDED' });
  });

  test('begin in a pause and in a trial of the parent, and stay when the child is left to itself', async () => {
    const all = await group();
    const { id } = await madeGroup(all, { phases: cheapThen(all.offer, {}) }, { trial_period_days: 10 });
    const childId = await all.childId();
    await advanceTo(api, all.offer.clockId, '2026-01-12T00:00:00Z');
    await api('POST', `/subscriptions/${id}/pause`, { proration_behavior: 'create_prorations' });
    await advanceTo(api, all.offer.clockId, '2026-02-02T00:00:00Z');
    await api('POST', `/subscriptions/${id}/resume`, { proration_behavior: 'none' });
    await advanceTo(api, all.offer.clockId, '2026-02-12T00:00:00Z');
    const invoices = (await told(api, id)).filter((text) => !text.includes(' 0: '));
    expect(invoices).toEqual([
      // The first phase ends inside the first billed period: 10 × 21/31.
      'SUBSCRIPTION_TRIAL_END 106.77: Base 100, Base 6.77',
      'SUBSCRIPTION_CYCLE 131: Base 100, Base 31',
    ]);
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    await advanceTo(api, all.offer.clockId, '2026-03-12T00:00:00Z');
    expect(await told(api, childId)).toEqual(['SUBSCRIPTION_CYCLE 31: Base 31']);
  });

  test('that do not fit are refused by their place in the request, and nothing is made', async () => {
    const all = await group();
    const { fixed } = all.offer;
    const at = `inheritance.${childrenToCreate}[0].phases`;
    for (const [phases, problem] of [
      [[{ start_date: february }], `${at}[0].start_date must be ${january}`],
      [cheapThen(all.offer, { override_line_items: [{ price_id: 'price_none', amount: '1' }] }), `${at}[1].override`],
      [cheapThen(all.offer, { line_items: [{ ...support, subscription_phase_id: 'x' }] }), `${at}[1].line_items[0]`],
      [cheapThen(all.offer, { override_line_items: [{ price_id: fixed, amount: '-1' }] }), `${at}[1].override`],
    ] as const) {
      const { status, body } = await all.create({ phases });
      expect([status, body.message]).toEqual([400, expect.stringContaining(problem)]);
    }
    expect(await all.childId()).toBeUndefined();
  });
});

describe('tax_rate_overrides of a child that is created with its parent', () => {
  test('tax its own invoices once it is by itself, never those of the parent, which a warning tells', async () => {
    const all = await group();
    for (const [code, percentage_value] of [
      ['child-ten', '10'],
      ['parent-twenty', '20'],
    ])
      await created(api, '/taxes/rates', { code, name: code, percentage_value, tax_rate_type: 'percentage' });
    const rate = (tax_rate_code: string) => ({ tax_rate_overrides: [{ tax_rate_code, currency: 'usd' }] });
    const headers = { 'idempotency-key': `taxed-${all.payer.customerId}` };
    const { body } = await all.create(rate('child-ten'), rate('parent-twenty'), headers);
    expect(body.warnings).toEqual([
      { code: 'tax_rates_of_parent', message: expect.stringContaining(`${childrenToCreate}[0].tax_rate_overrides`) },
    ]);
    const again = await all.create(rate('child-ten'), rate('parent-twenty'), headers);
    expect([again.status, again.body.id, again.body.warnings]).toEqual([201, body.id, body.warnings]);
    const childId = await all.childId();
    await advanceTo(api, all.offer.clockId, '2026-01-10T00:00:00Z');
    const leave = { action: 'remove', child_subscription_ids: [childId] };
    const left = await api('POST', `/subscriptions/${body.id}/modify/execute`, {
      type: 'grouped_invoicing',
      grouped_invoicing_params: leave,
    });
    expect(left.status).toBe(200);
    await advanceTo(api, all.offer.clockId, '2026-02-02T00:00:00Z');
    expect((await invoicesOf(api, body.id)).map(({ total }) => total)).toEqual(['157.2', '120']);
    expect((await invoicesOf(api, childId)).map(({ total }) => total)).toEqual(['34.1']);
  });

  test('that name no rate are refused by their place in the request', async () => {
    const all = await group();
    const unknown = { tax_rate_code: 'nothing', currency: 'usd' };
    const at = `inheritance.${childrenToCreate}[0].tax_rate_overrides[0]`;
    for (const [override, status, problem] of [
      [unknown, 404, `${at}.tax_rate_code: no tax rate with the code nothing`],
      [{ ...unknown, currency: 'eur' }, 400, `${at}.currency must be usd`],
    ] as const) {
      const answer = await all.create({ tax_rate_overrides: [override] });
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(problem)]);
    }
    expect(await all.childId()).toBeUndefined();
  });
});
