import { describe, expect, it } from 'vitest';
import { testPlatform } from '../../../support/billing.ts';
import { asksFor, offerPlan, type PhasedView, phased, support, tell, told, until } from './phase.fixture.ts';

const { api } = await testPlatform();

const january = '2026-01-01T00:00:00.000Z';
const middle = '2026-01-16T12:00:00.000Z';
const february = '2026-02-01T00:00:00.000Z';
const half = { ...support, start_date: middle, price: { ...support.price, amount: '62' } };

/** A subscription to a plan of 31 with line items of its own, and its invoices up to 2 February. */
async function invoiced(lineItems: object[], terms: object = {}): Promise<string[]> {
  const offer = await offerPlan(api);
  const { id } = await phased(api, offer, [], { line_items: lineItems, ...terms });
  await until(api, offer, '2026-02-02T00:00:00Z');
  return told(api, id);
}

describe('proration_behavior of a line item that a creation brings', () => {
  it('with none charges it from the boundary after it begins, else for its part of the period', async () => {
    expect(await invoiced([half])).toEqual([
      'SUBSCRIPTION_CREATE 62: Base 31, Support 31',
      'SUBSCRIPTION_CYCLE 93: Base 31, Support 62',
    ]);
    expect(await invoiced([{ ...half, proration_behavior: 'none' }])).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 93: Base 31, Support 62',
    ]);
    const asked = { ...half, proration_behavior: 'create_prorations' };
    expect(await invoiced([asked], { proration_behavior: 'none' })).toEqual([
      'SUBSCRIPTION_CREATE 62: Base 31, Support 31',
      'SUBSCRIPTION_CYCLE 93: Base 31, Support 62',
    ]);
  });

  it('decides about the first calendar period in place of the subscription', async () => {
    const calendar = { billing_cycle: 'calendar', start_date: middle };
    const { start_date: _, ...begins } = half;
    const opening = async (own: object, terms: object) => (await invoiced([{ ...begins, ...own }], terms))[0];
    expect(await opening({}, calendar)).toBe('SUBSCRIPTION_CREATE 46.5: Base 15.5, Support 31');
    expect(await opening({ proration_behavior: 'none' }, calendar)).toBe(
      'SUBSCRIPTION_CREATE 77.5: Base 15.5, Support 62',
    );
    expect(
      await opening({ proration_behavior: 'create_prorations' }, { ...calendar, proration_behavior: 'none' }),
    ).toBe('SUBSCRIPTION_CREATE 62: Base 31, Support 31');
  });

  it('gives back no more than the whole first calendar period, by its own length', async () => {
    const offer = await offerPlan(api);
    const whole = { ...half, proration_behavior: 'none' };
    const terms = { billing_cycle: 'calendar', start_date: middle, line_items: [whole], include_price_ids: [] };
    const { id } = await phased(api, offer, [], terms);
    await until(api, offer, '2026-01-24T06:00:00Z');
    const { body } = await api<{ total_credit_amount: string }>('POST', `/subscriptions/${id}/cancel`, {
      cancellation_type: 'immediate',
      proration_behavior: 'create_prorations',
    });
    expect(Number(body.total_credit_amount)).toBe(31);
  });

  it('holds for the opening after a trial and for a draft that is activated', async () => {
    const later = { ...half, proration_behavior: 'none', start_date: '2026-01-20T00:00:00Z' };
    expect(await invoiced([later], { trial_period_days: 10 })).toEqual([
      'SUBSCRIPTION_TRIAL_START 0: ',
      'SUBSCRIPTION_TRIAL_END 31: Base 31',
    ]);
    const offer = await offerPlan(api);
    const { id } = await phased(api, offer, [], { line_items: [later], subscription_status: 'draft' });
    await api('POST', `/subscriptions/${id}/activate`, { start_date: january });
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 93: Base 31, Support 62',
    ]);
  });

  it('decides in a phase that begins within a period, whatever the subscription says', async () => {
    const { start_date: _, ...begins } = half;
    const twoPhases = (own: object) => [
      { start_date: january, end_date: middle },
      { start_date: middle, line_items: [{ ...begins, ...own }] },
    ];
    const came = async (own: object, terms: object = {}) => {
      const offer = await offerPlan(api);
      const { id } = await phased(api, offer, twoPhases(own), terms);
      await until(api, offer, '2026-01-17T00:00:00Z');
      await until(api, offer, '2026-02-02T00:00:00Z');
      return (await told(api, id)).slice(1);
    };
    const cycle = 'SUBSCRIPTION_CYCLE 93: Base 31, Support 62';
    const settled = 'SUBSCRIPTION_UPDATE 31: Support 31';
    expect(await came({})).toEqual([settled, cycle]);
    expect(await came({ proration_behavior: 'none' })).toEqual([cycle]);
    expect(await came({ proration_behavior: 'create_prorations' }, { proration_behavior: 'none' })).toEqual([
      settled,
      cycle,
    ]);
  });

  it('goes into the preview of a first invoice that is to come, and is no matter of usage', async () => {
    const offer = await offerPlan(api);
    const usage = {
      proration_behavior: 'none',
      start_date: middle,
      price: { type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR' },
    };
    const { body: meters } = await api<{ items: { id: string; event_name: string }[] }>('GET', '/meters?limit=100');
    const meter = meters.items.find(({ event_name }) => event_name === offer.eventName)!;
    const price = { ...usage.price, amount: '2', meter_id: meter.id, display_name: 'Dear' };
    const { id } = await phased(api, offer, [], { line_items: [{ ...usage, price }, half] });
    await until(api, offer, '2026-01-02T00:00:00Z');
    const timestamp = '2026-01-20T00:00:00Z';
    await until(api, offer, '2026-01-21T00:00:00Z');
    await api('POST', '/events', {
      event_name: offer.eventName,
      external_customer_id: offer.externalId,
      timestamp,
    });
    const { body } = await api<Parameters<typeof tell>[0]>('POST', '/invoices/preview', { subscription_id: id });
    expect(tell(body)).toContain('Dear 2');
  });
});

describe('a line item of a creation refuses', () => {
  it('the id of a phase, which nobody can know, wherever it stands, and creates nothing', async () => {
    const offer = await offerPlan(api);
    const item = { ...support, subscription_phase_id: 'phase_unknown' };
    const child = { plan_id: offer.planId, external_customer_id: 'nobody', line_items: [item] };
    const phases = [{ start_date: january, end_date: february }, { start_date: february }];
    for (const [path, answer] of [
      ['line_items[0]', await asksFor(api, offer, [], { line_items: [item] })],
      ['phases[1].line_items[0]', await asksFor(api, offer, [phases[0]!, { ...phases[1], line_items: [item] }])],
      [
        'line_items[0]',
        await asksFor(api, offer, [], { inheritance: { grouped_invoicing_children_to_create: [child] } }),
      ],
    ] as const) {
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringContaining(`${path}.subscription_phase_id must be left out`),
      ]);
    }
    const wrong = await asksFor(api, offer, [], { line_items: [{ ...support, proration_behavior: 'always' }] });
    expect(wrong.status).toBe(400);
    const { body } = await api<{ items: PhasedView[] }>('POST', '/subscriptions/search', {
      customer_id: offer.customerId,
    });
    expect(body.items).toEqual([]);
    const empty = { ...support, subscription_phase_id: '', proration_behavior: '' };
    expect((await asksFor(api, offer, [], { line_items: [empty] })).status).toBe(201);
  });
});
