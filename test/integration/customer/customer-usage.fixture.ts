import { expect } from 'vitest';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
export type Wire = any;

/** What reads of usage are asked about: features with limits on a plan, events, and the reads themselves. */
export function limitedUsage(api: Api) {
  async function read(path: string): Promise<Wire> {
    const { status, body } = await api('GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async function refused(path: string): Promise<[number, string]> {
    const { status, body } = await api<{ code: string }>('GET', path);
    return [status, body.code];
  }

  /** A feature with its meter. */
  async function featureOf(meterId: string): Promise<Wire> {
    const { items } = await read('/features?limit=1000');
    return read(`/features/${items.find((feature: Wire) => feature.meter_id === meterId).id}`);
  }

  function grant(planId: string, feature: Wire, fields: object = {}): Promise<Wire> {
    const owner = { plan_id: planId, feature_id: feature.id, feature_type: feature.type };
    return created(api, '/entitlements', { ...owner, ...fields });
  }

  /** A plan that can be subscribed to has a price. */
  async function addFee(planId: string): Promise<void> {
    await created(api, '/prices', {
      plan_id: planId,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      currency: 'usd',
      amount: '0',
      start_date: '2020-01-01T00:00:00Z',
    });
  }

  async function use(eventName: string, externalId: string, timestamps: string[]): Promise<void> {
    const events = timestamps.map((timestamp) => ({
      event_name: eventName,
      external_customer_id: externalId,
      timestamp,
      properties: {},
    }));
    await created(api, '/events/bulk', { events });
  }
  return { read, refused, featureOf, grant, addFee, use };
}
