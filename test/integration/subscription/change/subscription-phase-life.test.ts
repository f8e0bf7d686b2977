import { describe, expect, it, test } from 'vitest';
import { created, eventsOf, testPlatform } from '../../../support/billing.ts';
import {
  asksFor,
  type Offer,
  offerPlan,
  type PhasedItem,
  phased,
  phasedView,
  support,
  tell,
  told,
  until,
} from './phase.fixture.ts';

const { api } = await testPlatform();

const [january, february, march] = [
  '2026-01-01T00:00:00.000Z',
  '2026-02-01T00:00:00.000Z',
  '2026-03-01T00:00:00.000Z',
] as const;
const middle = '2026-01-16T12:00:00.000Z';

/** Ten in January, and what the second phase says from February on. */
const cheapJanuary = ({ fixed }: Offer, second: object = {}) => [
  { start_date: january, end_date: february, override_line_items: [{ price_id: fixed, amount: '10' }] },
  { start_date: february, ...second },
];

interface Previewed {
  billing_reason: string;
  total: string;
  line_items: { display_name: string; amount: string; quantity: string; period_start: string; period_end: string }[];
}

describe('a phase that is to come', () => {
  it('is in the preview of the invoice that bills it, and the preview leaves nothing', async () => {
    const offer = await offerPlan(api);
    const { id, version } = await phased(api, offer, cheapJanuary(offer, { line_items: [support] }));
    const { status, body } = await api<Previewed>('POST', '/invoices/preview', { subscription_id: id });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(tell(body)).toBe('SUBSCRIPTION_CYCLE 38: Base 31, Support 7');
    expect(await phasedView(api, id)).toMatchObject({ version, line_items: [{}, {}] });
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect((await told(api, id)).at(-1)).toBe('SUBSCRIPTION_CYCLE 38: Base 31, Support 7');
  });

  it('is rehearsed with the invoices that then come', async () => {
    const offer = await offerPlan(api);
    const phases = [
      { start_date: january, end_date: middle },
      { start_date: middle, end_date: march, override_line_items: [{ price_id: offer.fixed, amount: '62' }] },
    ];
    const { id } = await phased(api, offer, phases);
    await until(api, offer, '2026-01-01T01:00:00Z');
    type Rehearsed = { invoices: Previewed[]; steps: { kind: string; at: string }[] };
    const rehearsed = await created<Rehearsed>(api, `/subscriptions/${id}/rehearse`, { until: '2026-03-02T00:00:00Z' });
    expect(rehearsed.steps.filter(({ kind }) => kind.endsWith('Phase'))).toMatchObject([
      { kind: 'startPhase', at: middle },
      { kind: 'endPhase', at: march },
    ]);
    await until(api, offer, '2026-03-02T00:00:00Z');
    const came = (await told(api, id)).slice(1);
    expect(came).toEqual([
      'SUBSCRIPTION_UPDATE 15.5: Base 31, Unused time of Base -15.5',
      'SUBSCRIPTION_CYCLE 62: Base 62',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
    expect(rehearsed.invoices.map(tell)).toEqual(came);
  });

  it('takes line items that are added to it, for as long as it lasts', async () => {
    const offer = await offerPlan(api);
    const { id, phases } = await phased(api, offer, [
      { start_date: january, end_date: february },
      { start_date: february, end_date: march },
    ]);
    const body = { ...support, subscription_phase_id: phases[1]!.id };
    const item = await created<PhasedItem>(api, `/subscriptions/${id}/lineitems`, body);
    expect(item).toMatchObject({ subscription_phase_id: phases[1]!.id, start_date: february, end_date: march });
    const add = (terms: object) =>
      api<{ message: string }>('POST', `/subscriptions/${id}/lineitems`, { ...support, ...terms });
    const before = await add({ subscription_phase_id: phases[1]!.id, start_date: january });
    expect([before.status, before.body.message]).toEqual([
      400,
      expect.stringContaining('start_date must lie in the phase'),
    ]);
    const after = await add({ subscription_phase_id: phases[1]!.id, end_date: '2026-04-01T00:00:00Z' });
    expect([after.status, after.body.message]).toEqual([400, expect.stringContaining('end_date must not be after')]);
    const none = await add({ subscription_phase_id: 'phase_none' });
    expect([none.status, none.body.message]).toEqual([
      400,
      expect.stringContaining('subscription_phase_id names phase_none'),
    ]);
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 38: Base 31, Support 7',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
    const late = await add({ subscription_phase_id: phases[1]!.id });
    expect([late.status, late.body.message]).toEqual([400, expect.stringContaining('names a phase that ended')]);
  });

  it('replaces what a line item of its price has become meanwhile', async () => {
    const offer = await offerPlan(api);
    const { id, line_items } = await phased(api, offer, [
      { start_date: january, end_date: february },
      { start_date: february, override_line_items: [{ price_id: offer.fixed, amount: '50' }] },
    ]);
    const base = line_items.find(({ display_name }) => display_name === 'Base')!;
    const change = await api('POST', `/subscriptions/${id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: base.id, quantity: '2' }] },
    });
    expect(change.status, JSON.stringify(change.body)).toBe(200);
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect((await told(api, id)).at(-1)).toBe('SUBSCRIPTION_CYCLE 50: Base 50');
  });

  it('does not come after an immediate end, which ends the phase that runs', async () => {
    const offer = await offerPlan(api);
    const { id, phases } = await phased(api, offer, cheapJanuary(offer));
    await until(api, offer, '2026-01-10T00:00:00Z');
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    const { phases: left } = await phasedView(api, id);
    expect(left).toMatchObject([{ id: phases[0]!.id, start_date: january, end_date: '2026-01-10T00:00:00.000Z' }]);
    expect(await eventsOf(api, phases[0]!.id)).toEqual(['subscription.phase.created', 'subscription.phase.updated']);
    expect(await eventsOf(api, phases[1]!.id)).toEqual(['subscription.phase.created', 'subscription.phase.deleted']);
    await until(api, offer, '2026-02-10T00:00:00Z');
    expect(await phasedView(api, id)).toMatchObject({ phases: [{ id: phases[0]!.id }] });
  });

  it('comes after all when a scheduled end is taken back', async () => {
    const offer = await offerPlan(api);
    const { id } = await phased(api, offer, cheapJanuary(offer));
    await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    await created(api, '/subscriptions/schedules/cancel', { subscription_id: id, schedule_type: 'cancellation' });
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect((await told(api, id)).at(-1)).toBe('SUBSCRIPTION_CYCLE 31: Base 31');
  });

  it('keeps the plan from being changed', async () => {
    const offer = await offerPlan(api);
    const other = await offerPlan(api);
    const { id } = await phased(api, offer, cheapJanuary(offer));
    const order = { target_plan_id: other.planId, proration_behavior: 'none' };
    for (const kind of ['preview', 'execute']) {
      const { status, body } = await api<{ message: string }>('POST', `/subscriptions/${id}/change/v2/${kind}`, order);
      expect([status, body.message]).toEqual([400, expect.stringContaining('has phases')]);
    }
  });
});

describe('a phase begins', () => {
  it('in a trial, free of charge, and is billed at its end', async () => {
    const offer = await offerPlan(api);
    const phases = [
      { start_date: january, end_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '10' }] },
      { start_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '20' }] },
    ];
    const { id } = await phased(api, offer, phases, { trial_period_days: 20 });
    await until(api, offer, '2026-01-22T00:00:00Z');
    expect(await told(api, id)).toEqual(['SUBSCRIPTION_TRIAL_START 0: ', 'SUBSCRIPTION_TRIAL_END 20: Base 20']);
  });

  it('in a pause, and the resume charges its terms for what is left of the period', async () => {
    const offer = await offerPlan(api);
    const phases = [
      { start_date: january, end_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '31' }] },
      { start_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '62' }] },
    ];
    const { id } = await phased(api, offer, phases);
    await until(api, offer, '2026-01-11T00:00:00Z');
    await created(api, `/subscriptions/${id}/pause`, {});
    await until(api, offer, '2026-01-21T00:00:00Z');
    await created(api, `/subscriptions/${id}/resume`, {});
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect((await told(api, id)).filter((line) => !line.includes(' 0:'))).toEqual([
      'SUBSCRIPTION_CREATE 15.5: Base 15.5',
      'SUBSCRIPTION_UPDATE 22: Base 22',
      'SUBSCRIPTION_CYCLE 62: Base 62',
    ]);
  });

  it('for a subscription that was made with a start in the past, each at its own boundary', async () => {
    const offer = await offerPlan(api);
    const [november, december] = ['2025-11-01T00:00:00.000Z', '2025-12-01T00:00:00.000Z'];
    const phases = [
      { start_date: november, end_date: december, override_line_items: [{ price_id: offer.fixed, amount: '10' }] },
      { start_date: december, end_date: january, override_line_items: [{ price_id: offer.fixed, amount: '20' }] },
    ];
    const { id } = await phased(api, offer, phases, { start_date: november });
    await until(api, offer, '2026-01-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 10: Base 10',
      'SUBSCRIPTION_CYCLE 20: Base 20',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
  });
});

type Refused = [string, (offer: Offer) => { phases: object[]; terms?: object }, number, string];
const refused: Refused[] = [
  [
    'a draft',
    (offer) => ({ phases: cheapJanuary(offer), terms: { subscription_status: 'draft' } }),
    400,
    'phases cannot be combined',
  ],
  ['another start', () => ({ phases: [{ start_date: february }] }), 400, 'phases[0].start_date'],
  [
    'a gap',
    () => ({ phases: [{ start_date: january, end_date: middle }, { start_date: february }] }),
    400,
    'phases[1].start_date',
  ],
  [
    'an overlap',
    () => ({ phases: [{ start_date: january, end_date: february }, { start_date: middle }] }),
    400,
    'phases[1].start_date',
  ],
  [
    'no end in the middle',
    () => ({ phases: [{ start_date: january }, { start_date: february }] }),
    400,
    'phases[0].end_date',
  ],
  [
    'another end than its own',
    () => ({ phases: [{ start_date: january, end_date: february }], terms: { end_date: march } }),
    400,
    'phases[0].end_date',
  ],
  ['no start', () => ({ phases: [{ end_date: february }] }), 400, 'phases[0].start_date'],
  [
    'a price of another plan in a phase',
    (offer) => ({ phases: cheapJanuary(offer, { override_line_items: [{ price_id: 'price_other', amount: '1' }] }) }),
    400,
    'phases[1].override_line_items[0].price_id',
  ],
  [
    'an override of nothing in a phase',
    (offer) => ({ phases: cheapJanuary(offer, { override_line_items: [{ price_id: offer.fixed }] }) }),
    400,
    'phases[1].override_line_items[0]',
  ],
  [
    'a price twice in a phase',
    (offer) => ({
      phases: cheapJanuary(offer, { override_line_items: [1, 2].map((amount) => ({ price_id: offer.fixed, amount })) }),
    }),
    400,
    'phases[1].override_line_items[1].price_id',
  ],
  [
    'an unknown price in a phase',
    (offer) => ({ phases: cheapJanuary(offer, { line_items: [{ price_id: 'price_none' }] }) }),
    404,
    'price_none',
  ],
  [
    'a line item before its phase',
    (offer) => ({ phases: cheapJanuary(offer, { line_items: [{ ...support, start_date: january }] }) }),
    400,
    'phases[1].line_items[0].start_date',
  ],
  [
    'a line item after its phase',
    () => ({
      phases: [{ start_date: january, end_date: february, line_items: [{ ...support, start_date: february }] }],
    }),
    400,
    'phases[0].line_items[0].start_date',
  ],
  [
    'an unknown coupon in a phase',
    (offer) => ({ phases: cheapJanuary(offer, { coupons: ['coupon_none'] }) }),
    404,
    'coupon_none',
  ],
];

test.each(refused)('a subscription with %s is refused and leaves nothing', async (_what, asked, status, names) => {
  const offer = await offerPlan(api);
  const { phases, terms } = asked(offer);
  const answer = await asksFor(api, offer, phases, terms);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(answer.body.message).toContain(names);
  const { body } = await api<{ items: unknown[] }>('GET', `/subscriptions?customer_id=${offer.customerId}`);
  expect(body.items).toEqual([]);
});
