import { describe, expect, test } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';
import { offerPlan, phased, told, until } from './change/phase.fixture.ts';

const { api } = await testPlatform();

const setup = {
  price: {
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'ONETIME',
    invoice_cadence: 'ADVANCE',
    amount: '40',
    display_name: 'Setup',
  },
};
/** Phases from 1 and from 16 January 2026, the second with a one-time charge. */
const phases = [
  { start_date: '2026-01-01T00:00:00.000Z', end_date: '2026-01-16T00:00:00.000Z' },
  { start_date: '2026-01-16T00:00:00.000Z', line_items: [setup] },
];
const billed = async (id: string) => (await told(api, id)).filter((line) => !line.includes(' 0:'));

/** A subscription with those phases, paused at one instant, at another one. */
async function pausedFrom(paused: string, present: string) {
  const offer = await offerPlan(api);
  const { id } = await phased(api, offer, phases);
  await until(api, offer, paused);
  await created(api, `/subscriptions/${id}/pause`, { proration_behavior: 'none' });
  await until(api, offer, present);
  return { offer, id };
}

describe('a one-time charge of a phase', () => {
  test('that begins in a pause is billed once, in full, at the first boundary after the resume', async () => {
    const { offer, id } = await pausedFrom('2026-01-11T00:00:00Z', '2026-01-21T00:00:00Z');
    await created(api, `/subscriptions/${id}/resume`, {});
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await billed(id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 71: Base 31, Setup 40',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
  });

  test('waits as long as the pause lasts, over boundaries too', async () => {
    const { offer, id } = await pausedFrom('2026-01-11T00:00:00Z', '2026-02-21T00:00:00Z');
    await created(api, `/subscriptions/${id}/resume`, { proration_behavior: 'none' });
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await billed(id)).toEqual(['SUBSCRIPTION_CREATE 31: Base 31', 'SUBSCRIPTION_CYCLE 71: Base 31, Setup 40']);
  });

  test('that began before a pause in the same period is not forgotten, nor billed with the resume', async () => {
    const { offer, id } = await pausedFrom('2026-01-17T00:00:00Z', '2026-01-21T00:00:00Z');
    await created(api, `/subscriptions/${id}/resume`, {});
    await until(api, offer, '2026-03-02T00:00:00Z');
    expect(await billed(id)).toEqual([
      'SUBSCRIPTION_CREATE 31: Base 31',
      'SUBSCRIPTION_CYCLE 71: Base 31, Setup 40',
      'SUBSCRIPTION_CYCLE 31: Base 31',
    ]);
  });

  test('is not billed where the subscription is cancelled in the pause', async () => {
    const { id } = await pausedFrom('2026-01-11T00:00:00Z', '2026-01-21T00:00:00Z');
    await created(api, `/subscriptions/${id}/cancel`, {
      cancellation_type: 'immediate',
      cancel_immediately_invoice_policy: 'generate_invoice',
    });
    expect(await billed(id)).toEqual(['SUBSCRIPTION_CREATE 31: Base 31']);
  });
});
