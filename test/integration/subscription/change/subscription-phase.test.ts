import { describe, expect, it } from 'vitest';
import { advanceTo, created, eventsOf, testPlatform } from '../../../support/billing.ts';
import { calls, offerPlan, phased, phasedView, support, told, until } from './phase.fixture.ts';

const { api } = await testPlatform();

const months = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'] as const;
const [january, february, march] = months;

describe('phases that change at the end of a period', () => {
  it('bill each period by the terms of its phase, in the invoice of the period', async () => {
    const offer = await offerPlan(api);
    const { id, phases, line_items } = await phased(api, offer, [
      { start_date: january, end_date: february, override_line_items: [{ price_id: offer.fixed, amount: '10' }] },
      {
        start_date: february,
        end_date: march,
        override_line_items: [{ price_id: offer.usage, amount: '1' }],
        line_items: [support],
        metadata: { step: 'two' },
      },
      { start_date: march, override_line_items: [{ price_id: offer.fixed, quantity: '2' }] },
    ]);
    expect(phases).toEqual([
      expect.objectContaining({ subscription_id: id, start_date: january, end_date: february, status: 'published' }),
      expect.objectContaining({ start_date: february, end_date: march, metadata: { step: 'two' } }),
      expect.objectContaining({ start_date: march, end_date: null, metadata: {} }),
    ]);
    expect(
      line_items.map((item) => [item.price.amount, item.subscription_phase_id, item.start_date, item.end_date]),
    ).toEqual(
      expect.arrayContaining([
        ['10', phases[0]!.id, january, february],
        ['0.1', null, january, null],
      ]),
    );
    expect(line_items).toHaveLength(2);
    await calls(api, offer, 3, '2026-01-10T00:00:00Z');
    await until(api, offer, '2026-02-10T00:00:00Z');
    const second = await phasedView(api, id);
    // The notice of the renewal, the phase, the period.
    expect(second.version).toBe(4);
    const running = second.line_items.filter(({ end_date }) => end_date === null || end_date > february);
    expect(running.map((item) => [item.display_name, item.price.amount, item.subscription_phase_id])).toEqual(
      expect.arrayContaining([
        ['Base', '31', null],
        ['Calls', '1', phases[1]!.id],
        ['Support', '7', phases[1]!.id],
      ]),
    );
    expect(running).toHaveLength(3);
    await calls(api, offer, 2, '2026-02-10T00:00:00Z');
    await until(api, offer, '2026-03-10T00:00:00Z');
    await calls(api, offer, 5, '2026-03-10T00:00:00Z');
    await until(api, offer, '2026-05-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 10: Base 10',
      'SUBSCRIPTION_CYCLE 38.3: Base 31, Support 7, Calls 0.3',
      'SUBSCRIPTION_CYCLE 64: Base 62, Calls 2',
      'SUBSCRIPTION_CYCLE 62.5: Base 62, Calls 0.5',
      'SUBSCRIPTION_CYCLE 62: Base 62',
    ]);
  });

  it('are told by events, the audit and the timeline', async () => {
    const offer = await offerPlan(api);
    const { id, phases } = await phased(api, offer, [
      { start_date: january, end_date: february, override_line_items: [{ price_id: offer.fixed, amount: '10' }] },
      { start_date: february, end_date: march, override_line_items: [{ price_id: offer.fixed, amount: '20' }] },
    ]);
    for (const phase of phases) expect(await eventsOf(api, phase.id)).toEqual(['subscription.phase.created']);
    expect((await eventsOf(api, id))[0]).toBe('subscription.created');
    type Timeline = { items: { is_coming: boolean; action: string; at: string; customer: string }[] };
    const timeline = async () => JSON.stringify((await api<Timeline>('GET', `/subscriptions/${id}/timeline`)).body);
    const before = await timeline();
    expect(before).toContain('The next phase begins.');
    expect(before).toContain('The last phase ends and the subscription goes on as its plan has it.');
    await until(api, offer, '2026-03-02T00:00:00Z');
    const after = await timeline();
    expect(after).toContain('The next phase of the subscription began.');
    expect(after).toContain('The last phase of the subscription ended; it goes on as its plan has it.');
    const updates = (await eventsOf(api, id)).filter((name) => name === 'subscription.updated');
    expect(updates).toHaveLength(2);
  });

  it('leave the subscription to its plan when the last one ends before it', async () => {
    const offer = await offerPlan(api);
    const { id } = await phased(api, offer, [
      {
        start_date: january,
        end_date: february,
        override_line_items: [
          { price_id: offer.fixed, amount: '10' },
          { price_id: offer.usage, amount: '0' },
        ],
        line_items: [support],
      },
    ]);
    await calls(api, offer, 4, '2026-01-10T00:00:00Z');
    await until(api, offer, '2026-02-10T00:00:00Z');
    await calls(api, offer, 4, '2026-02-10T00:00:00Z');
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 17: Base 10, Support 7',
      'SUBSCRIPTION_CYCLE 31: Base 31',
      'SUBSCRIPTION_CYCLE 31.4: Base 31, Calls 0.4',
    ]);
  });

  it('end with the subscription, and nothing of a phase that would begin there comes', async () => {
    const offer = await offerPlan(api);
    const { id, phases } = await phased(
      api,
      offer,
      [
        { start_date: january, end_date: february, override_line_items: [{ price_id: offer.fixed, amount: '10' }] },
        { start_date: february, end_date: march },
      ],
      { end_date: march },
    );
    await api('POST', `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    await until(api, offer, '2026-02-02T00:00:00Z');
    const ended = await phasedView(api, id);
    expect(ended).toMatchObject({
      subscription_status: 'cancelled',
      phases: [{ id: phases[0]!.id, end_date: february }],
    });
    expect(ended.line_items.map(({ price }) => price.amount).toSorted()).toEqual(['0.1', '10']);
    expect(await eventsOf(api, phases[0]!.id)).toEqual(['subscription.phase.created']);
    expect(await eventsOf(api, phases[1]!.id)).toEqual(['subscription.phase.created', 'subscription.phase.deleted']);
    expect(await told(api, id)).toEqual(['SUBSCRIPTION_CREATE 10: Base 10', 'SUBSCRIPTION_CYCLE 0: ']);
  });
});

describe('a phase that begins inside a period', () => {
  const middle = '2026-01-16T12:00:00.000Z';

  it('settles charges in advance for the rest of the period and splits usage', async () => {
    const offer = await offerPlan(api);
    const { id } = await phased(api, offer, [
      { start_date: january, end_date: middle },
      {
        start_date: middle,
        override_line_items: [
          { price_id: offer.fixed, amount: '62' },
          { price_id: offer.usage, amount: '1' },
        ],
      },
    ]);
    await calls(api, offer, 2, '2026-01-10T00:00:00Z');
    await until(api, offer, '2026-01-17T00:00:00Z');
    await calls(api, offer, 3, '2026-01-16T13:00:00Z');
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_UPDATE 15.5: Base 31, Unused time of Base -15.5',
      'SUBSCRIPTION_CYCLE 65.2: Base 62, Calls 0.2, Calls 3',
    ]);
  });

  it('gives back what the phase before was paid for in advance, where that is more', async () => {
    const offer = await offerPlan(api);
    const { id } = await phased(api, offer, [
      { start_date: january, end_date: middle },
      { start_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '0' }] },
    ]);
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect((await told(api, id))[0]).toBe('SUBSCRIPTION_CREATE 31: Base 31');
    type Wallets = { balance: string; currency: string }[];
    const wallets = (await api<Wallets>('GET', `/customers/${offer.customerId}/wallets`)).body;
    expect(wallets).toMatchObject([{ balance: '15.5', currency: 'usd' }]);
  });

  it('bills a phase that ends inside a period for its part, and with none moves no money', async () => {
    const offer = await offerPlan(api);
    const { id } = await phased(
      api,
      offer,
      [
        {
          start_date: january,
          end_date: middle,
          line_items: [{ ...support, price: { ...support.price, amount: '62' } }],
        },
        { start_date: middle, override_line_items: [{ price_id: offer.fixed, amount: '62' }] },
      ],
      { proration_behavior: 'none' },
    );
    await until(api, offer, '2026-02-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 62: Base 31, Support 31',
      'SUBSCRIPTION_CYCLE 62: Base 62',
    ]);
  });

  it('charges what is billed in arrear by its part of the period, and a one-time charge once', async () => {
    const offer = await offerPlan(api);
    const arrear = { price: { ...support.price, invoice_cadence: 'ARREAR', amount: '62' } };
    const once = { price: { ...support.price, billing_period: 'ONETIME', amount: '5', display_name: 'Setup' } };
    const { id } = await phased(api, offer, [
      { start_date: january, end_date: middle, line_items: [arrear] },
      { start_date: middle, line_items: [once] },
    ]);
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await told(api, id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 67: Base 31, Support 31, Setup 5',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
  });
});

describe('coupons of a phase', () => {
  it('apply while it runs, each counted when the subscription is made', async () => {
    const offer = await offerPlan(api);
    const coupon = async (percentage_off: string) =>
      created<{ id: string; coupon_code: string }>(api, '/coupons', {
        name: `Off ${percentage_off}`,
        type: 'percentage',
        percentage_off,
        cadence: 'forever',
      });
    const [half, fifth] = [await coupon('50'), await coupon('20')];
    const { id, phases, coupon_associations } = await phased(api, offer, [
      { start_date: january, end_date: february, subscription_coupons: [{ coupon_code: half.coupon_code }] },
      {
        start_date: february,
        override_line_items: [{ price_id: offer.fixed, amount: '100' }],
        line_item_coupons: { [offer.fixed]: [fifth.id] },
      },
    ]);
    expect(coupon_associations).toMatchObject([
      { start_date: january, end_date: '2026-01-31T23:59:59.000Z', subscription_phase_id: phases[0]!.id },
      { start_date: february, end_date: null, subscription_phase_id: phases[1]!.id },
    ]);
    for (const { id: couponId } of [half, fifth]) {
      const { body } = await api<{ total_redemptions: number }>('GET', `/coupons/${couponId}`);
      expect(body.total_redemptions).toBe(1);
    }
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect((await told(api, id)).map((line) => line.split(':')[0])).toEqual([
      'SUBSCRIPTION_CREATE 15.5',
      // February's fee, invoiced as January ends, is of the second phase.
      'SUBSCRIPTION_CYCLE 80',
      'SUBSCRIPTION_CYCLE 80',
    ]);
  });

  it('do not apply before it runs, though it begins in the period of an invoice', async () => {
    const offer = await offerPlan(api);
    const { id: couponId } = await created<{ id: string }>(api, '/coupons', {
      name: 'Later',
      type: 'fixed',
      amount_off: '10',
      currency: 'usd',
      cadence: 'forever',
    });
    const middle = '2026-01-16T12:00:00.000Z';
    const { id } = await phased(api, offer, [
      { start_date: january, end_date: middle },
      { start_date: middle, coupons: [couponId] },
    ]);
    await advanceTo(api, offer.clockId, '2026-02-02T00:00:00Z');
    expect(await told(api, id)).toEqual(['SUBSCRIPTION_CREATE 31: Base 31', 'SUBSCRIPTION_CYCLE 21: Base 31']);
  });
});
